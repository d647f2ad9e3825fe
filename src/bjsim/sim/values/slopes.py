"""The backward pass with slopes: values of a chart's hands against all of the dealer's, and their slopes.

A value is an array (dealers, 1 + Q) over the dealer's hands that the seats act against; see `slopes.py`.
"""

import math
from abc import abstractmethod

import numpy as np
import numpy.typing as npt

from bjsim.arrays import Floats
from bjsim.sim.game.automaton import Automaton, Chance, Decision, Finished
from bjsim.sim.game.dealer import DealerStates
from bjsim.sim.game.hand_states import DealerState
from bjsim.sim.values.backward import Backward
from bjsim.sums import add_up

# --- The dealer's hands, numbered, and how they end, with slopes in the probabilities of the cards.
#
# A value is a row of 1 + Q numbers: V, and for each of the Q ranks the slope g(q) of V when the distribution p of the
# ranks is tilted toward rank q, p + t (e_q - p), at t = 0. For a mixture over the next card
#
#     V = sum over r of p(r) V_r,    g(q) = V_q - V + sum over r of p(r) g_r(q),
#
# so the slopes need no finite differences. They are the card counters' effects of removal.


def mix(after: Floats, probabilities: Floats) -> Floats:
    """Values before a card, (..., 1 + Q), from those after each rank, (..., Q, 1 + Q)."""
    mixed: Floats = probabilities @ after
    mixed[..., 1:] += after[..., 0] - mixed[..., :1]
    return mixed


class DealerIndex:
    """The dealer's hands: first those of the deal in the order of their cards, then all that may be drawn to.

    `probabilities` are those of the ranks, (Q,). `hands` begins with the empty one; `columns` are the chart
    columns that each shows, "" if none; `after` (hands, Q) the number of the hand after one more card;
    `acting` the numbers of the hands that the seats act against; those before are still being dealt. `ended`
    and `early`: for each of these whether it ends the round before anyone acts, and whether it does so after
    seats may surrender.
    """

    def __init__(self, states: DealerStates, probabilities: Floats) -> None:
        self.states = states
        self.probabilities = probabilities
        cards = states.rules.deal.count("d")
        found = {(DealerState(), "", 0): 0}
        places, rows = list(found), list[list[int]]()
        for hand, label, dealt in places:  # grows during the iteration
            if states.dealer_done(hand):
                rows.append([len(rows)] * len(probabilities))
                continue
            row = []
            for rank in range(len(probabilities)):
                after = states.dealer_add(hand, rank)
                place = (after, label or states.shown(after), dealt + 1) if dealt < cards else (after, "", cards + 1)
                if place not in found:
                    found[place] = len(places)
                    places.append(place)
                row.append(found[place])
            rows.append(row)
        self.hands = [hand for hand, _, _ in places]
        self.columns = [label for _, label, _ in places]
        self.after = np.array(rows)
        levels = [dealt for _, _, dealt in places]
        self.acting = slice(levels.index(cards), levels.index(cards) + levels.count(cards))
        self.ended = np.array([states.ends_round(states.dealer_outcome(hand)) for hand in self.hands[self.acting]])
        shown = self.columns[self.acting]
        self.early = self.ended & np.array([states.surrenders_early(label) for label in shown])
        self.outcomes = self._outcomes()

    def _outcomes(self) -> Floats:
        """(hands, outcomes, 1 + Q): the distribution of the dealer's outcome from each hand."""
        states = self.states
        outcomes = np.zeros((len(self.hands), len(states.dealer_outcomes), 1 + len(self.probabilities)))
        done = np.zeros(len(self.hands), np.bool_)
        for number, hand in enumerate(self.hands):
            if states.dealer_done(hand):
                done[number] = True
                outcomes[number, states.dealer_outcomes.index(states.dealer_outcome(hand)), 0] = 1
        while not done.all():
            ready = ~done & done[self.after].all(axis=1)
            outcomes[ready] = mix(np.moveaxis(outcomes[self.after[ready]], 1, -2), self.probabilities)
            done |= ready
        return outcomes

    def before_acting(self, values: Floats) -> Floats:
        """Extend values against the hands of `acting`, (acting, ..., 1 + Q), to those of the deal before."""
        whole = np.zeros((self.acting.stop, *values.shape[1:]))
        whole[self.acting] = values
        for number in reversed(range(self.acting.start)):
            whole[number] = mix(np.moveaxis(whole[self.after[number]], 0, -2), self.probabilities)
        return whole


class Slopes(Backward[Floats]):
    """The values of one chart, in initial bets; `tie_value` is that of a tied bet that is replayed."""

    def __init__(self, automaton: Automaton, dealers: DealerIndex, tie_value: float = 0.0) -> None:
        super().__init__(automaton, tie_value=tie_value)
        self.dealers = dealers

    @abstractmethod
    def letters(self, node: Decision) -> npt.NDArray[np.bytes_]:
        """The letter that the chart takes against each of the dealer's hands."""

    def settled(self, node: Finished) -> Floats:
        """Values of a finished hand against every dealer's hand, (hands, 1 + Q)."""
        values: Floats = np.array(self.profits(node, self.automaton.dealer_outcomes)) @ self.dealers.outcomes
        return values

    def leaf(self, node: Finished) -> Floats:
        return self.settled(node)[self.dealers.acting]

    def plus(self, one: Floats, other: Floats) -> Floats:
        return one + other

    def choose(self, node: Decision, legal: str) -> Floats:
        value = self.act(node.state, "S").copy()
        letters = self.letters(node)
        letters = np.where(self.dealers.ended & ~(self.dealers.early & (letters == b"R")), b"S", letters)
        for letter in legal.replace("S", ""):
            taken = letters == letter.encode()
            if taken.any():
                value[taken] = self.act(node.state, letter)[taken]
        return value

    def after(self, node: Chance) -> Floats:
        """Values after each rank, (dealers, Q, 1 + Q)."""
        ranks = range(len(self.dealers.probabilities))
        return np.stack([self.together(self.automaton.follow(node, rank)) for rank in ranks], axis=1)

    def chance(self, node: Chance) -> Floats:
        if self.automaton.repeats(node):
            return self._endless(node)
        return mix(self.after(node), self.dealers.probabilities)

    def _endless(self, node: Chance) -> Floats:
        """Value h of a split hand that becomes two with the probability a of a pair: h = rest + 2 a h, and likewise
        for its slopes; 0 if the hands would multiply without end."""
        shares = enumerate(self.dealers.probabilities)
        again = add_up(p for rank, p in shares if node in self.automaton.follow(node, rank))
        stays = 1 - 2 * again if again < 0.5 else math.inf
        self._values[node] = np.zeros((len(self.dealers.ended), 1 + len(self.dealers.probabilities)))
        value = mix(self.after(node), self.dealers.probabilities) / stays
        self._values[node] = np.where(np.arange(value.shape[1]), 0, value)  # no slopes yet
        value[:, 1:] = mix(self.after(node), self.dealers.probabilities)[:, 1:] / stays
        return value

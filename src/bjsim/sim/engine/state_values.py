"""Expected values of all states of the compiled round in an infinite shoe, and their slopes in its composition.

Everything is computed from the arrays of the compiled rules; this module implements no rules. A value is a row of 1 + Q
numbers: the expected profit V in initial bets, and for each of the Q ranks the slope g(q) of V when the distribution p
of the ranks is tilted toward rank q, p + t (e_q - p), at t = 0. For a chance node with values (V_r, g_r) after rank r,
differentiating V = sum over r of p_r V_r gives

    g(q) = V_q - V + sum over r of p_r g_r(q),

so the slopes need no finite differences. They are the card counters' effects of removal, for every state.
The luck model knows the hole card as soon as it is dealt; the chart's decisions stay fixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from bjsim.sim.engine.kernels.layout import DOUBLE, HIT, NO_LIMIT, SPLIT, SURRENDER, TIED, CompiledRules
from bjsim.sim.game.rules import Rules

Array = np.ndarray[Any, Any]


def draw_probabilities(rules: Rules, compiled: CompiledRules) -> Array:
    """Probabilities of the ranks that the compiled rules distinguish, (Q,).

    The ten-valued ranks are combined if the rules treat them alike.
    """
    probabilities = [float(p) for p in rules.card_probabilities]
    alike = all((rows[:, 9:] == rows[:, 9:10]).all() for rows in (compiled.add, compiled.dealer_add))
    return np.array([*probabilities[:9], sum(probabilities[9:])] if alike else probabilities)


class StateValues:
    """The values of all states of one seat's chart.

    A context x is the state of the dealer's cards before the seats act. `contexts` has for each context the dealer's
    state, the sum of column indices so far and the number of the dealer's cards; `context_add` (X, Q) is the context
    after a card. `deal` has for each card of the deal whether it is the dealer's, and the contexts and hands before it.

    Arrays of values end with an axis of 1 + Q. `finished` (D, R, 2): the value of a finished hand by the dealer's
    state, its result, and whether it was doubled. `hands` (X, 2, S): the value of a hand by context, whether it may be
    split, and its state; a hand of two or more cards is still to be played, one of fewer still to be dealt.

    Args:
        compiled: The compiled rules and charts.
        seat: The seat whose chart is evaluated.
        probabilities: Probabilities of the ranks, (Q,), as from `draw_probabilities`.
        tie_value: The value of a tied bet that is replayed, in initial bets.
        unit: The payoff quantum, as a share of an initial bet.
    """

    def __init__(self, compiled: CompiledRules, seat: int, probabilities: Array, tie_value: float, unit: float) -> None:
        self.compiled = compiled
        self.act = compiled.act[seat]
        self.card_probabilities = probabilities
        self.ranks = len(probabilities)
        self.numbers = compiled.numbers
        self.add = compiled.add[:, : self.ranks]
        self.dealer_add = compiled.dealer_add[:, : self.ranks]
        tied = (compiled.pay + TIED // 2) // TIED
        self.pay = (compiled.pay - tied * TIED) * unit + tied * tie_value
        self._list_contexts()
        self._split_values: dict[tuple[int, int, int], Array] = {}
        self.finished = self._finished()
        self.hands = np.zeros((len(self.contexts), 2, len(self.add), 1 + self.ranks))
        self._play_backwards()
        self._deal_backwards()

    def mix(self, after: Array) -> Array:
        """The value of a chance node from the values after each rank, (.., Q, 1 + Q) to (.., 1 + Q)."""
        mixed: Array = np.tensordot(after, self.card_probabilities, axes=(-2, 0))
        mixed[..., 1:] += after[..., 0] - mixed[..., :1]
        return mixed

    # --- the dealer

    def _list_contexts(self) -> None:
        cards = int(self.compiled.deal.sum())
        self.contexts = [(0, 0, 0)]  # dealer's state, sum of columns, cards
        rows: list[list[int]] = []
        for dealer, column, dealt in self.contexts:  # which grows in the loop
            row = []
            for after in self.dealer_add[dealer].tolist() if dealt < cards else []:
                context = (after, column + int(self.compiled.column[dealt, after]), dealt + 1)
                if context not in self.contexts:
                    self.contexts.append(context)
                row.append(self.contexts.index(context))
            rows.append(row or [len(rows)] * self.ranks)
        self.context_add = np.array(rows)
        dealers, columns, dealt_to = (np.array(part) for part in zip(*self.contexts, strict=True))
        self.known = np.flatnonzero(dealt_to == cards)  # the contexts in which seats act
        self.dealers, self.columns = dealers, columns
        ended = self.compiled.dealer_out[dealers] == self.numbers.natural_outcome
        self.ended = ended & (dealt_to == cards) & bool(self.numbers.peek)

    def _finished(self) -> Array:
        ev = np.zeros((len(self.dealer_add), *self.pay.shape[:2], 1 + self.ranks))
        for dealer in self._dealers_last_first():
            if self.compiled.dealer_done[dealer]:
                ev[dealer, ..., 0] = self.pay[:, :, self.compiled.dealer_out[dealer]]
            else:
                ev[dealer] = self.mix(np.moveaxis(ev[self.dealer_add[dealer]], 0, -2))
        return ev

    def _dealers_last_first(self) -> Iterator[int]:
        rows = zip(self.dealer_add.tolist(), self.compiled.dealer_done, strict=True)
        return _last_first([[] if done else row for row, done in rows])

    # --- the hands

    def _play_backwards(self) -> None:
        for hand in self._hands_last_first():
            for may_split in (0, 1):
                self.hands[self.known, may_split, hand] = self._played(hand, may_split)

    def _hands_last_first(self) -> Iterator[int]:
        draws = self.act.max(axis=(0, 2)) > 0
        leads_to = [row if drawn else [] for row, drawn in zip(self.add.tolist(), draws, strict=True)]
        for pair in np.flatnonzero(self.compiled.split_to).tolist():
            if not self._is_split(pair):
                leads_to[pair] = leads_to[pair] + self.add[self.compiled.split_to[pair]].tolist()
        return _last_first(leads_to)

    def _is_split(self, pair: int) -> bool:
        """Whether a pair came from a split; if it is split again, `split_value` has its value."""
        return pair in self.add[self.compiled.split_to[pair]]

    def _played(self, hand: int, may_split: int) -> Array:
        """Value of a hand in the contexts in which seats act, (known, 1 + Q)."""
        known, result = self.known, self.compiled.result
        dealers = self.dealers[known]
        codes = np.where(self.ended[known], 0, self.act[may_split, hand, self.columns[known]])
        ev: Array = self.finished[dealers, result[hand], 0]
        for code in set(codes.tolist()) - {0}:
            at = codes == code
            if code == HIT:
                ev[at] = self.mix(self.after_hit(known[at], hand))
            elif code == DOUBLE:
                ev[at] = self.mix(self.after_double(known[at], hand))
            elif code == SURRENDER:
                ev[at] = self.finished[dealers[at], self.numbers.surrendered, 0]
            elif code == SPLIT and not self._is_split(hand):
                ev[at] = self.split_value(int(self.compiled.split_to[hand]), 2, 2)[at]
        return ev

    def after_hit(self, contexts: Array, hand: int) -> Array:
        """Values after each rank drawn to a hand, (.., Q, 1 + Q)."""
        ev: Array = self.hands[contexts[:, None], 1, self.add[hand]]
        return ev

    def after_double(self, contexts: Array, hand: int) -> Array:
        """Values after each rank drawn to a doubled hand, (.., Q, 1 + Q)."""
        ev: Array = self.finished[self.dealers[contexts][:, None], self.compiled.result[self.add[hand]], 1]
        return ev

    def after_dealt(self, contexts: Array, hand: int) -> Array:
        """Values after each rank dealt to the dealer while a seat holds `hand`, (.., Q, 1 + Q)."""
        ev: Array = self.hands[self.context_add[contexts], 1, hand]
        return ev

    # --- splits

    def split_value(self, split_hand: int, pending: int, held: int) -> Array:
        """Value of `pending` split hands that have one card each, for a seat that holds `held` hands."""
        if not pending:
            return np.zeros((len(self.known), 1 + self.ranks))
        key = split_hand, pending, held
        if key not in self._split_values:
            endless = self.numbers.max_hands == NO_LIMIT
            self._split_values[key] = (
                pending * self._endless_split_value(split_hand)
                if endless
                else self.mix(self.after_split(split_hand, pending, held))
            )
        return self._split_values[key]

    def splits_again(self, split_hand: int) -> Array:
        """Whether each rank drawn to a split hand makes a pair that the chart splits if allowed, (known, Q)."""
        again: Array = self.act[1, self.add[split_hand]][:, self.columns[self.known]].T == SPLIT
        again &= ~self.ended[self.known][:, None]
        return again

    def after_split(self, split_hand: int, pending: int, held: int) -> Array:
        """Values after each rank drawn to the first of `pending` split hands, (known, Q, 1 + Q)."""
        may_split = int(held < self.numbers.max_hands)
        ev: Array = self.hands[self.known[:, None], may_split, self.add[split_hand]]
        if self.numbers.max_hands == NO_LIMIT:
            one = self._endless_split_value(split_hand)
            return np.where(self.splits_again(split_hand)[..., None], 2 * one[:, None], ev)
        ev = ev + self.split_value(split_hand, pending - 1, held)[:, None]
        again = self.splits_again(split_hand)
        if may_split and again.any():
            ev[again] = np.broadcast_to(self.split_value(split_hand, pending + 1, held + 1)[:, None], ev.shape)[again]
        return ev

    def _endless_split_value(self, split_hand: int) -> Array:
        """Value h of one split hand if splits have no limit. It becomes two with the probability a of a pair, so
        h = rest + 2 a h, and likewise for its slopes; 0 if the hands would multiply without end."""
        key = split_hand, 1, 0
        if key not in self._split_values:
            again = self.splits_again(split_hand)
            rest = np.where(again[..., None], 0, self.hands[self.known[:, None], 1, self.add[split_hand]])
            pairs = again @ self.card_probabilities
            stays = np.where(pairs < 0.5, 1 - 2 * pairs, np.inf)[:, None]
            one = np.tensordot(rest, self.card_probabilities, axes=(-2, 0)) / stays
            one[:, 1:] += (np.where(again, 2 * one[:, :1], rest[..., 0]) - one[:, :1]) / stays
            self._split_values[key] = one
        return self._split_values[key]

    # --- the deal

    def _deal_backwards(self) -> None:
        dealt = [(np.array([0]), np.array([0]))]  # contexts and hands before each card of the deal
        for to_dealer in self.compiled.deal:
            contexts, hands = dealt[-1]
            if to_dealer:
                dealt.append((np.unique(self.context_add[contexts]), hands))
            else:
                dealt.append((contexts, np.unique(self.add[hands])))
        self.deal = list(zip(self.compiled.deal.tolist(), dealt[:-1], strict=True))
        for to_dealer, (contexts, hands) in reversed(self.deal):
            for hand in hands.tolist():
                after = self.after_dealt(contexts, hand) if to_dealer else self.after_hit(contexts, hand)
                self.hands[contexts, 1, hand] = self.mix(after)

    @property
    def start(self) -> Array:
        """Value of a round before its first card, (1 + Q,)."""
        ev: Array = self.hands[0, 1, 0]
        return ev


def _last_first(leads_to: list[list[int]]) -> Iterator[int]:
    """The states in an order in which each follows all its successors."""
    done: set[int] = set()
    for start in range(len(leads_to)):
        todo = [start]
        while todo:
            state = todo[-1]
            fresh = [after for after in leads_to[state] if after not in done and after != state]
            if fresh and state not in done:
                todo += fresh
                continue
            todo.pop()
            if state not in done:
                done.add(state)
                yield state


def value_of_game(rules: Rules, compiled: CompiledRules, seat: int) -> float:
    """Compute the exact value of a seat's chart in the infinite shoe.

    Args:
        rules: The rules of the game.
        compiled: The compiled rules and charts.
        seat: The seat.

    Returns:
        The profit per settled bet, in initial bets; nan if the chart ties at least as many bets as it is dealt.
    """
    probabilities, unit = draw_probabilities(rules, compiled), float(rules.unit)
    net = float(StateValues(compiled, seat, probabilities, 0.0, unit).start[0])
    if rules.ties != "replay":
        return net
    tied = float(StateValues(compiled, seat, probabilities, 1.0, unit).start[0]) - net
    return net / (1 - tied) if tied < 1 else math.nan

"""The exact value of every action in every observation, as arrays that environments look up.

The values are those of `Solver`: of the infinite shoe, whatever the game's own. They are expected profits of the hand
in play, in initial bets, when best play follows. The profits of a round's hands add, so the other hands of a split can
be left out, but for the room that a further split takes from them. The value of insurance is that of the insurance bet.

Only splits are not valued as by `Means`, which splits every further pair. That is right wherever the first split is;
after a wrong one, best play splits no more, so wrong splits have greater values here.
"""

from __future__ import annotations

import math
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from bjsim.arrays import Array
from bjsim.errors import InputError
from bjsim.sim.engine.compiled_rules import number_hands
from bjsim.sim.game.actions import INSURANCE, SPLIT, View
from bjsim.sim.game.automaton import Finished
from bjsim.sim.game.cards import parse_rank
from bjsim.sim.game.hand_states import DEALER_NATURAL, ORIGINAL_BET, WHOLE, HandState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Means
from bjsim.strategies.learning.encoder import Encoder
from bjsim.sums import add_up

PAYOFF, LUCK_ADJUSTED = "payoff", "luck-adjusted"  # what an environment may reward


class DecisionValues:
    """Looks up the values of the actions of many decisions at once.

    `start` is the value of the game, in initial bets, and `number` the number of each state of a hand, as in
    `number_hands`; `peeked` is the column number of rounds that the dealer's natural has ended, `insurance` that
    of insurance offers. The game must have a finite value, and split hands that can be valued one by one.
    """

    def __init__(self, rules: Rules) -> None:
        encoder, self._solver = Encoder(rules), Solver(rules)
        states, self._letters = self._solver.states, encoder.letters
        if reason := self._solver.infinite_because:
            raise InputError(f"{rules.name} has no decision values: {reason}")
        if states.one_and_busted and rules.most_hands > 1:
            raise InputError(
                f"{rules.name} has no decision values: with no_hole_loses = busted-plus-one, what a split hand "
                "loses depends on the hands before it; accepted are all, original, or max_hands = 1"
            )
        self.start = float(self._solver.best_value)
        hands = number_hands(states)[0]
        self.number = {hand: number for number, hand in enumerate(hands)}
        labels = list(self._solver.columns)
        self.peeked, self.insurance = len(labels), len(labels) + 1
        self._split = encoder.letters.index(SPLIT.letter)
        self._table = np.full((len(hands), len(labels) + 2, len(encoder.letters)), -math.inf)
        for number, hand in enumerate(hands):
            if hand.cards > 1 and hand.points <= 21:
                self._fill(number, hand)
        self._pair, self._again = self._further_splits(hands)

    def look_up(self, hand: Array, column: Array, held: Array, pending: Array, mask: Array) -> tuple[Array, Array]:
        """Return the values of the legal actions, and these less that of the best, float64 (N, A).

        `hand` has the states of N hands by number; `column` the numbers of what the dealers show, or `peeked`, or
        `insurance`; `held` the numbers of hands of the seats; `pending` how many of these need their second card,
        besides the hand. `mask` is (N, A); results are -inf where an action is not legal.
        """
        _, columns, actions = self._table.shape
        values = self._table.reshape(-1, actions).take(hand * columns + column, axis=0)
        if len(self._again):
            again = np.flatnonzero((held > 1) & (self._pair.take(hand) >= 0))
            where = self._pair[hand[again]], column[again], pending[again], held[again]
            values[again, self._split] = self._again[where]
        values = np.where(mask, values, -math.inf)
        best = reduce(np.maximum, values.T)  # several times as fast as a maximum along the short axis
        best = np.where(best > -math.inf, best, 0.0)  # no action is legal once the round is over
        return values, values - best[:, None]

    def look_up_view(self, view: View, column: int, mask: Array) -> tuple[Array, Array]:
        """The same for one decision, as arrays over the actions."""
        hand = self.number[self._solver.states.hand(map(parse_rank, view.hand), view.split, view.free, view.doubled)]
        number, shown, held, pending = np.array([[hand], [column], [view.hands], [view.pending]])
        values, advantages = self.look_up(number, shown, held, pending, mask[None])
        return values[0], advantages[0]

    def _fill(self, number: int, hand: HandState) -> None:
        solver, states, table = self._solver, self._solver.states, self._table[number]
        whole = hand.split == WHOLE
        for i, (label, means) in enumerate(solver.best.items()):
            for letter in means.automaton.legal(hand) or "S":
                value = means.act(hand, letter) if letter != SPLIT.letter else _split(means, hand, 0, 1 if whole else 2)
                table[i, self._letters.index(letter)] = float(value)
            if whole and hand.cards == 2 and states.legal(hand) and (odds := float(solver.columns[label].natural_odds)):
                table[i] = (table[i] - odds) / (1 + odds)  # early surrender: the odds that a natural takes the bet
        if whole:
            profit, tied = states.settle(states.result(hand), 1, DEALER_NATURAL)
            table[self.peeked, 0] = float(profit) + tied * float(solver.tie_value)
        if INSURANCE[0] in self._letters:
            table[self.insurance, [0, -1]] = 0.0, (3 * float(solver.rules.ten_probability) - 1) / 2

    def _further_splits(self, hands: list[HandState]) -> tuple[Array, Array]:
        """The number of each pair of split hands, or -1; and the value of its split, by column, pending, held hands."""
        states = self._solver.states
        limits = {
            hand: int(limit)
            for hand in hands
            if hand.cards == 2 and hand.split != WHOLE and "P" in states.legal(hand)
            if 2 < (limit := states.hand_limit(states.split(hand))) < math.inf
        }
        most = max(limits.values(), default=0)
        again = np.full((len(limits), self.peeked, most, most + 1), -math.inf)
        for pair, (hand, limit) in enumerate(limits.items()):
            for i, means in enumerate(self._solver.best.values()):
                for held in range(2, limit):
                    again[pair, i, :held, held] = [float(_split(means, hand, pending, held)) for pending in range(held)]
        numbers = {hand: pair for pair, hand in enumerate(limits)}
        return np.array([numbers.get(hand, -1) for hand in hands]), again


def _split(means: Means, pair: HandState, pending: int, held: int) -> Any:
    """What a split adds for a seat of `held` hands of which `pending` more need their second card, at best play.

    Every further pair is split, or none: whether that gains is the same for all of them.
    """
    automaton = means.automaton
    hand, later = automaton.split(pair), automaton.covered(pair)
    alone, others = (
        add_up(means.number(p) * means.value(after, False) for p, after in automaton.draws(one))
        for one in (hand, automaton.split(later))
    )
    before = max(means.waiting(later, pending, held), pending * others)
    if held > 1 or not automaton.original_only:
        return max(means.waiting(pair, pending + 2, held + 1), alone + (pending + 1) * others) - before
    return max(means.act(pair, SPLIT.letter), 2 * alone + means.leaf(Finished(ORIGINAL_BET)))


@lru_cache(maxsize=8)
def decision_values(rules: Rules) -> DecisionValues:
    """The values of a game, made once for all its environments."""
    return DecisionValues(rules)


def environment_values(rules: Rules, values: bool, reward: str) -> DecisionValues | None:
    """Return what an environment needs to give values or adjust rewards for luck; None if it does neither."""
    if reward not in (PAYOFF, LUCK_ADJUSTED):
        raise InputError(f"reward = {reward!r}; accepted are {PAYOFF} and {LUCK_ADJUSTED}")
    if reward == LUCK_ADJUSTED and rules.decks != math.inf:
        raise InputError(
            f"reward = {LUCK_ADJUSTED} needs decks = inf, as the values are those of an infinite shoe; "
            f"{rules.name} has decks = {rules.decks:g}"
        )
    return decision_values(rules) if values or reward == LUCK_ADJUSTED else None

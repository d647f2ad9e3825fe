"""Two equal bets whose second cards may be exchanged before play, in an infinite shoe.

The profits of both hands add, so the best exchange compares the sums of two values, each that of a hand on its own.
Once it is known for every four cards against a column, the game is one of single hands, whose first two cards have
another distribution against each column: that after the exchange. Everything that walks the automaton of a column plays
it. A dealer's natural ends the round before an exchange.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import product
from typing import Any

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.game.automaton import Automaton, Finished
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.values import Column, Dealer, Means, Moments, Policy, round_nodes

BETTER = 1e-12  # cards are exchanged for more than rounding


class ExchangeAutomaton(Automaton):
    """The automaton of either hand of a seat; its values are for one bet.

    Arrays over four cards have an axis for each: those of the first hand, and those of the second.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self._played = cache(partial(_AfterExchange, self))
        self.profits = cache(self._profits)

    def against(self, column: str) -> Automaton:  # type: ignore[override]
        """The automaton of a hand after the best exchange against a column; as dealt where a natural has ended it."""
        return self._played(column)

    def by_cards(self, value: Callable[[HandState], Any], exchanged: bool) -> Array:
        """What a hand of every two ranks is, as dealt or after an exchange."""
        ranks = [rank for rank, _ in self.ranks]
        return np.array([[value(self.with_cards(one, two, exchanged)) for two in ranks] for one in ranks])

    def with_cards(self, one: int, two: int, exchanged: bool) -> HandState:
        hand = self.hand((one, two))
        ordinary = exchanged and self.rules.exchange == "21" and self.is_natural(hand)
        return hand._replace(cards=3) if ordinary else hand

    def _profits(self, column: str) -> tuple[Array, Array]:
        """What both hands win by the best play, by their four cards: as dealt, and after the exchange."""
        means = Means(Automaton(self.rules), self._columns[column])
        dealt, after = (self.by_cards(lambda hand: float(means.value(hand)), each) for each in (False, True))
        return dealt[:, :, None, None] + dealt, after[:, None, None, :] + after.T[None, :, :, None]

    def exchanges(self, column: str) -> Array:
        keep, exchange = self.profits(column)
        better: Array = exchange > keep + BETTER
        return better

    @cached_property
    def _columns(self) -> dict[str, Column]:
        return Dealer(self).columns()

    @cached_property
    def chances(self) -> Array:
        """The probability of four cards, as fractions."""
        p = np.array([p for _, p in self.ranks], object)
        both = np.multiply.outer(p, p)
        four: Array = np.multiply.outer(both, both)
        return four


class _AfterExchange(Automaton):
    """The automaton of a hand after the best exchange against a column, which changes its first two cards."""

    def __init__(self, game: ExchangeAutomaton, column: str) -> None:
        super().__init__(game.rules)
        self._game, self._column = game, column

    @cached_property
    def starts(self) -> dict[HandState, Fraction]:
        if not self._column:
            return self._game.starts
        game, exchanged = self._game, self._game.exchanges(self._column)
        masses = (game.chances * ~exchanged).sum(axis=(2, 3)), (game.chances * exchanged).sum(axis=(1, 2))
        starts: dict[HandState, Fraction] = {}
        for after, mass in enumerate(masses):  # of the first hand, like which the second is
            for (i, (one, _)), (j, (two, _)) in product(enumerate(game.ranks), repeat=2):
                hand = game.with_cards(one, two, bool(after))
                starts[hand] = starts.get(hand, Fraction(0)) + mass[i, j]
        return {hand: p for hand, p in starts.items() if p}


def exchange_sd(automaton: ExchangeAutomaton, policy: Policy) -> float:
    """Return the SD per round of the mean profit of both hands, which share the dealer and the exchange."""
    chances, mean, square = automaton.chances.astype(float), 0.0, 0.0
    for column in Dealer(automaton).cases():
        outcomes = np.array([float(p) for p in column.probabilities.values()])
        of = _moments(automaton, column, policy)
        dealt, after = (automaton.by_cards(of, exchanged) for exchanged in (False, True))  # (ranks, ranks, 2, outcomes)
        if not np.isfinite(dealt).all():
            return math.inf  # endless splitting
        keep = _both(dealt[:, :, None, None], dealt[None, None], outcomes)
        exchange = _both(after[:, None, None, :], after.swapaxes(0, 1)[None, :, :, None], outcomes)
        taken = automaton.exchanges(column.label) if column.label else np.zeros(chances.shape, np.bool_)
        first, second = (np.sum(chances * np.where(taken, *each)) for each in zip(exchange, keep, strict=True))
        mean += float(column.probability) * first / 2
        square += float(column.probability) * second / 4
    return math.sqrt(max(square - mean * mean, 0.0))


def _moments(automaton: ExchangeAutomaton, column: Column, policy: Policy) -> Callable[[HandState], Array]:
    """Mean and mean square of a hand, with its insurance bet, by the dealer's outcome."""
    moments = Moments(Automaton(automaton.rules), column, policy, 0)
    insurance = round_nodes(column, automaton.rules, policy)[1:]

    def of(hand: HandState) -> Array:
        node = automaton.reached(hand) if column.label else Finished(automaton.result(hand))
        return moments.together((node, *insurance))

    return of


def _both(one: Array, other: Array, outcomes: Array) -> tuple[Array, Array]:
    """Mean and mean square of the profit of two hands, which are independent given the dealer's outcome."""
    first = (one[..., 0, :] + other[..., 0, :]) @ outcomes
    second = (one[..., 1, :] + other[..., 1, :] + 2 * one[..., 0, :] * other[..., 0, :]) @ outcomes
    return first, second

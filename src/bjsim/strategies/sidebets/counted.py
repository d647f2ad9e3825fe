"""What a counter of a side bet gains: a bettor who sees its exact value before each round, or one with tags."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bjsim.arguments import argument, whole_number
from bjsim.errors import InputError, shorten
from bjsim.sim.game.cards import TEN
from bjsim.sim.game.rules import Rules
from bjsim.sim.stats.intervals import Z95
from bjsim.strategies.sidebets.bets import BetRules
from bjsim.strategies.sidebets.exact import removals
from bjsim.strategies.sidebets.kinds import KINDS, SUITS, SuitedShoe
from bjsim.strategies.sidebets.returns import Returns

Floats = NDArray[np.float64]
VALUE = np.minimum(np.arange(len(KINDS)) // len(SUITS), TEN)
CARDS_A_ROUND = 5.4  # of one player and the dealer; the figures are averages over depths and hardly depend on it
PILOT, ROUNDS = 100, 150_000


@dataclass(frozen=True)
class CountedBet:
    """The gain of a counter of a side bet who bets one unit, or nothing, before each round.

    Attributes:
        tags: The tags by value, A, 2..9, T; None for the exact value.
        trigger: The count per deck left from which on bets are made; None for the exact value, from 0 on.
        share: Of rounds in which the bet is made.
        edge: Expected profit of a bet that is made.
        units: Expected units won in 100 rounds; `half_width` is that of the 95% interval.
        perfect: The same units of a bettor who sees the exact value, from the same cards; likewise its half width.
    """

    bet: str
    tags: tuple[float, ...] | None
    trigger: float | None
    share: float
    edge: float
    units: float
    half_width: float
    perfect: float
    perfect_half_width: float


def best_tags(effects: Sequence[float], counts: Sequence[int], level: int) -> tuple[int, ...]:
    """Return the whole tags from -level to level that correlate most with the effects of removal.

    With effects e, weights w and tags t, the criterion is sum(w t e) / sqrt(sum(w t^2)). Where it is greatest, t
    also maximizes sum(w (t e - c t^2 / 2)) for c = sum(w t e) / sum(w t^2), value by value; so t is e / c,
    rounded. All c are tried between those at which a rounding changes, which proves the best.
    """
    effect, weight = np.asarray(effects, np.float64), np.asarray(counts, np.float64)
    steps = np.arange(level) + 0.5
    turns = np.unique((np.abs(effect)[effect != 0][:, None] / steps).ravel())
    if not len(turns):
        return (0,) * len(effect)
    scales = np.concatenate([(turns[1:] + turns[:-1]) / 2, turns[:1] / 2])
    tags = np.clip(np.rint(effect / scales[:, None]), -level, level)
    merit = (tags * effect * weight).sum(axis=1) / np.sqrt((tags**2 * weight).sum(axis=1))
    return tuple(int(tag) for tag in tags[int(merit.argmax())])


def count_bet(
    bet: BetRules,
    shoe: SuitedShoe,
    rules: Rules,
    cut: float,
    *,
    tags: Sequence[float] | None = None,
    level: int | None = None,
    trigger: float | None = None,
    seed: int = 1,
    rounds: int = ROUNDS,
) -> CountedBet:
    """Return the gain of a counter of a side bet, with 95% intervals.

    Compositions at the beginnings of rounds are drawn at random, `rounds` of them, more at depths where the gain
    varies more; the value of the bet at each is exact. `shoe` is the whole shoe, finite, and `cut` the cards dealt
    before the shuffle. `tags` are by value, A, 2..9, T, and `level` is the largest tag of the best ones, instead
    of `tags`; without both, the bettor sees the exact value. `trigger` is the count per deck left from which on
    bets are made; by default the whole number that gains most.
    """
    if shoe.replaced:
        raise InputError(f"{argument('decks')}: an infinite shoe cannot be counted; give a whole number")
    if bet.upcard:
        raise InputError(f"{bet.name} is offered against {bet.upcard} only, and not counted as a bet of every round")
    if not 1 <= cut <= shoe.size - 20:
        raise InputError(f"{argument('cut')}: {shorten(cut)} is not accepted; use 1 to {shoe.size - 20} cards")
    if tags is not None and (level is not None or len(tags) != TEN + 1):
        raise InputError(f"{argument('tags')}: give ten whole numbers, for A, 2..9 and T, without {argument('level')}")
    if level is not None:
        whole_number(argument("level"), level, 1, 100)
        effects = removals(bet, shoe, rules)[0]
        tags = best_tags([*effects.values()], [held for held in shoe.values if held], level)
        tags = _spread(tags, shoe)
    sample = _Sample(shoe, Returns(bet, rules), cut, seed, rounds)
    perfect, perfect_width = sample.units([values.clip(0) for values in sample.values])
    if tags is None:
        made = [values > 0 for values in sample.values]
        share = sample.mean(made)[0]
        return CountedBet(
            bet.name, None, None, share, perfect / 100 / share if share else math.nan, *[perfect, perfect_width] * 2
        )
    counts = sample.counts(np.asarray(tags, np.float64))
    if trigger is None:
        top = math.ceil(max(each.max() for each in counts))
        trigger = max(range(-top, top), key=lambda least: sample.mean(sample.gains(counts, least))[0])
    share = sample.mean([count >= trigger for count in counts])[0]
    units, width = sample.units(sample.gains(counts, trigger))
    edge = units / 100 / share if share else math.nan
    return CountedBet(bet.name, tuple(tags), trigger, share, edge, units, width, perfect, perfect_width)


def _spread(tags: Sequence[int], shoe: SuitedShoe) -> tuple[int, ...]:
    """Tags for all ten values, 0 for those that the shoe lacks."""
    rest = iter(tags)
    return tuple(next(rest) if held else 0 for held in shoe.values)


class _Sample:
    """Random compositions at the beginnings of the rounds of a shoe, by depth, with the exact values of a bet."""

    def __init__(self, shoe: SuitedShoe, returns: Returns, cut: float, seed: int, rounds: int) -> None:
        self.shoe, self.full = shoe, np.array(shoe.counts)
        self.depths = [int(depth) for depth in np.arange(0, cut, CARDS_A_ROUND)]
        rng = np.random.default_rng(seed)
        pilot = [returns(self._draw(rng, depth, PILOT)) for depth in self.depths]
        spread = np.array([values.clip(0).std() + 0.1 * values.std() for values in pilot]) + 1e-12
        sizes = np.maximum((rounds * spread / spread.sum()).astype(int), PILOT)
        self.left = [self._draw(rng, depth, size) for depth, size in zip(self.depths, sizes.tolist(), strict=True)]
        self.values = [returns(left) for left in self.left]

    def _draw(self, rng: np.random.Generator, depth: int, size: int) -> Floats:
        if depth == 0:
            return np.repeat(self.full[None].astype(np.float64), 2, axis=0)
        gone = rng.multivariate_hypergeometric(self.full, depth, size=size, method="marginals")
        return np.asarray(self.full - gone, np.float64)

    def counts(self, tags: Floats) -> list[Floats]:
        """The count of the cards dealt, per deck left; tags are taken from their mean, which balances them."""
        tags = tags - np.average(tags, weights=self.shoe.values)
        deck = self.shoe.size / max(int(self.shoe.decks.split()[-1]), 1) if self.shoe.decks else 52
        return [(self.full - left) @ tags[VALUE] * deck / left.sum(axis=1) for left in self.left]

    def gains(self, counts: list[Floats], trigger: float) -> list[Floats]:
        """The profit of those who bet from a count on."""
        return [np.where(count >= trigger, values, 0) for count, values in zip(counts, self.values, strict=True)]

    def mean(self, parts: Sequence[NDArray[np.generic]]) -> tuple[float, float]:
        """The mean over all depths, and its standard error."""
        floats = [np.asarray(part, np.float64) for part in parts]
        variance = sum(float(part.var(ddof=1)) / len(part) for part in floats)
        return sum(float(part.mean()) for part in floats) / len(floats), math.sqrt(variance) / len(floats)

    def units(self, parts: Sequence[Floats]) -> tuple[float, float]:
        """Units won in 100 rounds, and half the width of the 95% interval."""
        mean, error = self.mean(parts)
        return 100 * mean, 100 * Z95 * error

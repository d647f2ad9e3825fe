"""What a counter of a side bet gains: a bettor who sees its exact value before each round, or one with tags."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bjsim.arguments import argument, whole_number
from bjsim.arrays import Floats
from bjsim.errors import InputError, shorten
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.rules import Rules
from bjsim.sim.stats.estimate import Z95
from bjsim.strategies.sidebets.bets import BetRules, SuitedShoe
from bjsim.strategies.sidebets.exact import CountedBet, Returns, removals

# How often a round of one player who plays well has so many cards; measured in six decks, and alike in other shoes.
CARDS_OF_A_ROUND = {4: 0.178, 5: 0.388, 6: 0.280, 7: 0.109, 8: 0.031, 9: 0.009, 10: 0.003, 11: 0.001, 12: 0.001}
PILOT, ROUNDS = 100, {"suits": 150_000, "ranks": 300_000, "values": 300_000}  # by what the bet looks at


def best_tags(effects: Sequence[float], counts: Sequence[int], level: int) -> tuple[int, ...]:
    """Return the whole tags from -level to level that correlate most with the effects of removal.

    With effects e of mean 0, weights w and tags t, the criterion is sum(w t e) / sqrt(sum(w (t - a)^2)) for the mean
    a of the tags, which makes it greatest. For given a, where it is greatest, t also maximizes
    sum(w ((t - a) e - c (t - a)^2 / 2)) for some c, value by value; so t is e / c + a, rounded. All roundings are
    tried: between those 1 / c at which the order of the a of two roundings changes, and for every a.
    """
    effect, weight = np.asarray(effects, np.float64), np.asarray(counts, np.float64)
    effect = effect - np.average(effect, weights=weight)
    gaps = np.unique(np.abs(effect[:, None] - effect))
    turns = np.unique((np.arange(1, 2 * level + 1) / gaps[gaps > 1e-9 * gaps.max()][:, None]).ravel())
    best, found = (0.0, 0.0), np.zeros(len(effect))
    for scale in np.concatenate([(turns[1:] + turns[:-1]) / 2, turns[:1] / 2, turns[-1:] * 2]):
        steps = np.sort((np.arange(-level, level) + 0.5 - scale * effect[:, None]).ravel())
        tags = np.clip(np.rint(scale * effect + ((steps[1:] + steps[:-1]) / 2)[:, None]), -level, level)
        square = tags**2 @ weight
        spread = square - (tags @ weight) ** 2 / weight.sum()
        merit = np.where(spread > 1e-9, tags @ (weight * effect), 0) / np.sqrt(np.maximum(spread, 1e-9))
        top = merit.max()
        place = int(np.where(merit >= top * (1 - 1e-12), -square, -np.inf).argmax())
        if (round(top, 12), -square[place]) > best or not found.any():
            best, found = (round(top, 12), -square[place]), tags[place]
    return tuple(int(tag) for tag in found)


def count_bet(
    bet: BetRules,
    shoe: SuitedShoe,
    rules: Rules,
    cut: int,
    *,
    tags: Sequence[float] | None = None,
    level: int | None = None,
    trigger: float | None = None,
    one_more: bool = False,
    seed: int = 1,
    rounds: int | None = None,
) -> CountedBet:
    """Return the gain of a counter of a side bet, with 95% intervals.

    Compositions at the beginnings of rounds are drawn at random, `rounds` of them, more at depths where the gain
    varies more; the value of the bet at each is exact. `shoe` is the whole shoe, finite, and `cut` the cards dealt
    before the shuffle. `tags` are by value, A, 2..9, T, or by rank, with J, Q and K; `level`, instead of them, is the
    largest tag of the best ones, by rank if the bet tells tens apart; without both, the bettor sees the exact value.
    `trigger` is the count per deck left from which on bets are made; by default the one that gains most, in halves.
    The last round is the one in which the cut card comes, or `one_more`.
    """
    if shoe.replaced:
        raise InputError(f"{argument('decks')}: an infinite shoe cannot be counted; give a whole number")
    if bet.upcard:
        raise InputError(f"{bet.name} is offered against {bet.upcard} only, and not counted as a bet of every round")
    if not 1 <= cut <= shoe.size - 20:
        raise InputError(f"{argument('cut')}: {shorten(cut)} is not accepted; use 1 to {shoe.size - 20} cards")
    if tags is not None and (level is not None or len(tags) not in (TEN + 1, len(RANKS))):
        numbers = "ten whole numbers, for A, 2..9 and T, or thirteen, with J, Q and K"
        raise InputError(f"{argument('tags')}: give {numbers}, without {argument('level')}")
    if tags is not None and len(tags) > TEN + 1 and bet.needs == "values":
        raise InputError(f"{argument('tags')}: {bet.name} takes all tens alike; give ten tags, for A, 2..9 and T")
    if level is not None:
        whole_number(argument("level"), level, 1, 100)
        effects, held = removals(bet, shoe, rules)[0], _held(shoe, len(bet.letters))
        best = best_tags([*effects.values()], [held[RANKS.index(letter)] for letter in effects], level)
        known = dict(zip(effects, best, strict=True))
        tags = [known.get(letter, 0) for letter in bet.letters]  # 0 for those that the shoe lacks
    if tags is not None and len({tag for tag, cards in zip(tags, _held(shoe, len(tags)), strict=True) if cards}) == 1:
        which = argument("tags") if level is None else argument("level")
        raise InputError(
            f"{which}: with one tag for all cards {bet.name} cannot be counted; leave it out for exact values"
        )
    sample = _Sample(shoe, Returns(bet, rules), _beginnings(cut, one_more), seed, rounds or ROUNDS[bet.needs])
    perfect = sample.estimate(sample.values.clip(0))
    made, won = sample.values > 0, perfect
    if tags is not None:
        counts = sample.counts(np.asarray(tags, np.float64))
        if trigger is None:
            steps = np.arange(-2 * (top := math.ceil(counts.max())), 2 * top) / 2
            trigger = float(max(steps, key=lambda least: sample.weights @ np.where(counts >= least, sample.values, 0)))
        made = counts >= trigger
        won = sample.estimate(np.where(made, sample.values, 0))
    share = sample.estimate(made)[0] if made.any() else 0.0
    units = [100 * each for each in (*won, *perfect)]
    given = None if tags is None else tuple(tags)
    return CountedBet(bet.name, given, trigger, share, won[0] / share if share else math.nan, *units)


def _beginnings(cut: int, one_more: bool) -> Floats:
    """How many rounds of a shoe begin after so many cards, on average."""
    begins = np.zeros(cut + max(CARDS_OF_A_ROUND))
    begins[0] = 1
    for depth in range(cut):
        for cards, part in CARDS_OF_A_ROUND.items():
            begins[depth + cards] += part * begins[depth]
    return begins if one_more else begins[:cut]


def _held(shoe: SuitedShoe, tags: int) -> tuple[int, ...]:
    """The cards in the shoe for each of so many tags: ten by value, or thirteen by rank."""
    return shoe.values if tags == TEN + 1 else shoe.ranks


class _Sample:
    """Random compositions at the beginnings of the rounds of a shoe, by depth, with the exact values of a bet."""

    def __init__(self, shoe: SuitedShoe, returns: Returns, begins: Floats, seed: int, rounds: int) -> None:
        self.shoe, self.returns = shoe, returns
        self.full = returns.by_class(np.array(shoe.counts, np.float64)).astype(np.int64)
        self.depths = np.flatnonzero(begins)
        self.shares = begins[self.depths] / begins.sum()
        self.fresh, rng = float(returns(self.full[None].astype(np.float64))[0]), np.random.default_rng(seed)
        few = np.full(len(self.depths), PILOT)
        pilot = returns(self._draw(rng, few)).reshape(len(few), PILOT)
        sizes = self.shares * (pilot.clip(0).std(axis=1) + 0.1 * pilot.std(axis=1)) + 1e-12
        self.sizes = np.maximum((rounds * sizes / sizes.sum()).astype(int), PILOT)
        self.left = self._draw(rng, self.sizes)
        self.values = returns(self.left)
        self.place = np.repeat(np.arange(len(self.depths)), self.sizes)
        self.weights = (self.shares / self.sizes)[self.place]

    def _draw(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Floats:
        gone = [
            rng.multivariate_hypergeometric(self.full, depth, size=size, method="marginals")
            for depth, size in zip(self.depths.tolist(), sizes.tolist(), strict=True)
        ]
        return np.asarray(self.full - np.concatenate(gone), np.float64)

    def counts(self, tags: Floats) -> Floats:
        """The count of the cards dealt, per deck left; tags are taken from their mean, which balances them."""
        tags = tags[self.returns.values if len(tags) == TEN + 1 else self.returns.ranks]
        tags = tags - np.average(tags, weights=self.full)
        deck = self.shoe.size / max(int(self.shoe.decks.split()[-1]), 1) if self.shoe.decks else 52
        counts: Floats = (self.full - self.left) @ tags * deck / self.left.sum(axis=1)
        return counts

    def estimate(self, each: NDArray[Any]) -> tuple[float, float]:
        """The mean over all rounds, and half the width of its 95% interval.

        The mean of the value is that of the fresh shoe at every depth, so that what depends on it linearly needs no
        sample; how much that is, is estimated for twelve depths together.
        """
        off, band = self.values - self.fresh, self.place // 12
        slope = np.bincount(band, each * off) / np.maximum(np.bincount(band, off * off), 1e-300)
        rest = each - slope[band] * off
        means = np.bincount(self.place, rest) / self.sizes
        variance = np.bincount(self.place, (rest - means[self.place]) ** 2) / (self.sizes - 1) / self.sizes
        return float(self.shares @ means), Z95 * math.sqrt(float(self.shares**2 @ variance))

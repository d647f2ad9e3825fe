"""The result of a counting run. The returns of every bet ramp follow from it without playing again."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bjsim.arrays import Array, Floats, Ints
from bjsim.sim.engine.counts import CountSums, UnitSums
from bjsim.sim.engine.kernels.arrays import LEFT, PRODUCTS, PROFIT, ROUNDS, SQUARES, STAKES
from bjsim.sim.game.events import game_text
from bjsim.strategies.counting.departures import playable
from bjsim.strategies.counting.ramp import spots_at
from bjsim.strategies.counting.returns import CountReturns, ramp_returns
from bjsim.strategies.counting.tables import CountingGame

FEWEST = 100  # rounds of a row of the table; buckets with fewer are merged
RAREST = 1e-4  # share of the rounds of a row


@dataclass(frozen=True, eq=False)
class CountRun:
    """The sums over a counter's rounds, by the count before the round."""

    game: CountingGame
    first: int  # the count of the first bucket
    sums: CountSums
    blocks: int  # blocks of shoes whose sums these are
    seed: int
    seconds: float
    # the sums of a few shoes each, (rows, U, ..), if they were kept; see `CountDifference`
    units: UnitSums | None = None
    stopped: bool = False  # whether it ended early, so that this is only what was known by then
    failure: str = ""  # why it could not go on; empty after an interrupt (Ctrl-C)

    @property
    def title(self) -> str:
        return f"{self.game.system.full_title} in {self.game.rules.name}"

    @property
    def count_name(self) -> str:
        system = self.game.system
        return ("true count" if system.uses_true_count else "running count") + (" for bets" if system.side_aces else "")

    @cached_property
    def description(self) -> str:
        game = self.game
        number, fit = len(game.departures.plays), playable(game.departures)
        plays = f"{number} index play{'s' * (number != 1)}" if number else "no index plays"
        if fit < number:
            plays = f"{fit} of {number} index plays apply"
        words = [game.system.full_title, plays]
        if game.leave is not None:
            rounded = "" if game.system.has_whole_counts else ", rounded down,"
            words.append(f"leaves at {game.leave} or below{rounded} for a fresh shoe")
        if not game.adjusted:
            words.append("not luck-adjusted")
        return f"{game_text(game.rules)}; {', '.join(words)}"

    @property
    def rounds(self) -> int:
        return int(self.sums.raw[:, 0].sum())

    @property
    def rounds_per_shoe(self) -> float:
        return self.rounds / int(self.sums.shoes)

    @property
    def left_per_round(self) -> float:
        """Shoes that the counter left before their end, per round."""
        return int(self.sums.raw[0, LEFT]) / self.rounds

    @cached_property
    def counts(self) -> Array:
        """The count of each row, rounded down; of several, the most usual."""
        return np.asarray(self.first + (self._groups * (1 + self.sums.raw[:, 0])).argmax(axis=1))

    @cached_property
    def spots(self) -> Array:
        return np.array([spots_at(self.game.spots, int(count)) for count in self.counts])

    @property
    def labels(self) -> list[str]:
        """The counts of the rows as text: `≤ -6`, `-5` .. `+7`, `≥ +8`; rare ones are merged, such as `+6 to +7`."""
        members = [self.first + np.flatnonzero(row) for row in self._groups]
        leaves = self.game.leave is not None
        if leaves:
            members[0] = members[0][1:]  # at its first count no round is played
        texts = [_signed(row[0]) + (f" to {_signed(row[-1])}" if len(row) > 1 else "") for row in members]
        if len(texts) > 1:
            texts[-1] = f"≥ {_signed(members[-1][0])}"
            texts[0] = texts[0] if leaves else f"≤ {_signed(members[0][-1])}"
        return texts

    @cached_property
    def returns(self) -> CountReturns:
        """The returns of a unit on a spot by count, with their covariance matrix; see `CountingGame.adjusted`.

        Insurance is included. Whatever the bets, the expected profit of a ramp is linear in these numbers. With several
        spots, they are means over the spots, and the covariance of two spots is known where they were played.
        """
        return self._estimate[0]

    @property
    def errors(self) -> Array:
        """What a shoe adds to the errors of share, EV, variance .. by count, linear in its sums: forms (n, D)."""
        return self._estimate[1]

    @cached_property
    def _estimate(self) -> tuple[CountReturns, Array]:
        """The returns and the forms of their errors: ratios of sums over shoes, by the delta method."""
        groups, several, sums = len(self._groups), int(self.spots.max() > 1), self.sums
        quantities = (ROUNDS, PROFIT, SQUARES, PRODUCTS)[: 3 + several]
        tops = np.concatenate([self._forms(quantity, self._groups) for quantity in quantities])
        [bottom] = self._forms(ROUNDS, np.ones((1, self._buckets)))
        ratios, below = tops @ sums.sums / (bottom @ sums.sums), float(bottom @ sums.sums)
        share, profit, *squares = ratios.reshape(len(quantities), groups)
        ev, moments = profit / share, []
        jacobian = np.zeros((len(quantities), groups, len(quantities), groups))
        at = np.arange(groups)
        jacobian[0, at, 0, at] = 1
        jacobian[1, at, 0, at], jacobian[1, at, 1, at] = -ev / share, 1 / share
        unit = float(self.game.rules.unit)
        for part, square in enumerate(squares, 2):  # variance and covariance
            mean = square * unit**2 / share
            moments.append(mean - ev**2)
            jacobian[part, at, 0, at] = (2 * ev**2 - mean) / share
            jacobian[part, at, 1, at], jacobian[part, at, part, at] = -2 * ev / share, unit**2 / share
        forms = jacobian.reshape(len(ratios), len(ratios)) @ (tops - np.outer(ratios, bottom)) / below
        cov = np.where(self.spots > 1, moments[1], math.nan) if several else None
        error = forms @ sums.products @ forms.T
        return CountReturns(self.counts.astype(float), share, ev, moments[0], cov, error), forms

    @property
    def wagered(self) -> Array:
        """Mean money bet per unit of the initial bet, by count: with doubles, splits and insurance."""
        bets = self._groups @ (self.sums.raw[:, 0] * self._bucket_spots)
        return np.asarray(self._groups @ self.sums.raw[:, STAKES] / bets / 2)

    def variance_reduction(self, units: Array) -> float:
        """Return how many times as many plain rounds would give the expected profit of a ramp as precisely."""
        ramp = ramp_returns(self.returns, units, self.spots)
        assert ramp.error is not None
        return float(ramp.sd**2 / self.rounds / ramp.error[0, 0])

    # --- sums

    @property
    def _buckets(self) -> int:
        return len(self.sums.raw)

    @cached_property
    def _bucket_spots(self) -> Array:
        return np.array([spots_at(self.game.spots, self.first + bucket) for bucket in range(self._buckets)])

    @cached_property
    def _groups(self) -> Array:
        """The buckets that make a row of the table, (rows, B); all with as many spots."""
        controlled = self.sums.sums[: self._buckets]  # in few shoes far from the rounds that were played
        rounds = np.minimum(self.sums.raw[:, 0], controlled)
        return _group(rounds, max(FEWEST, RAREST * self.rounds), self._bucket_spots)

    def _forms(self, quantity: int, weights: Array) -> Array:
        """Weighted sums of a quantity over the buckets as linear forms, (n, B) to (n, D), see `CountSums`."""
        forms = np.zeros((len(weights), len(self.sums.sums) // self._buckets, self._buckets))
        forms[:, quantity] = weights
        return forms.reshape(len(weights), -1)


def _signed(count: int) -> str:
    return f"{count:+d}" if count else "0"


def _group(sizes: Array, least: float, kinds: Array | None = None) -> Array:
    """Merge small parts in a row to groups of at least `least`, as a matrix of ones and zeros, (groups, parts).

    Parts of different `kinds` are merged only where all neighbours of one kind are too small together.
    """
    starts = [0] if kinds is None else [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist()]
    runs = [range(start, stop) for start, stop in zip(starts, [*starts[1:], len(sizes)], strict=True)]
    large = [one for one in runs if sizes[one.start : one.stop].sum() >= least] or [range(len(sizes))]
    stops = [one.stop for one in large[:-1]] + [len(sizes)]
    ranges = zip([0, *stops[:-1]], stops, strict=True)
    number = np.concatenate([_number(sizes[start:stop], least) + 2 * len(sizes) * start for start, stop in ranges])
    _, number = np.unique(number, return_inverse=True)
    return np.asarray(number == np.arange(number.max() + 1)[:, None], float)


def _number(sizes: Array, least: float) -> Array:
    """The groups of parts that are merged from both ends to the largest, which has number 0, by ascending number."""
    usual = int(sizes.argmax())
    number = np.zeros(len(sizes), np.int64)
    for parts, first in ((range(usual), -len(sizes)), (range(len(sizes) - 1, usual, -1), len(sizes))):
        size, group = 0.0, first
        for part in parts:
            number[part], size = group, size + sizes[part]
            if size >= least:
                size, group = 0.0, group + parts.step
        number[number == group] = 0  # what is left joins the largest
    return number


# --- Differences between counting runs, with errors that make use of the cards that they have in common.
#
# Shoe number k of block b has the same cards in all runs of one seed and full shoe, whatever is played and
# however deep it is dealt. Errors of estimates are sums over shoes (`CountRun.errors`); runs keep them for units of a
# few shoes. The variance of a difference is the sum over the units of the squared differences of the errors. Units that
# only one of the runs has, or that have fewer shoes there, count as independent.


def has_common_cards(one: CountRun, other: CountRun) -> bool:
    """Whether two runs are one, or were dealt the same shoes and kept the sums by unit that a comparison needs."""
    same = one.seed == other.seed and one.game.rules.shoe_counts == other.game.rules.shoe_counts
    return one is other or (same and one.units is not None and other.units is not None)


def difference_error(one: CountRun, slopes: Floats, other: CountRun, other_slopes: Floats) -> float:
    """Compute the standard error of the difference between the figures of two runs.

    `slopes` are the derivatives of a figure by the estimates of its run's table, one for each row of
    `returns.error`. The error is that of independent runs if the cards are not in common.
    """
    if one is other:
        return _own_error(one, other_slopes - slopes)
    if not has_common_cards(one, other):
        return math.hypot(_own_error(one, slopes), _own_error(other, other_slopes))
    (first, shoes), (second, other_shoes) = _unit_errors(one, slopes), _unit_errors(other, other_slopes)
    width, other_width = shoes[0, 0], other_shoes[0, 0]
    while width < other_width:  # the longer run has added up neighbouring blocks
        first, shoes, width = _add_neighbours(first), _add_neighbours(shoes), 2 * width
    while other_width < width:
        second, other_shoes, other_width = _add_neighbours(second), _add_neighbours(other_shoes), 2 * other_width
    size = np.maximum(shoes.shape, other_shoes.shape)
    first, shoes, second, other_shoes = (_pad(part, size) for part in (first, shoes, second, other_shoes))
    return math.sqrt(np.where(shoes == other_shoes, (second - first) ** 2, first**2 + second**2).sum())


def _own_error(run: CountRun, slopes: Floats) -> float:
    assert run.returns.error is not None
    return math.sqrt(max(float(slopes @ run.returns.error @ slopes), 0.0))


def _unit_errors(run: CountRun, slopes: Floats) -> tuple[Floats, Floats]:
    """The error of a figure by unit, and the shoes of the units, both (rows, U)."""
    assert run.units is not None
    return run.units.sums @ (slopes @ run.errors), run.units.shoes.astype(float)


def _add_neighbours(rows: Floats) -> Floats:
    even = _pad(rows, np.array([len(rows) + len(rows) % 2, rows.shape[1]]))
    return even[::2] + even[1::2]


def _pad(rows: Floats, size: Ints) -> Floats:
    return np.pad(rows, [(0, int(more)) for more in size - rows.shape])

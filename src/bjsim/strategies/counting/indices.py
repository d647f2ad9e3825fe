"""Index generation: where each departure from the chart pays, for any rules, tags and conventions.

Method. For true counts from low to high, the exact solver evaluates every choice of a chart (`choices`) in the expected
composition of the unseen cards (`typical`), with the rest of the round played by the best chart of that composition. A
choice is assigned the true count at the moment of the decision: that before the round, changed by the cards that are
then seen. Between these counts gains are interpolated. Depths are equally likely from the full shoe to the cut, and
at each depth the running count is nearly normal; every running count then has the count that the conventions of the
system (divisor, rounding) make of it. An index is the count from which on (or below which) taking the action yields
most, and its gain is what that yields more than the chart of the full shoe.

A risk-averse index maximises the certainty equivalent instead: with the bet that is best for it at each count without
limits, an action must gain more than EV / (2 variance) times the mean square that it adds, whatever the Kelly fraction.
Its reported gain is in EV all the same. Insurance is not made risk-averse.

What is neglected: the composition is not only its mean (second order), gains depend a little on the depth, and indices
are for one player alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from bjsim.arguments import argument
from bjsim.arrays import Floats, Ints
from bjsim.errors import InputError
from bjsim.report.data import Described
from bjsim.report.parts import DataColumn, DataTable, Notes, Only, Report, Section
from bjsim.sim.game.actions import CODES
from bjsim.sim.game.cards import TEN
from bjsim.sim.game.events import game_text
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.departures import Departures, departed_cells
from bjsim.strategies.counting.ramp import BetLimits, Ramp, score
from bjsim.strategies.counting.returns import (
    CountSpread,
    RampReturns,
    chart_returns,
    count_spread,
    dealt_share,
    highest_score,
    mean_unseen,
    ramp_returns,
)
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.tables import CountingGame, check_counts
from bjsim.strategies.counting.typical import decks_to_count, remaining, tag_moments, typical_shoe
from bjsim.strategies.evaluation.compare import best_chart, solve
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.formats.plays import INSURANCE, Departure
from bjsim.strategies.shoe.charts import ColumnCharts
from bjsim.strategies.shoe.deviation import Squares
from bjsim.strategies.shoe.game import ACTIONS
from bjsim.strategies.shoe.passes import Play
from bjsim.strategies.shoe.solver import ShoeSolver
from bjsim.sums import add_up

# --- The choices of a chart in one shoe: what each action gains over the best one below it.
#
# A cell of a chart is a pile of choices: surrender over split over double over stand or hit. Each choice compares one
# action with the best of those below it, over the hands of the row that may take the action:
#
#     gain = sum over hands of  visits x [EV of the action - EV of the best action below]  /  visits
#
# where the rest of the hand is played by the best chart of this shoe. Of stand and hit, stand is the action.


BELOW = {"S": "H", "D": "SH", "P": "SHD", "R": "SHDP"}  # what each action is compared with
SELDOM = 1e-9  # weight of hands that play does not reach, so that their cells have values too


class ChoiceKey(NamedTuple):
    """A choice: the row and the column of a chart, and the action."""

    row: str
    column: str
    action: str


@dataclass(frozen=True)
class Choice:
    """A choice in one shoe."""

    gain: float  # EV of the action less that of the best one below it, in initial bets, per hand facing the choice
    # mean square of the profit of the action less that of the best one below it; on request, else 0. That of a split
    # includes the products of the profits of its hands only on request.
    risk: float
    weight: float  # hands per round that face the choice
    decided: float  # hands per round that it decides, because no action above it is better
    cards: float  # mean number of cards of the hand and of the dealer that are seen
    tags: float  # mean sum of their tags; `tag_variance` is the variance of that sum
    tag_variance: float


def find_choices(
    solver: ShoeSolver, tags: Sequence[float], risk: bool = False, products: bool = False
) -> dict[ChoiceKey, Choice]:
    """Evaluate all choices of a chart in a shoe; `tags` are those of A, 2..9, T, for `Choice.tags`.

    `risk` asks for `Choice.risk`; `products` includes in it the products of the profits of split hands, which
    takes seconds and is refused where tens are split by rank.
    """
    found: dict[ChoiceKey, Choice] = {}
    for charts in solver.column_charts():
        sums = _ColumnSums.of(charts, np.asarray(tags, np.float64), risk, products)
        for row, options in charts.options.rows.items():
            kinds = charts.options.kinds[options[0]]
            found.update(_row_choices(charts, sums, row, kinds))
    return found


@dataclass
class _ColumnSums:
    """Sums over the nodes of each kind, weighted by visits: EV and squares by action; plays, cards, tags, tags^2."""

    ev: Floats
    squares: Floats
    plays: Floats
    cards: Floats
    tags: Floats
    tags2: Floats

    @classmethod
    def of(cls, charts: ColumnCharts, tags: Floats, risk: bool, products: bool) -> _ColumnSums:
        analysis, shoe = charts.analysis, charts.analysis.shoe
        plays = charts.best_plays
        reached = zip(charts.all_visits(plays), map(charts.prior_visits, charts.starts), strict=True)
        visits = [actual + SELDOM * prior for actual, prior in reached]
        size = len(charts.kinds)
        sums = cls(charts.by_action(plays, visits), np.zeros((size, ACTIONS)), *np.zeros((4, size)))
        if risk:
            sums._add_squares(charts, plays, visits, products)
        for start, chance, visited in zip(charts.starts, charts.chances, visits, strict=True):
            known = shoe.game.dealer.known[start]
            weight = (chance * visited * analysis.shown(start).plays)[:-1]
            sums.plays += np.bincount(shoe.kind, weight, size)
            sums.cards += np.bincount(shoe.kind, weight * (shoe.nodes.sizes + known.sum()), size)
            seen = tags @ (shoe.nodes.counts + known[:, None])
            sums.tags += np.bincount(shoe.kind, weight * seen, size)
            sums.tags2 += np.bincount(shoe.kind, weight * seen**2, size)
        return sums

    def _add_squares(
        self, charts: ColumnCharts, plays: Sequence[Play], visits: Sequence[Floats], products: bool
    ) -> None:
        shoe, squares = charts.analysis.shoe, Squares(charts.analysis)
        pairs = shoe.layout.pairs
        for start, chance, play, visited in zip(charts.starts, charts.chances, plays, visits, strict=True):
            weight, square = chance * visited, squares.follow(start, play.act)
            squares.shown(start).gains(weight, square.value, self.squares)
            if products:
                for value in np.flatnonzero(np.isfinite(square.split)).tolist():
                    square.split[value] += squares.products(start, value, play)
            splits = weight[pairs:-1] * np.nan_to_num(square.split)
            np.add.at(self.squares[:, CODES["P"]], shoe.kind[pairs:], splits)


def _row_choices(charts: ColumnCharts, sums: _ColumnSums, row: str, kinds: Ints) -> Iterator[tuple[ChoiceKey, Choice]]:
    """Yield the choices of one row, those of higher priority first."""
    legal = {action: np.array([action in charts.kinds[kind].legal for kind in kinds]) for action in "SHDPR"}
    better = np.zeros(len(kinds), bool)  # kinds with a better action above
    for action in "RPDS":
        able = legal[action] & legal["H" if action == "S" else "S"]
        members = kinds[able]
        plays = float(sums.plays[members].sum())
        if plays <= 0:
            continue
        ev, squares = (values[members].sum(axis=0) / plays for values in (sums.ev, sums.squares))
        below = max((CODES[other] for other in BELOW[action] if legal[other][able].all()), key=ev.__getitem__)
        own = CODES[action]
        cards, tags, tags2 = (float(values[members].sum()) / plays for values in (sums.cards, sums.tags, sums.tags2))
        gain, risk = float(ev[own] - ev[below]), float(squares[own] - squares[below])
        decided = float(sums.plays[kinds[able & ~better]].sum())
        choice = Choice(gain, risk, plays, decided, cards, tags, max(tags2 - tags**2, 0.0))
        yield ChoiceKey(row, charts.column, action), choice
        if ev[own] > ev[below]:
            better |= able


STEP = 2.0  # true counts of Hi-Lo between two evaluations; gains are nearly linear
HILO_VARIANCE = 10 / 13  # of its tags
SMALLEST = 1e-9  # smaller gains per round are rounding


@dataclass(frozen=True)
class Index:
    """An index play and what it gains."""

    departure: Departure  # its count is in the units of the system, rounded by its conventions
    break_even: float  # the true count where the action and its alternative are equally good, not rounded
    gain: float  # expected gain per round over the chart of the full shoe, in initial bets
    gain_bets: float  # the same, weighted by the bets of a ramp, in units


@dataclass(frozen=True)
class _Curve:
    """A choice as a function of the true count at the decision, which is `true`.

    gain, weight, decided: those of `Choice`. merit: the gain, less the price of risk if indices are risk-averse. taken:
    whether the chart of the full shoe takes the action. seen, drawn: arguments of `count_spread`: cards, tags and
    their variance in the full shoe, and how many of the cards may be any.
    """

    true: Floats
    gain: Floats
    merit: Floats
    weight: Floats
    decided: Floats
    taken: bool
    seen: tuple[float, float, float]
    drawn: int = 0

    def at(self, true: Floats, values: Floats, linear: bool = False) -> Floats:
        """Interpolate values. Beyond the ends, they are constant, or continue the line of the last two."""
        found: Floats = np.interp(true, self.true, values)
        if linear:
            for outside, end, inner in ((true < self.true[0], 0, 1), (true > self.true[-1], -1, -2)):
                slope = (values[end] - values[inner]) / (self.true[end] - self.true[inner])
                found[outside] += slope * (true[outside] - self.true[end])
        return found

    @property
    def sign_changes(self) -> Ints:
        """The positions before each change of sign of the merit."""
        return np.flatnonzero(self.merit[:-1] * self.merit[1:] <= 0)

    def break_even(self, near: float) -> float:
        """Return the true count where the merit changes sign, the nearest one to `near`."""
        change = self.sign_changes
        low, high = self.merit[change], self.merit[change + 1]
        span = np.where(low == high, 1.0, low - high)
        roots = self.true[change] + (self.true[change + 1] - self.true[change]) * low / span
        return float(roots[np.argmin(abs(roots - near))])


def generate_indices(
    rules: Rules,
    system: CountingSystem,
    *,
    limit: float = 10,
    risk_averse: bool = False,
    ramp: Ramp | None = None,
    on_count: Callable[[int, int], object] = lambda done, total: None,
) -> list[Index]:
    """Generate all index plays of a game, insurance included if offered, by descending gain weighted by the bets.

    Choices are evaluated at the mean depth. Indices beyond the true count `limit` of Hi-Lo, above or below 0, are not
    sought; the counts of other systems are as much larger as their tags are.
    Indices maximise EV, or the certainty equivalent if they are `risk_averse`. `ramp` weights `gain_bets`, by default
    one unit. `on_count` gets the true counts evaluated, and all. The shoe must be finite, and one that can be solved.
    """
    decks, dealt, system = decks_to_count(rules), dealt_share(rules), system.replace(deck=rules.deck)
    unseen = mean_unseen(rules.shoe_size, dealt)
    scale = math.sqrt(tag_moments(system, system.in_deck)[1] / HILO_VARIANCE)
    counts, limit = scale * np.arange(-limit - STEP, limit + STEP + 1, STEP), scale * limit
    curves = _curves(rules, system, unseen, counts, risk_averse, on_count)
    if rules.insurance:
        curves[ChoiceKey(INSURANCE, "", "I")] = _insurance_curve(system, decks, limit)
    found = []
    for key, curve in curves.items():
        if not len(curve.sign_changes):
            continue
        index = _index(key, curve, count_spread(system, decks, dealt, *curve.seen, curve.drawn), ramp, limit)
        if index is not None:
            found.append(index)
    return sorted(found, key=lambda index: -index.gain_bets)


def price_of_risk(ev: float, variance: float) -> float:
    """What a unit of mean square must gain to raise the certainty equivalent at the best bet, or at none if EV < 0."""
    return max(ev, 0.0) / variance / 2


def _curves(
    rules: Rules,
    system: CountingSystem,
    unseen: int,
    counts: Floats,
    risk_averse: bool,
    on_count: Callable[[int, int], object],
) -> dict[ChoiceKey, _Curve]:
    check_counts(system, int(rules.decks))
    deck = system.deck_size
    mean_tag, tags = float(system.imbalance) / deck, [float(tag) for tag in system.tags]
    full = ShoeSolver(rules)
    base, products, variance = find_choices(full, tags, risk_averse), {}, math.inf
    if risk_averse:  # the products of the profits of split hands hardly depend on the count
        variance = full.sd**2
        whole = find_choices(full, tags, risk_averse, products=True)
        products = {key: whole[key].risk - choice.risk for key, choice in base.items()}
    points: dict[ChoiceKey, list[tuple[float, ...]]] = {key: [] for key in base}
    for number, count in enumerate(counts.tolist()):
        on_count(number, len(counts))
        solver = ShoeSolver(rules, typical_shoe(system, int(rules.decks), unseen, count))
        price = price_of_risk(solver.value, variance)
        for key, choice in find_choices(solver, tags, risk_averse).items():
            if key not in base:
                continue
            true = count
            if system.timing == "decision":
                running = count * unseen / deck + choice.tags - choice.cards * mean_tag
                true = running * deck / (unseen - choice.cards)
            merit = choice.gain - price * (choice.risk + products.get(key, 0.0))
            points[key].append((true, choice.gain, merit, choice.weight, choice.decided))
    curves = {}
    for key, rows in points.items():
        if rows:
            true, gain, merit, weight, decided = np.array(rows).T
            choice = base[key]
            seen = choice.cards, choice.tags, choice.tag_variance
            curves[key] = _Curve(true, gain, merit, weight, decided, choice.gain > 0, seen)
    return curves


def _insurance_curve(system: CountingSystem, decks: int, limit: float) -> _Curve:
    """Insurance of half the bet, given the dealer's ace, by the line of the expected tens."""
    counts = remaining(decks, "A", system.deck)
    mean, variance = tag_moments(system, counts)
    true = np.linspace(-limit, limit, 41)
    mean_tags = (float(system.imbalance) - true) / system.deck_size
    tens = counts[TEN] / sum(counts) * (1 + (float(system.tags[TEN]) - mean) * (mean_tags - mean) / variance)
    average, spread = tag_moments(system, system.in_deck)
    aces = (1 - (float(system.tags[0]) - average) * true / system.deck_size / spread) * system.in_deck[0]
    aces /= system.deck_size
    gain, weight = (3 * tens - 1) / 2, np.maximum(aces, 0)
    return _Curve(true, gain, gain, weight, weight, False, (3.0, float(system.tags[0]) + 2 * average, 0.0), drawn=2)


def _index(key: ChoiceKey, curve: _Curve, spread: CountSpread, ramp: Ramp | None, limit: float) -> Index | None:
    """Return the best index of one choice, or None if one action is best at all counts."""
    counts, where = np.unique(spread.count, return_inverse=True)
    merit = spread.chance * curve.at(spread.true, curve.merit, linear=True) * curve.at(spread.true, curve.weight)
    sums = np.bincount(where, merit)
    below = np.concatenate([[0.0], np.cumsum(sums)])
    above = below[-1] - below
    rising = above.max() >= below.max()
    at = int(np.argmax(above if rising else below))
    if at in (0, len(counts)):
        return None
    here = spread.count == counts[at]
    break_even = curve.break_even(float(np.average(spread.true[here], weights=spread.chance[here])))
    taken = (spread.count >= counts[at]) == rising
    decided = spread.chance * curve.at(spread.true, curve.decided) * (taken * 1.0 - curve.taken)
    gained = decided * curve.at(spread.true, curve.gain, linear=True)
    if not abs(break_even) <= limit or decided @ curve.at(spread.true, curve.merit, linear=True) < SMALLEST:
        return None
    count = Fraction(float(counts[at])).limit_denominator(60)
    departure = Departure(key.row, key.column, key.action, ">=" if rising else "<", count)
    bets = np.array(ramp.units(spread.before)) if ramp else np.ones(len(gained))
    return Index(departure, break_even, float(gained.sum()), float(gained @ bets))


def generate_departures(rules: Rules, system: CountingSystem, chart: Chart) -> tuple[Departure, ...]:
    """Generate the index plays that make a chart best at every count, insurance included, by descending gain.

    `Departures` accepts them over the chart. The shoe must be finite and solvable.
    """
    return select_departures(generate_indices(rules, system), chart)


def adapt_departures(
    plays: Sequence[Departure], rules: Rules, system: CountingSystem, chart: Chart
) -> tuple[Departure, ...]:
    """Make index plays those of another counting system: the same plays, at the counts generated for it.

    Those that never pay are left out. The shoe is limited as in `generate_departures`.
    """
    wanted = {(play.row, play.column, play.action) for play in plays}
    generated = generate_departures(rules, system, chart)
    return tuple(play for play in generated if (play.row, play.column, play.action) in wanted)


def select_departures(indices: Sequence[Index], chart: Chart) -> tuple[Departure, ...]:
    """Return the index plays that a chart can combine, those of higher gain first.

    S and D are left out for pairs that the chart splits, which are played as their total where they are not split. S is
    left out for hands that the chart doubles if no index play says when to double, as they would never double.
    """
    cells = {(index.departure.row, index.departure.column, index.departure.action) for index in indices}
    chosen: list[Departure] = []
    for index in indices:
        play = index.departure
        code = chart.cells.get((play.row, play.column), "")
        splits = code[:1] == "P" or code == "Rp"
        doubles = code[:1] == "D" and (play.row, play.column, "D") not in cells
        if (splits and play.action in "SD") or (doubles and play.action == "S"):
            continue
        try:
            Departures(chart, (*(own for own in chosen if (own.row, own.column) == (play.row, play.column)), play))
        except InputError:  # such as a double and a surrender in one cell
            continue
        chosen.append(play)
    return tuple(chosen)


# --- What index plays add to the SCORE of a counter's bets.


@dataclass(frozen=True)
class IndexScores(Described):
    """The index plays `found` for a `system`, and those `played` as its `chart` can combine them.

    `ramp` is what the `bets` return without any; `bets_text` is what they are, in words.
    """

    found: Sequence[Index]
    played: Sequence[Departure]
    ramp: RampReturns
    system: CountingSystem
    chart: Chart
    bets: Ramp
    bets_text: str

    def gain(self, index: Index) -> float:
        """What an index play adds to the SCORE of the chart alone, to first order: by what it adds to the EV."""
        return score(self.ramp.ev + index.gain_bets, self.ramp.sd) - score(self.ramp.ev, self.ramp.sd)

    @property
    def scores(self) -> tuple[float, float]:
        """The SCORE with the chart alone, and with all index plays that it can combine; their gains in EV add up."""
        gained = add_up(index.gain_bets for index in self.found if index.departure in self.played)
        return score(self.ramp.ev, self.ramp.sd), score(self.ramp.ev + gained, self.ramp.sd)

    def describe(self) -> Report:
        """The index plays with their gains, and the chart with those that it can combine."""
        alone, together = self.scores
        rules = self.chart.rules
        text = f"SCORE of these bets, computed: {alone:.2f} with the chart alone, {together:.2f} with these index plays"
        parts = [self.table(), Only("page", self._chart)]
        lines = [game_text(rules), text]
        title = f"Index plays of {self.system.full_title} in {rules.name}"
        return Report(title, lines, parts, [rules], data=self._data)

    def table(self) -> DataTable:
        """The index plays with what they gain."""
        gain = "gain, units per million rounds"
        columns = [
            DataColumn("play", "index play", lambda one: str(one.departure), is_text=True),
            *(
                DataColumn(name, "", attrgetter(f"departure.{name}"))
                for name in ("row", "column", "action", "operator")
            ),
            DataColumn("count", "", lambda one: float(one.departure.count)),
            DataColumn("break_even", "break-even true count", attrgetter("break_even"), "{:+.2f}".format),
            DataColumn("gain", gain, attrgetter("gain"), _per_million),
            DataColumn("gain_bets", f"with bets {self.bets_text}", attrgetter("gain_bets"), _per_million),
            DataColumn("gain_score", "gain in SCORE", self.gain, "{:.3f}".format),
        ]
        return DataTable("indices", columns, self.found)

    def _chart(self) -> list[Any]:
        """The chart with the index plays in its cells."""
        cells = departed_cells(self.chart, self.played)
        labels = {cell: short_counts(self.chart.cells[cell], found) for cell, found in cells.items()}
        others = {cell: found[0][0] for cell, found in cells.items()}
        valued = ValuedChart.of_best(solve(self.chart.rules)).with_others(others)
        insured = [("I", f"{play.operator} {play.count}") for play in self.played if play.row == INSURANCE]
        about = "Framed: above, what the chart does; below, what is better at these counts, rounded as the system says."
        notes = [about, *(f"Insurance: at {short_counts('', [found])}." for found in insured)]
        chart = valued.part(numbers="costs", labels=labels, means="at other counts:")
        return [Section("The chart with these index plays"), Notes(notes, "dim"), chart]

    def _data(self) -> dict[str, Any]:
        alone, together = self.scores
        return {
            "bets": [{"count": float(count), "units": float(bet.units)} for count, bet in self.bets.steps],
            "ev_chart": self.ramp.ev,
            "sd_chart": self.ramp.sd,
            "score_chart": alone,
            "score_all": together,
        }


def _per_million(gain: float) -> str:
    return f"{1e6 * gain:,.1f}"


def find_indices(
    rules: Rules,
    counting: CountingSystem,
    bets: Ramp,
    optimal: BetLimits | None = None,
    top: int | None = None,
    say: Callable[..., object] = lambda *progress: None,
    **options: Any,
) -> IndexScores:
    """The index plays of a game with their gains, weighted by bets, or by the ramp that is best between `optimal`."""
    if rules.free_bets:
        raise InputError("free bets have no standard deviation for the SCORE; use bjsim count --indices generate")
    chart = best_chart(rules)
    CountingGame(rules, counting, Departures(chart, ()))  # refuses games in which `bjsim count` cannot play them
    say("returns of the chart by count")
    table, text = chart_returns(rules, counting, chart), str(bets)
    if optimal:
        bets, text = highest_score(table, optimal.least, optimal.most), f"{optimal}, best SCORE"
    units = bets.units(table.counts)
    if not any(units):
        raise InputError(
            f"{argument('ramp', text)} has no bet at the counts of this game, {table.counts[0]:g} to "
            f"{table.counts[-1]:g}; bet at one of them"
        )
    progress = partial(say, "choices by count")
    found = generate_indices(rules, counting, ramp=bets, on_count=progress, **options)[:top]
    return IndexScores(found, select_departures(found, chart), ramp_returns(table, units), counting, chart, bets, text)


def short_counts(base: str, found: Sequence[tuple[str, str]]) -> str:
    """The counts at which codes replace `base`, in few characters: `≥+4`; further ones with what they change."""
    texts = []
    for number, (code, counts) in enumerate(found):
        sign, _, count = counts.partition(" ")
        letter = code[-1].upper() if code[0] == base[:1] else code[0]
        signed = count if count[0] in "-0" else f"+{count}"
        texts.append(letter * (number > 0) + {">=": "≥", "<=": "≤"}.get(sign, sign) + signed)
    return " ".join(texts)

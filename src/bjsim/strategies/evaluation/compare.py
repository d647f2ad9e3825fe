"""Comparing rule sets: how the value of the game and the best chart change with the rules."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from bjsim.arguments import argument
from bjsim.errors import InputError
from bjsim.report.data import Described
from bjsim.report.parts import DataColumn, DataTable, Figures, Notes, Only, Report, Section, Value, percent
from bjsim.sim.game.actions import ATTACK, NAMES
from bjsim.sim.game.events import format_decks, game_text
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import (
    ATTACK_ROW,
    ELSE,
    INSURANCE_ROW,
    Chart,
    WrongCell,
    chart_codes,
    parse_row,
    row_order,
)
from bjsim.strategies.evaluation.valued_chart import ValuedChart, point_at_cells
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.solver import ShoeSolver
from bjsim.strategies.solution import Solution
from bjsim.sums import add_up

# --- The solution of a game: in its own shoe, or in the infinite one if a finite shoe has no exact value.


logger = logging.getLogger(__name__)

KEPT = 8  # solutions, the least recently used leave first; one of splits to four hands holds about 30 MB


def solve(rules: Rules) -> Solution:
    """The solution of a game, decks included; in an infinite shoe if `Solution.refusal` gives a reason."""
    refusal = _refusal(_as_solved(rules))
    return Solver(rules, refusal=refusal) if refusal else in_its_shoe(rules)


def solve_exactly(rules: Rules, shoe: Mapping[str, int] | None = None) -> Solution:
    """The solution of a game in its own shoe, or one of these cards. Raises: InputError: It has none."""
    if shoe is not None:
        return of_cards(rules, shoe)
    solution = solve(rules)
    if solution.refusal:
        raise InputError(solution.refusal)
    return solution


def of_cards(rules: Rules, shoe: Mapping[str, int]) -> ShoeSolver:
    """The solution in a shoe of these cards. Raises: InputError: The shoe was made infinite, or cannot be solved."""
    if rules.infinite and not (rules.name in PRESETS and PRESETS[rules.name].rules.infinite):
        shown = argument("shoe")
        raise InputError(f"{shown} counts the cards of a finite shoe, and decks = inf has none; leave out one of them")
    return ShoeSolver(rules, shoe)


def in_its_shoe(rules: Rules) -> Solution:
    """Return the solution in the game's own shoe, even if its best chart has no exact value there."""
    return _kept(_as_solved(rules)).with_rules(rules)


def best_chart(rules: Rules) -> Chart:
    """The best chart of a game, decks included; that of the infinite shoe, with one warning, if there is no other."""
    return replace(_best_chart(_as_solved(rules)), rules=rules)


# Rules that change neither the best chart nor the value of any; their values do not matter.
WITHOUT_VALUE = dict(cut=1, raises=False, seats=1, turns="in-turn", buy_in=10, chips=200, move_cap=100)


def _as_solved(rules: Rules) -> Rules:
    return rules.replace(name="", **WITHOUT_VALUE)


@lru_cache(maxsize=KEPT)
def _kept(rules: Rules) -> Solution:
    return Solver(rules) if rules.infinite else ShoeSolver(rules)


@lru_cache(maxsize=256)
def _refusal(rules: Rules) -> str:
    try:
        _ = _kept(rules).chart, _kept(rules).value
    except InputError as error:
        return str(error)
    return ""


@lru_cache(maxsize=256)
def _best_chart(rules: Rules) -> Chart:
    solution = solve(rules)
    if solution.refusal:
        logger.warning(
            "the best chart is that of an infinite shoe, as the finite one is not solved: %s", solution.refusal
        )
    return solution.chart


class Change(NamedTuple):
    """A cell where the best charts of two games differ.

    A chart without the row plays its hands by their total: `15/4` as 15, `88` as 16.
    """

    row: str
    column: str
    before: str
    after: str


@dataclass(frozen=True)
class Compared:
    """A game compared with the first one: best play in a freshly shuffled shoe of its decks.

    Attributes:
        rules: The game.
        value: The value of its best chart, in initial bets per settled bet.
        difference: Its value less that of the first game; NaN if either has the value of an infinite shoe in
            place of its own, unless both do and have as many decks.
        sd: Standard deviation per round, in initial bets; NaN if it is not known.
        changes: The cells in which the best charts differ; None if the dealer shows different cards in the two games,
            so that the columns cannot be compared.
        only: Rows for totals that only one of the two charts has.
        refusal: Why its figures are for an infinite shoe although it has a finite one, as a message; else empty.
    """

    rules: Rules
    value: float
    difference: float
    sd: float
    changes: tuple[Change, ...] | None
    only: tuple[str, ...]
    refusal: str = ""

    def __repr__(self) -> str:
        changes = "other columns" if self.changes is None else f"{len(self.changes)} changed cells"
        return f"Compared({self.rules}, value {self.value:+.6f}, difference {self.difference:+.6f}, {changes})"


def compare(games: Sequence[Rules], on_game: Callable[[int], object] = lambda done: None) -> list[Compared]:
    """Compare every game with the first, which is included; `on_game` gets the number solved, after each."""
    found: list[tuple[Compared, Chart]] = []
    for rules in games:
        solution = solve(rules)
        try:
            sd = solution.sd
        except InputError:
            sd = math.nan
        alone = Compared(rules, float(solution.value), 0.0, sd, (), (), solution.refusal)
        found.append((alone, solution.chart))
        on_game(len(found))
    return [_compared(*found[0], *other) for other in found]


def differ_in_cut_alone(games: Sequence[Rules]) -> bool:
    """Whether some of these games differ only in their cut, which no exact value depends on."""
    return len({rules.replace(cut=1) for rules in games}) < len(set(games))


def difference(first: Compared | Solution, other: Compared | Solution) -> float:
    """The value of a game less that of the first; NaN as in `Compared`."""
    one, two = ((each.refusal and each.rules.decks) for each in (first, other))
    value, before = float(other.value), float(first.value)
    return math.nan if one != two else 0.0 if value == before else value - before


def _compared(first: Compared, best: Chart, other: Compared, chart: Chart) -> Compared:
    """A game, whose best chart is `chart`, next to the first one."""
    first_rows, other_rows = ({row for row, _ in each.cells} for each in (best, chart))
    rows = sorted(first_rows | other_rows, key=row_order)
    totals = {parse_row(row).total for row in first_rows} & {parse_row(row).total for row in other_rows}
    comparable = best.states.columns == chart.states.columns
    return replace(
        other,
        difference=difference(first, other),
        changes=tuple(_changes(best, chart, rows)) if comparable else None,
        only=tuple(row for row in rows if parse_row(row).total not in totals),
    )


def _changes(first: Chart, other: Chart, rows: Sequence[str]) -> Iterator[Change]:
    if first.insurance != other.insurance:  # a game that does not offer it is as one in which it is declined
        yield Change(INSURANCE_ROW, "A", first.insurance, other.insurance)
    for column in other.states.columns:
        attack, later = (chart.policy(HandState(), column, ATTACK) for chart in (first, other))
        if attack != later:
            yield Change(ATTACK_ROW, column, attack, later)
    for row in rows:
        for column in other.states.columns:
            before, after = (_code(chart, row, column) for chart in (first, other))
            if before and after and before != after:
                yield Change(row, column, before, after)


def _code(chart: Chart, name: str, column: str) -> str | None:
    """The chart's code for the hands of a row, by their total if it lacks the row; None if it has neither."""
    code = chart.cells.get((name, column))
    if code:
        return code
    row = parse_row(name)
    if row.stake > 1:
        return "S"
    code = chart.cells.get((row.total, column))
    if code is None or row.fresh or row.counted == "free" or code[0] in chart.states.legal(row.hand._replace(cards=3)):
        return code
    return "H" if code == "P" else code[-1].upper()  # what it names for hands of three cards that may not do it


# --- The value of a chart next to that of the best chart, and the cost of each wrong cell.


cost = partial(percent, digits=6, sign="")
CELLS = (
    DataColumn("row", "hand", lambda cell: cell.row, is_text=True),
    DataColumn("column", "dealer", lambda cell: cell.column, is_text=True),
    DataColumn("chart", "chart", lambda cell: cell.chart, is_text=True),
    DataColumn("best", "best", lambda cell: cell.best, is_text=True),
    DataColumn("cost", "cost", lambda cell: cell.cost, cost),
    DataColumn("alone", "alone", lambda cell: cell.alone, cost),
)
LISTED = 25  # wrong cells listed in the terminal; the JSON has all of them


@dataclass(frozen=True)
class Evaluation(Described):
    """A chart compared with the best chart of its game, in a freshly shuffled shoe of its decks.

    Attributes:
        chart: The chart that is evaluated.
        solution: The solution of the game.
        value: Value of the chart, in initial bets per settled bet.
        best: Value of the best chart, in initial bets per settled bet.
        cells: The wrong cells, the most expensive first; see `Solution.costs`.
        codes: The chart's code for every (row, column) of the game, with the most specific rows.
    """

    chart: Chart
    solution: Solution = field(compare=False)
    value: float
    best: float
    cells: tuple[WrongCell, ...]
    codes: Mapping[tuple[str, str], str]

    def __repr__(self) -> str:
        wrong = f"{len(self.cells)} wrong cell{'s' * (len(self.cells) != 1)}"
        name, values = self.chart.name, f"value {self.value:+.6f}, best {self.best:+.6f}"
        return f"Evaluation({name!r}, {self.chart.rules}, {values}, {wrong})"

    def describe(self) -> Report:
        """The values of both charts, the chart with its wrong cells, and how their costs add up."""
        rules, best = self.chart.rules, self.benchmark
        wrong = {(cell.row, cell.column): (cell.best, cell.cost) for cell in self.cells}
        chart = ValuedChart.of_codes(self.solution, self.codes, wrong)
        of_bet = partial(percent, digits=6, unit="% of the bet")
        figures = [
            Value("value", "value of the chart", self.value, of_bet),
            Value("best", f"value of {best}", self.best, of_bet),
            Value("difference", "difference", self.difference, partial(cost, unit="% of the bet")),
            Value("", "wrong cells", len(self.cells)),
            *(Value(key, "", getattr(self, key)) for key in ("costs", "remainder", "second_order")),
        ]
        framed = f"Framed: differs from {best}, whose code is after the arrow; below it is the cost in % of the bet."
        parts = [
            Figures(figures),
            Section("The chart"),
            Only("page", lambda: [Notes([framed] if wrong else [], "dim")]),
            point_at_cells(self.solution),
            chart.part(numbers="costs", marked=f"differs from {best}" if wrong else "", means="best:"),
            *([Section("The wrong cells")] if wrong else []),
            DataTable("cells", CELLS, self.cells, listed=LISTED),
            Notes(self._cost_lines()),
        ]
        name = self.chart.name
        shoe = "inf" if self.solution.infinite else int(rules.decks)
        data = {"chart": name, "rules": rules.to_dict(), "shoe": shoe}
        return Report(f"{Path(name).name} in {rules.name}", self._about(), parts, [rules], data=lambda: data)

    def _about(self) -> list[str]:
        """The game, and where its values are not what one expects, why."""
        rules = self.chart.rules
        lines = [game_text(rules)]
        if self.refusal:
            why = self.refusal.replace(self.chart.name, Path(self.chart.name).name)
            lines.append(
                f"All values are for an infinite shoe, since {why}. {rules.name} is played with {format_decks(rules)}, "
                "where a cell marked as wrong may be right."
            )
        elif not self.solution.infinite and not rules.fresh:
            lines.append(f"All values are for the first round of {format_decks(rules)}.")
        return [*lines, *filter(None, [self.solution.infinite_because])]

    @property
    def benchmark(self) -> str:
        """The chart that is compared with, in words."""
        return "the infinite-shoe chart" if self.refusal else "the best chart"

    def _cost_lines(self) -> list[str]:
        """How the costs of the wrong cells add up, in words."""
        if not self.cells:
            decks = format_decks(self.chart.rules)
            other = f"all cells equal those of that chart; another chart may be better with {decks}"
            return [other if self.refusal else "no cell differs: this is the best chart"]
        if not math.isfinite(self.difference):
            return ["an infinite difference cannot be divided among cells"]
        within = "in an infinite shoe " if self.refusal else ""
        cells = "1 wrong cell costs" if len(self.cells) == 1 else f"{len(self.cells)} wrong cells cost"
        lines = [
            f"{within}{cells} {cost(self.costs)} in total; the charts differ by {cost(self.difference)}, remainder "
            f"{cost(self.remainder)}",
            f"each alone in {self.benchmark}: {cost(self.difference - self.second_order)} in total; interaction "
            f"between the cells: {cost(self.second_order)}",
        ]
        if second := [cell for cell in self.cells if cell.chart[0] == cell.best[0] in ELSE]:
            counts = ", ".join(f"{cell.row} v {cell.column} {cell.chart} → {cell.best}" for cell in second)
            able = " or ".join(NAMES[letter] for letter in sorted({cell.best[0] for cell in second}))
            lines.append(f"{counts}: the second letter counts for hands that may not {able}")
        return lines

    @property
    def best_chart(self) -> Chart:
        """The best chart."""
        return self.solution.chart

    @property
    def refusal(self) -> str:
        """Why everything is for an infinite shoe although the game has a finite one, as a message; else empty."""
        return self.solution.refusal

    @property
    def difference(self) -> float:
        """The value of the best chart less that of the chart."""
        return 0.0 if self.best == self.value else self.best - self.value

    @property
    def costs(self) -> float:
        """The sum of the costs of all wrong cells."""
        return add_up(cell.cost for cell in self.cells)

    @property
    def remainder(self) -> float:
        """The part of the difference that the costs do not explain: rounding, and limits of charts.

        A chart has a single cell for pairs of aces that may be split and those that may not. Where split aces play on
        and double, the best play of the two differs. A row such as `16x2` covers doubled
        hands of any number of cards, whose best plays differ where the rules have a Charlie.
        """
        return self.difference - self.costs

    @property
    def second_order(self) -> float:
        """The interaction of wrong cells: the difference less the costs of the cells alone."""
        return self.difference - add_up(cell.alone for cell in self.cells)


def evaluate_chart(chart: Chart) -> Evaluation:
    """Compare a chart with the best one of its game, in a freshly shuffled shoe of its decks.

    A shoe that has no exact value is replaced by the infinite one; `Evaluation.refusal` then gives the reason.
    """
    solution = solve(chart.rules)
    try:
        value = float(solution.value_of(chart))
    except InputError as error:
        solution = Solver(chart.rules, refusal=str(error))
        value = float(solution.value_of(chart))
    cells = tuple(solution.costs(chart))
    return Evaluation(chart, solution, value, float(solution.value), cells, chart_codes(chart))

"""Comparing rule sets: how the value of the game and the best chart change with the rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bjsim.errors import InputError
from bjsim.sim.game.actions import ATTACK
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import ATTACK_ROW, INSURANCE_ROW, Chart
from bjsim.strategies.charts.rows import parse_row, row_order
from bjsim.strategies.evaluation.best import solve


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
        difference: Its value less that of the first game.
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


class _Solved(NamedTuple):
    """A game with its best chart and that chart's value and standard deviation."""

    rules: Rules
    chart: Chart
    value: float
    sd: float
    refusal: str

    @staticmethod
    def of(rules: Rules) -> _Solved:
        solution = solve(rules)
        try:
            sd = solution.sd
        except InputError:
            sd = math.nan
        return _Solved(rules, solution.chart, float(solution.value), sd, solution.refusal)


def compare(games: Sequence[Rules], on_game: Callable[[int], object] = lambda done: None) -> list[Compared]:
    """Compare every game with the first, which is included; `on_game` gets the number solved, after each."""
    solved: list[_Solved] = []
    for rules in games:
        solved.append(_Solved.of(rules))
        on_game(len(solved))
    return [_compared(solved[0], other) for other in solved]


def differ_in_cut_alone(games: Sequence[Rules]) -> bool:
    """Whether some of these games differ only in their cut, which no exact value depends on."""
    return len({rules.replace(cut=1) for rules in games}) < len(set(games))


def _compared(first: _Solved, other: _Solved) -> Compared:
    first_rows, other_rows = ({row for row, _ in solved.chart.cells} for solved in (first, other))
    rows = sorted(first_rows | other_rows, key=row_order)
    totals = {parse_row(row).total for row in first_rows} & {parse_row(row).total for row in other_rows}
    comparable = first.chart.states.columns == other.chart.states.columns
    return Compared(
        other.rules,
        other.value,
        0.0 if other.value == first.value else other.value - first.value,
        other.sd,
        tuple(_changes(first.chart, other.chart, rows)) if comparable else None,
        tuple(row for row in rows if parse_row(row).total not in totals),
        other.refusal,
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
    any_cards = {"D": chart.rules.double_cards, "R": chart.rules.surrender_cards}
    if code is None or row.fresh or any_cards.get(code[0]) == "any":
        return code
    return (
        "H" if code == "P" else code[-1].upper()
    )  # the fallback of the code, since hands of three cards cannot double or surrender

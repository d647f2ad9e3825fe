"""Index plays cell by cell: which ones a game allows, and what they make of the cells of a chart."""

from __future__ import annotations

from collections.abc import Sequence

from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.departures import Departure, Departures
from bjsim.strategies.formats.plays import INSURANCE


def playable(departures: Departures) -> int:
    """Count the index plays that a game allows at all; the Fab 4 need surrender, and insurance must be offered."""
    states, rules = departures.base.states, departures.base.rules
    legal = {(INSURANCE, "I")} if rules.insurance else set()
    legal |= {
        (row, action)
        for state in states.reachable()
        for row in states.rows_of(state)
        for action in states.legal(state)
        if action != "R" or rules.surrender != "none"
    }
    return sum((play.row, play.action) in legal for play in departures.plays)


def departed_cells(chart: Chart, plays: Sequence[Departure]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return what index plays, insurance among them or not, make of the cells of a chart.

    Each cell that changes, by row and column, has the other codes in the order of the plays, each with the
    counts at which it is played, such as `>= 4` or `< 0`.
    """
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for play in plays:
        cell = play.row, play.column
        if play.row == INSURANCE:
            continue
        alone = Departures(chart, (play,))
        from_here = ((play.count, ">="), (play.count - 1, "<")), ((play.count + 1, ">"), (play.count, "<="))
        for count, sign in from_here[play.operator in (">", "<=")]:
            code = alone.chart_at(count).cells[cell]
            if code != chart.cells[cell]:
                found.setdefault(cell, []).append((code, f"{sign} {play.count}"))
    return found

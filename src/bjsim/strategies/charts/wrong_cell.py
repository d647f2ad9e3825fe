"""A cell of a chart that differs from the best chart, with its costs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WrongCell:
    """A cell that a chart plays differently from the best chart.

    Attributes:
        row: The most specific row for the hand.
        column: What the dealer shows.
        chart: The code that the chart uses there.
        best: The code of the best chart.
        cost: The cell's share of the whole difference, in initial bets per settled bet.
        alone: Its cost as the only wrong cell of the best chart, in the same unit; NaN if the value of the best chart
            is infinite.
    """

    row: str
    column: str
    chart: str
    best: str
    cost: float
    alone: float

"""Rule sets beside each other: how the value of the game and the best chart change; what one rule is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bjsim.sim.rules import Rules
from bjsim.strategies.exact import Solver
from bjsim.strategies.rows import row_order


class Change(NamedTuple):
    """A cell that the best charts of two games have in common, and fill differently."""

    row: str
    column: str
    before: str
    after: str


@dataclass(frozen=True)
class Compared:
    """A game beside the first one: values in initial bets per settled bet, best play, infinite shoe.

    sd: per round. changes: cells in which its best chart differs from the first game's; None where the dealer shows
    something else, so that columns mean something else. only: rows that only one of the two charts has.
    """

    rules: Rules
    value: float
    difference: float
    sd: float
    changes: tuple[Change, ...] | None
    only: tuple[str, ...]


def compare(games: Sequence[Rules]) -> list[Compared]:
    """Every game beside the first."""
    solvers = [Solver(rules) for rules in games]
    return [_beside(solvers[0], solver) for solver in solvers]


def _beside(first: Solver, other: Solver) -> Compared:
    value, base = float(other.value), float(first.value)
    one, two = first.chart.cells, other.chart.cells
    changes = [Change(*cell, one[cell], code) for cell, code in two.items() if cell in one and one[cell] != code]
    return Compared(
        other.rules,
        value,
        0.0 if value == base else value - base,
        other.sd(other.chart.letter),
        tuple(changes) if first.states.columns == other.states.columns else None,
        tuple(sorted({row for row, _ in one} ^ {row for row, _ in two}, key=row_order)),
    )

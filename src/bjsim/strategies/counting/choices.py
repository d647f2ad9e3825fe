"""The choices of a chart in one shoe: what each action gains over the best one below it.

A cell of a chart is a pile of choices: surrender over split over double over stand or hit. Each choice compares one
action with the best of those below it, over the hands of the row that may take the action:

    gain = sum over hands of  visits x [EV of the action - EV of the best action below]  /  visits

where the rest of the hand is played by the best chart of this shoe. Of stand and hit, stand is the action.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.arrays import Floats
from bjsim.sim.game.actions import CODES
from bjsim.strategies.shoe.analysis import Play
from bjsim.strategies.shoe.charts import ColumnCharts
from bjsim.strategies.shoe.deviation import Squares
from bjsim.strategies.shoe.game import ACTIONS
from bjsim.strategies.shoe.passes import gains
from bjsim.strategies.shoe.solver import ShoeSolver

BELOW = {"S": "H", "D": "SH", "P": "SHD", "R": "SHDP"}  # what each action is compared with
SELDOM = 1e-9  # weight of hands that play does not reach, so that their cells have values too


class ChoiceKey(NamedTuple):
    """A choice: the row and the column of a chart, and the action."""

    row: str
    column: str
    action: str


@dataclass(frozen=True)
class Choice:
    """A choice in one shoe.

    Attributes:
        gain: EV of the action less that of the best one below it, in initial bets, per hand facing the choice.
        risk: Mean square of the profit of the action less that of the best one below it; on request, else 0.
            That of a split includes the products of the profits of its hands only on request.
        weight: Hands per round that face the choice.
        decided: Hands per round that it decides, because no action above it is better.
        cards: Mean number of cards of the hand and of the dealer that are seen.
        tags: Mean sum of their tags; `tag_variance` is the variance of that sum.
    """

    gain: float
    risk: float
    weight: float
    decided: float
    cards: float
    tags: float
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
            weight = (chance * visited * analysis.base.plays[start])[:-1]
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
            gains(shoe.nodes, shoe.shown, squares.base, start, weight, square.value, squares.surrender, self.squares)
            if products:
                for value in np.flatnonzero(np.isfinite(square.split)).tolist():
                    square.split[value] += squares.products(start, value, play)
            splits = weight[pairs:-1] * np.nan_to_num(square.split)
            np.add.at(self.squares[:, CODES["P"]], shoe.kind[pairs:], splits)


def _row_choices(
    charts: ColumnCharts, sums: _ColumnSums, row: str, kinds: NDArray[np.int64]
) -> Iterator[tuple[ChoiceKey, Choice]]:
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

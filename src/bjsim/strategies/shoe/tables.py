"""The tables of a finite shoe, for any game and strategy, as `bjsim solve` prints them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bjsim.errors import InputError
from bjsim.sim.game.actions import NAMES
from bjsim.strategies.exact.labelled_table import LabelledTable
from bjsim.strategies.shoe.charts import TwoCards
from bjsim.strategies.shoe.lookup import STRATEGIES
from bjsim.strategies.shoe.solver import ShoeSolver


class ShoeTables:
    """The tables of one shoe; `followed` is the strategy whose value is given."""

    names = ("dealer", "stand", "hit", "double", "split", "optimal", "strategy", "advantage")

    def __init__(self, solution: ShoeSolver, followed: str = "td") -> None:
        self.solution = solution
        self.followed = followed

    @property
    def value(self) -> float:
        return self.solution.value_of(self.followed)

    def to_json(self, tables: Mapping[str, object]) -> dict[str, object]:
        """The figures of the strategy and of the others around these tables; those that have no value are None."""
        solver, strategy = self.solution, self.followed
        fixed = strategy != "cdp"  # the play of cdp after a split depends on the number of hands
        return {
            "shoe": dict(zip("A23456789TJQK", solver.composition.ranks, strict=True)),
            "strategy": strategy,
            "value": self.value,
            "strategies": {name: solver.value_of(name) for name in STRATEGIES},
            "by_upcard": {name: solver.by_upcard(name) for name in STRATEGIES},
            "sd": solver.sd_of(strategy) if fixed else None,
            "removal": self._removal() if fixed else None,
            "exceptions": [exception.__dict__ for exception in solver.exceptions],
            "tables": tables,
        }

    def _removal(self) -> dict[str, float] | None:
        """The effects of removal; None if a round could exhaust the shoe with a card less."""
        try:
            return self.solution.removal(self.followed)
        except InputError:
            return None

    @property
    def exceptions(self) -> Sequence[TwoCards]:
        """The two-card exceptions to the best chart, where the strategy is not the chart."""
        return self.solution.exceptions if self.followed != "td" else ()

    def named(self, name: str) -> dict[str, LabelledTable]:
        """The labelled tables of a name, by title: none for the dealer and single numbers."""
        chart, shown = self.solution.chart, self.solution.by_upcard()
        columns = [column for column in chart.states.columns if column in shown]
        rows = [row for row in self.solution.game.rows if row not in ("21", "A10")]
        letters = {NAMES[letter]: letter for letter in "SHDPR"}
        table = LabelledTable(str if name == "strategy" else float, columns, rows)
        if name == "strategy":
            for row in rows:
                for column in columns:
                    table[row, column] = chart.cells[row, column]
        elif name in letters or name == "optimal":
            for (row, column), values in self.solution.cell_values().items():
                letter = chart.cells[row, column][0] if name == "optimal" else letters[name]
                if row in rows and letter in values:
                    table[row, column] = values[letter]
        else:
            return {}
        return {name: table}

"""The tables of the Easy Blackjack assignment ([Easy]), for any game, as `bjsim solve` prints them.

initial, stand, hit, double, split, resplit1, resplit2, optimal and strategy are `LabelledTable`s with the labels of the
assignment; dealer is a distribution of outcomes for each column. Values are conditional on no natural having ended the
round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

from bjsim.arguments import names_wrong_types
from bjsim.errors import InputError, shorten
from bjsim.report.data import data_frame, html_table
from bjsim.sim.game.cards import RANKS, TEN, Hand, pair_code, soft_code
from bjsim.sim.game.dealer import ACE, course
from bjsim.sim.game.hand_states import DEALER_22, DEALER_NATURAL, SPLIT_HAND, HandState
from bjsim.strategies.charts.chart import parse_row, row_order
from bjsim.strategies.exact.solver import Solver, best_code
from bjsim.strategies.exact.values import Means, Number

if TYPE_CHECKING:
    import pandas


# --- The labelled table of [Easy]: an ordered two-dimensional table of cells of one type.


@names_wrong_types
class LabelledTable:
    """Cells of one type with row and column labels; `t[y, x]` gets, sets and deletes the cell in row y, column x.

    `LabelledTable(str, "abcd", range(1, 5))` has four columns a .. d and four rows 1 .. 4, all empty. An empty cell is
    None and prints as dashes.

    Args:
        celltype: The type of all cells.
        xlabels: The labels of the columns.
        ylabels: The labels of the rows.
        unit: Text printed after every number, such as "%".

    Raises:
        TypeError: An index is not a (row, column) pair, or a value is not of `celltype`.
        KeyError: A label is unknown.
        InputError: A label is given twice.

    Source:
        [Easy], "Table class".
    """

    def __init__(
        self, celltype: type, xlabels: Sequence[Hashable], ylabels: Sequence[Hashable], unit: str = ""
    ) -> None:
        self.celltype = celltype
        self.xlabels = tuple(xlabels)
        self.ylabels = tuple(ylabels)
        self.unit = unit
        for labels in (self.xlabels, self.ylabels):
            if len(set(labels)) < len(labels):
                raise InputError(f"duplicate labels in {shorten(labels)}")
        self._cells: dict[tuple[Hashable, Hashable], Any] = {}

    def _key(self, index: object) -> tuple[Hashable, Hashable]:
        if not isinstance(index, tuple) or len(index) != 2:
            raise TypeError(f"a table is indexed by a pair (row, column), not by {index!r}")
        y, x = index
        if y not in self.ylabels:
            raise KeyError(f"no row {y!r}; rows are {', '.join(map(str, self.ylabels))}")
        if x not in self.xlabels:
            raise KeyError(f"no column {x!r}; columns are {', '.join(map(str, self.xlabels))}")
        return y, x

    def __getitem__(self, index: object) -> Any:
        return self._cells.get(self._key(index))

    def __setitem__(self, index: object, value: object) -> None:
        key = self._key(index)
        if not isinstance(value, self.celltype):
            raise TypeError(f"cells are of type {self.celltype.__name__}, not {type(value).__name__}")
        self._cells[key] = value

    def __delitem__(self, index: object) -> None:
        self._cells.pop(self._key(index), None)

    @property
    def rows(self) -> list[list[Any]]:
        """The cells, row by row; None where empty."""
        return [[self._cells.get((y, x)) for x in self.xlabels] for y in self.ylabels]

    def __repr__(self) -> str:
        return f"LabelledTable({self.celltype.__name__}, {len(self.ylabels)} rows, {len(self.xlabels)} columns)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelledTable) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def _repr_html_(self) -> str:
        rows = [
            [y, *(cell_text(value, self.unit) for value in row)] for y, row in zip(self.ylabels, self.rows, strict=True)
        ]
        return html_table(["", *self.xlabels], rows)

    def to_frame(self) -> pandas.DataFrame:
        """The table as a data frame.

        Returns:
            The cells under their labels; None for an empty cell.

        Raises:
            InputError: pandas is not installed.
        """
        columns = {str(x): [self._cells.get((y, x)) for y in self.ylabels] for x in self.xlabels}
        return data_frame(columns, list(self.ylabels))

    def __str__(self) -> str:
        labels = ["", *map(str, self.ylabels)]
        cells = [[str(x), *(cell_text(self._cells.get((y, x)), self.unit) for y in self.ylabels)] for x in self.xlabels]
        columns = [[text.rjust(max(map(len, column))) for text in column] for column in [labels, *cells]]
        return "\n".join("  ".join(line) for line in zip(*columns, strict=True))


def cell_text(value: Any, unit: str) -> str:
    """A cell as [Easy] prints it."""
    if value is None:
        return "--"
    return f"{value: .3f}{unit}" if isinstance(value, float) else f"{value}{unit}"


HARD = tuple(str(points) for points in range(4, 21))
SOFT = tuple(soft_code(points) for points in range(12, 21))
SPLIT = tuple(pair_code(rank) for rank in (*range(1, 10), 0))


def _totals(*rows: str) -> dict[str, HandState]:
    """Hands of two cards with these totals that are not pairs."""
    return {row: parse_row(row).hand for row in rows}


class Tables:
    """The tables of one game, computed by its solver."""

    names = ("initial", "dealer", "stand", "hit", "double", "split", "resplit", "optimal", "strategy", "advantage")
    followed = "td"
    exceptions = ()

    def __init__(self, solver: Solver) -> None:
        self.solution = self.solver = solver
        self.columns = tuple(solver.columns)

    def _fill(
        self, hands: Mapping[str, HandState], cell: Callable[[Means, HandState], Number | str | None], kind: type = Real
    ) -> LabelledTable:
        """A table with a row for each hand; Real: an endless split may be inf, a float, among fractions."""
        table = LabelledTable(kind, self.columns, list(hands))
        for column, means in self.solver.followed.items():
            for row, state in hands.items():
                value = cell(means, state)
                if value is not None:
                    table[row, column] = value
        return table

    def _splits(self, state: HandState) -> bool:
        return "P" in self.solver.states.legal(state)

    @cached_property
    def _pairs(self) -> dict[str, HandState]:
        return {row: self.solver.states.hand(parse_row(row).cards) for row in SPLIT}

    def stand(self) -> LabelledTable:
        return self._fill(_totals(*HARD, "21", *SOFT), lambda means, state: means.act(state, "S"))

    def hit(self) -> LabelledTable:
        """Value of drawing one card, with best hits and stands afterwards."""
        return self._fill(_totals(*HARD, *SOFT), lambda means, state: means.act(state, "H"))

    def double(self) -> LabelledTable:
        """Value of doubling; empty where the rules do not allow it."""
        legal = self.solver.states.legal
        return self._fill(
            _totals(*HARD, *SOFT), lambda means, state: means.act(state, "D") if "D" in legal(state) else None
        )

    def split(self) -> LabelledTable:
        """Value of splitting each pair, and resplitting whenever the limit allows; empty where not allowed."""
        return self._fill(self._pairs, lambda means, state: means.act(state, "P") if self._splits(state) else None)

    def base_split(self) -> LabelledTable:
        """Value of a split hand of two cards that is not split again: the base table of the split in [Easy]."""
        hands = {row: state._replace(split=SPLIT_HAND) for row, state in _totals(*HARD, "21", *SOFT).items()}
        legal = self.solver.states.legal
        return self._fill(hands, lambda means, state: means.value(state) if legal(state) else means.act(state, "S"))

    def resplit(self, more: int) -> LabelledTable:
        """Value of splitting a pair when the seat may still get `more` hands (split1 and split2 of [Easy]).

        Aces are left out, since they are not resplit. Empty if the number of hands has no limit.
        """
        limit = self.solver.rules.max_hands

        def cell(means: Means, state: HandState) -> Number | None:
            if not self._splits(state) or limit - more < 1 or limit == math.inf:
                return None
            value: Number = means.waiting(state, 2, int(limit) - more + 1)
            return value

        return self._fill({row: self._pairs[row] for row in SPLIT[:-1]}, cell)

    @cached_property
    def _situations(self) -> dict[str, HandState]:
        hands = _totals(*HARD) | self.solver.situations
        return {row: hands[row] for row in sorted(hands.keys() - {"21", "A10"}, key=row_order)}

    def optimal(self) -> LabelledTable:
        return self._fill(self._situations, lambda means, state: means.value(state))

    def strategy(self) -> LabelledTable:
        """The best first action, as chart codes."""
        return self._fill(self._situations, best_code, str)

    def initial(self) -> LabelledTable:
        """Probability of each first hand of the player against each of the dealer's, in percent."""
        number, rules = self.solver.number, self.solver.rules
        ranks = [
            (RANKS[rank], number(p)) for rank, p in enumerate((*rules.card_probabilities[:TEN], rules.ten_probability))
        ]
        if rules.dealer_shows == "up":
            weights = dict(ranks)
        else:
            weights = {label: column.probability for label, column in self.solver.columns.items()}
        columns = list(self.columns)
        if rules.dealer_shows == "both" and course(rules, ACE).looks:
            columns.append("BJ")
            weights["BJ"] = self.solver.dealers_play.peeked_natural()
        table = LabelledTable(number, columns, [*HARD[1:-1], *SPLIT, *SOFT[1:], "BJ"], unit="%")
        for first, p in ranks:
            for second, q in ranks:
                row = Hand(first, second).code()
                for column in columns:
                    before = table[row, column] or number(0)
                    table[row, column] = before + 100 * p * q * weights[column]
        return table

    @property
    def value(self) -> Number:
        return self.solver.value

    def to_json(self, tables: Mapping[str, object]) -> dict[str, object]:
        dealer = {shown: self.solver.dealer(shown) for shown in self.solver.shown}
        figures = {"dealer": dealer, "advantage": self.value, "value": self.value, "sd": self.solver.sd}
        return {"shoe": "inf", "tables": tables, **figures}

    def named(self, name: str) -> dict[str, LabelledTable]:
        """The labelled tables of a name, by title: none for the dealer and single numbers."""
        if name in ("dealer", "advantage", "value", "states"):
            return {}
        if name == "resplit":
            return {f"resplit{more}": self.resplit(more) for more in (1, 2)}
        table: LabelledTable = getattr(self, name.replace("-", "_"))()
        return {name: table}


def dealer_lines(tables: Mapping[str, Mapping[int, Number]]) -> list[str]:
    """The dealer's tables as [Easy] prints them: two lines for each column."""
    lines = []
    for label, probabilities in tables.items():
        names = {DEALER_NATURAL: "BJ", DEALER_22: "22"}
        texts = {o: f"{p:01.6f}" if isinstance(p, float) else str(p) for o, p in probabilities.items()}
        lines += [f"Dealer {label}", "  ".join(f"{names.get(o, o):>2}: {text}" for o, text in texts.items())]
    return lines

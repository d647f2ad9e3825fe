"""The labelled table of seed 000: an ordered two-dimensional table of cells of one type."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from bjsim.strategies.tabular import data_frame, html_table

if TYPE_CHECKING:
    import pandas


class LabelledTable:
    """Cells of one type under row and column labels; `t[y, x]` gets, sets and deletes the cell in row y, column x.

    LabelledTable(str, "abcd", range(1, 5)) has four columns a .. d and four rows 1 .. 4, all empty. An empty cell is None
    and prints as dashes. unit: text printed behind every number, such as "%".

    Raises: TypeError if an index is not a (row, column) pair or a value is not of `celltype`; KeyError for a label the
    table has not; ValueError for labels given twice.
    Source: seed 000, "Table class".
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
                raise ValueError(f"labels stand twice in {labels}")
        self._cells: dict[tuple[Hashable, Hashable], Any] = {}

    def _place(self, index: object) -> tuple[Hashable, Hashable]:
        if not isinstance(index, tuple) or len(index) != 2:
            raise TypeError(f"a table is indexed by a pair (row, column), not by {index!r}")
        y, x = index
        if y not in self.ylabels:
            raise KeyError(f"no row {y!r}; rows are {', '.join(map(str, self.ylabels))}")
        if x not in self.xlabels:
            raise KeyError(f"no column {x!r}; columns are {', '.join(map(str, self.xlabels))}")
        return y, x

    def __getitem__(self, index: object) -> Any:
        return self._cells.get(self._place(index))

    def __setitem__(self, index: object, value: object) -> None:
        place = self._place(index)
        if not isinstance(value, self.celltype):
            raise TypeError(f"cells are of type {self.celltype.__name__}, not {type(value).__name__}")
        self._cells[place] = value

    def __delitem__(self, index: object) -> None:
        self._cells.pop(self._place(index), None)

    @property
    def rows(self) -> list[list[Any]]:
        """The cells, row by row; None where empty."""
        return [[self._cells.get((y, x)) for x in self.xlabels] for y in self.ylabels]

    def __repr__(self) -> str:
        return f"LabelledTable({self.celltype.__name__}, {len(self.ylabels)} rows, {len(self.xlabels)} columns)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelledTable) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # it can be changed

    def _repr_html_(self) -> str:
        rows = [[y, *map(self._text, row)] for y, row in zip(self.ylabels, self.rows, strict=True)]
        return html_table(["", *self.xlabels], rows)

    def to_frame(self) -> pandas.DataFrame:
        """The table as a data frame, None where empty. Raises: InputError without pandas."""
        columns = {str(x): [self._cells.get((y, x)) for y in self.ylabels] for x in self.xlabels}
        return data_frame(columns, list(self.ylabels))

    def _text(self, value: Any) -> str:
        if value is None:
            return "--"
        return f"{value: .3f}{self.unit}" if isinstance(value, float) else f"{value}{self.unit}"

    def __str__(self) -> str:
        cells = [[str(y), *map(self._text, row)] for y, row in zip(self.ylabels, self.rows, strict=True)]
        lines = [["", *map(str, self.xlabels)], *cells]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        return "\n".join("  ".join(word.rjust(w) for word, w in zip(line, widths, strict=True)) for line in lines)

"""The labelled table of [Easy]: an ordered two-dimensional table of cells of one type."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from bjsim.arguments import names_wrong_types
from bjsim.errors import InputError, shorten
from bjsim.strategies.tabular import data_frame, html_table

if TYPE_CHECKING:
    import pandas


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
        rows = [[y, *map(self._text, row)] for y, row in zip(self.ylabels, self.rows, strict=True)]
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

    def _text(self, value: Any) -> str:
        if value is None:
            return "--"
        return f"{value: .3f}{self.unit}" if isinstance(value, float) else f"{value}{self.unit}"

    def __str__(self) -> str:
        return "\n".join(self._lines(self._columns()))

    def _columns(self, corner: str = "") -> list[list[str]]:
        """The columns as strings, each column padded to one width; the row labels come first."""
        labels = [corner, *map(str, self.ylabels)]
        cells = [[str(x), *(self._text(self._cells.get((y, x))) for y in self.ylabels)] for x in self.xlabels]
        return [[text.rjust(max(map(len, column))) for text in column] for column in [labels, *cells]]

    @staticmethod
    def _lines(columns: list[list[str]]) -> list[str]:
        return ["  ".join(cells) for cells in zip(*columns, strict=True)]

    def folded(self, width: int, corner: str = "") -> str:
        """The table as text, split into parts that fit on a narrow screen.

        Args:
            width: The greatest width of a part in characters; a part has at least one column, however wide.
            corner: The heading of the row labels, which every part repeats.

        Returns:
            The parts, one below the other.
        """
        labels, *columns = self._columns(corner)
        parts: list[list[list[str]]] = [[labels]]
        for column in columns:
            if len(parts[-1]) > 1 and len(self._lines([*parts[-1], column])[0]) > width:
                parts.append([labels])
            parts[-1].append(column)
        return "\n\n".join("\n".join(self._lines(part)) for part in parts)

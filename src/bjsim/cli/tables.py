"""Tables on a screen: turned or folded where it is too narrow, never cut. In files and pipes they stay whole."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

Cell = str | Text  # a str keeps to one line; a Text may be wrapped between its words
LONGEST = 20  # letters of a word that is not folded
PADDING = 3  # around a column, its share of the frame included


def print_table(
    console: Console, headings: Sequence[str], rows: Sequence[Sequence[Cell]], title: str = "", turn: bool = True
) -> None:
    """Print a table whose first column names its rows.

    Args:
        console: The screen, or the file or pipe in its place.
        headings: Those of the columns.
        rows: Cells; all rows are as long as `headings`.
        title: A line above the table.
        turn: Make columns of the rows where the table does not fit the screen. What still does not is folded into
            parts, each with the first column.
    """
    columns: list[list[Cell]] = [[Text(head), *cells] for head, cells in zip(headings, _columns(rows), strict=True)]
    width = console.width
    if not console.is_terminal:
        width = max(width, 1 + sum(_full(column) + PADDING for column in columns))
        console = Console(file=console.file, width=width)
    is_turned = turn and 1 + sum(_least(column) + PADDING for column in columns) > width
    if is_turned:
        columns = _columns(columns)
    if title:
        console.print(Text(title, style="italic"))
    for part in _parts(columns, width):
        console.print(_table(part, width, is_turned))


def _columns(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _full(column: Sequence[Cell]) -> int:
    return max(cell_len(str(cell)) for cell in column)


def _least(column: Sequence[Cell]) -> int:
    """The width that a column needs, in letters."""
    words = [word for cell in column if isinstance(cell, Text) for word in cell.plain.split()]
    lines = [cell for cell in column if isinstance(cell, str)]
    return max([min(cell_len(word), LONGEST) for word in words] + [cell_len(line) for line in lines], default=0)


def _parts(columns: list[list[Cell]], width: int) -> list[list[list[Cell]]]:
    """The columns in parts that are no wider than `width`, as far as that goes; the first column is in each."""
    first, *others = columns
    parts: list[list[list[Cell]]] = []
    left = 0
    for column in others:
        needed = _least(column) + PADDING
        if not parts or needed > left:
            parts.append([first])
            left = width - 1 - _least(first) - PADDING
        parts[-1].append(column)
        left -= needed
    return parts


def _table(columns: list[list[Cell]], width: int, is_turned: bool) -> RichTable:
    spare = width - 1 - sum(_least(column) + PADDING for column in columns)
    table = RichTable(box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        more = max(min(_full(column) - _least(column), spare), 0)
        spare -= more
        names = number == 0 if is_turned else all(isinstance(cell, Text) for cell in column)
        table.add_column(column[0], justify="left" if names else "right", overflow="fold", width=_least(column) + more)
    for row in _columns([column[1:] for column in columns]):
        table.add_row(*row)
    return table

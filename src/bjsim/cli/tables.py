"""Tables that fit the screen: too wide ones are transposed or split, never cut. Files and pipes get them whole."""

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

Cell = str | Text  # a str stays on one line; a Text may wrap between its words
Printed = tuple[list[str], list[list[Cell]]]  # headings and rows
LONGEST = 20  # characters; longer words are folded
PAPER = 120  # characters; in a file or pipe, a wider table is transposed if that makes it narrower
PADDING = 3  # characters around a column, including its share of the frame


def print_table(
    console: Console, headings: Sequence[str], rows: Sequence[Sequence[Cell]], title: str = "", transpose: bool = True
) -> None:
    """Print a table whose first column names its rows; every row is as long as `headings`.

    A terminal limits the width; in a file or pipe, a table is never split. A table that is too wide is transposed,
    if `transpose`; one that is still too wide is split into parts that repeat the first column.
    """
    columns: list[list[Cell]] = [[Text(head), *cells] for head, cells in zip(headings, _columns(rows), strict=True)]
    width, turned = console.width, _columns(columns)
    if console.is_terminal:
        is_transposed = transpose and 1 + sum(_least(column) + PADDING for column in columns) > width
    else:
        whole, other = (1 + sum(_full(column) + PADDING for column in table) for table in (columns, turned))
        is_transposed = transpose and other < whole > max(width, PAPER)
        width = max(width, other if is_transposed else whole)
        console = Console(file=console.file, width=width)
    if is_transposed:
        columns = turned
    if title:
        console.print(Text(title, style="italic"))
    for part in _parts(columns, width):
        console.print(_table(part, width, is_transposed))


def transposed_tables(headings: Sequence[str], rows: Sequence[Sequence[Cell]], width: int) -> list[RichTable]:
    """A table with a column for each row, split into parts of at most `width` characters where possible."""
    columns: list[list[Cell]] = [[Text(heading) for heading in headings], *map(list, rows)]
    return [_table(part, width, is_transposed=True) for part in _parts(columns, width)]


def _columns(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _full(column: Sequence[Cell]) -> int:
    """The width of a column in which nothing wraps."""
    return max(cell_len(str(cell)) for cell in column)


def _least(column: Sequence[Cell]) -> int:
    """The smallest width of a column, in characters."""
    words = [word for cell in column if isinstance(cell, Text) for word in cell.plain.split()]
    lines = [cell for cell in column if isinstance(cell, str)]
    return max([min(cell_len(word), LONGEST) for word in words] + [cell_len(line) for line in lines], default=0)


def _parts(columns: list[list[Cell]], width: int) -> list[list[list[Cell]]]:
    """Split the columns into parts of at most `width` where possible; each part begins with the first column."""
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


def _table(columns: list[list[Cell]], width: int, is_transposed: bool) -> RichTable:
    spare = width - 1 - sum(_least(column) + PADDING for column in columns)
    table = RichTable(box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        extra = max(min(_full(column) - _least(column), spare), 0)
        spare -= extra
        is_text = number == 0 if is_transposed else all(isinstance(cell, Text) for cell in column)
        table.add_column(
            column[0], justify="left" if is_text else "right", overflow="fold", width=_least(column) + extra
        )
    for row in _columns([column[1:] for column in columns]):
        table.add_row(*row)
    return table

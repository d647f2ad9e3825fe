"""Reports on a terminal, in a file or in a pipe.

Tables fit the screen: too wide ones are transposed or split, never cut. Files and pipes get them whole.
"""

from collections.abc import Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from bjsim.report import parts
from bjsim.report.colours import ACTIONS

Cell = str | Text  # a str stays on one line; a Text may wrap between its words
LONGEST = 20  # characters; longer words are folded
PAPER = 120  # characters; in a file or pipe, a wider table is transposed if that makes it narrower
PADDING = 3  # characters around a column, including its share of the frame
LEGEND = 80  # characters of a line of a legend
STYLES = {"warning": "yellow"}  # of notes; others are names of rich


def print_report(console: Console, report: parts.Report) -> None:
    """Print a report; its title and its command are for pages and pictures."""
    for line in report.lines:
        say(console, line)
    for part in report.parts_for("terminal"):
        print_part(part, console)


def say(console: Console, line: str, style: str = "") -> None:
    """Print a line as it is, which a terminal wraps between its words."""
    is_file = not console.is_terminal
    console.print(line, style=style, highlight=False, markup=False, emoji=False, soft_wrap=is_file)


def print_part(part: object, console: Console) -> None:
    """Print a part, if it is one for terminals: drawings are for larger screens."""
    match part:
        case parts.Section(title):
            say(console, f"\n{title}", "bold")
        case parts.Notes(lines, style) if style != "screen":
            for line in lines:
                say(console, line, STYLES.get(style, style))
        case parts.Code(text, on_screen):
            if not (console.is_terminal and on_screen):
                console.file.write(f"{text}\n")
            for each in on_screen if console.is_terminal else ():
                print_part(each, console)
        case parts.Figures(title=title):
            entries = [entry for entry in part.entries if entry.name]
            if title:
                say(console, title, "italic")
            width = max((cell_len(entry.name) for entry in entries), default=0)
            for entry in entries:
                say(console, f"{entry.name}{' ' * (width - cell_len(entry.name))}  {entry.text}")
        case parts.Curves(printed=printed) if printed:
            print_part(printed, console)
        case parts.DataTable() if part.rows and part.shown:
            _print_table(part, console)
        case parts.ChartGrid():
            _print_chart(part, console)


def _print_table(part: parts.DataTable, console: Console) -> None:
    shown = part.rows[: part.listed or None]
    columns: list[list[Cell]] = [
        [Text(column.heading), *(_cell(column, row) for row in shown)] for column in part.shown
    ]
    if part.title:
        console.print(Text(part.title, style="italic"))
    print_columns(console, columns, part.turns)
    if more := len(part.rows) - len(shown):
        say(console, f"… and {more:,} more; --json lists them all", "dim")


def _cell(column: parts.DataColumn, row: object) -> Cell:
    text, style = column.text(row), column.style(row)
    return Text(text, style=style) if column.is_text or style else text


def _print_chart(part: parts.ChartGrid, console: Console) -> None:
    """Print a chart, three characters for a cell: a colour for each action, and a `!` after a framed code."""
    rows = [row for section in part.sections.values() for row in section]
    width = max(map(len, (*part.sections, *rows)), default=0) + 1
    text = Text(no_wrap=True)
    if part.across:
        text.append(" " * width + f"{part.across}\n", style="dim")
    for kind, section in part.sections.items():
        text.append(f"{kind:<{width}}", style="dim")
        text.append("".join(f"{column:<3}" for column in part.columns) + "\n", style="bold")
        for row in section:
            text.append(f"{row:>{width - 1}} ", style="bold")
            for column in part.columns:
                if cell := part.cells.get((row, column)):
                    mark, style = ("!", "bold underline") if cell.other else (" ", "")
                    text.append(f"{cell.code + mark:<3}", style=f"black on {ACTIONS[cell.code[0]]} {style}")
                else:
                    text.append("   ")
            text.append("\n")
    left = LEGEND
    for letter, meaning in part.legend.items():
        if left < len(meaning) + 2:
            text.append("\n")
            left = LEGEND
        text.append(f" {meaning} ", style=f"black on {ACTIONS[letter]}").append(" ")
        left -= len(meaning) + 3
    if part.marked:
        mark = f"! {part.marked}"
        text.append(mark if len(mark) <= left else f"\n{mark}")
    console.print(text, soft_wrap=True)


def print_columns(console: Console, columns: list[list[Cell]], turns: bool = True) -> None:
    """Print columns with their headings, of which the first names the rows.

    A terminal limits the width; in a file or pipe, a table is never split. A table that is too wide is transposed,
    if it `turns`; one that is still too wide is split into tables that repeat the first column.
    """
    width, turned = console.width, _transposed(columns)
    if console.is_terminal:
        is_turned = turns and 1 + sum(_least(column) + PADDING for column in columns) > width
    else:
        whole, other = (1 + sum(_full(column) + PADDING for column in table) for table in (columns, turned))
        is_turned = turns and other < whole > max(width, PAPER)
        width = max(width, other if is_turned else whole)
        console = Console(file=console.file, width=width)
    for split in _split(turned if is_turned else columns, width):
        console.print(_framed(split, width, is_turned))


def _transposed(table: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    return [list(line) for line in zip(*table, strict=True)]


def _full(column: Sequence[Cell]) -> int:
    """The width of a column in which nothing wraps."""
    return max(cell_len(str(cell)) for cell in column)


def _least(column: Sequence[Cell]) -> int:
    """The smallest width of a column, in characters."""
    words = [word for cell in column if isinstance(cell, Text) for word in cell.plain.split()]
    lines = [cell for cell in column if isinstance(cell, str)]
    return max([min(cell_len(word), LONGEST) for word in words] + [cell_len(line) for line in lines], default=0)


def _split(columns: list[list[Cell]], width: int) -> Iterator[list[list[Cell]]]:
    """Tables of at most `width` where possible; each begins with the first column."""
    first, *others = columns
    table, left = [first], width - 1 - _least(first) - PADDING
    for column in others:
        needed = _least(column) + PADDING
        if len(table) > 1 and needed > left:
            yield table
            table, left = [first], width - 1 - _least(first) - PADDING
        table.append(column)
        left -= needed
    yield table


def _framed(columns: list[list[Cell]], width: int, is_turned: bool) -> RichTable:
    spare = width - 1 - sum(_least(column) + PADDING for column in columns)
    table = RichTable(box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        least = 0 if number else 1 - _least(column)  # names are folded before numbers
        extra = max(min(_full(column) - _least(column), spare), least)
        spare -= extra
        is_text = number == 0 if is_turned else all(isinstance(cell, Text) for cell in column)
        table.add_column(
            column[0], justify="left" if is_text else "right", overflow="fold", width=_least(column) + extra
        )
    for row in _transposed([column[1:] for column in columns]):
        table.add_row(*row)
    return table

"""The text format of charts: the table of [Easy].

The first line has the dealer codes. Each further line has the code of a hand and a cell for each dealer code. Words are
separated by whitespace, and `#` starts a comment. Rows and columns may be in any order; missing, unknown and duplicate
ones are errors.
"""

from __future__ import annotations

import re

from bjsim.strategies.charts.chart import Chart, chart_rows, offers
from bjsim.strategies.formats.parser import ParsedTable, Token


def split_lines(text: str) -> list[str]:
    """The lines of a file without comments, with any kind of line ending."""
    return [line.split("#")[0] for line in re.split(r"\r\n|\n|\r", text.rstrip())]


def tokenize_line(line: int, text: str) -> list[Token]:
    return [Token(line, match.start() + 1, match[0]) for match in re.finditer(r"\S+", text)]


def text_grid(text: str, name: str) -> ParsedTable:
    lines = split_lines(text)
    filled = [tokens for number, line in enumerate(lines, 1) if (tokens := tokenize_line(number, line))]
    return ParsedTable(name, filled[0] if filled else [], filled[1:], len(lines))


def format_text(chart: Chart) -> str:
    columns, rows = chart.states.columns, written_cells(chart)
    width = max(len(row) for row in rows)
    lines = [" " * width + "".join(f" {column:>2}" for column in columns)]
    for row, cells in rows.items():
        lines.append(f"{row:>{width}}" + "".join(f" {code:>2}" for code in cells))
    return "\n".join(lines) + "\n"


def written_cells(chart: Chart) -> dict[str, list[str]]:
    """The written rows with their codes, and those for insurance and attack if the game offers them."""
    rows = {row: [chart.cells[row, column] for column in chart.states.columns] for row in written_rows(chart)}
    return rows | {row: list(cells.values()) for row, cells in offers(chart).items()}


def written_rows(chart: Chart) -> list[str]:
    """The rows of the game that the chart has, in order."""
    return [row for row in chart_rows(chart.states) if (row, chart.states.columns[0]) in chart.cells]

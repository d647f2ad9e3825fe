"""The text format of charts: the table of seed 000.

A first line of dealer codes, then one line for each hand: its code and a cell for each dealer code, all separated by
blanks. `#` starts a comment. Rows and columns may stand in any order; none may be missing, foreign or doubled.
"""

from __future__ import annotations

import re

from bjsim.strategies.charts.chart import Chart, chart_rows
from bjsim.strategies.formats.parser import ParsedTable, Token


def lines_of(text: str) -> list[str]:
    """The lines of a file, each up to a `#`, whatever ends them."""
    return [line.split("#")[0] for line in re.split(r"\r\n|\n|\r", text.rstrip())]


def words_of(line: int, text: str) -> list[Token]:
    """The words between the blanks of a line."""
    return [Token(line, match.start() + 1, match[0]) for match in re.finditer(r"\S+", text)]


def text_grid(text: str, name: str) -> ParsedTable:
    """The words of a chart in the text format."""
    lines = lines_of(text)
    filled = [words for number, line in enumerate(lines, 1) if (words := words_of(number, line))]
    return ParsedTable(name, filled[0] if filled else [], filled[1:], len(lines))


def format_text(chart: Chart) -> str:
    """The chart in the text format."""
    columns, rows = chart.states.columns, written_rows(chart)
    width = max(len(row) for row in rows)
    lines = [" " * width + "".join(f" {column:>2}" for column in columns)]
    for row in rows:
        lines.append(f"{row:>{width}}" + "".join(f" {chart.cells[row, column]:>2}" for column in columns))
    return "\n".join(lines) + "\n"


def written_rows(chart: Chart) -> list[str]:
    """The rows that the chart has of those that its game knows, in order."""
    return [row for row in chart_rows(chart.states) if (row, chart.states.columns[0]) in chart.cells]

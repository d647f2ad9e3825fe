"""Charts as CSV, for spreadsheets.

The rows and columns are those of the text format, with a comma between cells, or a semicolon if the first line has
one. The corner cell is ignored. Quotes around a cell are dropped; `#` starts a comment.
"""

from __future__ import annotations

from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.formats.parser import ParsedTable, Token
from bjsim.strategies.formats.text import split_lines, written_cells


def split_fields(line: int, text: str, separator: str) -> list[Token]:
    tokens, start = [], 0
    for field in text.split(separator):
        inner = field.strip().strip('"').strip()
        tokens.append(Token(line, start + 1 + (field.index(inner) if inner else 0), inner))
        start += len(field) + 1
    return tokens


def csv_grid(text: str, name: str) -> ParsedTable:
    lines = split_lines(text)
    first = next((line for line in lines if line.strip()), "")
    separator = ";" if ";" in first else ","
    rows = [
        split_fields(number, line, separator) for number, line in enumerate(lines, 1) if line.strip(f" \t{separator}")
    ]
    return ParsedTable(name, rows[0][1:] if rows else [], rows[1:], len(lines))


def format_csv(chart: Chart) -> str:
    columns = chart.states.columns
    lines = [",".join(("hand", *columns))]
    lines += [",".join((row, *codes)) for row, codes in written_cells(chart).items()]
    return "\n".join(lines) + "\n"

"""Charts as text: reading and writing the table format of seed 000.

A first line of dealer codes, then one line for each hand: its code and a cell for each dealer code, all separated by
blanks. `#` starts a comment. Rows and columns may stand in any order; none may be missing, foreign or doubled.
"""

from __future__ import annotations

from pathlib import Path

from bjsim.sim.errors import InputError
from bjsim.sim.rules import Rules
from bjsim.sim.states import States
from bjsim.strategies.chart import CODES, Chart, chart_rows

_SAME = {"10": "T", "1010": "TT", "1": "A", "ACE": "A", "D": "Dh", "R": "Rh"}


class ChartError(InputError):
    """A chart that cannot be read. The message gives file, line, column, and what would be accepted."""


def _words(line: str) -> list[tuple[int, str]]:
    """The words of a line up to a `#`, with the column (from 1) at which each begins."""
    words, start = [], 0
    text = line.split("#")[0]
    for word in text.split():
        start = text.index(word, start)
        words.append((start + 1, word))
        start += len(word)
    return words


def required_rows(states: States) -> tuple[str, ...]:
    """The rows that every chart of this game must have."""
    rows = [row for row in chart_rows(states) if ":" not in row and "/" not in row]
    dealt = {row for state in states.starts for row in states.rows_of(state)[:1]}
    played = {states.rows_of(state, may_split=False)[-1] for state in states.reachable() if states.legal(state)}
    return tuple(row for row in rows if row in dealt | played and row not in ("21", "A10"))


def parse_chart(text: str, rules: Rules, name: str) -> Chart:
    """The chart that `text` holds, for a game with these rules. Raises: ChartError."""
    states = States(rules)
    lines = [(number, words) for number, line in enumerate(text.splitlines(), 1) if (words := _words(line))]
    if not lines:
        raise ChartError(f"{name}: the chart is empty; its first line names the dealer's cards")
    known_rows = chart_rows(states)
    number, header = lines[0]
    columns: list[str] = []
    for place, word in header:
        label = word.upper() if rules.dealer_shows == "both" else _SAME.get(word.upper(), word.upper())
        if label not in states.columns:
            raise _error(name, number, place, f"{word} is no dealer's card here; they are {' '.join(states.columns)}")
        if label in columns:
            raise _error(name, number, place, f"dealer's card {word} stands twice")
        columns.append(label)
    if missing := [column for column in states.columns if column not in columns]:
        raise _error(name, number, 1, f"dealer's cards missing: {' '.join(missing)}")
    cells: dict[tuple[str, str], str] = {}
    for number, words in lines[1:]:
        place, word = words[0]
        row = _SAME.get(word.upper(), word.upper()) if word.upper() in ("1010",) else word.upper()
        if row not in known_rows:
            raise _error(name, number, place, f"{word} is no hand of this game; hands are {' '.join(known_rows)}")
        if (row, columns[0]) in cells:
            raise _error(name, number, place, f"the hand {word} stands twice")
        if len(words) - 1 < len(columns):
            raise _error(
                name, number, words[-1][0] + len(words[-1][1]),
                f"hand {word}: the cell against {columns[len(words) - 1]} is missing",
            )  # fmt: skip
        if len(words) - 1 > len(columns):
            raise _error(name, number, words[len(columns) + 1][0], f"hand {word} has more than {len(columns)} cells")
        for column, (where, cell) in zip(columns, words[1:], strict=True):
            cells[row, column] = _cell(name, number, where, cell)
    if missing := [row for row in required_rows(states) if (row, columns[0]) not in cells]:
        raise _error(name, lines[-1][0] + 1, 1, f"hands missing: {' '.join(missing)}")
    return Chart(name, rules, cells, source=name)


def _cell(name: str, line: int, place: int, word: str) -> str:
    code = word[0].upper() + word[1:].lower()
    code = _SAME.get(code, code)
    if code not in CODES:
        raise _error(name, line, place, f"{word} is no strategy code; codes are {' '.join(CODES)}")
    return code


def _error(name: str, line: int, place: int, message: str) -> ChartError:
    return ChartError(f"{name}, line {line}, column {place}: {message}")


def format_chart(chart: Chart) -> str:
    """The chart as text that `parse_chart` reads."""
    columns = chart.states.columns
    rows = [row for row in chart_rows(chart.states) if (row, columns[0]) in chart.cells]
    width = max(len(row) for row in rows)
    lines = [" " * width + "".join(f" {column:>2}" for column in columns)]
    for row in rows:
        lines.append(f"{row:>{width}}" + "".join(f" {chart.cells[row, column]:>2}" for column in columns))
    return "\n".join(lines) + "\n"


def load_chart(path: str, rules: Rules) -> Chart:
    """The chart in a file. Raises: ChartError."""
    try:
        return parse_chart(Path(path).read_text(encoding="utf-8"), rules, path)
    except OSError as error:
        raise ChartError(f"cannot read the chart {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ChartError(f"{path} is no text: a chart is a table of dealer codes and cells") from None

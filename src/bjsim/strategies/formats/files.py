"""Chart files: any of them is read, and three formats are written: text ([Easy]), CSV, and policy ([BlackJackP])."""

import logging
import os
import re
from collections.abc import Sequence

from bjsim import files
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart, chart_rows, offers
from bjsim.strategies.formats.cells import Reading
from bjsim.strategies.formats.grid import Reader
from bjsim.strategies.formats.lines import ChartError
from bjsim.strategies.formats.policy import LINE, format_policy

MAX_BYTES = 1 << 16  # of a chart file; known charts have 5,000


def read_chart(data: bytes | str, name: str, rules: Rules) -> Chart:
    """Parse the content of a chart file, as `read_with_notes` does. What was guessed or filled in is logged."""
    reading = read_with_notes(data, name, rules)
    for note in reading.notes:
        logging.getLogger(__name__).warning("%s: %s", name, note)
    return reading.chart


def read_with_notes(data: bytes | str, name: str, rules: Rules) -> Reading:
    """Parse a chart file's content; an error message has one line, with the line and column of the error."""
    return read_files([(name, data)], rules)


def read_files(files: Sequence[tuple[str, bytes | str]], rules: Rules) -> Reading:
    """Parse a chart in one or more files, such as hard.csv, soft.csv and pairs.csv, from their names and contents."""
    return Reader([(name, decode(data, name)) for name, data in files], rules).read()


def detect_format(text: str) -> str:
    """The format, a key of WRITERS, in which a chart like this one is written."""
    first = next((line for line in re.split(r"[\r\n]+", text) if line.split("#")[0].strip()), "")
    return "csv" if re.search("[,;]", first) else "policy" if re.fullmatch(LINE, first, re.IGNORECASE) else "chart"


def decode(data: bytes | str, name: str) -> str:
    """Decode a chart file: not too large, UTF-8 or UTF-16 with a byte order mark, without control characters."""
    if len(data) > MAX_BYTES:
        raise ChartError(f"{name} is larger than {MAX_BYTES >> 10} KiB; a chart is a table of hands and dealer's cards")
    text = before = problem = ""
    try:
        text = files.decode(data) if isinstance(data, bytes) else data
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8", "replace")
        problem = f"not valid UTF-8 (byte {error.object[error.start]:#04x})"
    if control := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text):
        before, problem = text[: control.start()], f"not a text file (character {ord(control[0]):#04x})"
    if problem:
        *above, line = re.split(r"\r\n|\n|\r", before)
        what = "a chart is a table of hands, dealer's cards and actions"
        raise ChartError(f"{name}, line {len(above) + 1}, column {len(line) + 1}: {problem}; {what}")
    return text


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a chart file."""
    try:
        return files.read_bytes(path, MAX_BYTES)
    except OSError as error:
        raise ChartError(f"cannot read the chart {path}: {error.strerror}") from None


def load_chart(path: str | os.PathLike[str], rules: Rules) -> Chart:
    return read_chart(read_bytes(path), os.fspath(path), rules)


# --- writing


def format_csv(chart: Chart) -> str:
    return "".join(f"{','.join(line)}\n" for line in _written(chart, "hand"))


def format_text(chart: Chart) -> str:
    lines = _written(chart, "")
    width = max(len(line[0]) for line in lines)
    return "".join(f"{row:>{width}}" + "".join(f" {cell:>2}" for cell in cells) + "\n" for row, *cells in lines)


def _written(chart: Chart, corner: str) -> list[list[str]]:
    """The dealer's cards, the rows of the game that the chart has, in order, and those for what the game offers."""
    columns = chart.states.columns
    rows = [row for row in chart_rows(chart.states) if any((row, column) in chart.cells for column in columns)]
    lines = [[corner, *columns], *([row, *(chart.code([row], column) for column in columns)] for row in rows)]
    return lines + [[row, *cells.values()] for row, cells in offers(chart).items()]


WRITERS = {"chart": format_text, "csv": format_csv, "policy": format_policy}

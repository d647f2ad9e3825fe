"""Reading and writing chart files in any of three formats: text (seed 000), CSV, and policy (seed 001).

The format is recognised by the first line: a CSV's has commas, a policy's has actions beside a hand (it has no
header), and that of the text format names the dealer's cards.
"""

from __future__ import annotations

import os
import re

from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import CODES, Chart
from bjsim.strategies.formats.csv import csv_grid, format_csv
from bjsim.strategies.formats.parser import SAME_CODE, ChartError, chart_from
from bjsim.strategies.formats.policy import format_policy, policy_chart
from bjsim.strategies.formats.text import format_text, lines_of, text_grid

MOST = 1 << 20  # bytes of a chart; those known take 5,000
WRITERS = {"chart": format_text, "csv": format_csv, "policy": format_policy}


def format_of(text: str) -> str:
    """The format that a chart is written in: a key of WRITERS."""
    first = next((line for line in lines_of(text) if line.strip()), "")
    if "," in first or ";" in first:
        return "csv"
    actions = {code.upper() for code in (*CODES, *SAME_CODE)}
    return "policy" if actions & {word.upper() for word in first.split()[1:]} else "chart"


def read_chart(data: bytes | str, name: str, rules: Rules) -> Chart:
    """The chart that a file holds, for a game with these rules.

    name: what to call the file in messages. Raises: ChartError, one line with line and column, for what is wrong.
    """
    text = decode(data, name)
    form = format_of(text)
    if form == "policy":
        return policy_chart(text, name, rules)
    return chart_from((csv_grid if form == "csv" else text_grid)(text, name), rules)


def decode(data: bytes | str, name: str) -> str:
    """A chart file as text. Raises: ChartError at the first byte that no text has."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8", "replace")
        raise _no_text(name, before, f"byte {error.object[error.start]:#04x}") from None
    if strange := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text):
        raise _no_text(name, text[: strange.start()], f"character {ord(strange[0]):#04x}")
    return text


def _no_text(name: str, before: str, what: str) -> ChartError:
    lines = re.split(r"\r\n|\n|\r", before)
    place = f"{name}, line {len(lines)}, column {len(lines[-1]) + 1}"
    return ChartError(f"{place}: {what} is no text; a chart is a table of hands, dealer's cards and actions")


def load_chart(path: str | os.PathLike[str], rules: Rules) -> Chart:
    """The chart in a file. Raises: ChartError."""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST + 1)
    except OSError as error:
        raise ChartError(f"cannot read the chart {path}: {error.strerror}") from None
    if len(data) > MOST:
        raise ChartError(f"{path} is larger than {MOST >> 20} MiB; a chart is a table of hands and dealer's cards")
    return read_chart(data, os.fspath(path), rules)

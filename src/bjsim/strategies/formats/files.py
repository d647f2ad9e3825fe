"""Reading and writing chart files in any of three formats: text ([Easy]), CSV, and policy ([BlackJackP]).

The format is recognised by the first line: in CSV it has commas, in a policy, which has no header, it has a hand and
actions, and in the text format it has the dealer's cards. The lines of `q_table` are read too, and a file in none of
these forms by `pasted`.
"""

from __future__ import annotations

import logging
import os
import re

from bjsim import files
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import CODES, Chart
from bjsim.strategies.formats.csv import csv_grid, format_csv
from bjsim.strategies.formats.lines import is_transposed, shows_one_card
from bjsim.strategies.formats.parser import SAME_CODE, ChartError, chart_from
from bjsim.strategies.formats.pasted import NoHeaderError, Reading, read_pasted
from bjsim.strategies.formats.policy import format_policy, policy_chart
from bjsim.strategies.formats.q_table import is_q_table, q_table_chart
from bjsim.strategies.formats.text import format_text, split_lines, text_grid

MAX_BYTES = 1 << 16  # of a chart file; known charts have 5,000
WRITERS = {"chart": format_text, "csv": format_csv, "policy": format_policy}


def detect_format(text: str) -> str:
    """The format of a chart file: a key of WRITERS."""
    first = next((line for line in split_lines(text) if line.strip()), "")
    if "," in first or ";" in first:
        return "csv"
    actions = {code.upper() for code in (*CODES, *SAME_CODE)}
    return "policy" if actions & {word.upper() for word in first.split()[1:]} else "chart"


def read_chart(data: bytes | str, name: str, rules: Rules) -> Chart:
    """Parse the content of a chart file in any format, as `read_with_notes` does.

    What was guessed or filled in is logged.
    """
    reading = read_with_notes(data, name, rules)
    for note in reading.notes:
        logging.getLogger(__name__).warning("%s: %s", name, note)
    return reading.chart


def read_with_notes(data: bytes | str, name: str, rules: Rules) -> Reading:
    """Parse a chart file's content in any of the three formats, or with notes in another usual style.

    `name` is for messages; an error message has one line, with the line and column of the error.
    """
    text = decode(data, name)
    if is_q_table(text):
        return Reading(*q_table_chart(text, name, rules))
    form = detect_format(text)
    try:
        if form == "policy":
            return Reading(policy_chart(text, name, rules))
        return Reading(chart_from((csv_grid if form == "csv" else text_grid)(text, name), rules))
    except ChartError as error:
        try:
            return read_pasted(text, name, rules)
        except NoHeaderError:
            if rules.dealer_shows == "both" and shows_one_card(text):
                raise ChartError(
                    f"{name} is for games in which the dealer shows one card, such as vegas-s17; in {rules.name} both "
                    "are seen"
                ) from None
            if is_transposed(text):
                raise ChartError(
                    f"{name} has the dealer's cards on the left; swap rows and columns: they belong in the first line"
                ) from None
            raise error from None
        except ChartError as other:  # the error of the reader that came further
            raise max(error, other, key=lambda error: error.position) from None


def decode(data: bytes | str, name: str) -> str:
    """Decode a chart file: not too large, UTF-8 or UTF-16 with a byte order mark, without control characters."""
    if len(data) > MAX_BYTES:
        raise ChartError(f"{name} is larger than {MAX_BYTES >> 10} KiB; a chart is a table of hands and dealer's cards")
    try:
        if isinstance(data, str):
            text = data
        else:
            text = data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8", "replace")
        raise _not_text(name, before, f"not valid UTF-8 (byte {error.object[error.start]:#04x})") from None
    if control := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text):
        raise _not_text(name, text[: control.start()], f"not a text file (character {ord(control[0]):#04x})")
    return text


def _not_text(name: str, before: str, problem: str) -> ChartError:
    lines = re.split(r"\r\n|\n|\r", before)
    position = f"{name}, line {len(lines)}, column {len(lines[-1]) + 1}"
    return ChartError(f"{position}: {problem}; a chart is a table of hands, dealer's cards and actions")


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a chart file."""
    try:
        return files.read_bytes(path, MAX_BYTES)
    except OSError as error:
        raise ChartError(f"cannot read the chart {path}: {error.strerror}") from None


def load_chart(path: str | os.PathLike[str], rules: Rules) -> Chart:
    return read_chart(read_bytes(path), os.fspath(path), rules)

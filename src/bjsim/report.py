"""A report: what a command found, as a value made of few kinds of parts, which renderers know and commands combine."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Section(NamedTuple):
    """A heading within the report; level 2 or 3."""

    title: str
    level: int = 2


class Notes(NamedTuple):
    """Paragraphs, which may be small; what only helps on a screen is not printed."""

    lines: Sequence[str]
    small: bool = False
    on_screen: str = ""


class Figures(NamedTuple):
    """Names with their values as text."""

    entries: Sequence[tuple[str, str]]


class Definitions(NamedTuple):
    """Names with sentences about them."""

    entries: Sequence[tuple[str, str]]


class ProgressBar(NamedTuple):
    """How far a computation that goes on has come: `done` of `whole`, in words too."""

    done: float
    whole: float
    text: str


class TextTable(NamedTuple):
    """A table of text with a heading for each column; `name` identifies it within the report."""

    name: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


class Code(NamedTuple):
    """Text to copy, with its lines as they are."""

    text: str


class ChartGrid(NamedTuple):
    """A strategy chart whose cells have actions, values and costs."""

    data: Mapping[str, Any]


class DealerGrid(NamedTuple):
    """Probabilities by name and column."""

    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float]]]


class Panels(NamedTuple):
    """Drawings of lines with bands, each with its numbers."""

    panels: Sequence[Mapping[str, Any]]


class Bars(NamedTuple):
    """A drawing of bars with their intervals: label, left edge, top, height, and the interval's ends.

    Bars begin at height `zero`; those above gain. `shows` is what it shows; its numbers are in the table that
    follows.
    """

    shows: str
    zero: float
    bars: Sequence[tuple[str, float, float, float, float, float]]


class Picture(NamedTuple):
    """A PNG in base64, and what it shows."""

    data: str
    shows: str


class Folded(NamedTuple):
    """Parts behind a summary, shown at first or not."""

    summary: str
    shown: bool
    parts: Sequence[Any]


class Columns(NamedTuple):
    """Groups of parts that stand next to each other where there is room."""

    groups: Sequence[Sequence[Any]]


class Report(NamedTuple):
    """What a command found.

    `lines` are sentences below the title, such as on the game; `command` reproduces it; `games` are names and
    rules by name, listed at the end; `parts` is what was found, in order; `other_means` precedes the other
    code of a framed cell of a chart.
    """

    title: str
    lines: Sequence[str]
    command: str
    games: Sequence[tuple[str, Mapping[str, object]]]
    parts: Sequence[Any]
    other_means: str = ""

"""The parts of a report. Numbers stay numbers: a renderer asks each for its text, so that no two can differ."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from typing import Any, NamedTuple, Protocol

Format = Callable[[Any], str]

# --- Numbers as text.


def percent(value: float, digits: int = 4, sign: str = "+", unit: str = "%") -> str:
    """Format a share of the bet as a percentage; a rounding error never prints as -0."""
    text = f"{100 * value:{sign}.{digits}f}"
    return (text if float(text) else text.replace("-", sign)) + unit


def typeset(number: str) -> str:
    """The text of a number as pages show it, with a minus sign and ∞."""
    return number.replace("-", "−").replace("inf", "∞")


share = partial(percent, sign="")  # as a percentage too, of what has no sign


def interval(bounds: tuple[float, float], digits: int = 4) -> str:
    """Format an interval of shares of the bet."""
    if math.isinf(bounds[1]):
        return "too few hands"
    return f"{percent(bounds[0], digits)} … {percent(bounds[1], digits)}"


def decimals(value: float, places: int) -> str:
    """Format a number without the zero before its point, and too small a one as a limit: `.05`, `<.01`."""
    if math.isinf(value):
        return "∞"
    small = 0 < value < 0.5 * 10.0**-places
    text = f"{10.0**-places if small else value:.{places}f}"
    return "<" * small + (text.removeprefix("0") if value else "0")


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as `1 match` or `1,200 hands`."""
    plural = noun + ("es" if noun.endswith("ch") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def short_count(count: float) -> str:
    """A number in few characters: `10k`, `2.5M`."""
    rounded = float(f"{count:.3g}")
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rounded >= size:
            return f"{rounded / size:.3g}{letter}"
    return f"{rounded:.3g}"


# --- Figures, tables and text.


class DataColumn(NamedTuple):
    """A column of a table: its key in data, its heading, and a row's value and text.

    A column without a key is only shown, one without a heading is only data. `is_text` columns are words: aligned to
    the left, and wrapped where space is short. `style` is that of a row's cell in a terminal.
    """

    key: str
    heading: str
    value: Callable[[Any], Any]
    format: Format = str
    is_text: bool = False
    style: Callable[[Any], str] = lambda row: ""

    def text(self, row: Any) -> str:
        """A row's value as text; a dash if it is not known."""
        value = self.value(row)
        return "–" if value is None or value != value else self.format(value)


class DataTable(NamedTuple):
    """A table of `rows`, which `columns` read; a terminal shows the first `listed`, or all.

    Its `key` is that of its rows in data; without one it is only shown. It is transposed where it is too wide, unless
    `turns` is false.
    """

    key: str
    columns: Sequence[DataColumn]
    rows: Sequence[Any]
    title: str = ""
    listed: int = 0
    turns: bool = True

    @property
    def shown(self) -> list[DataColumn]:
        """The columns that people see; the first, which names the rows, may have no heading."""
        return [column for n, column in enumerate(self.columns) if column.heading or (n == 0 and column.is_text)]

    def data(self) -> list[dict[str, Any]]:
        """The rows by key of the column."""
        return [{column.key: column.value(row) for column in self.columns if column.key} for row in self.rows]


class Value(NamedTuple):
    """A figure; without a `key` it is only shown, without a `name` it is only data."""

    key: str
    name: str
    value: Any
    format: Format = str

    @property
    def text(self) -> str:
        """The figure as text; a dash if it is not known."""
        return "–" if self.value is None or self.value != self.value else self.format(self.value)

    def data(self) -> dict[str, Any]:
        """The figure by key."""
        return {self.key: self.value} if self.key else {}


class Named(Protocol):
    """What can be one of the figures."""

    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...
    def data(self) -> dict[str, Any]: ...


class Figures(NamedTuple):
    """Figures, one below the other."""

    entries: Sequence[Named]
    title: str = ""


class Section(NamedTuple):
    """A heading within the report; level 2 or 3."""

    title: str
    level: int = 2


class Notes(NamedTuple):
    """Sentences: plain, `dim`, a `warning`, or for a `screen`: they help on pages, and are not printed."""

    lines: Sequence[str]
    style: str = ""


class Code(NamedTuple):
    """Text with its lines as they are; the parts `on_screen` replace it on a terminal, if there are any."""

    text: str
    on_screen: Sequence[Any] = ()


class ProgressBar(NamedTuple):
    """The progress of a running computation: `done` of `whole`, and the same in words."""

    done: float
    whole: float
    text: str


# --- Charts and drawings.

CLOSE = 0.01  # bets; a margin below it


class ChartCell(Protocol):
    """A cell of a chart: its code, another code if it differs, what that costs, and the values of its actions."""

    @property
    def code(self) -> str: ...
    @property
    def other(self) -> str: ...
    @property
    def cost(self) -> float: ...
    @property
    def ev(self) -> Mapping[str, float]: ...
    @property
    def margin(self) -> float: ...


class ChartGrid(NamedTuple):
    """A strategy chart: cells by row and column, in sections of rows.

    A cell that has another code too is framed. `marked` says what that means, and `means` precedes the other code;
    the arrow leads to it, or from it if `other_first`. The small numbers of cells are their `margins`, the `costs` of
    framed ones, or none; `labels` replace them. `legend` and `notes` explain, and `across` names the columns.
    """

    columns: Sequence[str]
    sections: Mapping[str, Sequence[str]]
    cells: Mapping[tuple[str, str], ChartCell]
    legend: Mapping[str, str]
    notes: Sequence[str] = ()
    across: str = ""
    numbers: str = "margins"
    marked: str = ""
    means: str = ""
    other_first: bool = False
    labels: Mapping[tuple[str, str], str] = {}

    @property
    def is_framed(self) -> bool:
        """Whether any cell is framed."""
        return any(cell.other for cell in self.cells.values())

    def groups(self, kind: str) -> list[list[str]]:
        """The rows of a section in groups: neighbours whose cells are alike are one row of a short chart."""

        def codes(row: str) -> list[tuple[str, str] | None]:
            cells = (self.cells.get((row, column)) for column in self.columns)
            return [(cell.code, cell.other) if cell else None for cell in cells]

        return [list(rows) for _, rows in groupby(self.sections[kind], codes)]

    def is_close(self, rows: Iterable[str], column: str) -> bool:
        """Whether an action is the best by less than 1% of the bet in any of these rows."""
        return any(self.cells[row, column].margin < CLOSE for row in rows)

    def small(self, row: str, column: str) -> str:
        """The small text of a cell: its label, or what its number is in percent of the bet."""
        cell = self.cells[row, column]
        if self.numbers == "costs" and cell.other:
            label, cost = self.labels.get((row, column), ""), cell.cost
            return label or ("" if math.isnan(cost) else decimals(max(100 * cost, 0), 2 if cost >= 0.00995 else 4))
        if self.numbers != "margins" or math.isnan(margin := cell.margin):
            return ""
        return decimals(100 * margin, 0 if margin >= 0.0995 else 1 if margin >= 0.00995 else 2)

    def codes(self, row: str, column: str) -> list[str]:
        """The code of a cell, with the other one if it has one, in the order of the arrow."""
        cell = self.cells[row, column]
        both = [cell.other, cell.code] if self.other_first else [cell.code, cell.other]
        return [code for code in both if code]


class Chances(NamedTuple):
    """Probabilities by row and column."""

    columns: Sequence[str]
    rows: Mapping[str, Sequence[float]]


class Axis(NamedTuple):
    """What an axis shows, how its ticks are written, and whether it is logarithmic."""

    label: str = ""
    format: Format = "{:g}".format
    is_log: bool = False


class Line(NamedTuple):
    """A line with bands around it by name, in data units; `colour` is a name of `colours.LINES`."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    bands: Mapping[str, Sequence[tuple[float, float]]] = {}
    colour: str = "raw"


class Panel(NamedTuple):
    """Lines on one scale, with levels of y and marks of x by name; `below` is a small panel under it."""

    title: str
    lines: Sequence[Line]
    levels: Mapping[str, float] = {}
    limits: tuple[float, float] | None = None
    below: Any = None  # another Panel
    y: Axis | None = None  # if it is not that of all panels
    marks: Mapping[str, float] = {}


class Curves(NamedTuple):
    """Panels of lines that share the scale of x.

    `tables` have the numbers of each panel, for a page, and `printed` is what a terminal shows of them all.
    """

    panels: Sequence[Panel]
    x: Axis
    y: Axis
    tables: Sequence[DataTable] = ()
    printed: DataTable | None = None


class DataSeries(NamedTuple):
    """Values of bars or dots with half their intervals and their texts, if they have any.

    The interval of a dot may have two sides, below and above its value.
    """

    name: str
    values: Sequence[float]
    format: Format
    halves: Sequence[float | tuple[float, float]] = ()
    texts: Sequence[str] = ()
    colour: str = "raw"

    def interval(self, number: int) -> tuple[float, float]:
        """The ends of the interval of a value, or the value twice."""
        half = self.halves[number] if self.halves else 0.0
        below, above = half if isinstance(half, tuple) else (half, half)
        return self.values[number] - below, self.values[number] + above


class Bars(NamedTuple):
    """Bars by label, a panel for each series."""

    labels: Sequence[str]
    series: Sequence[DataSeries]
    axis: str


class Dots(NamedTuple):
    """Dots of all series on one scale, a line for each label, which `details` explain."""

    labels: Sequence[str]
    series: Sequence[DataSeries]
    axis: str
    details: Sequence[str] = ()


class Heat(NamedTuple):
    """Values by row and column with half their intervals; `names` are what rows and columns are."""

    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float]]
    halves: Sequence[Sequence[float | None]]
    names: tuple[str, str]
    label: str

    def half(self, row: int, column: int) -> str:
        """Half the interval of a value as text, if it has one."""
        half = self.halves[row][column]
        return "" if half is None else f"± {half:.1f}" if half >= 0.05 else "± < 0.1"


# --- Parts of parts.


class Only(NamedTuple):
    """Parts for a "page" and its picture, or for a "terminal", made on demand."""

    place: str
    make: Callable[[], Iterable[Any]]


class Folded(NamedTuple):
    """Parts behind a summary, open at first or not; only on pages."""

    summary: str
    is_open: bool
    parts: Sequence[Any]


class Beside(NamedTuple):
    """Groups of parts that stand next to each other where there is room."""

    groups: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Report:
    """What a command found: a title, sentences below it such as on the game, and parts in order.

    `games` are rules with their names, which a page lists, and `command` reproduces the report. `data` is only for
    programs, and computed on demand.
    """

    title: str
    lines: Sequence[str]
    parts: Sequence[Any]
    games: Sequence[Any] = ()
    command: str = ""
    data: Callable[[], Mapping[str, Any]] = dict

    def parts_for(self, place: str) -> Iterator[Any]:
        """The parts for a "terminal" or a "page" in order, those within others in their place."""
        return _within(self.parts, place)


def _within(parts: Iterable[Any], place: str) -> Iterator[Any]:
    for part in parts:
        match part:
            case Only(of, make):
                yield from _within(make() if of == place else (), place)
            case Beside(groups):
                yield from _within(chain.from_iterable(groups), place)
            case Folded(parts=within) if place == "page":
                yield from _within(within, place)
            case Folded():
                pass
            case _:
                yield part

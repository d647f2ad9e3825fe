"""The standings of a contest as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from bjsim.bots.contest.contest_tally import HEADINGS
from bjsim.bots.protocol import printable
from bjsim.report.terminal import Cell, transposed_tables


def plainly(console: Console) -> Callable[..., None]:
    """Prints text on a console as it is: no markup, no colours, and in a file no line that is broken."""
    return partial(console.print, markup=False, highlight=False, soft_wrap=not console.is_terminal)


LONGEST = 24  # characters of a bot's name in the standings; longer names are folded
_UNLIMITED = Console(width=10**6)  # never cuts a table, so it can measure one


def standings_table(rows: Sequence[tuple[dict[str, Any], str]], width: int, score: str = "chips") -> RichTable | Group:
    """Lay out the standings of a contest; `rows` have each bot's entry in standings.json and its language.

    Beside what ranks the bots (`score`, as in `Contest`), they show chips, or else the luck-adjusted chips per hand.

    If a full line does not fit `width` characters, the ranges of ranks are left out, then the language; if
    that does not fit either, the table is transposed. No number or name is ever cut.
    """
    for wide, ranges in ((True, True), (True, False), (False, False)):
        table = _standings_lines(rows, wide, ranges, score)
        if _measured(table).minimum <= width:
            return table
    second = "luck-adjusted per hand" if score == "chips" else "chips"
    headings = ("bot", "rank", "language", "matches", "broke", HEADINGS[score], "± 95%", second, "± 95%")
    return Group(
        *transposed_tables((*headings, "faults", "ms per move"), [_standings_cells(*row, score) for row in rows], width)
    )


def _standings_lines(rows: Sequence[tuple[dict[str, Any], str]], wide: bool, ranges: bool, score: str) -> RichTable:
    """A table with a line for each bot. wide: whether to show language and group; ranges: and the ranges of ranks."""
    table = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1 if wide else 0), pad_edge=False)
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("bot", overflow="fold", min_width=8, max_width=LONGEST if wide else LONGEST // 2)
    if wide:
        table.add_column("language", no_wrap=True)
    first = HEADINGS[score] if wide else HEADINGS[score].replace("adjusted", "adj.")
    second = "chips" if score != "chips" else "luck-adjusted\nper hand" if wide else "luck-adj."
    for heading in ("broke/\nmatches", f"{first}\n± 95%", f"{second} ± 95%"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("faults", overflow="fold", min_width=14)
    table.add_column("ms per move" if wide else "ms", justify="right", no_wrap=True)
    for row, language in rows:
        cells: list[str | Text | None] = [
            _rank(row, ranges),
            Text(row["bot"]),
            language if wide else None,
            f"{row['broke']:,}/{row['matches']:,}",
            *(_with_half(figure, bounds, digits) for figure, bounds, digits in _figures(row, score)),
            Text(_faults(row), style="yellow"),
            _ms(row),
        ]
        table.add_row(*[cell for cell in cells if cell is not None])
    for column in table.columns:
        if column.no_wrap:  # rich would take the longest word as the least width
            column.width = max(_measured(cell).maximum for cell in (column.header, *column.cells))
    return table


def _measured(renderable: RenderableType) -> Measurement:
    return Measurement.get(_UNLIMITED, _UNLIMITED.options, renderable)


def _standings_cells(row: dict[str, Any], language: str, score: str) -> list[Cell]:
    return [
        Text(row["bot"]),
        _rank(row),
        language,
        f"{row['matches']:,}",
        f"{row['broke']:,}",
        *(cell for figure, bounds, digits in _figures(row, score) for cell in (figure, _half(bounds, digits))),
        Text(_faults(row), style="yellow"),
        _ms(row),
    ]


def _rank(row: dict[str, Any], ranges: bool = True) -> str:
    """The rank, with the range of those that the results leave open."""
    if row["rank"] is None:
        return "–"
    best, worst = row["rank_range"]
    return f"{row['rank']} ({best}–{worst})" if ranges and best < worst else str(row["rank"])


def _figures(row: dict[str, Any], score: str) -> list[tuple[str, Sequence[float] | None, int]]:
    """The score and a second figure, each with its interval and the digits of that."""
    chips = f"{row['chips']:.1f}", row["chips_ci95"], 1
    if score != "chips":
        return [("–" if row["rank"] is None else f"{row['score']:.1f}", row["score_ci95"], 1), chips]
    adjusted = "–" if row["luck_adjusted"] is None else f"{row['luck_adjusted']:+.3f}"
    return [chips, (adjusted, row["luck_adjusted_ci95"], 3)]


def _faults(row: dict[str, Any]) -> str:
    return printable(", ".join(f"{kind} {count}" for kind, count in row["faults"].items()))


def _ms(row: dict[str, Any]) -> str:
    return "–" if row["ms_per_move"] is None else f"{row['ms_per_move']:.2f}"


def _with_half(mean: str, bounds: Sequence[float] | None, digits: int) -> str:
    return mean if mean == "–" else f"{mean} ± {_half(bounds, digits):>5}"


def _half(bounds: Sequence[float] | None, digits: int) -> str:
    return f"{(bounds[1] - bounds[0]) / 2:.{digits}f}" if bounds else "–"

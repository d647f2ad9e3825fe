"""Results as tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from bjsim.bots.contest.contest_tally import HEADINGS
from bjsim.bots.protocol import FAULTS, Fault, printable, printable_lines
from bjsim.cli.tables import Cell, Printed, print_table, transposed_tables
from bjsim.sim.running.experiment import Point
from bjsim.strategies.results import COLUMNS, BotResult
from bjsim.strategies.tabular import percent

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer


def plainly(console: Console) -> Callable[..., None]:
    """Prints text on a console as it is: no markup, no colours, and in a file no line that is broken."""
    return partial(console.print, markup=False, highlight=False, soft_wrap=not console.is_terminal)


def print_results(console: Console, results: Sequence[BotResult]) -> None:
    print_table(console, *result_rows(results))


def result_rows(results: Sequence[BotResult]) -> Printed:
    """Headings and a row for each bot: the columns with headings, with luck-adjusted returns where there are any.

    The exact value is that of a fresh shoe. Where several rounds share one, there is no z.
    """
    fresh = all(result.fresh for result in results)
    absent = {"": True, "z": not fresh, "luck-adjusted": not any(result.adjusted for result in results)}
    columns = [column for column in COLUMNS if not absent.get(column.heading)]
    columns.sort(key=lambda column: column.key in ("exact", "z", "verdict"))  # after the luck-adjusted return
    headings = [f"{column.heading}{', fresh shoe' * (column.key == 'exact' and not fresh)}" for column in columns]
    rows: list[list[Cell]] = []
    for result in results:
        cells: dict[str, Cell] = {column.key: column.text(result) for column in columns}
        cells["name"] = Text(result.name)
        cells["verdict"] = Text(result.verdict, style="red bold" if result.disagrees else "")
        rows.append(list(cells.values()))
    return headings, rows


def print_convergence(console: Console, results: Sequence[BotResult], lines: int = 8) -> None:
    """Print how each mean and its anytime-valid interval converged, at about `lines` points including the last."""
    points = [{point.hands: point for point in result.convergence} for result in results]
    hands = sorted(set().union(*points))
    step = max(1, len(hands) // lines)
    rows: list[list[Cell]] = [
        [f"{count:,}", *(_point(at[count]) if count in at else "" for at in points)]
        for count in sorted(hands[-1::-step])
    ]
    headings = ["hands", *(result.name for result in results)]
    print_table(console, headings, rows, "convergence (mean, anytime 95% interval)", transpose=False)


def _point(point: Point) -> str:
    low, high = point.anytime95
    if math.isinf(high):
        return f"{percent(point.mean, 3)}, too few hands"
    return f"{percent(point.mean, 3)} ± {50 * (high - low):.3f}%"


def print_bots(console: Console, programs: Sequence[BotPlayer]) -> None:
    """Print the time per move and the faults by kind of each bot that runs in its own process."""
    print_table(console, *program_rows(programs), "bots")


def program_rows(programs: Sequence[BotPlayer]) -> Printed:
    rows: list[list[Cell]] = []
    for program in programs:
        times = program.ms_per_move()
        faults = ", ".join(f"{kind} {count:,}" for kind, count in sorted(program.faults.items()))
        median, p99 = ("–" if times[name] is None else f"{times[name]:.2f}" for name in ("median", "p99"))
        rows.append([Text(program.name), median, p99, Text(faults or "none")])
    return ["bot", "ms per move, median", "99th percentile", "faults"], rows


def fault_lines(fault: Fault) -> str:
    """Describe a fault to the bot's author: its arguments and its output."""
    lines = [f"{fault.kind}: {FAULTS[fault.kind]}", f"  {fault.detail}", f"  asked: {' '.join(fault.argv)}"]
    for name, content in (("printed", fault.stdout), ("on stderr", fault.stderr)):
        if text := content.decode("utf-8", "backslashreplace").rstrip():
            shown = text.split("\n")
            if len(shown) > LINES:
                shown = [*shown[: LINES // 2], f"... {len(content):,} bytes in all ...", *shown[-LINES // 2 :]]
            lines += [f"  {name}:", *(f"  | {line[:200]}" for line in shown)]  # no command of a forge begins a line
    return printable_lines("\n".join(lines))  # no control characters in the terminal


LINES = 10  # of what a bot printed; the first ones, and the last, where a traceback has its error
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

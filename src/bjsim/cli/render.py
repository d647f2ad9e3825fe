"""Results as rich tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from bjsim.bots.protocol import FAULTS, Fault, printable, printable_lines
from bjsim.cli.tables import Cell, print_table
from bjsim.sim.running.experiment import Point
from bjsim.strategies.results import BotResult, Difference

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer


def percent(value: float, digits: int = 4) -> str:
    """A return in initial bets as percent of the bet, with its sign."""
    return f"{100 * value:+.{digits}f}%"


def interval(bounds: tuple[float, float], digits: int = 4) -> str:
    """An interval of returns in percent."""
    if math.isinf(bounds[1]):
        return "too few hands"
    return f"{percent(bounds[0], digits)} … {percent(bounds[1], digits)}"


def print_results(console: Console, results: Sequence[BotResult]) -> None:
    """One line a bot: hands, mean return, intervals, luck-adjusted return where there is one, exact value and z (in a
    finite shoe the value in an infinite one), and the verdict in words."""
    adjusted = any(result.adjusted for result in results)
    is_finite = any(result.infinite_shoe is not None and result.exact is None for result in results)
    headings = ["bot", "hands", "return", "sd", "± se", "95% interval", "anytime 95%"]
    headings += ["luck-adjusted"] if adjusted else []
    headings += ["infinite shoe"] if is_finite else ["exact", "z"]
    rows: list[list[Cell]] = []
    for result in results:
        point = result.point
        value = "–" if result.infinite_shoe is None else percent(result.infinite_shoe)
        z = "–" if result.z is None else f"{result.z:+.2f}"
        rows.append(
            [
                Text(result.name),
                f"{result.tally.rounds:,}",
                percent(point.mean),
                f"{result.tally.sd:.4f}",
                f"{100 * result.tally.se:.4f}%",
                interval(point.ci95),
                interval(point.anytime95),
                *([adjusted_return(result)] if adjusted else []),
                *([value] if is_finite else [value, z]),
                Text(result.verdict, style="red bold" if result.verdict == "disagrees" else ""),
            ]
        )
    print_table(console, [*headings, "verdict"], rows)


def adjusted_return(result: BotResult) -> str:
    """A luck-adjusted return with half its 95% interval, to the digits that the interval supports."""
    luck = result.adjusted
    if luck is None:
        return "–"
    half = (luck.ci95[1] - luck.ci95[0]) / 2
    if math.isinf(half):
        return f"{percent(luck.mean)}, too few shoes"
    digits = min(max(4, 1 - math.floor(math.log10(max(half, 1e-12) * 100))), 9)
    return f"{percent(luck.mean, digits)} ± {100 * half:.{digits}f}%"


def print_differences(console: Console, differences: Sequence[Difference]) -> None:
    """One line for each pair of bots that were dealt the same cards."""
    headings = ["", "difference", "± se", "on other cards", "95% interval", "anytime 95%", "luck-adjusted"]
    rows: list[list[Cell]] = []
    for difference in differences:
        adjusted = difference.adjusted
        rows.append(
            [
                Text(f"{difference.one.name} – {difference.other.name}"),
                percent(difference.pair.mean),
                f"{100 * difference.pair.se:.4f}%",
                f"{100 * difference.apart:.4f}%",
                interval(difference.pair.ci95),
                interval(difference.anytime95),
                "–" if adjusted is None else interval(adjusted.anytime95),
            ]
        )
    print_table(console, headings, rows, "differences, on the same cards")


def print_convergence(console: Console, results: Sequence[BotResult], lines: int = 8) -> None:
    """How each mean, with its anytime-valid interval, converged: a few points, the last one always."""
    points = [{point.hands: point for point in result.convergence} for result in results]
    hands = sorted(set().union(*points))
    step = max(1, len(hands) // lines)
    rows: list[list[Cell]] = [
        [f"{count:,}", *(_point(at[count]) if count in at else "" for at in points)]
        for count in sorted(hands[-1::-step])
    ]
    headings = ["hands", *(result.name for result in results)]
    print_table(console, headings, rows, "convergence (mean, anytime 95% interval)", turn=False)


def _point(point: Point) -> str:
    low, high = point.anytime95
    if math.isinf(high):
        return f"{percent(point.mean, 3)}, too few hands"
    return f"{percent(point.mean, 3)} ± {50 * (high - low):.3f}%"


def print_bots(console: Console, programs: Sequence[BotPlayer]) -> None:
    """Time per move and faults by kind, for each bot in a process of its own."""
    rows: list[list[Cell]] = []
    for program in programs:
        times = program.ms_per_move()
        faults = ", ".join(f"{kind} {count:,}" for kind, count in sorted(program.faults.items()))
        median, p99 = ("–" if times[name] is None else f"{times[name]:.2f}" for name in ("median", "p99"))
        rows.append([Text(program.name), median, p99, Text(faults or "none")])
    print_table(console, ["bot", "ms per move, median", "99th percentile", "faults"], rows, "bots")


def fault_lines(fault: Fault) -> str:
    """A fault for the bot's author: what it was asked, what it printed."""
    lines = [f"{fault.kind}: {FAULTS[fault.kind]}", f"  {fault.detail}", f"  asked: {' '.join(fault.argv)}"]
    for name, content in (("printed", fault.stdout), ("on stderr", fault.stderr)):
        if text := content.decode("utf-8", "backslashreplace").rstrip():
            lines.append(f"  {name}: " + text[:1000].replace("\n", "\n    "))
    return printable_lines("\n".join(lines))  # nothing that moves the author's cursor


LONGEST = 24  # letters of a bot's name on a line of the standings; longer names are folded
BOT_WIDTH = 20  # columns for a bot in the standings turned on their side
_ENDLESS = Console(width=10**6)  # a screen on which nothing is cut, to measure tables


def standings_table(rows: Sequence[tuple[dict[str, Any], str]], width: int) -> RichTable | Group:
    """The standings of a contest, from the values of standings.json and each bot's language.

    width: of the screen. Where a line for each bot does not fit there is no language and no group, and where that does
    not fit either the table is turned on its side: no number and no name is ever cut.
    """
    for wide in (True, False):
        table = _standings_lines(rows, wide)
        if _measured(table).minimum <= width:
            return table
    at_once = max(1, (width - BOT_WIDTH) // BOT_WIDTH)
    parts = [rows[first : first + at_once] for first in range(0, len(rows), at_once)]
    return Group(*(_standings_turned(part) for part in parts))


def _standings_lines(rows: Sequence[tuple[dict[str, Any], str]], wide: bool) -> RichTable:
    """A line for each bot."""
    table = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1 if wide else 0), pad_edge=False)
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("bot", overflow="fold", min_width=8, max_width=LONGEST if wide else LONGEST // 2)
    if wide:
        table.add_column("language", no_wrap=True)
    for heading in ("matches", "chips ± 95%", "luck-adjusted\nper hand ± 95%" if wide else "luck-adj. ± 95%"):
        table.add_column(heading, justify="right", no_wrap=True)
    if wide:
        table.add_column("group", overflow="fold")
    table.add_column("faults", overflow="fold", min_width=14)
    table.add_column("ms per move" if wide else "ms", justify="right", no_wrap=True)
    for row, language in rows:
        cells: list[str | Text | None] = [
            _rank(row),
            Text(row["bot"]),
            language if wide else None,
            f"{row['matches']:,}",
            _with_half(f"{row['chips']:.1f}", row["chips_ci95"], 1),
            _with_half(_luck_adjusted(row), row["luck_adjusted_ci95"], 3),
            row["group"] if wide else None,
            Text(_faults(row), style="yellow"),
            _ms(row),
        ]
        table.add_row(*[cell for cell in cells if cell is not None])
    for column in table.columns:
        if column.no_wrap:  # else rich takes its longest word for the least width
            column.min_width = max(_measured(cell).maximum for cell in (column.header, *column.cells))
    return table


def _measured(shown: RenderableType) -> Measurement:
    """The least and the greatest width of what may be shown."""
    return Measurement.get(_ENDLESS, _ENDLESS.options, shown)


def _standings_turned(rows: Sequence[tuple[dict[str, Any], str]]) -> RichTable:
    """A column for each bot."""
    lines: dict[str, list[Text]] = {}
    for row, language in rows:
        for name, text in (
            ("rank", _rank(row)),
            ("language", language),
            ("matches", f"{row['matches']:,}"),
            ("chips", f"{row['chips']:.1f}"),
            ("± 95%", _half(row["chips_ci95"], 1)),
            ("luck-adjusted per hand", _luck_adjusted(row)),
            ("± 95% ", _half(row["luck_adjusted_ci95"], 3)),
            ("group", row["group"]),
            ("faults", _faults(row)),
            ("ms per move", _ms(row)),
        ):
            lines.setdefault(name, []).append(Text(text, style="yellow" if name == "faults" else ""))
    return turned([row["bot"] for row, _ in rows], lines)


def turned(headings: Sequence[str], lines: Mapping[str, Sequence[Text]]) -> RichTable:
    """A table turned on its side, for narrow screens: a column for each heading, and lines with a name."""
    table = RichTable(box=box.SIMPLE_HEAD)
    table.add_column("", overflow="fold")
    for heading in headings:
        table.add_column(Text(heading), justify="right", overflow="fold")
    for name, cells in lines.items():
        table.add_row(name, *cells)
    return table


def _rank(row: dict[str, Any]) -> str:
    return "–" if row["rank"] is None else str(row["rank"])


def _luck_adjusted(row: dict[str, Any]) -> str:
    """Nothing is known of it before the first shoe has been played by all."""
    return "–" if row["luck_adjusted"] is None else f"{row['luck_adjusted']:+.3f}"


def _faults(row: dict[str, Any]) -> str:
    return printable(", ".join(f"{kind} {count}" for kind, count in row["faults"].items()))


def _ms(row: dict[str, Any]) -> str:
    return "–" if row["ms_per_move"] is None else f"{row['ms_per_move']:.2f}"


def _with_half(mean: str, bounds: Sequence[float] | None, digits: int) -> str:
    """A mean with half the width of its interval."""
    return mean if mean == "–" else f"{mean} ± {_half(bounds, digits):>5}"


def _half(bounds: Sequence[float] | None, digits: int) -> str:
    """Half the width of an interval."""
    return f"{(bounds[1] - bounds[0]) / 2:.{digits}f}" if bounds else "–"

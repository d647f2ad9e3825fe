"""Results as rich tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from bjsim.bots.protocol import FAULTS, Fault, printable, printable_lines
from bjsim.cli.tables import Cell, print_table
from bjsim.sim.running.driver import Point
from bjsim.strategies.experiment import BotResult, Difference

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


NARROW = 100  # letters across, below which standings leave out what matters least


def standings_table(rows: Sequence[tuple[dict[str, Any], str]], width: int) -> RichTable:
    """The standings of a contest: one line a bot, from the values of standings.json and the bot's language. width: of
    the screen; on a narrow one there is no language and no group, and columns stand closer."""
    wide = width >= NARROW
    table = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1 if wide else 0), pad_edge=False)
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("bot", overflow="fold", min_width=8, max_width=max(8, width // 4))  # a long one hides no column
    if wide:
        table.add_column("language", no_wrap=True)
    for heading in ("matches", "chips ± 95%", "luck-adjusted\nper hand ± 95%" if wide else "luck-adj. ± 95%"):
        table.add_column(heading, justify="right", no_wrap=True)
    if wide:
        table.add_column("group")
    table.add_column("faults", overflow="fold", min_width=14)
    table.add_column("ms per move" if wide else "ms", justify="right", no_wrap=True)
    for row, language in rows:
        faults = printable(", ".join(f"{kind} {count}" for kind, count in row["faults"].items()))
        cells: list[str | Text | None] = [
            str(row["rank"]),
            Text(row["bot"]),
            language if wide else None,
            f"{row['matches']:,}",
            _with_half(f"{row['chips']:.1f}", row["chips_ci95"], 1),
            # nothing is known of it before the first shoe has been played by all
            _with_half(f"{row['luck_adjusted']:+.3f}" if row["luck_adjusted"] else "–", row["luck_adjusted_ci95"], 3),
            row["group"] if wide else None,
            Text(faults, style="yellow"),
            "–" if row["ms_per_move"] is None else f"{row['ms_per_move']:.2f}",
        ]
        table.add_row(*[cell for cell in cells if cell is not None])
    return table


def _with_half(mean: str, bounds: Sequence[float] | None, digits: int) -> str:
    """A mean with half the width of its interval, where there is one."""
    return f"{mean} ± {_half(bounds, digits):>5}" if bounds else mean


def _half(bounds: Sequence[float] | None, digits: int) -> str:
    """Half the width of an interval."""
    return f"{(bounds[1] - bounds[0]) / 2:.{digits}f}" if bounds else "–"

"""Pictures of counted games: EV by count, the bankroll over time, games compared; and the page that compares them."""

import base64
import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bjsim.cli.count_report import varied_tables
from bjsim.cli.pages import rules_part, table_part, write_page
from bjsim.cli.plots import ADJUSTED, EXACT, RAW, Words, add_legend, framed, plot_valued, save_figure, usual_legend
from bjsim.report import Notes, Picture, Report, Section
from bjsim.sim.game.events import game_text
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.departures import Departure, departed_cells
from bjsim.strategies.counting.ramp import bankroll_fan
from bjsim.strategies.counting.result import CountResult
from bjsim.strategies.evaluation.compare import solve
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.formats.plays import INSURANCE

GREY = "#5a636e"
Games = Sequence[tuple[str, CountResult]]


def plot_counts(result: CountResult, path: str, command: str) -> None:
    """Draw EV with its interval, share of rounds and bet by count. Raises: InputError: It cannot be written."""
    table, run = result.returns, result.run
    title = f"{result.run.description}\n{_summary(result)}\n{run.rounds:,} rounds, seed {run.seed}"
    figure, above, _ = framed(8.2, 6.4, title, command, 0.25)
    axes = above.subplots(3, 1, sharex=True, height_ratios=(3, 1.5, 1.5))
    x = list(range(len(run.labels)))
    halves = 100 * table.ev_half_widths()
    colours = [RAW if ev > 0 else ADJUSTED for ev in table.ev]
    axes[0].bar(x, 100 * table.ev, yerr=halves, color=colours, capsize=2, error_kw={"lw": 1})
    axes[0].axhline(0, color=EXACT, lw=0.8)
    axes[1].bar(x, 100 * table.shares, color=GREY)
    axes[2].bar(x, result.bets, color=RAW)
    for at, bet in zip(x, result.bets.tolist(), strict=True):
        axes[2].annotate(
            f"{bet:g}" if bet else "–", (at, bet), (0, 1.5), textcoords="offset points", ha="center", size=7
        )
    axes[2].margins(y=0.18)
    for part, label in zip(axes, ("EV, % of the bet", "share of rounds, %", "bet, units"), strict=True):
        part.set_ylabel(label)
        part.grid(alpha=0.3, axis="y")
        part.set_axisbelow(True)
    axes[2].set_xticks(x, run.labels, size=6.5 if len(x) > 16 else 9)
    axes[2].margins(x=0.01)
    axes[2].set_xlabel(result.run.count_name)
    save_figure(figure, path)


def plot_fan(result: CountResult, path: str, command: str) -> None:
    """Draw the bankroll over time, and the share of players who have lost it. Raises: InputError."""
    terms, ev, sd = result.terms, result["ev_per_round"].value, result["sd_per_round"].value
    fan = bankroll_fan(ev, sd, terms.bankroll, terms.rounds_per_hour)
    unit, sign = terms.unit or 1.0, "$" if terms.unit else ""
    bank = f"${terms.bankroll * unit:,.0f}, a unit of ${unit:,.2f}" if sign else f"{terms.bankroll:,.0f} units"
    title = f"A bankroll of {bank}, over {fan.hours[-1]:,.0f} hours\n{result.run.description}\n{_summary(result)}"
    figure, above, below = framed(8.2, 5.6, title, command)
    axes, lower = above.subplots(2, 1, sharex=True, height_ratios=(4, 1.3))
    low, middle, high = ([unit * value for value in line] for line in fan.quantiles)
    axes.fill_between(fan.hours, low, high, color=RAW, alpha=0.22, lw=0, label="5% to 95% of the players")
    axes.plot(fan.hours, middle, color=RAW, lw=2, label="median")
    axes.axhline(unit * terms.bankroll, color=GREY, lw=0.8, ls=":")
    axes.set_ylabel(f"bankroll, {sign or 'units'}")
    axes.set_ylim(0, 1.04 * max(high))
    axes.yaxis.set_major_formatter(f"{sign}{{x:,.0f}}")
    for end, line in ((low, "5%"), (middle, "50%"), (high, "95%")):
        axes.annotate(
            line, (fan.hours[-1], end[-1]), (4, 0), textcoords="offset points", va="center", size=8, color=RAW
        )
    lower.fill_between(fan.hours, [100 * share for share in fan.lost], color=ADJUSTED, alpha=0.35, lw=0)
    lower.plot(fan.hours, [100 * share for share in fan.lost], color=ADJUSTED, lw=1.5, label="players who lost it")
    lower.axhline(100 * fan.ruin, color=ADJUSTED, lw=1, ls=":", label=f"risk of ruin: {fan.ruin:.2%}")
    lower.set(xlabel="hours of play", ylabel="ruined, %", xlim=(0, fan.hours[-1]), ylim=(0, 115 * max(fan.ruin, 1e-6)))
    lower.xaxis.set_major_formatter("{x:,.0f}")
    if fan.n0_hours <= fan.hours[-1]:
        for part in (axes, lower):
            part.axvline(fan.n0_hours, color=EXACT, lw=0.8, ls="-.")
        text, top = f"N0: {fan.n0_hours:,.0f} hours", (fan.n0_hours, 1)
        axes.annotate(text, top, (-4, -10), ("data", "axes fraction"), "offset points", ha="right", size=8)
    for part in (axes, lower):
        part.grid(alpha=0.3)
    add_legend(below, [axes, lower])
    save_figure(figure, path)


def _summary(result: CountResult) -> str:
    found = [result[key] for key in ("ev_per_hour", "score", "ror")]
    return "; ".join(f"{one.name.replace(', ', ' in ')}: {one.text}" for one in found)


def draw_varied(games: Games, plot_path: str | None, html_path: str | None, command: str) -> None:
    """Write the picture and the page of `--vary` that are asked for. Raises: InputError: One cannot be written."""
    if plot_path:
        plot_varied(games, plot_path, command)
    if html_path:
        write_page(report_varied(games, command), html_path)


def report_varied(games: Games, command: str) -> Report:
    with TemporaryDirectory() as folder:
        plot_varied(games, f"{folder}/games.png", command)
        picture = base64.b64encode(Path(folder, "games.png").read_bytes()).decode()
    values, differences, notes = varied_tables(games)
    rules = {one.run.game.rules: None for _, one in games}
    parts: list[Any] = [Picture(picture, "The SCORE of every game; the numbers are in the table below")]
    headings = ("The games", "Differences from the first game")
    for number, (heading, table) in enumerate(zip(headings, (values, differences), strict=True), 1):
        if table[1]:
            parts += [Section(heading), table_part(f"games{number}", table)]
    parts.append(Notes(notes, small=True))
    return Report(f"{len(games)} counted games compared", [_common(games)], command, rules_part(list(rules)), parts)


def _common(games: Games) -> str:
    """What is the same in all games, in words: those that differ are named by what varies."""
    texts = {one.run.description for _, one in games}
    rules = {game_text(one.run.game.rules) for _, one in games}
    _, first = games[0]
    return (
        texts.pop()
        if len(texts) == 1
        else rules.pop()
        if len(rules) == 1
        else f"the first game: {first.run.description}"
    )


def plot_varied(games: Games, path: str, command: str) -> None:
    """Draw the SCORE of games: as a heat map of two things that vary, else as dots. Raises: InputError."""
    rounds = max(one.run.rounds for _, one in games)
    title = (
        f"SCORE of {len(games)} counted games\n{_common(games)}\nup to {rounds:,} rounds, seed {games[0][1].run.seed}"
    )
    points = [tuple(name.split(", ")) for name, _ in games]
    rows, columns = (list(dict.fromkeys(point[-1 - axis] for point in points)) for axis in (0, 1 % len(points[0])))
    if len(points[0]) == 2 and min(len(rows), len(columns)) > 1 and len(rows) * len(columns) == len(games):
        _plot_heat(games, rows, columns, path, title, command)
    else:
        _plot_dots(games, path, title, command)


def _plot_heat(games: Games, rows: Sequence[str], columns: Sequence[str], path: str, title: str, command: str) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    wide = max(7.0, 1.6 + 1.15 * len(columns))
    figure, above, _ = framed(wide, 1.7 + 0.55 * len(rows), title, command, 0.3)
    axes = above.add_subplot()
    scores = {name: one["score"] for name, one in games}
    values = [[scores[f"{column}, {row}"].value for column in columns] for row in rows]
    colours = LinearSegmentedColormap.from_list("score", ["#ffffff", RAW])
    drawn = axes.imshow(values, cmap=colours, aspect="auto", vmin=0)
    for y, x in itertools.product(range(len(rows)), range(len(columns))):
        figure_ = scores[f"{columns[x]}, {rows[y]}"]
        axes.text(x, y - 0.12, f"{figure_.value:.1f}", ha="center", va="center", weight="bold")
        if figure_.half is not None:
            axes.text(
                x,
                y + 0.26,
                f"± {figure_.half:.1f}" if figure_.half >= 0.05 else "± < 0.1",
                ha="center",
                va="center",
                size=7,
            )
    (column_name, _, _), (row_name, _, _) = columns[0].partition("="), rows[0].partition("=")
    axes.set_xticks(range(len(columns)), [text.partition("=")[2] for text in columns])
    axes.set_yticks(range(len(rows)), [text.partition("=")[2] for text in rows])
    axes.set_xlabel(NAMES.get(column_name, column_name))
    axes.set_title(NAMES.get(row_name, row_name), loc="left", size="medium")  # beside few rows it would not fit
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    figure.colorbar(drawn, ax=axes, label="SCORE", pad=0.02)
    save_figure(figure, path)


NAMES = {
    "cut": "share of the shoe that is dealt",
    "ramp": "spread, units",
    "optimal": "spread of the optimal ramp, units",
    "system": "counting system",
    "indices": "index plays",
    "leave": "leaves at",
    "ls": "late surrender",
    "h17": "the dealer hits soft 17",
    "das": "double after a split",
    "bj": "a natural pays",
}


def _plot_dots(games: Games, path: str, title: str, command: str) -> None:
    figure, above, _ = framed(8.2, 1.4 + 0.36 * len(games), title, command, 0.3)
    axes = above.add_subplot()
    beside: Any = axes.get_yaxis_transform()
    axes.axvline(games[0][1]["score"].value, color=EXACT, lw=0.8, ls=":")
    for y, (name, one) in enumerate(games):
        score = one["score"]
        half = 0.0 if score.half is None else score.half
        axes.errorbar([score.value], [y], xerr=[half], fmt="o", color=RAW, ms=7, capsize=3)
        axes.text(-0.02, y, name, transform=beside, ha="right", va="center", weight="bold", size=9)
        axes.text(1.02, y, score.text, transform=beside, ha="left", va="center", size=9)
    axes.set(ylim=(len(games) - 0.5, -0.5), yticks=[], xlabel="SCORE, 95% interval")
    axes.margins(x=0.06)
    if math.isfinite(left := min(one["score"].value for _, one in games)) and left < axes.get_xlim()[1] / 3:
        axes.set_xlim(left=0)
    axes.spines[["left", "top", "right"]].set_visible(False)
    axes.grid(axis="x", alpha=0.3)
    save_figure(figure, path)


def plot_indices(chart: Chart, plays: Sequence[Departure], title: str, summary: str, path: str, command: str) -> None:
    """Draw a chart with the index plays in its cells. Raises: InputError: It cannot be written."""
    cells = departed_cells(chart, plays)
    labels = {cell: short_counts(chart.cells[cell], found) for cell, found in cells.items()}
    valued = ValuedChart.of_best(solve(chart.rules)).with_others({cell: found[0][0] for cell, found in cells.items()})
    codes = {cell.code for cell in valued.cells.values()} | {code for found in cells.values() for code, _ in found}
    insured = [("I", f"{play.operator} {play.count}") for play in plays if play.row == INSURANCE]
    notes = ["Framed: above, what the chart does; below, what is better at these counts, rounded as the system says."]
    notes += [f"Insurance: at {short_counts('', [found])}." for found in insured]
    text = Words(f"Index plays of {title}", [game_text(chart.rules), summary], usual_legend(codes), notes, command)
    plot_valued(valued, text, path, marks=True, labels=labels)


def short_counts(base: str, found: Sequence[tuple[str, str]]) -> str:
    """The counts at which codes replace `base`, in few characters: `≥+4`; further ones with what they change."""
    texts = []
    for number, (code, counts) in enumerate(found):
        sign, _, count = counts.partition(" ")
        letter = code[-1].upper() if code[0] == base[:1] else code[0]
        signed = count if count[0] in "-0" else f"+{count}"
        texts.append(letter * (number > 0) + {">=": "≥", "<=": "≤"}.get(sign, sign) + signed)
    return " ".join(texts)

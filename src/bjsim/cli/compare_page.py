"""The picture and the report of `bjsim compare`: values of games, and their best strategies."""

import math
from collections.abc import Sequence

from bjsim.cli.pages import chart_part, point_at_cells, rules_part, table_part
from bjsim.cli.plots import Valued, plot_values
from bjsim.cli.tables import Printed
from bjsim.report import Definitions, Folded, Notes, Report, Section
from bjsim.sim.game.events import game_text
from bjsim.strategies.evaluation.compare import Compared, solve
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.results import BotResult
from bjsim.strategies.tabular import percent

OPEN = 3  # games whose charts are all shown at first, but for that of the first


def plot_compared(
    compared: Sequence[Compared], played: Sequence[BotResult | None], seed: int, path: str, command: str
) -> None:
    games = []
    for number, (one, result) in enumerate(zip(compared, played, strict=True)):
        luck = result.adjusted if result else None
        text = percent(one.value) + (f"  ({percent(one.difference)})" if number else "")
        bounds = (luck.ci95[0], luck.mean, luck.ci95[1]) if luck and math.isfinite(luck.ci95[1]) else None
        if result and result.cut_card_effect:
            text += f"\ncut-card effect {cut_effect(result)}"
        about = game_text(one.rules).partition(": ")[2]
        games.append(Valued(one.rules.name, about, one.value, text, one.rules.fresh, bounds))
    lines = [
        f"The best strategy in {len(games)} games",
        "exact values; in brackets, the difference from the first",
    ]
    if any(played):
        lines.append(f"luck-adjusted returns with seed {seed}")
    plot_values(games, path, "\n".join(lines), command)


def cut_effect(result: BotResult) -> str:
    """A cut-card effect ± half its 95% interval."""
    effect = result.cut_card_effect
    return "–" if effect is None else f"{percent(effect.mean)} ± {50 * (effect.ci95[1] - effect.ci95[0]):.4f}%"


def report_compared(
    compared: Sequence[Compared],
    table: Printed,
    notes: Sequence[str],
    changes: Sequence[tuple[str, str]],
    command: str,
) -> Report:
    """Report the values of games, and their best strategies; `changes` has each that differs from the first's."""
    first = compared[0].rules.name
    charts = []
    for number, one in enumerate(compared):
        changed = {(change.row, change.column): change.before for change in one.changes or ()} if number else {}
        chart = ValuedChart.of_best(solve(one.rules)).with_others(changed)
        cells = "" if not number else "; 1 cell changed" if len(changed) == 1 else f"; {len(changed)} cells changed"
        cells = "; other columns" if one.changes is None else cells
        summary = f"{one.rules.name}: {percent(one.value, 6)}{cells}"
        charts.append(Folded(summary, number > 0 and len(compared) <= OPEN, [chart_part(chart)]))
    games = [one.rules for one in compared]
    about = f"Framed: differs from {first}, whose code is before the arrow. Other small numbers are margins in percent"
    parts = [
        Section("Values"),
        table_part("values", table),
        Notes(notes, small=True),
        *([Section("What changes in the best strategy"), Definitions(changes)] if changes else []),
        Section("The best strategies"),
        Notes([f"{about} of the bet."], small=True, on_screen=point_at_cells(games, after="")),
        *charts,
    ]
    title, lines = f"{len(compared)} games compared", [game_text(rules) for rules in games]
    return Report(title, lines, command, rules_part(games), parts, f"in {first}:")

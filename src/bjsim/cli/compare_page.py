"""The picture and the page of `bjsim compare`: values of games, and their best strategies."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bjsim.cli.pages import chart_part, page, text_rows
from bjsim.cli.plots import Valued, plot_values
from bjsim.cli.tables import Printed
from bjsim.sim.game.game_text import game_text
from bjsim.strategies.evaluation.best import solve
from bjsim.strategies.evaluation.compare import Compared
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.results import BotResult
from bjsim.strategies.tabular import percent


def plot_compared(
    compared: Sequence[Compared], played: Sequence[BotResult | None], seed: int, path: str, command: str
) -> None:
    """Draw the values of the games. Raises: InputError: The file cannot be written."""
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


def compare_page(
    compared: Sequence[Compared],
    table: Printed,
    notes: Sequence[str],
    changes: Sequence[tuple[str, str]],
    command: str,
) -> str:
    """Render the page.

    Args:
        compared: The games.
        table: Headings and rows of the values.
        notes: What else is said about them.
        changes: For games whose best strategy differs from that of the first, the name and what changes.
        command: The command that reproduces the page.
    """
    first = compared[0].rules.name
    charts = []
    for number, one in enumerate(compared):
        changed = {(change.row, change.column): change.before for change in one.changes or ()} if number else {}
        chart = ValuedChart.of_best(solve(one.rules)).with_others(changed)
        cells = "" if not number else "; 1 cell changed" if len(changed) == 1 else f"; {len(changed)} cells changed"
        cells = "; other columns" if one.changes is None else cells
        charts.append((one.rules.name, f"{percent(one.value, 6)}{cells}", chart_part(chart)))
    lines = [game_text(one.rules) for one in compared]
    return page(
        "compare.html", f"{len(compared)} games compared", lines, command, [one.rules for one in compared],
        f"in {first}:", headings=table[0], rows=text_rows(table[1]), notes=notes, changes=changes, first=first,
        charts=charts,
    )  # fmt: skip

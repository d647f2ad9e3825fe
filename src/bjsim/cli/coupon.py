"""`bjsim coupon`: the value of a coupon or a promotional chip, and the best chart with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bjsim.cli.options import rules_options
from bjsim.cli.written import json_option, write_json

if TYPE_CHECKING:
    from bjsim.sim.game.rules import Rules
    from bjsim.strategies.promotions.coupon import Coupon


@click.command()
@click.argument("kind", type=click.Choice(["match", "free-bet", "non-negotiable"]))
@rules_options
@click.option("--after-push", metavar="V", help="Its value after a push, or 0.  [default: it is used again]")
@json_option
def coupon(kind: str, rules: Rules, after_push: str | None, json_path: str | None) -> None:
    """Compute the value of a coupon or chip of one initial bet, and the best chart of the hand that carries it.

    match: a coupon next to a bet of your own, which doubles one win. free-bet: a chip that is the bet, and is taken
    after the round. non-negotiable: a chip that is the bet, and is taken only when it loses. In an infinite shoe.
    """
    from bjsim.strategies.promotions.coupon import coupon as compute

    found = compute(kind, rules, after_push=after_push)
    if json_path:
        changes = [
            {"row": row, "column": column, "game": before, "coupon": after}
            for (row, column), (before, after) in found.changes.items()
        ]
        figures = {"kind": kind, "value": found.value, "by_game_chart": found.by_game_chart}
        write_json(figures | {"changes": changes}, json_path)
    if json_path != "-":
        print_coupon(found)


def print_coupon(found: Coupon) -> None:
    from bjsim.strategies.formats.text import format_text

    click.echo(f"value: {100 * found.value:.4f}% of a bet")
    click.echo(f"with the chart of the game: {100 * found.by_game_chart:.4f}%")
    click.echo(f"\n{format_text(found.chart)}", nl=False)
    if found.changes:
        click.echo("\nunlike the game:")
    for (row, column), (before, after) in found.changes.items():
        click.echo(f"{row} v {column}: {after} instead of {before}")

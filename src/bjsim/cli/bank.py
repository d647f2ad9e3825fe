"""`bjsim bank`: ruin, goal and result of a bank under flat bets, and the best stops under a rebate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bjsim.cli.asked import asked_of
from bjsim.cli.options import Files, files_options, given_command, rules_options

if TYPE_CHECKING:
    from bjsim.sim.game.rules import Rules


@click.command()
@rules_options
@asked_of("bjsim.strategies.promotions.bank:bank")
@files_options("Draw the distribution of the result.")
def bank(rules: Rules, files: Files, **given: Any) -> None:
    """Compute what becomes of a bank under flat bets and the best chart.

    Rounds are independent; in a finite shoe they have the moments of a fresh one. A round that begins is played to
    its end, even where a double or a split takes more than the bank holds.
    """
    from bjsim.strategies.promotions.bank import bank as compute

    files.show(compute(rules, **given), given_command())

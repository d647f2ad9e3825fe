"""`bjsim bank`: ruin, goal and result of a bank under flat bets, and the best stops under a rebate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bjsim.cli.options import Count, Files, Money, Precision, files_options, given_command, rules_options

if TYPE_CHECKING:
    from bjsim.sim.game.rules import Rules


@click.command()
@rules_options
@click.option("--bankroll", type=Money(), metavar="AMOUNT", required=True, help="The bank at the beginning.")
@click.option("--rounds", type=Count(1, 100_000), metavar="N", required=True, help="The most rounds that are played.")
@click.option("--bet", type=Money(), metavar="AMOUNT", default="1", show_default=True, help="The bet of every round.")
@click.option("--goal", type=Money(), metavar="AMOUNT", help="The bank at which play stops.")
@click.option("--floor", type=Money(), metavar="AMOUNT", help="Below this bank no bet is made.  [default: one bet]")
@click.option("--rebate", type=Precision(), metavar="P%", help="The share of a loss that is paid back; finds stops.")
@click.option("--rebate-from", type=Money(), metavar="AMOUNT", help="The least loss that is paid back in part.")
@click.option("--bonus", type=Money(), metavar="AMOUNT", help="A bonus for playing all rounds; it may be lost before.")
@click.option("--sticky", is_flag=True, help="The bonus is taken from what is left.")
@files_options("Draw the distribution of the result.")
def bank(rules: Rules, bankroll: float, rounds: int, files: Files, **options: Any) -> None:
    """Compute what becomes of a bank under flat bets and the best chart.

    Rounds are independent; in a finite shoe they have the moments of a fresh one. A round that begins is played to
    its end, even where a double or a split takes more than the bank holds.
    """
    from bjsim.strategies.promotions.bank import bank as compute

    files.show(compute(rules, bankroll, rounds, **options), given_command())

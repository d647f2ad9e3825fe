"""`bjsim bank`: ruin, goal and result of a bank under flat bets, and the best stops under a rebate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bjsim.cli.options import Count, Money, Precision, json_option, rules_options, write_json

if TYPE_CHECKING:
    from bjsim.sim.game.rules import Rules
    from bjsim.strategies.promotions.bank import BankResult


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
@json_option
def bank(rules: Rules, bankroll: float, rounds: int, json_path: str | None, **options: Any) -> None:
    """Compute what becomes of a bank under flat bets and the best chart.

    Rounds are independent; in a finite shoe they have the moments of a fresh one. A round that begins is played to
    its end, even where a double or a split takes more than the bank holds.
    """
    from bjsim.strategies.promotions.bank import bank as compute

    found = compute(rules, bankroll, rounds, **options)
    if json_path:
        write_json(found.to_json(), json_path)
    if json_path != "-":
        print_bank(found, rounds, options["goal"] is not None)


def print_bank(found: BankResult, rounds: int, has_goal: bool) -> None:
    digits = 2 if found.approximation else 4
    click.echo(f"a round: {100 * found.ev:+.6f}% of the bet, standard deviation {found.sd:.6f} bets")
    click.echo(f"after {rounds:,} rounds without a stop: {found.mean:+.6g}, standard deviation {found.deviation:.6g}")
    if found.approximation:
        click.echo(f"about, as {found.approximation}:")
    click.echo(f"ruin within them: {100 * found.ruin:.{digits}f}%")
    if has_goal:
        click.echo(f"goal within them: {100 * found.goal:.{digits}f}%")
    click.echo(f"expected rounds: {found.rounds:.2f}")
    click.echo(
        f"Brownian motion, without a goal: ruin {100 * found.ruin_formula:.4f}%; "
        f"ever, exp(-2eB/s^2): {100 * found.ever_formula:.4f}%"
    )
    if found.bonus:
        click.echo(
            f"bonus: gains {found.bonus.value:+.6g}, all rounds are played with {100 * found.bonus.completed:.4f}%; "
            f"without ruin {found.bonus.formula:+.6g}"
        )
    best = found.rebate
    if best is None:
        return
    if not best.rounds:
        click.echo("rebate: it is best not to play")
        return
    upper = "never above" if best.stop_at is None else f"at {best.stop_at:,.12g} or more"
    click.echo(f"rebate: best to stop below {best.stop_below:,.12g}, and {upper}, with all rounds left")
    click.echo(
        f"gains {best.value:+.6g} in {best.rounds:.2f} rounds, {100 * best.per_round:.4f}% of a bet per round; "
        f"paid back in {100 * best.paid:.2f}%"
    )

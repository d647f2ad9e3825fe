"""`bjsim solve`: the exact tables, strategy and value of a game."""

from fractions import Fraction
from typing import Any

import click

from bjsim.asked.kinds import KINDS
from bjsim.cli.asked import ask
from bjsim.cli.options import UNSAID, Files, files_options, given_command, homework_rules, refuse_together
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError, suggest
from bjsim.sim.game.events import game_text
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.compare import of_cards
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.tables import Tables
from bjsim.strategies.formats.files import WRITERS
from bjsim.strategies.shoe.solver import STRATEGIES, ShoeSolver, ShoeTables
from bjsim.strategies.solved import describe_exchange, describe_hand, describe_solved, read_hand

EXTRA = ("base-split", "value", "states")


class TableName(click.Choice[str]):
    """The name of a table; the error for the name of a game suggests --rules."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in PRESETS or str(value).endswith(".toml"):
            raise InputError(f"{value} is a game, not a table; write --rules {value}")
        name = str(value).lower().replace("_", "-")
        if name not in self.choices and (hint := suggest(name, self.choices)):
            raise InputError(f"no table is called '{value}'; {hint} Tables are {', '.join(self.choices)}")
        return super().convert(name if name in self.choices else value, param, ctx)


@click.command()
@click.argument("what", nargs=-1, type=TableName((*Tables.names, *EXTRA)), metavar="[TABLE]...")
@homework_rules
@click.option(
    "--format", "chart_format", type=click.Choice([*WRITERS]), help="Print only the best chart, in this file format."
)
@click.option("--exact", is_flag=True, help="Compute with exact fractions, and print them.")
@click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    help="Strategy in a finite shoe: td is a chart; td-2c adds two-card exceptions; cdz-, cdp1 and cdp use all "
    "cards of the hand. With resplits, cdp needs to know how many hands a split will make, which no player "
    "does before the first is played.",
)
@ask("shoe", "The cards in the shoe, if not whole decks.")
@click.option(
    "--hand",
    metavar="'T,6 v T'",
    help="All actions of one hand, in a finite shoe by strategy; with an exchange, two hands: 'T,5 / 6,T v 6'.",
)
@files_options("Draw the strategy, its margins and the dealer.")
@click.option("--card", is_flag=True, help="Draw a card to print: the strategy alone, without margins.")
@waiting("solving the game")
def solve(
    what: tuple[str, ...],
    rules: Rules,
    chart_format: str | None,
    exact: bool,
    strategy: str | None,
    shoe: dict[str, int] | None,
    hand: str | None,
    files: Files,
    card: bool,
) -> None:
    """Print the exact tables, strategy and value of a game, in its own shoe.

    TABLE is initial, dealer, stand, hit, double, split, resplit, optimal, strategy or advantage (default: all of
    these), base-split (split hands that are not split again), value, or states (how many states the game has, and
    why). Values are in initial bets. `bjsim check` and `--bots` read every --format.
    """
    if hand is not None and (what or chart_format or strategy or card):
        raise InputError("--hand shows one decision; leave out TABLE, --format, --strategy and --card")
    if chart_format and what:
        raise InputError("--format prints only the chart; leave out TABLE")
    refuse_together(
        "chart_format", "exact", "strategy", "json_path", "plot_path", "html_path",
        why=", as --format prints only the chart",
    )  # fmt: skip
    if card and not (files.plot_path or files.html_path):
        raise InputError("--card changes the picture and the page; add --plot FILE.png or --html FILE")
    game = game_text(rules, KINDS["shoe"].text(shoe) if shoe else None)
    if hand is not None:
        cards, shown = read_hand(hand, rules)
        if "/" in cards and shoe is None:
            if exact:
                raise InputError("--exact: two hands have no fractions; leave it out")
            report = describe_exchange(rules, cards, shown)
        else:
            report = describe_hand(find_tables(rules, what, exact, shoe, strategy).solution, cards, shown, game)
    else:
        tables = find_tables(rules, what, exact, shoe, strategy)
        if chart_format:
            if tables.solution.infinite_because:
                click.echo(tables.solution.infinite_because, err=True)
            click.echo(WRITERS[chart_format](tables.solution.chart), nl=False)
            return
        report = describe_solved(tables, what or tables.names, game, card)
    files.show(report, given_command(unsaid=UNSAID | {"card"}), has_lines=False)


def find_tables(
    rules: Rules, what: tuple[str, ...], exact: bool, shoe: dict[str, int] | None, strategy: str | None
) -> Tables | ShoeTables:
    """The tables of the game in the shoe that is asked for. Raises: InputError: The options do not go together."""
    if shoe is None and rules.infinite:
        if strategy is not None:
            raise InputError("--strategy needs a finite shoe; give --decks 1 to 8, or --shoe")
        return Tables(Solver(rules, Fraction if exact else float))
    if exact:
        other = "give --decks inf" if shoe is None else "leave out --shoe"
        raise InputError(f"--exact: fractions are for the infinite shoe; {other}")
    for name in what:
        if name not in (*ShoeTables.names, "value"):
            raise InputError(
                f"the table {name} needs --decks inf; tables of a finite shoe: {', '.join(ShoeTables.names)}"
            )
    return ShoeTables(ShoeSolver(rules) if shoe is None else of_cards(rules, shoe), strategy or "td")

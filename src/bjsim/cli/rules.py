"""`bjsim rules`: the games included, and every rule with its meaning."""

import json

import click
from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from bjsim.cli.options import RULES_NAME, set_option
from bjsim.errors import InputError
from bjsim.sim.game.presets import PRESETS, the_rules
from bjsim.sim.game.rule_text import CONTRADICTIONS, written
from bjsim.sim.game.rules import RULE_FIELDS, Rules, plain
from bjsim.sim.game.support import FRONT_ENDS, made_of, refusal, remarks


@click.command()
@click.argument("name", required=False, type=RULES_NAME, metavar="[NAME|FILE.toml]")
@set_option
@click.option("--fields", is_flag=True, help="Explain every rule, and which values contradict each other.")
@click.option("--toml", "as_toml", is_flag=True, help="Print the game as a rules file.")
def rules(name: str | None, settings: tuple[str, ...], as_toml: bool, fields: bool) -> None:
    """List the games, or explain every rule of one game.

    --toml prints a rules file, which can be edited and passed to --rules of any command.
    """
    if fields:
        if name is not None or settings or as_toml:
            raise InputError("--fields explains the rules of every game; give it alone")
        explain_fields(Console())
        return
    if name is None and (as_toml or settings):
        raise InputError(f"{'--toml' if as_toml else '--set'} needs a game; games are {', '.join(PRESETS)}")
    console = Console()
    if name is None:
        console.print(games_table())
        console.print(
            "bjsim rules NAME shows every rule of a game, bjsim rules --fields what each accepts", style="dim"
        )
        return
    game = the_rules(name, settings)
    if as_toml:
        click.echo(toml_text(game), nl=False)
        return
    preset = PRESETS.get(name)
    if preset and preset.rules == game:
        console.print(f"[bold]{name}[/bold]: {preset.about}", highlight=False)
        console.print(f"source: {preset.source}", highlight=False)
        for decision in preset.decisions:
            console.print(f"our reading: {decision}", highlight=False)
    console.print(fields_table(game, preset.rules if preset else Rules()))
    console.print(f"made of: {', '.join(made_of(game))}", highlight=False)
    for each, front_end in FRONT_ENDS.items():
        if refused := refusal(game, each):
            console.print(f"not {front_end.title}: {refused}", highlight=False, soft_wrap=not console.is_terminal)
        elif how := remarks(game, each):
            console.print(f"{front_end.title}: {', '.join(how)}", highlight=False)


def games_table() -> RichTable:
    table = RichTable(box=box.SIMPLE_HEAD)
    table.add_column("game", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    table.add_column("source", style="dim", overflow="fold")
    for name, preset in PRESETS.items():
        table.add_row(name, preset.about, preset.source)
    return table


def explain_fields(console: Console) -> None:
    """Print every rule with its meaning and default, then the combinations that are refused."""
    console.print(fields_table(Rules(), Rules()))
    console.print("values are those of bjsim's plain game; refused together:", style="dim")
    for fields, text in dict.fromkeys((each.fields, each.text) for each in CONTRADICTIONS):
        console.print(
            f"[bold]{' and '.join(fields)}[/bold]: {text}", highlight=False, soft_wrap=not console.is_terminal
        )


def fields_table(game: Rules, base: Rules) -> RichTable:
    """A table with one line for each rule; those that differ from `base` are bold."""
    table = RichTable(box=box.SIMPLE_HEAD)
    table.add_column("rule", no_wrap=True)
    table.add_column("value", overflow="fold", max_width=16)
    table.add_column("meaning")
    table.add_column("accepts", style="dim", overflow="fold")
    for field, metadata in RULE_FIELDS.items():
        value = getattr(game, field)
        style = "bold" if value != getattr(base, field) else ""
        table.add_row(field, written(value), metadata["meaning"], metadata["accepts"], style=style)
    return table


def toml_text(game: Rules) -> str:
    """The game as a rules file, with the meaning of every rule as a comment."""
    lines = []
    if (preset := PRESETS.get(game.name)) and preset.rules == game:
        lines += [f"# {preset.about}", f"# source: {preset.source}"]
    lines.append(f"name = {json.dumps(game.name, ensure_ascii=False)}")
    for field, metadata in RULE_FIELDS.items():
        setting = f"{field} = {json.dumps(plain(getattr(game, field)))}"
        lines.append(f"{setting:<32} # {metadata['meaning']} ({metadata['accepts']})")
    return "\n".join(lines) + "\n"

"""`bjsim bot`: try a bot before a contest, start a new one, make one of a chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bjsim.bots.check import SHOWN, Answer, Situation, situations, try_bot
from bjsim.bots.contest.config import Contest
from bjsim.bots.export import export as export_chart
from bjsim.bots.programs import need_programs
from bjsim.bots.protocol import Fault, printable
from bjsim.bots.sandbox.languages import LANGUAGES, BuildError, language_of, tool_of
from bjsim.cli.options import RulesName, bot_names, bot_options, json_option, the_rules, write_json
from bjsim.cli.render import fault_lines
from bjsim.errors import InputError, RunFailed
from bjsim.sim.game.actions import Action
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.players.find import find_player

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer


def bot_rules(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that name the game; bots are made for cardshark."""
    command = click.option(
        "--set", "settings", multiple=True, metavar="FIELD=VALUE", help="Change a rule; repeatable."
    )(command)
    return click.option(
        "--rules", "rules_name", type=RulesName(), default="cardshark", show_default=True, metavar="NAME|FILE.toml",
        help="The game: a preset (see `bjsim rules`) or a TOML file.",
    )(command)  # fmt: skip


@click.group()
def bot() -> None:
    """Bots: programs of their own, run once per move, in any language."""


@bot.command()
@click.argument("path", type=click.Path(path_type=Path))
@bot_rules
@json_option
@bot_options
def check(
    path: Path, rules_name: str, settings: tuple[str, ...], json_path: str | None, sandbox: str, timeout: float,
    cold: bool, strikes: int | None,
) -> None:  # fmt: skip
    """Try one bot: build it, ask it in a table of situations, show what it did and how fast, and every fault.

    Where it raises, the hand is played on until it stands or has made as many moves as the rules allow. After as many
    timeouts as --strikes, by default a contest's 10, or as many crashes without one good move, it is asked no more.

    Exit status 1 if it would be struck: if it has as many faults as --strikes, by default one, or cannot be compiled or
    loaded; then what the compiler says is shown.
    """
    rules = the_rules(rules_name, settings, None)
    console = Console(stderr=json_path == "-")
    expect_bot(path)
    from bjsim.bots.player import open_bot

    try:
        player = open_bot(path, sandbox=sandbox, timeout=timeout, cold=cold)
    except BuildError as error:
        if error.log:
            console.print(error.log, markup=False, highlight=False, soft_wrap=True)
        raise RunFailed(str(error)) from None  # the bot is what is tried, so this is no bad input but a bad result
    tried = list(situations(rules))
    with player:
        title = printable(f"{path.name}: {player.program.language}, {rules.name}")
        console.print(title, markup=False, highlight=False)
        answers = ask(console, player, tried, strikes or Contest.strikes)
    faults = Counter(fault.kind for answer in answers for fault in answer.faults)
    if json_path:
        write_json(check_json(player, rules, answers, faults, len(tried)), json_path)
    report(console, player, answers, faults, len(tried))
    if faults.total() >= (strikes or 1):
        raise click.exceptions.Exit(1)


def expect_bot(path: Path) -> None:
    """Raises: InputError where there is nothing to try: no such file, none that is a bot, no tool for its language."""
    try:
        path.open("rb").close()
        language = language_of(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    need_programs(str(path))
    if language:
        tool_of(language)


def ask(console: Console, player: BotPlayer, tried: Sequence[Situation], timeouts: int) -> list[Answer]:
    """Ask the bot in these situations. The first fault of each kind is shown at once, as a slow bot may take long."""
    answers: list[Answer] = []
    shown: set[str] = set()
    with console.status("asking …") as status:
        for answer in try_bot(player, tried, timeouts):
            answers.append(answer)
            status.update(f"asking … {len(answers)} of {len(tried)} situations")
            for fault in answer.faults:
                if fault.kind not in shown:
                    console.print(fault_lines(fault), markup=False, highlight=False, soft_wrap=True)
                shown.add(fault.kind)
    return answers


def check_json(
    player: BotPlayer, rules: Rules, answers: Sequence[Answer], faults: Counter[str], planned: int
) -> dict[str, object]:
    """What `--json` writes. planned: in how many situations it was to be asked."""
    return {
        "bot": player.name,
        "language": player.program.language,
        "rules": rules.to_dict(),
        "ms_per_move": player.ms_per_move(),
        "steady": all(answer.steady for answer in answers),
        "faults": dict(faults),
        "untried": planned - len(answers),
        "answers": [
            {
                "argv": answer.argv,
                "moves": [_said(move) for move in answer.moves],
                "ms": answer.ms,
                "after": [_said(move) for move in (*answer.after, answer.cap) if move],
            }
            for answer in answers
        ],
    }


def _said(move: Action | Fault) -> str:
    return move.kind if isinstance(move, Fault) else str(move)


def report(console: Console, player: BotPlayer, answers: Sequence[Answer], faults: Counter[str], planned: int) -> None:
    """Print the table of answers, how fast and how steady they were, and the faults of each kind.

    planned: in how many situations it was to be asked.
    """
    table = Table(title="its moves, the dealer showing", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("hand")
    for shown in SHOWN:
        table.add_column(shown)
    cells: dict[str, dict[str, Text]] = {}
    for answer in answers:
        cells.setdefault(answer.situation.row, {})[answer.situation.view.dealer] = _cell(answer)
    for row, line in cells.items():
        table.add_row(row, *(line.get(shown, Text("")) for shown in SHOWN))
    console.print(table)
    console.print(
        "after a slash: what it had done before; ! a fault, after a move when the hand was played on; "
        "? it did something else when it was asked again",
        style="dim",
    )
    times = player.ms_per_move()
    if times["median"] is not None and times["p99"] is not None:
        speed = f"{times['median']:.2f} ms per move (median), {times['p99']:.2f} ms (99th percentile)"
        moves = sum(len(answer.moves) + len(answer.after) for answer in answers)
        console.print(f"{moves} moves, {speed}", highlight=False)
    if not all(answer.steady for answer in answers):
        console.print("not steady: asked twice the same, it answered differently")
    if len(answers) < planned:
        untried = f"{planned - len(answers)} of {planned} situations are untried"
        late, crashed = faults["timeout"], faults["crash"]
        why = [f"{late} timeouts"] * (late > 0) + [f"{crashed} crashes"] * (crashed > 0)
        console.print(f"asked no more after {' and '.join(why)}: {untried}", highlight=False)
    if faults:
        kinds = ", ".join(f"{kind} {count}" for kind, count in faults.items())
        console.print(f"it would be struck: {kinds}", style="red", highlight=False)
    else:
        console.print("no fault", style="green")


def _cell(answer: Answer) -> Text:
    move = answer.moves[0]
    if isinstance(move, Fault):
        return Text("!", style="red")
    if answer.faults:
        return Text(_short(move) + "!", style="red")
    return Text(_short(move) + ("" if answer.steady else "?"), style="" if answer.steady else "yellow")


def _short(move: Action) -> str:
    return str(move).replace(" ", "")


@bot.command()
@click.argument("name")
@click.option(
    "--language", type=click.Choice([language.name for language in LANGUAGES]), default="python", show_default=True,
    help="What to write it in.",
)  # fmt: skip
def new(name: str, language: str) -> None:
    """Write a starter bot: a small one that plays, with a comment on all that a bot must know."""
    ending = next(row.endings[0] for row in LANGUAGES if row.name == language)
    path = Path(name if name.endswith(ending) else name + ending)
    starter = (files("bjsim.bots") / "samples" / f"lim17{ending}").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(starter)
    except FileExistsError:
        raise InputError(f"{path} exists already; choose another name") from None
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    click.echo(f"wrote {path}; try it with: bjsim bot check {path}")


class _ChartName(click.ParamType):  # type: ignore[type-arg]
    name = "chart"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        return [click.shell_completion.CompletionItem(name) for name in bot_names() if name.startswith(incomplete)]


@bot.command()
@click.argument("chart", type=_ChartName())
@bot_rules
@click.option("--output", metavar="FILE", help="Where to write it; standard output by default.")
def export(chart: str, rules_name: str, settings: tuple[str, ...], output: str | None) -> None:
    """Make a bot of a chart: one Python file that plays what the named strategy or chart file plays."""
    player = find_player(chart, the_rules(rules_name, settings, None))
    if not isinstance(player, Chart):
        raise InputError(f"{chart} is no chart, so it cannot be written down as a bot")
    program = export_chart(player)
    if output is None:
        click.echo(program, nl=False)
        return
    try:
        Path(output).write_text(program, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {output}: {error.strerror}") from None

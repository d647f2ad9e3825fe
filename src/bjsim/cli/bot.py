"""`bjsim bot`: check a bot before a contest, create a new one, or export a chart as one."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bjsim.asked.kinds import KINDS
from bjsim.bots.check import CHECKS, CheckedView, LineCheck, Trial, check_match, price, situations, try_bot
from bjsim.bots.contest.config import Contest
from bjsim.bots.export import SHOWN
from bjsim.bots.export import export as export_chart
from bjsim.bots.protocol import PROTOCOLS, Fault, printable
from bjsim.bots.sandbox.folders import check_name
from bjsim.bots.sandbox.languages import ENDINGS, LANGUAGES, BuildError
from bjsim.cli.asked import AskedType, asked_of
from bjsim.cli.bot_compare import compare
from bjsim.cli.bot_game import ask_once, bot_rules, open_player, slow_hint, trace
from bjsim.cli.options import counted, json_option, write_json
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError
from bjsim.report.terminal import say
from bjsim.run_result import fault_lines
from bjsim.sim.game.actions import Action
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.compare import evaluate_chart
from bjsim.strategies.players.catalogue import CATALOGUE, find_player, player_names

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer


@click.group()
def bot() -> None:
    """Create, check, ask, compare or export a bot: a program in any language."""


bot.add_command(ask_once)
bot.add_command(trace)
bot.add_command(compare)


@bot.command(short_help="Check a bot: its moves, its speed, its faults.")
@click.argument("path", type=click.Path(path_type=Path))
@bot_rules
@json_option
@asked_of("bjsim.bots.seats:BotOptions", "strikes")
def check(path: Path, contest: Contest, rules: Rules, json_path: str | None, **options: Any) -> None:
    """Check a bot: build it, ask it for a move in many situations, and show its moves, its speed and every fault.

    After a raise the hand is played on until the bot stands or has used up its moves. The check stops after as many
    timeouts as a contest has strikes (10), or after as many faults of a kind without a valid move.

    The exit status is 1 if the bot has a fault, or cannot be compiled or loaded; the compiler's output is shown.
    """
    console = Console(stderr=json_path == "-")
    with waiting("building the bot"):
        player = open_player(path, contest, partial(say, console), **options)
    tried = list(situations(rules))
    with player:
        title = printable(f"{path.name}: {player.program.language}, {rules.name}")
        console.print(title, markup=False, highlight=False)
        answers = ask(console, player, tried, contest.strikes)
        faults = Counter(fault.kind for answer in answers for fault in answer.faults)
        match = None  # of a line bot, unless it was no longer asked: it takes long
        if player.protocol == "line" and not faults["start-failure"] and len(answers) == len(tried):
            match = check_match(player, rules)
    faults.update(fault.kind for fault in (match.faults if match else ()))
    if json_path:
        data = check_json(player, rules, answers, faults, len(tried))
        if match:
            data["match"] = {"ready_ms": match.ready_ms, "ms": match.ms, "random": match.random, **match.passed}
        write_json(data, json_path)
    report(console, player, answers, faults, len(tried))
    if len(answers) == len(tried):
        report_price(console, rules, answers)
    if match:
        report_match(console, match)
    if faults or (match and False in must_pass(match).values()):
        raise click.exceptions.Exit(1)


def must_pass(match: LineCheck) -> dict[str, bool | None]:
    """The checks of a line bot that it must pass: one that says that it is random may be."""
    return {name: passed for name, passed in match.passed.items() if name != "deterministic" or not match.random}


def report_match(console: Console, match: LineCheck) -> None:
    for name, meaning in CHECKS.items():
        passed = match.passed[name]
        mark = "not comparable: it is random" if passed is None else "yes" if passed else "NO"
        if name == "deterministic" and match.random:
            mark += ", and it says that it is random"
        style = "red" if must_pass(match).get(name) is False else ""
        say(console, f"{meaning}: {mark}", style=style)
    if match.ready_ms is not None and match.ms is not None:
        console.print(f"ready in {match.ready_ms:.1f} ms, {match.ms:.3f} ms per answer (median)", highlight=False)


def ask(console: Console, player: BotPlayer, tried: Sequence[CheckedView], timeouts: int) -> list[Trial]:
    """Ask the bot in these situations, and print the first fault of each kind at once, since a bot may be slow."""
    answers: list[Trial] = []
    shown: set[str] = set()
    with waiting("asking") as line:
        for answer in try_bot(player, tried, timeouts):
            answers.append(answer)
            line.say("asking in situations", len(answers), len(tried))
            for fault in answer.faults:
                if fault.kind not in shown:
                    say(console, fault_lines(fault.to_json()))
                shown.add(fault.kind)
    return answers


def check_json(
    player: BotPlayer, rules: Rules, answers: Sequence[Trial], faults: Counter[str], planned: int
) -> dict[str, object]:
    """The content of `--json`. planned: number of situations to ask in."""
    return {
        "bot": player.name,
        "language": player.program.language,
        "rules": rules.to_dict(),
        "ms_per_move": player.ms_per_move(),
        "deterministic": all(answer.deterministic for answer in answers),
        "faults": dict(faults),
        "untried": planned - len(answers),
        "answers": [
            {
                "argv": answer.argv,
                "moves": [_move_text(move) for move in answer.moves],
                "ms": answer.ms,
                "after": [_move_text(move) for move in (*answer.after, answer.cap) if move],
            }
            for answer in answers
        ],
    }


def _move_text(move: Action | Fault) -> str:
    return move.kind if isinstance(move, Fault) else str(move)


def report(console: Console, player: BotPlayer, answers: Sequence[Trial], faults: Counter[str], planned: int) -> None:
    """Print the table of moves, their speed, and the faults of each kind. planned: number of situations to ask in."""
    table = Table(title="moves, by hand and dealer's card", box=box.SIMPLE_HEAD, title_justify="left")
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
        "after a slash: earlier actions in the hand; !: a fault (after a move: later in the hand); "
        "?: a different move when asked a second time",
        style="dim",
    )
    times = player.ms_per_move()
    if times["median"] is not None and times["p99"] is not None:
        speed = f"{times['median']:.2f} ms per move (median), {times['p99']:.2f} ms (99th percentile)"
        moves = sum(len(answer.moves) + len(answer.after) for answer in answers)
        console.print(f"{counted(moves, 'move')}, {speed}", highlight=False)
        if hint := slow_hint(player.program.language, player.program.protocol):
            say(console, hint)
    if not all(answer.deterministic for answer in answers):
        console.print("non-deterministic: two different moves in the same situation")
    if len(answers) < planned:
        untried = f"{planned - len(answers)} of {planned} situations not tried"
        why = " and ".join(f"{kind} {count}" for kind, count in faults.items())
        console.print(f"stopped asking after {why}: {untried}", highlight=False)
    if faults:
        kinds = ", ".join(f"{kind} {count}" for kind, count in faults.items())
        console.print(f"a contest would record faults: {kinds}", style="red", highlight=False)
    else:
        console.print("no faults", style="green")


def report_price(console: Console, rules: Rules, answers: Sequence[Trial]) -> None:
    """Print the exact value of the moves with two cards, and that they are all the same, if so."""
    moves = {_move_text(answer.moves[0]) for answer in answers}
    if len(moves) == 1 and isinstance(answers[0].moves[0], Action):
        console.print(f"the same move everywhere ({moves.pop()}): does the bot read its arguments?", style="yellow")
    with waiting("computing exact values"):
        found, lim17 = price(rules, answers), evaluate_chart(CATALOGUE["lim17"].chart(rules))
    value = f"{found.value:+.4f} bets a hand; the best chart {float(found.solution.value):+.4f}"
    say(console, f"its moves with two cards, and the best ones later: {value}, lim17 {lim17.value:+.4f}")
    if dearest := max(found.cells, key=lambda cell: cell.cost, default=None):
        what = f"{dearest.row} v {dearest.column}, {dearest.chart[0]}, best {dearest.best[0]}"
        console.print(f"dearest mistake: {what}, {dearest.cost:.4f} bets a hand", highlight=False)


def _cell(answer: Trial) -> Text:
    move = answer.moves[0]
    if isinstance(move, Fault):
        return Text("!", style="red")
    if answer.faults:
        return Text(_short(move) + "!", style="red")
    return Text(_short(move) + ("" if answer.deterministic else "?"), style="" if answer.deterministic else "yellow")


def _short(move: Action) -> str:
    return str(move).replace(" ", "")


@bot.command(short_help="Create a small working bot, with comments.")
@click.argument("name")
@click.option(
    "--language",
    type=click.Choice([language.name for language in LANGUAGES]),
    help="Programming language of the bot.  [default: by the ending of NAME; else python]",
)
@click.option(
    "--protocol",
    type=click.Choice(PROTOCOLS),
    default="argv",
    show_default=True,
    help="Whether the bot is started for every move (argv), or lives for a match (line).",
)
def new(name: str, language: str | None, protocol: str) -> None:
    """Create a small working bot, with comments that explain the protocol."""
    ending = Path(name).suffix.lower()
    known = ENDINGS.get(ending)
    if ending and not known and not language:
        names = ", ".join(f"{row.name} ({row.endings[0]})" for row in LANGUAGES)
        raise InputError(f"no starter for {printable(ending)}; languages are {names}")
    chosen = next((row for row in LANGUAGES if row.name == language), known or ENDINGS[".py"])
    path = Path(name if known is chosen else name + chosen.endings[0])
    sample = {"argv": "lim17", "line": "lim17_line"}[protocol] + chosen.endings[0]
    starter = (files("bjsim.bots") / "samples" / sample).read_text(encoding="utf-8")
    if not Path(name).name:
        raise InputError(f"{name!r} is not a file name; use one such as mybot.py")
    try:
        check_name(path)
        with path.open("x", encoding="utf-8") as file:
            file.write(starter)
    except BuildError as error:
        raise InputError(str(error)) from None
    except FileExistsError:
        raise InputError(f"{path} already exists; choose another name") from None
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    shown = shlex.quote(f"./{path}" if name.startswith("-") else str(path))
    click.echo(f"wrote {path}; check it with: bjsim bot check {shown}")
    if hint := slow_hint(chosen.name, protocol):
        click.echo(hint)


@bot.command(short_help="Export a chart as a bot, one Python file.")
@click.argument("chart", type=AskedType("chart", KINDS["chart"], player_names))
@bot_rules
@click.option("--output", metavar="FILE", help="File to write.  [default: standard output]")
def export(chart: str, contest: Contest, rules: Rules, output: str | None) -> None:
    """Export a chart as a bot: one Python file that plays a named strategy or chart file."""
    player = find_player(chart, rules)
    if not isinstance(player, Chart):
        raise InputError(f"{chart} is not a chart; only charts can be exported as bots")
    program = export_chart(player)
    if output is None:
        click.echo(program, nl=False)
        return
    try:
        Path(output).write_text(program, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {output}: {error.strerror}") from None

"""`bjsim koth show` and `bjsim koth verify`."""

from pathlib import Path

import click
from rich.console import Console

from bjsim.arguments import check_writable
from bjsim.bots.contest import journal
from bjsim.bots.contest.journal import Timings
from bjsim.bots.contest.standings import Standings
from bjsim.bots.contest.verify import Answers
from bjsim.bots.contest.verify import verify as replay_contest
from bjsim.bots.protocol import printable
from bjsim.cli.koth_screen import report, standings_json
from bjsim.cli.koth_trace import show_hand
from bjsim.cli.options import counted, json_option, write_json
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError


@click.command(short_help="Print the standings of a contest, or one of its rounds.")
@click.argument("folder", metavar="CONTEST", type=click.Path(path_type=Path))
@click.option("--hand", metavar="MATCH.TABLE.ROUND", help="Print this round, such as 3.1.25.")
@click.option("--bot", metavar="NAME", help="With --hand: in a match of this bot's own.")
@click.option("--asked", is_flag=True, help="With --hand: also what every bot was asked, and its answers.")
@json_option
def show(folder: Path, hand: str | None, bot: str | None, asked: bool, json_path: str | None) -> None:
    """Print the standings of the contest in the folder CONTEST, or one of its rounds."""
    if (asked or bot) and not hand:
        raise InputError(f"{'--asked' if asked else '--bot'} needs --hand MATCH.TABLE.ROUND")
    if json_path and hand:
        raise InputError("--json writes the standings; it cannot be combined with --hand")
    check_writable(json_path)
    with journal.sensible(folder):
        if hand:
            show_hand(folder, hand, bot, asked)
        else:
            show_contest(folder, json_path)


@click.command(short_help="Replay a contest, and check every card and chip.")
@click.argument("folder", metavar="CONTEST", type=click.Path(path_type=Path))
@click.option(
    "--bots",
    "bots_dir",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Ask the programs in this folder again too, in the sandbox; line bots and random ones are not compared.",
)
def verify(folder: Path, bots_dir: Path | None) -> None:
    """Replay the contest in the folder CONTEST, and check every card and chip.

    The named strategies are asked again, and must make the recorded moves. That the other bots made theirs is not
    verified: give their sources with --bots.
    """
    with journal.sensible(folder):
        with Answers(bots_dir) as answers, waiting("replaying"):
            rounds, standings = replay_contest(folder, answers)
        played = f"{counted(rounds, 'round')} of {counted(standings.matches, 'match')}"
        click.echo(f"{folder}: {played} replayed; every card and chip is correct")
        for name, moves in answers.same.items():
            click.echo(printable(f"asked again: {name}, which made {counted(moves, 'recorded move')}"))
        if left := sorted((answers.unasked - answers.same.keys()) | answers.random):
            click.echo(printable(f"moves not verified: {', '.join(left)}"))
        click.echo(f"commitment: {journal.commitment(folder)}")


def show_contest(folder: Path, json_path: str | None) -> None:
    records = journal.read(folder)
    with waiting("reading the journal"):
        standings = Standings(next(records)).add_all(records)
    timings = Timings.load(folder, len(standings.names))
    with waiting("comparing the bots"):
        standings.rows()  # which takes seconds for thousands of bots
    if json_path:
        write_json(standings_json(standings, timings), json_path)
    report(Console(stderr=json_path == "-"), standings, timings)

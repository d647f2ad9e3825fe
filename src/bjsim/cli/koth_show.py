"""`bjsim koth show`, `trace` and `verify`."""

import re
from pathlib import Path

import click

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.contest_tally import house_names
from bjsim.bots.contest.entrants import IN_PROCESS
from bjsim.bots.contest.journal import Logs, read_logs
from bjsim.bots.contest.match import Record, with_spent
from bjsim.bots.contest.page import again
from bjsim.bots.contest.replay import Answers, protocols, questions, replay
from bjsim.bots.contest.replay import verify as replay_contest
from bjsim.bots.contest.schedule import Roster
from bjsim.bots.contest.standings import Standings
from bjsim.cli.options import Files, files_options
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError, printable, printable_lines, shorten
from bjsim.report.parts import counted

# --- What bots received and answered at a table.


PLACE = "MATCH.TABLE.ROUND, such as 3.1.25; .BOT follows in a match of a bot's own, as on the page"


@click.command(short_help="Print all that a bot received and answered at a table.")
@click.argument("folder", metavar="CONTEST", type=click.Path(path_type=Path))
@click.argument("table", metavar="MATCH.TABLE")
@click.option("--bot", required=True, metavar="NAME", help="The bot.")
def trace(folder: Path, table: str, bot: str) -> None:
    """Print all that a bot received (>) and answered (<) at a table of the contest in the folder CONTEST.

    What it wrote to stderr in the match follows.
    """
    with journal.sensible(folder):
        match, number = parse_place(table, (2,), "MATCH.TABLE, such as 3.1")
        header, records = read_table(folder, match, number, bot)
        names = [entrant["name"] for entrant in header["bots"]]
        which = next(seat for seat in records[0]["seats"] if seat >= 0 and names[seat] == bot)
        if not protocols(header)[which]:
            raise InputError(f"--bot {bot}: it is not a program, or has retired, so nothing was sent to it")
        for question in questions(Contest.from_dict(header["contest"]), records, protocols(header)):
            if question.bot == which:
                click.echo(question.text)
        for log in read_logs(folder):
            if (log.bot, log.match, log.table) == (which, match, number) and log.text:
                click.echo("stderr:\n" + printable_lines(log.text.rstrip("\n")))


def show_hand(folder: Path, hand: str, bot: str | None, asked: bool) -> None:
    """Print a round (as `PLACE` describes) step by step, and, if `asked`, what the bots were asked.

    `bot` is the name of the bot whose own match it is, if any.
    """
    parts, form = ((3,), "MATCH.TABLE.ROUND beside --bot") if bot else ((3, 4), PLACE)
    match, table, number, *own = parse_place(hand, parts, form, "--hand ")
    header, records = read_table(folder, match, table, own[0] if own else bot)
    if not 0 <= number < len(records):
        raise InputError(f"--hand {hand}: table {match + 1}.{table + 1} has {counted(len(records), 'round')}")
    contest = Contest.from_dict(header["contest"])
    names = [*(each["name"] for each in header["bots"]), *house_names(contest.against)]
    retired = [bot for bot, each in enumerate(header["bots"]) if each.get("retired")]
    record = [*with_spent(contest, records, retired)][number]
    click.echo(f"match {match + 1}, table {table + 1}, round {number + 1}")
    for text, *_ in replay(contest, record, names)["steps"]:
        click.echo(f"  {printable(text)}")
    for question in questions(contest, records, protocols(header)) if asked else ():
        if question.round == number:
            click.echo(printable(f"{names[question.bot]} (seat {question.position + 1}):"))
            click.echo(question.text)


def parse_place(text: str, parts: tuple[int, ...], form: str, option: str = "") -> list[int]:
    """The numbers of a place in a contest, from 0. parts: how many there may be. Raises: InputError."""
    numbers = text.split(".")
    if len(numbers) not in parts or not all(re.fullmatch("[0-9]{1,15}", number) for number in numbers):
        raise InputError(f"{option}{shorten(text)} is not accepted; write {form}")
    return [int(number) - 1 for number in numbers]


def read_table(folder: Path, match: int, table: int, own: int | str | None) -> tuple[Record, list[Record]]:
    """The header, with the bots that have joined, and the rounds of one table; InputError if there are none.

    `own` is the bot whose own match it is, or None; or a name at the table, whose last version's rounds are read.
    """
    records = journal.read(folder)
    header = next(records)
    roster, found = Roster(header), dict[int | None, list[Record]]()
    for record in records:
        roster.add(record)
        if record["record"] != "match":
            continue
        series, rounds = roster.series[record.get("own")], record["rounds"]
        named = isinstance(own, str) and (series.own is None or roster.bots[series.own]["name"] == own)
        if series.own == own and record["match"] > match:
            break
        if record["match"] == match and (series.own == own or named):
            found[series.own] = [each for each in rounds if each["table"] == table]
    found = {series: rounds for series, rounds in found.items() if rounds}
    seated = {bot for rounds in found.values() for each in rounds for bot in each["seats"]}
    names = [roster.bots[bot]["name"] for bot in sorted(seated) if bot >= 0]
    if found and isinstance(own, str) and own not in names:
        raise InputError(f"--bot {own}: table {match + 1}.{table + 1} has {', '.join(map(printable, names))}")
    if not found:
        whose = "" if own is None else f" of {own}" if isinstance(own, str) else f" of bot {own + 1}"
        if own is None and len(roster.series) > 1:
            whose = " that bots share; add --bot NAME, whose own match it is"
        raise InputError(f"the contest in {folder} has no match {match + 1} with a table {table + 1}{whose}")
    asked = [  # no player in another process, where it has retired
        {**entrant, "language": IN_PROCESS, "retired": True} if match >= roster.retired.get(bot, match + 1) else entrant
        for bot, entrant in enumerate(roster.bots)
    ]
    return {**header, "bots": asked}, found[max(found, key=lambda bot: -1 if bot is None else bot)]


@click.command(short_help="Print the standings of a contest, or one of its rounds.")
@click.argument("folder", metavar="CONTEST", type=click.Path(path_type=Path))
@click.option("--hand", metavar="MATCH.TABLE.ROUND", help="Print this round, such as 3.1.25.")
@click.option("--bot", metavar="NAME", help="With --hand: in a match of this bot's own.")
@click.option("--asked", is_flag=True, help="With --hand: also what every bot was asked, and its answers.")
@files_options("Draw the scores with their intervals.", "Write the standings as a self-contained page to publish.")
def show(folder: Path, hand: str | None, bot: str | None, asked: bool, files: Files) -> None:
    """Print the standings of the contest in the folder CONTEST, or one of its rounds."""
    if (asked or bot) and not hand:
        raise InputError(f"{'--asked' if asked else '--bot'} needs --hand MATCH.TABLE.ROUND")
    if hand and (given := [name for name, path in files._asdict().items() if path]):
        raise InputError(f"--{given[0].removesuffix('_path')} is of the standings; it cannot be combined with --hand")
    with journal.sensible(folder):
        if hand:
            show_hand(folder, hand, bot, asked)
        else:
            show_contest(folder, files)


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
            standings = replay_contest(folder, answers)
        played = f"{counted(standings.rounds, 'round')} of {counted(standings.matches, 'match')}"
        click.echo(f"{folder}: {played} replayed; every card and chip is correct")
        if not journal.is_whole(folder):
            click.echo("left out: the last match, which is not finished")
        names = standings.seat_names
        for bot, moves in answers.same.items():
            click.echo(printable(f"asked again: {names[bot]}, which made {counted(moves, 'recorded move')}"))
        if left := sorted(names[bot] for bot in answers.unasked | answers.random):
            click.echo(printable(f"moves not verified: {', '.join(left)}"))
        click.echo(f"commitment: {journal.commitment(folder)}")


def show_contest(folder: Path, files: Files) -> None:
    records = journal.read(folder)
    with waiting("reading the journal"):
        standings = Standings(next(records)).add_all(records)
    logs = Logs(folder)
    with waiting("comparing the bots"):
        standings.rows()  # which takes seconds for thousands of bots
    files.show(standings.describe(logs), again(standings))

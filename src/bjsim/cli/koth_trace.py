"""`bjsim koth trace` and `bjsim koth show --hand`: what bots received and answered at a table."""

import os
from collections import Counter
from pathlib import Path

import click

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import IN_PROCESS
from bjsim.bots.contest.journal import read_logs
from bjsim.bots.contest.match import Record
from bjsim.bots.contest.replay import protocols, questions, replay
from bjsim.bots.contest.schedule import Owner, Roster
from bjsim.bots.protocol import printable, printable_lines
from bjsim.cli.options import counted
from bjsim.errors import InputError

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
        for log in read_logs(folder, which):
            if (log.match, log.table) == (match, number) and log.text:
                click.echo("stderr:\n" + printable_lines(log.text.rstrip("\n")))


def show_hand(folder: Path, hand: str, bot: str | None, asked: bool) -> None:
    """Print a round (as `PLACE` describes) step by step, and, if `asked`, what the bots were asked.

    `bot` is the name of the bot whose own match it is, if any.
    """
    try:
        match, table, number, *own = parse_place(hand, (3, 4), PLACE)
    except InputError as error:
        raise InputError(f"--hand {error}") from None
    header, records = read_table(folder, match, table, own[0] if own else bot)
    if not 0 <= number < len(records):
        raise InputError(f"--hand {hand}: table {match + 1}.{table + 1} has {counted(len(records), 'round')}")
    contest, houses = Contest.from_dict(header["contest"]), header["against"]
    house = [f"house ({os.path.basename(each['source'])})" for each in reversed(houses)] or ["house"]
    names = [*(each["name"] for each in header["bots"]), *house]
    spent = Counter(fault["bot"] for record in records[:number] for fault in record.get("faults", ()))
    spent.update({seat: contest.strikes for seat, each in enumerate(header["bots"]) if each.get("retired")})
    click.echo(f"match {match + 1}, table {table + 1}, round {number + 1}")
    for text, *_ in replay(contest, {**records[number], "spent": spent}, names)["steps"]:
        click.echo(f"  {printable(text)}")
    for question in questions(contest, records, protocols(header)) if asked else ():
        if question.round == number:
            click.echo(printable(f"{names[question.bot]} (seat {question.position + 1}):"))
            click.echo(question.text)


def parse_place(text: str, parts: tuple[int, ...], form: str) -> list[int]:
    """The numbers of a place in a contest, from 0. parts: how many there may be. Raises: InputError."""
    numbers = text.split(".")
    if len(numbers) not in parts or not all(number.isdecimal() and number.isascii() for number in numbers):
        raise InputError(f"{text} is not accepted; write {form}")
    return [int(number) - 1 for number in numbers]


def read_table(folder: Path, match: int, table: int, owner: Owner | str) -> tuple[Record, list[Record]]:
    """The header, with the bots that have joined, and the rounds of one table; InputError if there are none.

    `owner` is the bot whose own match it is, or None; or a name at the table, whose last version's rounds are
    read.
    """
    records = journal.read(folder)
    header = next(records)
    roster, found = Roster(header), dict[Owner, list[Record]]()
    for record in records:
        own = record.get("own")
        if record["record"] != "round":
            roster.add(record)
            for voided in roster.voided(record) if record["record"] == "change" else ():
                if roster.played[voided] <= match:
                    found.pop(voided, None)  # it is played again
        elif own == owner and record["match"] > match:
            break
        elif (record["match"], record["table"]) == (match, table) and (
            own == owner or (isinstance(owner, str) and (own is None or roster.bots[own]["name"] == owner))
        ):
            found.setdefault(own, []).append(record)
    seated = {bot for rounds in found.values() for each in rounds for bot in each["seats"]}
    names = [roster.bots[bot]["name"] for bot in sorted(seated) if bot >= 0]
    if found and isinstance(owner, str) and owner not in names:
        raise InputError(f"--bot {owner}: table {match + 1}.{table + 1} has {', '.join(map(printable, names))}")
    if not found:
        whose = f" of {owner}" if isinstance(owner, str) else ""
        if owner is None and len(roster.played) > 1:
            whose = " that bots share; add --bot NAME, whose own match it is"
        raise InputError(f"the contest in {folder} has no match {match + 1} with a table {table + 1}{whose}")
    asked = [  # no player in another process, where it has retired
        {**entrant, "language": IN_PROCESS, "retired": True} if match >= roster.retired.get(bot, match + 1) else entrant
        for bot, entrant in enumerate(roster.bots)
    ]
    return {**header, "bots": asked}, found[max(found, key=lambda own: -1 if own is None else own)]

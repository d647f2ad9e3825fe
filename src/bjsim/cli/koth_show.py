"""`bjsim koth show` and `bjsim koth verify`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from bjsim.bots.contest.host import verify as replay_contest
from bjsim.bots.contest.play import journal
from bjsim.bots.contest.play.match import replay_record
from bjsim.bots.contest.play.timings import Timings
from bjsim.bots.contest.scoring.standings import Standings
from bjsim.bots.protocol import printable
from bjsim.cli.koth_screen import report, standings_json
from bjsim.cli.koth_trace import PLACE, parse_place, show_questions
from bjsim.cli.options import check_writable, counted, json_option, write_json
from bjsim.cli.replay import show as show_round
from bjsim.errors import InputError


@click.command(short_help="Print the standings of a contest, or one of its rounds.")
@click.argument("folder", metavar="CONTEST", type=click.Path(path_type=Path))
@click.option("--hand", metavar="MATCH.TABLE.ROUND", help="Print this round, such as 3.1.25.")
@click.option("--asked", is_flag=True, help="With --hand: also what every bot was asked, and its answers.")
@json_option
def show(folder: Path, hand: str | None, asked: bool, json_path: str | None) -> None:
    """Print the standings of the contest in the folder CONTEST, or one of its rounds."""
    if asked and not hand:
        raise InputError("--asked needs --hand MATCH.TABLE.ROUND")
    if json_path and hand:
        raise InputError("--json writes the standings; it cannot be combined with --hand")
    check_writable(json_path)
    with journal.sensible(folder):
        show_contest(folder, hand, json_path)
        if asked and hand:
            show_questions(folder, hand)


@click.command(short_help="Replay a contest, and check every card and chip.")
@click.argument("folder", metavar="CONTEST", type=click.Path(path_type=Path))
def verify(folder: Path) -> None:
    """Replay the contest in the folder CONTEST, and check every card and chip."""
    with journal.sensible(folder):
        verify_contest(folder)


def read_contest(folder: Path) -> tuple[Standings, Iterator[dict[str, Any]]]:
    """The empty standings of the contest in a folder, and the records to add to them. Raises: InputError."""
    records = journal.read(folder)
    header = next(records, None)
    if header is None:
        raise InputError(f"the journal in {folder} is empty")
    return Standings(header), records


def show_contest(folder: Path, hand: str | None, json_path: str | None) -> None:
    """Print the standings of a contest, or one of its rounds. Raises: InputError."""
    standings, records = read_contest(folder)
    if not hand:
        standings.add_all(records)
        timings = Timings.load(folder, len(standings.names))
        if json_path:
            write_json(standings_json(standings, timings), json_path)
        report(Console(stderr=json_path == "-"), standings, timings)
        return
    try:
        match, table, number, *own = parse_place(hand, (3, 4), PLACE)
    except InputError as error:
        raise InputError(f"--hand {error}") from None
    hands = standings.contest.hands
    for record in records:
        standings.add(record)
        place = record.get("match"), record.get("table"), *([record["own"]] if "own" in record else [])
        if record["record"] == "round" and place == (match, table, *own):
            if record["sitting"] * hands + record["hand"] != number:
                continue
            names = standings.seat_names
            title = f"match {match + 1}, table {table + 1}, round {number + 1}; chips {record['chips']}"
            click.echo(printable(title))
            show_round([Named(names[bot]) for bot in record["seats"]], replay_record(standings.contest.rules, record))  # type: ignore[misc]
            for fault in record.get("faults", ()):
                click.echo(printable(f"{names[fault['bot']]}: {fault['kind']}: {fault['detail']}"))
            return
    raise InputError(
        f"--hand {hand}: the contest in {folder} has no such round; it has {counted(standings.matches, 'match')}"
    )


class Named:
    """A placeholder for a player when a recorded round is printed."""

    def __init__(self, name: str) -> None:
        self.name = name


def verify_contest(folder: Path) -> None:
    """Replay a contest and confirm that every card and chip is correct. Raises: InputError, RunFailed."""
    rounds, standings = replay_contest(folder)
    click.echo(
        f"{folder}: {counted(rounds, 'round')} of {counted(standings.matches, 'match')} replayed; every card and chip "
        "is correct"
    )

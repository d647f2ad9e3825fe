"""`bjsim koth`: host a contest of bots, show one, or deal one again."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from bjsim.bots.contest.config import MANY, Contest, load_config, with_settings
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host, verify
from bjsim.bots.contest.play import journal
from bjsim.bots.contest.play.match import events_of
from bjsim.bots.contest.play.timings import Timings
from bjsim.bots.contest.report.output import row_values, write_standings, write_whole
from bjsim.bots.contest.report.page import PageData, render_page
from bjsim.bots.contest.schedule.seating import whole_matches
from bjsim.bots.contest.scoring.standings import Standings
from bjsim.bots.protocol import printable
from bjsim.cli.options import Count, check_writable, json_option, write_json
from bjsim.cli.render import standings_table
from bjsim.cli.replay import show as show_round
from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.random_stream import MOST_SEED
from bjsim.strategies.players.find import is_python

PAGE_EVERY = 20.0  # seconds between the pages written while a contest is played
SHOW_EVERY = 0.25  # seconds between the standings shown in a terminal
SHARE = 10  # times as long as it took lies between two pages, and between two standings shown


@click.command()
@click.argument("bots", nargs=-1, metavar="BOTS_DIR|BOT...")
@click.option(
    "--config", "config_path", metavar="FILE.toml",
    help="Settings of the contest, and its bots; files that it names are looked for beside it first.",
)  # fmt: skip
@click.option("--matches", type=Count(), help=f"How many at most.  [default: 25; with --until decided {MANY:,}]")
@click.option("--rules", "rules_name", metavar="NAME|FILE.toml", help="The game.  [default: cardshark]")
@click.option(
    "--seed", type=Count(0, MOST_SEED),
    help="The same seed deals the same cards, which bots may know then.  [default: 128 random bits]",
)  # fmt: skip
@click.option("--out", "out", metavar="DIR", help="Where journal, standings and page go.  [default: contest]")
@click.option("--workers", type=Count(1, 64), default=1, show_default=True, help="Tables played side by side.")
@click.option("--until", metavar="SECONDS|decided", help="Stop then, or when the leader is separated from all others.")
@click.option("--duplicate", is_flag=True, default=None, help="Play every shoe again until all have sat everywhere.")
@click.option("--house", metavar="BOT", help="Fill empty chairs with this player, who is not ranked.")
@click.option("--timeout", type=float, help="Seconds that a bot has for a move.  [default: 2]")
@click.option("--cold", is_flag=True, default=None, help="Start bots anew for every move, the slow way.")
@click.option(
    "--sandbox", type=click.Choice(["required", "auto", "off"]), default="required", show_default=True,
    help="Whether programs are kept in a box: only so, where one can be had, or not.",
)  # fmt: skip
@click.option("--resume", metavar="DIR", help="Go on with the contest in DIR; --workers and --sandbox may be given.")
@click.option("--trust", is_flag=True, help="With --resume: run the Python that DIR names, outside any sandbox.")
@click.option("--show", metavar="DIR", help="Print the standings of the contest in DIR.")
@click.option("--hand", metavar="MATCH.TABLE.ROUND", help="With --show: print this hand, such as 3.1.25.")
@click.option("--verify", "verify_dir", metavar="DIR", help="Deal the contest in DIR again, and confirm every chip.")
@json_option
def koth(
    bots: tuple[str, ...], config_path: str | None, out: str | None, workers: int, sandbox: str, resume: str | None,
    trust: bool, show: str | None, hand: str | None, verify_dir: str | None, rules_name: str | None,
    json_path: str | None, **settings: Any,
) -> None:  # fmt: skip
    """Host a contest of bots: king of the hill.

    BOT is a name (optimal, lim17, ...), a bot's file or a chart's, or NAME=BOT; BOTS_DIR is a folder of such files.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    if other := [("--resume", resume), ("--show", show), ("--verify", verify_dir)]:
        chosen = [(option, folder) for option, folder in other if folder]
        if len(chosen) > 1 or (chosen and (bots or config_path or out or rules_name or given)):
            raise InputError(f"{chosen[0][0]} takes the contest's own settings: give neither bots nor other settings")
    if trust and not resume:
        raise InputError("--trust needs --resume DIR")
    if hand and not show:
        raise InputError("--hand needs --show DIR")
    if json_path and (hand or verify_dir):
        raise InputError("--json writes the standings: give it neither --hand nor --verify")
    check_writable(json_path)  # not after hours of play
    if show:
        with journal.sensible(Path(show)):
            show_contest(Path(show), hand, json_path)
    elif verify_dir:
        with journal.sensible(Path(verify_dir)):
            verify_contest(Path(verify_dir))
    elif resume:
        with journal.sensible(Path(resume)):
            play(Host.resume(Path(resume), workers, sandbox, trust), json_path)
    else:
        contest, listed = the_contest(config_path, rules_name, given)
        entrants = gather(bots or listed, contest.rules)
        contest = replace(
            contest,
            matches=whole_matches(contest.matches, len(entrants), contest.duplicate, bool(contest.house)),
        )
        play(Host.begin(Path(out or "contest"), contest, entrants, workers, sandbox), json_path)


def the_contest(config_path: str | None, rules_name: str | None, given: dict[str, Any]) -> tuple[Contest, list[str]]:
    """The contest that the options ask for, and the bots that its file names."""
    if rules_name:
        given = {**given, "rules": load_rules(rules_name)}
    if config_path:
        return load_config(config_path, given)
    return with_settings(Contest(load_rules("cardshark")), given), []


def resume_command(host: Host) -> str:
    """What to type to go on with the contest: with the options that are not its own, as they were given."""
    words = ["bjsim", "koth", "--resume", str(host.folder)]
    if host.workers != 1:
        words += ["--workers", str(host.workers)]
    if host.sandbox != "required":
        words += ["--sandbox", host.sandbox]
    if any(is_python(source) for source in (host.contest.house, *(entrant.source for entrant in host.entrants))):
        words += ["--trust"]
    return shlex.join(words)


def play(host: Host, json_path: str | None) -> None:
    """Play a contest to its end, showing how it stands; on Ctrl-C say that, and how to go on."""
    screen = ContestScreen(host, Console(stderr=json_path == "-"))
    where = host.folder
    say = partial(screen.console.print, highlight=False, soft_wrap=True, markup=False)
    say(printable(f"{host.contest.rules.name}, in {where}"), style="bold")
    say(f"if it is stopped: {resume_command(host)}", style="dim")
    try:
        with screen:
            host.run(screen.update)
    except KeyboardInterrupt:
        report(screen.console, host.standings, host.timings)
        say(f"stopped; go on with: {resume_command(host)}", style="yellow")
        raise click.exceptions.Exit(130) from None
    finally:
        write_out(host.folder, host.standings, host.page, host.timings)
        if json_path:
            write_json(standings_json(host.standings, host.timings), json_path)
    report(screen.console, host.standings, host.timings)
    say(f"seed {host.contest.seed}; {where}/index.html is the page")


def write_out(folder: Path, standings: Standings, page: PageData, timings: Timings) -> None:
    """Write all that is computed from the journal."""
    write_standings(folder, standings, timings)
    write_whole(folder / "index.html", render_page(standings, page, timings))


class ContestScreen:
    """The live standings."""

    def __init__(self, host: Host, console: Console) -> None:
        self.host = host
        self.console = console
        self.live = Live(console=self.console, transient=True, auto_refresh=False)
        self.began = now = time.perf_counter()
        self.page_due, self.show_due = now + PAGE_EVERY, now
        self.rounds = host.standings.rounds
        self.moves = sum(host.timings.moves)

    def __enter__(self) -> ContestScreen:
        return self

    def __exit__(self, *exception: object) -> None:
        self.live.stop()

    def update(self, host: Host) -> None:
        """Show how it stands, and write the page, now and then; of a large field neither is done in no time."""
        now = time.perf_counter()
        if now >= self.page_due:
            write_out(host.folder, host.standings, host.page, host.timings)
            self.page_due = next_due(now, PAGE_EVERY)
        if not self.console.is_terminal or now < self.show_due:
            return
        if not self.live.is_started:
            self.live.start()
        head = Text(self.headline(now), style="bold")
        table = the_table(host.standings, host.timings, self.console.width, self.console.height)
        self.live.update(Group(head, table), refresh=True)
        self.show_due = next_due(now, SHOW_EVERY)

    def headline(self, now: float) -> str:
        """Matches, speed and time left."""
        standings, contest = self.host.standings, self.host.contest
        seconds = max(now - self.began, 1e-9)
        rounds = standings.rounds - self.rounds
        parts = [f"match {standings.matches + 1} of {contest.matches}", f"{rounds / seconds:,.0f} rounds/s"]
        if any(self.host.timings.moves):
            parts.append(f"{(sum(self.host.timings.moves) - self.moves) / seconds:,.0f} moves/s")
        per_match = standings.rounds / max(standings.matches, 1)
        if rounds and standings.matches:
            left = (contest.matches * per_match - standings.rounds) * seconds / rounds
            parts.append(f"{min(left, contest.seconds - seconds):,.0f} s left at most")
        return "   ".join(parts)


def next_due(began: float, every: float) -> float:
    """When to do again what began then and has just been done: it takes a tenth of the time at most."""
    now = time.perf_counter()
    return now + max(every, SHARE * (now - began))


def the_table(standings: Standings, timings: Timings, width: int, rows: int | None = None) -> Any:
    """The standings as a rich table for a screen so wide; only the first `rows`, if that is given."""
    header = [bot["language"] for bot in standings.bots]
    return standings_table([(row_values(row, timings), header[row.bot]) for row in standings.rows()[:rows]], width)


def report(console: Console, standings: Standings, timings: Timings) -> None:
    """Print the standings and what they are worth."""
    wide = console if console.is_terminal else Console(stderr=console.stderr, width=max(console.width, 140))
    wide.print(the_table(standings, timings, wide.width))
    if standings.end is None:
        text = f"{standings.matches} matches so far, not finished"
    else:
        text = f"{standings.matches} matches; ended: {REASONS[standings.end['reason']]}"
    leader = standings.rows()[0].name
    decided = standings.decided
    verdict = f"{leader} is ahead of all others (95%)" if decided else "not decided: the leader is not separated"
    console.print(
        f"{text}\n{verdict}; bots with a letter in common cannot be told apart", highlight=False, markup=False
    )


REASONS = {"matches": "all matches are played", "decided": "the leader is separated", "time": "the time was up"}


def read_contest(folder: Path) -> tuple[Standings, Iterator[dict[str, Any]]]:
    """The standings of the contest in a folder before its first record, and its records."""
    records = journal.read(folder)
    header = next(records, None)
    if header is None:
        raise InputError(f"the journal in {folder} is empty")
    return Standings(header), records


def standings_json(standings: Standings, timings: Timings) -> dict[str, object]:
    """What `--json` writes."""
    return {
        "matches": standings.matches,
        "ended": standings.end["reason"] if standings.end else None,
        "decided": standings.decided,
        "standings": [row_values(row, timings) for row in standings.rows()],
    }


def show_contest(folder: Path, hand: str | None, json_path: str | None) -> None:
    """Print the standings of a contest, or one hand of it."""
    standings, records = read_contest(folder)
    if not hand:
        standings.add_all(records)
        timings = Timings.load(folder, len(standings.names))
        if json_path:
            write_json(standings_json(standings, timings), json_path)
        report(Console(stderr=json_path == "-"), standings, timings)
        return
    try:
        match, table, number = (int(part) - 1 for part in hand.split("."))
    except ValueError:
        raise InputError(f"--hand {hand} is not accepted; write MATCH.TABLE.ROUND, such as 3.1.25") from None
    hands = standings.contest.hands
    for record in records:
        standings.add(record)
        if record["record"] == "round" and (record["match"], record["table"]) == (match, table):
            if record["sitting"] * hands + record["hand"] != number:
                continue
            names = [*standings.names, "house"]
            title = f"match {match + 1}, table {table + 1}, round {number + 1}; chips {record['chips']}"
            click.echo(printable(title))
            show_round([Named(names[bot]) for bot in record["seats"]], events_of(standings.contest.rules, record))  # type: ignore[misc]
            for fault in record.get("faults", ()):
                click.echo(printable(f"{names[fault['bot']]}: {fault['kind']}: {fault['detail']}"))
            return
    raise InputError(f"--hand {hand}: the contest in {folder} has no such hand; it has {standings.matches} matches")


class Named:
    """Someone with a name."""

    def __init__(self, name: str) -> None:
        self.name = name


def verify_contest(folder: Path) -> None:
    """Deal a contest again and say that it is right."""
    rounds, standings = verify(folder)
    click.echo(f"{folder}: {rounds:,} rounds of {standings.matches} matches dealt again; every card and chip is right")

"""`bjsim koth`: host a contest of bots; resume, show or verify one."""

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
from bjsim.bots.contest.play.match import replay_record
from bjsim.bots.contest.play.timings import Timings
from bjsim.bots.contest.report.output import row_values
from bjsim.bots.contest.report.publish import write_results
from bjsim.bots.contest.schedule.seating import whole_matches
from bjsim.bots.contest.scoring.standings import Standings
from bjsim.bots.protocol import printable
from bjsim.cli.options import Count, check_writable, json_option, write_json
from bjsim.cli.render import standings_table
from bjsim.cli.replay import show as show_round
from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.random_stream import MAX_SEED
from bjsim.strategies.players.find import is_python

PAGE_EVERY = 20.0  # least seconds between two versions of the page during a contest
SHOW_EVERY = 0.25  # least seconds between two updates of the live standings
PAUSE = 10  # and the least pause, as a multiple of the time that a page or an update took


@click.command()
@click.argument("bots", nargs=-1, metavar="BOTS_DIR|BOT...")
@click.option(
    "--config", "config_path", metavar="FILE.toml",
    help="Settings of the contest, and its bots; files are looked up in its folder first.",
)  # fmt: skip
@click.option("--matches", type=Count(), help=f"Number of matches.  [default: 25; with --until decided {MANY:,}]")
@click.option("--rules", "rules_name", metavar="NAME|FILE.toml", help="Game to play.  [default: cardshark]")
@click.option(
    "--seed", type=Count(0, MAX_SEED),
    help="Random seed. Bots may predict the cards of a seed they know.  [default: 128 random bits]",
)  # fmt: skip
@click.option("--out", "out", metavar="DIR", help="Folder for the journal, standings and page.  [default: contest]")
@click.option("--workers", type=Count(1, 64), default=1, show_default=True, help="Number of tables played in parallel.")
@click.option(
    "--until", metavar="SECONDS|decided", help="Stop after this time, or when the leader is ahead of all others (95%)."
)
@click.option(
    "--duplicate", is_flag=True, default=None, help="Replay every shoe until each bot has played from every seat."
)
@click.option("--house", metavar="BOT", help="Fill empty seats with this player, which is not ranked.")
@click.option("--timeout", type=float, help="Seconds allowed for a move.  [default: 2]")
@click.option("--cold", is_flag=True, default=None, help="Start a bot from scratch for every move (slower).")
@click.option(
    "--sandbox", type=click.Choice(["required", "auto", "off"]), default="required", show_default=True,
    help="Whether to run bots in a sandbox: always, if available, or never.",
)  # fmt: skip
@click.option(
    "--resume",
    metavar="DIR",
    help="Resume the contest in DIR with its own settings.",
)
@click.option("--trust", is_flag=True, help="With --resume: run the Python players that DIR names, without a sandbox.")
@click.option("--show", metavar="DIR", help="Print the standings of the contest in DIR.")
@click.option("--hand", metavar="MATCH.TABLE.ROUND", help="With --show: print this round, such as 3.1.25.")
@click.option("--verify", "verify_dir", metavar="DIR", help="Replay the contest in DIR, and check every card and chip.")
@json_option
def koth(
    bots: tuple[str, ...], config_path: str | None, out: str | None, workers: int, sandbox: str, resume: str | None,
    trust: bool, show: str | None, hand: str | None, verify_dir: str | None, rules_name: str | None,
    json_path: str | None, **settings: Any,
) -> None:  # fmt: skip
    """Host a king-of-the-hill contest of bots.

    BOT is a named strategy (optimal, lim17, ...), the file of a bot or chart, or NAME=BOT; BOTS_DIR is a folder of
    such files.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    if other := [("--resume", resume), ("--show", show), ("--verify", verify_dir)]:
        chosen = [(option, folder) for option, folder in other if folder]
        if len(chosen) > 1 or (chosen and (bots or config_path or out or rules_name or given)):
            raise InputError(f"{chosen[0][0]} uses the contest's own settings; give no bots and no other settings")
    if trust and not resume:
        raise InputError("--trust needs --resume DIR")
    if hand and not show:
        raise InputError("--hand needs --show DIR")
    if json_path and (hand or verify_dir):
        raise InputError("--json writes the standings; it cannot be combined with --hand or --verify")
    check_writable(json_path)  # fails now, not after hours of play
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
        contest, listed = choose_contest(config_path, rules_name, given)
        entrants = gather(bots or listed, contest.rules)
        contest = replace(
            contest,
            matches=whole_matches(contest.matches, len(entrants), contest.duplicate, bool(contest.house)),
        )
        play(Host.begin(Path(out or "contest"), contest, entrants, workers, sandbox), json_path)


def choose_contest(config_path: str | None, rules_name: str | None, given: dict[str, Any]) -> tuple[Contest, list[str]]:
    """The contest that the options choose, and the bots that its file names."""
    if rules_name:
        given = {**given, "rules": load_rules(rules_name)}
    if config_path:
        return load_config(config_path, given)
    return with_settings(Contest(load_rules("cardshark")), given), []


def resume_command(host: Host) -> str:
    """The command that resumes the contest, with the options that its folder does not record."""
    words = ["bjsim", "koth", "--resume", str(host.folder)]
    if host.workers != 1:
        words += ["--workers", str(host.workers)]
    if host.sandbox != "required":
        words += ["--sandbox", host.sandbox]
    if any(is_python(source) for source in (host.contest.house, *(entrant.source for entrant in host.entrants))):
        words += ["--trust"]
    return shlex.join(words)


def play(host: Host, json_path: str | None) -> None:
    """Play a contest to its end with live standings; after Ctrl-C, print the standings and how to resume."""
    screen = ContestScreen(host, Console(stderr=json_path == "-"))
    where = host.folder
    say = partial(screen.console.print, highlight=False, soft_wrap=True, markup=False)
    say(printable(f"{host.contest.rules.name}, in {where}"), style="bold")
    say(f"to resume after a stop: {resume_command(host)}", style="dim")
    try:
        with screen:
            host.run(screen.update)
    except KeyboardInterrupt:
        report(screen.console, host.standings, host.timings)
        say(f"stopped; resume with: {resume_command(host)}", style="yellow")
        raise click.exceptions.Exit(130) from None
    finally:
        write_results(host.folder, host.standings, host.page, host.timings)
        if json_path:
            write_json(standings_json(host.standings, host.timings), json_path)
    report(screen.console, host.standings, host.timings)
    say(f"seed {host.contest.seed}; page: {where}/index.html")


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
        """Write the page and update the live standings, if they are due; both take a while with many bots."""
        now = time.perf_counter()
        if now >= self.page_due:
            write_results(host.folder, host.standings, host.page, host.timings)
            self.page_due = next_due(now, PAGE_EVERY)
        if not self.console.is_terminal or now < self.show_due:
            return
        if not self.live.is_started:
            self.live.start()
        head = Text(self.headline(now), style="bold")
        table = fit_table(host.standings, host.timings, self.console.width, self.console.height)
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
            parts.append(f"at most {min(left, contest.seconds - seconds):,.0f} s left")
        return "   ".join(parts)


def next_due(began: float, every: float) -> float:
    """When to repeat a task that took from `began` until now, so that it takes at most a tenth of the time."""
    now = time.perf_counter()
    return now + max(every, PAUSE * (now - began))


def fit_table(standings: Standings, timings: Timings, width: int, rows: int | None = None) -> Any:
    """The standings as a table for a screen of this width; only the first `rows`, if given."""
    languages = [bot["language"] for bot in standings.bots]
    return standings_table([(row_values(row, timings), languages[row.bot]) for row in standings.rows()[:rows]], width)


def report(console: Console, standings: Standings, timings: Timings) -> None:
    """Print the standings and whether they are decided."""
    wide = console if console.is_terminal else Console(stderr=console.stderr, width=max(console.width, 140))
    wide.print(fit_table(standings, timings, wide.width))
    matches = "1 match" if standings.matches == 1 else f"{standings.matches} matches"
    if standings.end is None:
        text = f"{matches} so far, not finished"
    else:
        text = f"{matches}; ended: {REASONS[standings.end['reason']]}"
    leader = standings.rows()[0].name
    decided = standings.decided
    verdict = f"{leader} is ahead of all others (95%)" if decided else "not decided: the lead is within the noise"
    console.print(f"{text}\n{verdict}; bots that share a group letter are tied", highlight=False, markup=False)


REASONS = {"matches": "all matches played", "decided": "the leader is ahead of all others", "time": "time limit"}


def read_contest(folder: Path) -> tuple[Standings, Iterator[dict[str, Any]]]:
    """The empty standings of the contest in a folder, and the records to add to them. Raises: InputError."""
    records = journal.read(folder)
    header = next(records, None)
    if header is None:
        raise InputError(f"the journal in {folder} is empty")
    return Standings(header), records


def standings_json(standings: Standings, timings: Timings) -> dict[str, object]:
    """The content of `--json`."""
    return {
        "matches": standings.matches,
        "ended": standings.end["reason"] if standings.end else None,
        "decided": standings.decided,
        "standings": [row_values(row, timings) for row in standings.rows()],
    }


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
            show_round([Named(names[bot]) for bot in record["seats"]], replay_record(standings.contest.rules, record))  # type: ignore[misc]
            for fault in record.get("faults", ()):
                click.echo(printable(f"{names[fault['bot']]}: {fault['kind']}: {fault['detail']}"))
            return
    raise InputError(f"--hand {hand}: the contest in {folder} has no such round; it has {standings.matches} matches")


class Named:
    """A placeholder for a player when a recorded round is printed."""

    def __init__(self, name: str) -> None:
        self.name = name


def verify_contest(folder: Path) -> None:
    """Replay a contest and confirm that every card and chip is correct. Raises: InputError, RunFailed."""
    rounds, standings = verify(folder)
    click.echo(f"{folder}: {rounds:,} rounds of {standings.matches} matches replayed; every card and chip is correct")

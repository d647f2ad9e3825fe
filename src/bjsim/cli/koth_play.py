"""`bjsim koth play` and `bjsim koth resume`."""

import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import MANY, Contest, load_config, name_and_source, with_settings
from bjsim.bots.contest.entrants import untrusted
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.page import CONTEST, again, write_results
from bjsim.bots.contest.standings import contest_table
from bjsim.cli.asked import ask, asked_of
from bjsim.cli.options import NO_FILES, Files, as_argument, files_options
from bjsim.cli.waiting import Waiting, waiting
from bjsim.errors import printable
from bjsim.report.terminal import print_part, say
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.players.catalogue import is_python

# --- The standings of a contest in the terminal, live and at the end, and as JSON.


PAGE_EVERY = 20.0  # least seconds between two versions of the page during a contest
SHOW_EVERY = 0.25  # least seconds between two updates of the live standings
PAUSE = 10  # and the least pause, as a multiple of the time that a page or an update took


class ContestScreen:
    """The live standings, below the moving line."""

    def __init__(self, host: Host, console: Console, line: Waiting) -> None:
        self.host, self.console, self.line = host, console, line
        self.began = now = time.perf_counter()
        self.page_due, self.show_due = now + PAGE_EVERY, now
        self.rounds = host.standings.rounds
        self.moves = host.logs.moves.total()

    def update(self, host: Host) -> None:
        """Write the page and update the live standings, if they are due; both take a while with many bots."""
        now = time.perf_counter()
        if now >= self.page_due:
            write_results(host.folder, host.standings, host.page, host.logs)
            self.page_due = next_due(now, PAGE_EVERY)
        if not self.console.is_terminal or now < self.show_due:
            return
        self.line.say(self.headline(now))
        with self.console.capture() as standings:
            print_part(contest_table(host.standings, host.logs, self.console.height), self.console)
        self.line.below = standings.get()
        self.line.draw()
        self.show_due = next_due(now, SHOW_EVERY)

    def headline(self, now: float) -> str:
        """Matches, speed and time left."""
        standings, contest = self.host.standings, self.host.contest
        total = standings.roster.total
        seconds = max(now - self.began, 1e-9)
        rounds = standings.rounds - self.rounds
        match = min(standings.matches + 1, total)  # the bots that are ahead may wait for others
        parts = [f"match {match} of {total}", f"{rounds / seconds:,.0f} rounds/s"]
        if self.host.logs.moves.total():
            parts.append(f"{(self.host.logs.moves.total() - self.moves) / seconds:,.0f} moves/s")
        per_match = standings.rounds / max(standings.matches, 1)
        if rounds and standings.matches:
            left = (total * per_match - standings.rounds) * seconds / rounds
            parts.append(f"at most {max(min(left, contest.seconds - seconds), 0):,.0f} s left")
        return "   ".join(parts)


def next_due(began: float, every: float) -> float:
    """When to repeat a task that took from `began` until now, so that it takes at most a tenth of the time."""
    now = time.perf_counter()
    return now + max(every, PAUSE * (now - began))


def host_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options on how this machine plays a contest, which the contest's folder does not record."""
    return ask("workers", "Number of tables played in parallel.", 1)(ask("sandbox", default="required")(command))


def resume_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument CONTEST and the options of a command that plays a contest on."""
    trust = click.option("--trust", is_flag=True, help="Run the Python players that CONTEST names, without a sandbox.")
    options = trust(host_options(command))
    return click.argument("folder", metavar="CONTEST", type=click.Path(path_type=Path))(options)


@click.command()
@click.argument("bots", nargs=-1, metavar="BOTS_DIR|BOT...")
@click.option(
    "--config",
    "config_path",
    metavar="FILE.toml",
    help="Settings of the contest, and its bots; files are looked up in its folder first.",
)
@click.option("--rules", "rules_name", metavar="NAME|FILE.toml", help="Game to play.  [default: cardshark]")
@asked_of(
    CONTEST,
    only_given=True,
    seed="128 random bits",
    matches=f"25 for two bots, more for more; with --until decided {MANY:,}",
    score="luck-adjusted, else chips",
)
@click.option(
    "--out", metavar="DIR", default="contest", show_default=True, help="Folder for the journal, standings and page."
)
@click.option("--trust", is_flag=True, help="Run the Python players that FILE.toml names, without a sandbox.")
@host_options
@files_options("Draw the scores with their intervals.", "Write the standings as a self-contained page to publish.")
def play(
    bots: tuple[str, ...],
    config_path: str | None,
    rules_name: str | None,
    out: str,
    trust: bool,
    workers: int,
    sandbox: str,
    files: Files,
    **asked: Any,
) -> None:
    """Play a new contest.

    BOT is a named strategy (optimal, lim17, ...), the file of a bot or chart, or NAME=BOT; BOTS_DIR is a folder of
    such files, or of a folder for each student, or a zip archive of these.
    """
    given = {name: value for name, value in asked.items() if value is not None}
    contest, listed = choose_contest(config_path, rules_name, given)
    named = [] if bots else [name_and_source(text)[1] for text in listed]
    named += [bot for bot in contest.field if bot not in (given.get("house"), *given.get("against", ()))]
    if config_path and not trust and (code := next(filter(is_python, named), None)):
        raise untrusted(config_path, code)
    play_contest(Host.gathered(Path(out), contest, bots or listed, workers, sandbox), files)


@click.command(short_help="Resume a contest.")
@resume_options
def resume(**options: Any) -> None:
    """Resume the contest in the folder CONTEST with its own settings."""
    resume_contest(**options)


def resume_contest(
    folder: Path,
    trust: bool,
    workers: int,
    sandbox: str,
    no_play: bool = False,
    change: Callable[[Host], object] | None = None,
) -> None:
    """Resume the contest in a folder, change and play it. Raises: InputError, RunFailed."""
    with journal.sensible(folder):
        with waiting("reading the journal"):
            host = Host.resume(folder, workers, sandbox, trust, change)
        play_contest(host, play=not no_play)


def choose_contest(config_path: str | None, rules_name: str | None, given: dict[str, Any]) -> tuple[Contest, list[str]]:
    """The contest that the options choose, and the bots that its file names."""
    if rules_name:
        given = {**given, "rules": load_rules(rules_name)}
    if config_path:
        return load_config(config_path, given)
    return with_settings(Contest(load_rules("cardshark")), given), []


def resume_command(host: Host) -> str:
    """The command that resumes the contest, with the options that its folder does not record."""
    words = ["bjsim", "koth", "resume", as_argument(str(host.folder))]
    if host.workers != 1:
        words += ["--workers", str(host.workers)]
    if host.sandbox != "required":
        words += ["--sandbox", host.sandbox]
    if any(is_python(source) for source in (*host.contest.field, *(entrant.source for entrant in host.present))):
        words += ["--trust"]
    return shlex.join(words)


def play_contest(host: Host, files: Files = NO_FILES, play: bool = True) -> None:
    """Play a contest with live standings, also shown after Ctrl-C; without `play` only rewrite its results."""
    console, where, stopped = Console(stderr=files.quiet), host.folder, False
    say(console, printable(f"{host.contest.rules.name}, in {where}"), "bold")
    say(console, f"to resume after a stop: {resume_command(host)}", "dim")
    if not host.standings.matches:
        say(console, f"commitment: {journal.commitment(where)}", "dim")  # to be published before the first match

    try:
        with waiting("playing") as line:
            if play:
                host.run(ContestScreen(host, console, line).update)
            else:
                host.close()
    except KeyboardInterrupt:
        stopped = True
    finally:
        try:
            files.show(host.standings.describe(host.logs), again(host.standings))
        finally:  # at the end: a folder that cannot be written takes no result with it
            write_results(host.folder, host.standings, host.page, host.logs)
    if stopped:
        say(console, f"stopped; resume with: {resume_command(host)}", "yellow")
        raise click.exceptions.Exit(130)
    say(console, f"page: {where}/index.html")
    if host.standings.end and not host.standings.closed:
        close = shlex.join(["bjsim", "koth", "close", as_argument(str(where))])
        say(console, f"when no bot may join any more, this shows the seed: {close}")

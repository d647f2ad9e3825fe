"""`bjsim koth play` and `bjsim koth resume`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from bjsim.bots.contest.config import LIVES, MANY, PROTOCOLS, Contest, load_config, with_settings
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.play import journal
from bjsim.bots.contest.report.publish import write_results
from bjsim.bots.contest.scoring.differences import with_matches
from bjsim.bots.protocol import printable
from bjsim.cli.koth_notify import Notifier, WebAddress
from bjsim.cli.koth_screen import ContestScreen, report, standings_json
from bjsim.cli.koth_watch import FolderWatch
from bjsim.cli.options import Count, Names, check_writable, json_option, write_json
from bjsim.cli.waiting import waiting
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.random_stream import MAX_SEED
from bjsim.strategies.players.find import is_python

F = TypeVar("F", bound=Callable[..., Any])


def contest_options(command: F) -> F:
    """Add the options of a new contest: its settings, its bots and its folder."""
    for option in reversed((
        click.argument("bots", nargs=-1, metavar="BOTS_DIR|BOT..."),
        click.option(
            "--config", "config_path", metavar="FILE.toml",
            help="Settings of the contest, and its bots; files are looked up in its folder first.",
        ),
        click.option(
            "--matches", type=Count(),
            help=f"Number of matches.  [default: 25 for two bots, more for more; with --until decided {MANY:,}]",
        ),
        click.option("--rules", "rules_name", metavar="NAME|FILE.toml", help="Game to play.  [default: cardshark]"),
        click.option(
            "--seed", type=Count(0, MAX_SEED),
            help="Random seed. Bots may predict the cards of a seed they know.  [default: 128 random bits]",
        ),
        click.option("--out", metavar="DIR", help="Folder for the journal, standings and page.  [default: contest]"),
        click.option(
            "--until", metavar="SECONDS|decided",
            help="Stop after this time, or when the leader is ahead of all others (95%).",
        ),
        click.option(
            "--duplicate", is_flag=True, default=None,
            help="Replay every shoe until each bot has played from every seat.",
        ),
        click.option("--house", metavar="BOT", help="Fill empty seats with this player, which is not ranked."),
        click.option(
            "--against", metavar="BOT,...", help="Every bot plays only against these house players, as for a course."
        ),
        click.option(
            "--marks", metavar="TEXT",
            help='Marks by luck-adjusted score in chips per hand, such as "-1:D -0.5:C 0:B"; see marks.csv.',
        ),
        click.option("--sessions", type=Count(), help="Sessions in a match.  [default: 5]"),
        click.option("--hands", type=Count(), help="Hands in a session.  [default: 5]"),
        click.option("--timeout", type=float, help=f"Seconds allowed for a move.  [default: {Contest.timeout:g}]"),
        click.option("--strikes", type=Count(), help="Faults until a bot is asked no more in a match.  [default: 10]"),
        click.option(
            "--retire", type=Count(0),
            help="Matches in a row with all strikes and no answer until a bot retires; 0: never.  [default: 3]",
        ),
        click.option(
            "--protocols", type=Names(lambda: [*PROTOCOLS]), help="Protocols of programs.  [default: argv,line]"
        ),
        click.option(
            "--lives", type=click.Choice(LIVES), help="How long a process of a line bot lives.  [default: match]"
        ),
        click.option("--title", help="Title of the page."),
        click.option("--cold", is_flag=True, default=None, help="Start a bot from scratch for every move (slower)."),
    )):  # fmt: skip
        command = option(command)
    return command


def host_options(command: F) -> F:
    """Add the options on how this machine plays a contest, which its folder does not record."""
    for option in reversed((
        click.option(
            "--workers", type=Count(1, 64), default=1, show_default=True, help="Number of tables played in parallel."
        ),
        click.option(
            "--sandbox", type=click.Choice(["required", "auto", "off"]), default="required", show_default=True,
            help="Whether to run bots in a sandbox: always, if available, or never.",
        ),
        click.option(
            "--watch", "watch_dir", type=click.Path(path_type=Path, file_okay=False, exists=True), metavar="DIR",
            help="Bots that appear, change or disappear in this folder do so in the contest, which waits for them.",
        ),
        click.option(
            "--notify", "url", type=WebAddress(), metavar="URL",
            help="POST a JSON text at the start, for a new leader or a bot without strikes, and at the end.",
        ),
        json_option,
    )):  # fmt: skip
        command = option(command)
    return command


@click.command()
@contest_options
@host_options
def play(
    workers: int, sandbox: str, watch_dir: Path | None, url: str | None, json_path: str | None, **asked: Any
) -> None:
    """Play a new contest.

    BOT is a named strategy (optimal, lim17, ...), the file of a bot or chart, or NAME=BOT; BOTS_DIR is a folder of
    such files, or of a folder for each student, or a zip archive of these.
    """
    check_writable(json_path)  # fails now, not after hours of play
    play_contest(begin(workers=workers, sandbox=sandbox, watch_dir=watch_dir, **asked), json_path, watch_dir, url)


@click.command(short_help="Resume a contest.")
@click.argument("folder", metavar="CONTEST", type=click.Path(path_type=Path))
@host_options
@click.option("--trust", is_flag=True, help="Run the Python players that CONTEST names, without a sandbox.")
def resume(
    folder: Path, workers: int, sandbox: str, watch_dir: Path | None, url: str | None, json_path: str | None,
    trust: bool,
) -> None:  # fmt: skip
    """Resume the contest in the folder CONTEST with its own settings."""
    check_writable(json_path)
    with journal.sensible(folder):
        resume_contest(folder, workers, sandbox, trust, json_path, watch_dir, url)


def begin(
    bots: Sequence[str], config_path: str | None, rules_name: str | None, out: str | None, workers: int, sandbox: str,
    watch_dir: Path | None, against: str | None, **settings: Any,
) -> Host:  # fmt: skip
    """Begin the contest that the values of `contest_options` describe. Raises: InputError."""
    given = {name: value for name, value in settings.items() if value is not None}
    if against is not None:
        given["against"] = tuple(map(str.strip, against.split(",")))
    contest, listed = choose_contest(config_path, rules_name, given)
    texts = [*(bots or listed)]
    if watch_dir and watch_dir.resolve() not in [Path(text).resolve() for text in texts]:
        texts.append(str(watch_dir))
    entrants = gather(texts, contest.rules, fewest=1 if contest.against else 2)
    contest = with_matches(contest, len(entrants))
    return Host.begin(Path(out or "contest"), contest, entrants, workers, sandbox)


def resume_contest(
    folder: Path, workers: int, sandbox: str, trust: bool, json_path: str | None, watch_dir: Path | None = None,
    url: str | None = None,
) -> None:  # fmt: skip
    """Resume and play the contest in a folder. Raises: InputError, RunFailed."""

    def scan(host: Host) -> None:
        if watch_dir:
            FolderWatch(watch_dir, partial(click.echo, err=json_path == "-")).scan(host)

    with waiting("reading the journal"):
        host = Host.resume(folder, workers, sandbox, trust, scan)
    play_contest(host, json_path, watch_dir, url)


def choose_contest(config_path: str | None, rules_name: str | None, given: dict[str, Any]) -> tuple[Contest, list[str]]:
    """The contest that the options choose, and the bots that its file names."""
    if rules_name:
        given = {**given, "rules": load_rules(rules_name)}
    if config_path:
        return load_config(config_path, given)
    return with_settings(Contest(load_rules("cardshark")), given), []


def resume_command(host: Host, watch_dir: Path | None = None) -> str:
    """The command that resumes the contest, with the options that its folder does not record."""
    words = ["bjsim", "koth", "resume", str(host.folder)]
    if host.workers != 1:
        words += ["--workers", str(host.workers)]
    if host.sandbox != "required":
        words += ["--sandbox", host.sandbox]
    if watch_dir:
        words += ["--watch", str(watch_dir)]
    if any(is_python(source) for source in (*host.contest.field, *(entrant.source for entrant in host.present))):
        words += ["--trust"]
    return shlex.join(words)


def play_contest(
    host: Host, json_path: str | None, watch_dir: Path | None = None, url: str | None = None, play: bool = True
) -> None:
    """Play a contest to its end with live standings; after Ctrl-C, print the standings and how to resume.

    Args:
        host: The contest.
        json_path: Where the standings go as JSON, if anywhere.
        watch_dir: A folder whose bots join and leave, if any.
        url: Where notifications go, if anywhere.
        play: Otherwise nothing is played, and the results are only written again.
    """
    notifier = Notifier(url, host) if url else None
    screen = ContestScreen(host, Console(stderr=json_path == "-"))
    where = host.folder
    say = partial(screen.console.print, highlight=False, soft_wrap=True, markup=False)
    host.watch = FolderWatch(watch_dir, say) if watch_dir else None
    say(printable(f"{host.contest.rules.name}, in {where}"), style="bold")
    say(f"to resume after a stop: {resume_command(host, watch_dir)}", style="dim")
    if not host.standings.matches:
        say(f"commitment: {journal.commitment(where)}", style="dim")  # to be published before the first match

    def on_round(host: Host) -> None:
        screen.update(host)
        if notifier:
            notifier.update(host)

    try:
        with screen:
            if play:
                host.run(on_round)
            else:
                host.close()
    except KeyboardInterrupt:
        report(screen.console, host.standings, host.timings)
        say(f"stopped; resume with: {resume_command(host, watch_dir)}", style="yellow")
        raise click.exceptions.Exit(130) from None
    finally:
        if notifier:
            notifier.end(host)
        write_results(host.folder, host.standings, host.page, host.timings)
        if json_path:
            write_json(standings_json(host.standings, host.timings), json_path)
    report(screen.console, host.standings, host.timings)
    say(f"page: {where}/index.html")
    if host.standings.end and not host.standings.closed:
        say(f"when no bot may join any more, this shows the seed: {shlex.join(['bjsim', 'koth', 'close', str(where)])}")

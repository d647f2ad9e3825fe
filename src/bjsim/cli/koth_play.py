"""`bjsim koth play` and `bjsim koth resume`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console

from bjsim.arguments import check_writable
from bjsim.bots.contest.config import LIVES, MANY, PROTOCOLS, Contest, load_config, with_settings
from bjsim.bots.contest.entrants import Entrant, gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.play import journal
from bjsim.bots.contest.report.publish import write_results
from bjsim.bots.contest.scoring.differences import with_matches
from bjsim.bots.contest.volunteers import play_part
from bjsim.bots.protocol import printable
from bjsim.cli.koth_notify import Notifier, WebAddress
from bjsim.cli.koth_screen import ContestScreen, report, standings_json
from bjsim.cli.koth_watch import FolderWatch
from bjsim.cli.once import Once
from bjsim.cli.options import Count, Names, counted, gathered, sandbox_option
from bjsim.cli.waiting import waiting
from bjsim.cli.written import json_option, write_json
from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.random_stream import MAX_SEED
from bjsim.strategies.players.find import is_python
from bjsim.toml_files import read_toml

parallel_option = click.option(
    "--workers", type=Count(1, 64), default=1, show_default=True, help="Number of tables played in parallel."
)


class Matches(click.ParamType):  # type: ignore[type-arg]
    """A number of matches, or the first and the last one as A:B."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | tuple[int, int]:
        if ":" not in str(value):
            return Count().convert(value, param, ctx)
        first, last = (Count().convert(part, param, ctx) for part in str(value).split(":", 1))
        if first > last:
            self.fail(f"{value} is not accepted; use the first and the last match, such as 1:50", param, ctx)
        return first, last


class Hosting(NamedTuple):
    """How this machine plays a contest, which the contest's folder does not record."""

    workers: int
    sandbox: str
    watch_dir: Path | None = None
    url: str | None = None
    json_path: str | None = None


def host_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that become the argument `hosting` of a command."""
    hosted = gathered(hosting=Hosting)(command)
    for option in (
        json_option,
        click.option(
            "--notify",
            "url",
            type=WebAddress(),
            metavar="URL",
            help="POST a JSON text at the start, for a new leader or a bot without strikes, and at the end.",
        ),
        click.option(
            "--watch",
            "watch_dir",
            type=click.Path(path_type=Path, file_okay=False, exists=True),
            metavar="DIR",
            help="Bots that appear, change or disappear in this folder do so in the contest, which waits for them.",
        ),
        sandbox_option("required"),
        parallel_option,
    ):
        hosted = option(hosted)
    return hosted


@click.command()
@click.argument("bots", nargs=-1, metavar="BOTS_DIR|BOT...")
@click.option(
    "--config",
    "config_path",
    metavar="FILE.toml",
    help="Settings of the contest, and its bots; files are looked up in its folder first.",
)
@click.option(
    "--matches",
    type=Matches(),
    help=f"Number of matches; with --part, those to play, such as 1:50.  [default: 25 for two bots, more for more; "
    f"with --until decided {MANY:,}]",
)
@click.option("--part", "part_path", metavar="FILE", help="Play only some matches, for `koth merge`.")
@click.option("--no-play", is_flag=True, help="Only begin the contest; `koth resume` or `koth merge` go on.")
@click.option("--rules", "rules_name", cls=Once, metavar="NAME|FILE.toml", help="Game to play.  [default: cardshark]")
@click.option(
    "--seed",
    type=Count(0, MAX_SEED),
    help="Random seed. Bots may predict the cards of a seed they know.  [default: 128 random bits]",
)
@click.option(
    "--out",
    metavar="DIR",
    default="contest",
    show_default=True,
    help="Folder for the journal, standings and page.",
)
@click.option(
    "--until",
    metavar="SECONDS|decided",
    help="Stop after this time, or when the leader is ahead of all others (95%).",
)
@click.option(
    "--duplicate",
    is_flag=True,
    default=None,
    help="Replay every shoe until each bot has played from every seat.",
)
@click.option("--house", metavar="BOT", help="Fill empty seats with this player, which is not ranked.")
@click.option(
    "--against",
    metavar="BOT,...",
    help="Every bot plays only against these house players, as for a course.",
)
@click.option(
    "--marks",
    metavar="TEXT",
    help='Marks by luck-adjusted score in chips per hand, such as "-1:D -0.5:C 0:B"; see marks.csv.',
)
@click.option("--sessions", type=Count(), help="Sessions in a match.  [default: 5]")
@click.option("--hands", type=Count(), help="Hands in a session.  [default: 5]")
@click.option("--timeout", type=float, help=f"Seconds allowed for a move.  [default: {Contest.timeout:g}]")
@click.option("--strikes", type=Count(), help="Faults until a bot is asked no more in a match.  [default: 10]")
@click.option(
    "--retire",
    type=Count(0),
    help="Matches in a row with all strikes and no answer until a bot retires; 0: never.  [default: 3]",
)
@click.option("--protocols", type=Names(lambda: [*PROTOCOLS]), help="Protocols of programs.  [default: argv,line]")
@click.option("--lives", type=click.Choice(LIVES), help="How long a process of a line bot lives.  [default: match]")
@click.option("--title", help="Title of the page.")
@click.option("--cold", is_flag=True, default=None, help="Start a bot from scratch for every move (slower).")
@host_options
def play(hosting: Hosting, part_path: str | None, no_play: bool, **asked: Any) -> None:
    """Play a new contest.

    BOT is a named strategy (optimal, lim17, ...), the file of a bot or chart, or NAME=BOT; BOTS_DIR is a folder of
    such files, or of a folder for each student, or a zip archive of these.
    """
    if part_path:
        play_matches(hosting, Path(part_path), **asked)
        return
    if isinstance(asked["matches"], tuple):
        raise InputError("--matches A:B plays some matches of a contest, into a file; give --part FILE too")
    play_contest(Host.begin(*prepare(hosting, **asked)), hosting, play=not no_play)


@click.command(short_help="Resume a contest.")
@click.argument("folder", metavar="CONTEST", type=click.Path(path_type=Path))
@host_options
@click.option("--trust", is_flag=True, help="Run the Python players that CONTEST names, without a sandbox.")
def resume(folder: Path, trust: bool, hosting: Hosting) -> None:
    """Resume the contest in the folder CONTEST with its own settings."""

    def scan(host: Host) -> None:
        if hosting.watch_dir:
            FolderWatch(hosting.watch_dir, partial(click.echo, err=hosting.json_path == "-")).scan(host)

    resume_contest(folder, trust, hosting, scan)


def play_matches(hosting: Hosting, path: Path, matches: tuple[int, int] | None, **asked: Any) -> None:
    if hosting.watch_dir or hosting.url or hosting.json_path:
        raise InputError("--part plays a fixed contest; leave out --watch, --notify and --json")
    if not isinstance(matches, tuple):
        raise InputError("--part needs the matches to play, such as --matches 1:50; their number is in --config")
    _, contest, entrants, workers, sandbox = prepare(hosting, matches=None, **asked)
    if asked["seed"] is None and not has_seed(asked["config_path"]):
        raise InputError("--part needs the seed of the contest; give --seed, or seed in the file of --config")
    check_writable(path)
    with waiting("playing") as line:
        rounds = play_part(contest, entrants, matches, path, workers, sandbox, lambda count: line.say("rounds", count))
    text = f"{counted(rounds, 'round')} of matches {matches[0]} to {matches[1]} in {path}, for bjsim koth merge"
    click.echo(printable(text))


def has_seed(config_path: str | None) -> bool:
    return config_path is not None and "seed" in read_toml(config_path)


def prepare(
    hosting: Hosting, bots: Sequence[str], config_path: str | None, rules_name: str | None, out: str, **asked: Any
) -> tuple[Path, Contest, list[Entrant], int, str]:
    """The arguments of `Host.begin` from the options of `play`. Raises: InputError."""
    check_writable(hosting.json_path)  # fails now, not after hours of play
    given = {name: value for name, value in asked.items() if value is not None}
    if "against" in given:
        given["against"] = tuple(map(str.strip, given["against"].split(",")))
    contest, listed = choose_contest(config_path, rules_name, given)
    texts = [*(bots or listed)]
    if hosting.watch_dir and hosting.watch_dir.resolve() not in [Path(text).resolve() for text in texts]:
        texts.append(str(hosting.watch_dir))
    entrants = gather(texts, contest.rules, fewest=1 if contest.against else 2)
    return Path(out), with_matches(contest, len(entrants)), entrants, hosting.workers, hosting.sandbox


def resume_contest(
    folder: Path, trust: bool, hosting: Hosting, change: Callable[[Host], object], no_play: bool = False
) -> None:
    """Resume the contest in a folder, change and play it. Raises: InputError, RunFailed."""
    check_writable(hosting.json_path)
    with journal.sensible(folder):
        with waiting("reading the journal"):
            host = Host.resume(folder, hosting.workers, hosting.sandbox, trust, change)
        play_contest(host, hosting, play=not no_play)


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


def play_contest(host: Host, hosting: Hosting, play: bool = True) -> None:
    """Play a contest with live standings, also printed after Ctrl-C; without `play` only rewrite its results."""
    json_path, watch_dir = hosting.json_path, hosting.watch_dir
    notifier = Notifier(hosting.url, host) if hosting.url else None
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

"""`bjsim bot compare`: whether a bot is better than another one."""

from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich.console import Console

from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.page import write_results
from bjsim.bots.contest.standings import describe_pair
from bjsim.cli.asked import ask
from bjsim.cli.bot_game import slow_hint
from bjsim.cli.koth_play import ContestScreen, choose_contest, host_options
from bjsim.cli.options import Files, files_options, given_command
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError
from bjsim.report.parts import counted
from bjsim.report.terminal import say


@click.command(short_help="Play two bots until it is clear which one is better.")
@click.argument("one", metavar="BOT")
@click.argument("other", metavar="BOT")
@click.option(
    "--config", "config_path", metavar="FILE.toml", help="Contest whose settings apply; its bots do not play."
)
@click.option("--rules", "rules_name", metavar="NAME|FILE.toml", help="Game to play.  [default: cardshark]")
@ask("matches", "Number of matches, at most; each is played from both seats.", 500)
@ask("seed", "Random seed.", shown="128 random bits")
@host_options
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="Keep the contest in this folder.")
@files_options("Draw the difference.")
def compare(
    one: str,
    other: str,
    config_path: str | None,
    rules_name: str | None,
    out: Path | None,
    workers: int,
    sandbox: str,
    files: Files,
    **asked: Any,
) -> None:
    """Play two bots against each other until it is clear which one is better.

    Each is a program, a chart or a named strategy (lim17, ...). They play a duplicate contest: every shoe again with
    seats exchanged. The luck of the cards is removed where possible, and the interval is valid whenever the play ends.
    """
    asked |= {"duplicate": True, "until": "decided", "lives": "match", "against": (), "house": ""}
    given = {name: value for name, value in asked.items() if value is not None}
    contest, _ = choose_contest(config_path, rules_name, given)
    entrants = gather([one, other], contest.rules)
    if len(entrants) > 2:
        raise InputError(f"two bots are compared, not {', '.join(entrant.name for entrant in entrants)}")
    console = Console(stderr=files.quiet)
    for entrant in entrants:
        if hint := slow_hint(entrant.language, entrant.protocol):
            say(console, f"{entrant.name}: {hint}")
    with nullcontext(str(out)) if out else TemporaryDirectory() as folder:
        host = Host.begin(out or Path(folder) / "contest", contest, entrants, workers, sandbox)
        try:
            with waiting("playing") as line:
                host.run(ContestScreen(host, console, line).update)
        finally:  # after Ctrl-C too
            for row in host.standings.rows():
                if faults := row.score.faults.total():
                    say(console, f"{row.name}: {counted(faults, 'fault')}; see: bjsim bot check", "red")
            try:
                if host.standings.matches:  # else an error says why not
                    found = describe_pair(host.standings)
                    files = files if found.parts else files.without_plot("no interval", console)
                    files.show(found, given_command(host.contest.seed))
            finally:  # at the end: a folder that cannot be written takes no result with it
                if out:
                    write_results(out, host.standings, host.page, host.logs)

"""`bjsim koth merge`: count the matches that volunteers played."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from bjsim.bots.contest.host import Host
from bjsim.bots.contest.play import journal
from bjsim.bots.contest.report.publish import write_results
from bjsim.bots.contest.volunteers import ASKED, merge_parts
from bjsim.bots.protocol import printable
from bjsim.cli.koth_screen import report
from bjsim.cli.options import Precision, counted, sandbox_option
from bjsim.cli.waiting import waiting


@click.command(short_help="Count the matches that volunteers played.")
@click.argument("folder", metavar="CONTEST", type=click.Path(path_type=Path))
@click.argument("parts", nargs=-1, required=True, metavar="PART...", type=click.Path(path_type=Path))
@click.option(
    "--ask",
    type=Precision(),
    default=f"{100 * ASKED:g}%",
    show_default=True,
    metavar="P%",
    help="Share of the tables in which the bots are asked again; of each part one at least.",
)
@sandbox_option("required")
@click.option("--trust", is_flag=True, help="Run the Python players that CONTEST names, without a sandbox.")
def merge(folder: Path, parts: tuple[Path, ...], ask: float, sandbox: str, trust: bool) -> None:
    """Count the matches that volunteers played with `koth play --matches A:B --part PART`.

    Every card, bet and chip of every part is replayed from the seed before any counts, and the bots are asked again at
    some tables. A part that is forged or incomplete is refused. `koth resume CONTEST` plays the matches that no part
    has. A contest takes parts from its first match that is not played.
    """
    with journal.sensible(folder), waiting("reading the journal") as line:
        host = Host.resume(folder, 1, sandbox, trust)
        try:
            found = merge_parts(
                host,
                parts,
                ask,
                on_part=lambda part: line.say(f"verifying {part.path.name}"),
                on_round=lambda host: line.say("counting rounds", host.standings.rounds),
            )
        finally:
            write_results(host.folder, host.standings, host.page, host.timings)
    click.echo(f"{counted(found.rounds, 'round')} in {counted(len(parts), 'part')}: every card and chip is correct")
    for name, rounds in found.same.items():
        click.echo(printable(f"asked again: {name}, the same in {counted(rounds, 'round')}"))
    if found.random:
        click.echo(printable(f"not verified, as they answer at random: {', '.join(found.random)}"))
    report(Console(), host.standings, host.timings)
    if found.missing:
        click.echo(f"match {found.missing} is in no part; merge it, or play on: bjsim koth resume {folder}")

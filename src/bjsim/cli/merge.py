"""`bjsim merge`: the whole result of a run that was played in shards."""

from __future__ import annotations

import click
from rich.console import Console

from bjsim.cli.captions import given_command
from bjsim.cli.options import gathered
from bjsim.cli.pages import write_page
from bjsim.cli.run_page import plot_run, report_run
from bjsim.cli.screen import report
from bjsim.cli.waiting import waiting
from bjsim.cli.written import Files, html_option, json_option, plot_option, write_json
from bjsim.merged import merge_parts


@click.command()
@click.argument("parts", nargs=-1, required=True, metavar="PART...")
@json_option
@plot_option("Plot the convergence of the returns.")
@html_option
@gathered(files=Files)
def merge(parts: tuple[str, ...], files: Files) -> None:
    """Merge the parts of a run that was played in shards: bjsim merge part*.json

    PART... are the files that `bjsim run --shard K/N --checkpoint PART` has written, one for each shard. The result is
    that of the run on one machine, to the bit.
    """
    files.check()
    with waiting("merging"):
        result = merge_parts(parts)
    command = given_command(result.seed)
    if files.json_path:
        write_json(result.to_json(), files.json_path)
    if files.plot_path and result:
        plot_run(result, files.plot_path, command)
    if files.html_path:
        write_page(report_run(result, [], [], command), files.html_path)
    report(Console(stderr=files.quiet), result, [])

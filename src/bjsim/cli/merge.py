"""`bjsim merge`: the whole result of a run that was played in shards."""

from __future__ import annotations

import zipfile

import click
from rich.console import Console

from bjsim.cli.captions import given_command
from bjsim.cli.options import gathered, workers_option
from bjsim.cli.pages import write_page
from bjsim.cli.run_page import plot_run, report_run
from bjsim.cli.screen import report
from bjsim.cli.waiting import waiting
from bjsim.cli.written import Files, html_option, json_option, plot_option, write_json
from bjsim.errors import InputError
from bjsim.merged import merge_parts
from bjsim.strategies.counting.count_files import save_count_run
from bjsim.strategies.counting.count_shards import merge_counts


@click.command()
@click.argument("parts", nargs=-1, required=True, metavar="PART...")
@json_option
@plot_option("Plot the convergence of the returns.")
@html_option
@click.option("--save", "save_path", metavar="FILE", help="Of a counter: store the run, for `bjsim count --load`.")
@workers_option("Processes that play the last rounds of a counter.")
@gathered(files=Files)
def merge(parts: tuple[str, ...], files: Files, workers: int | None) -> None:
    """Merge the parts of a run that was played in shards: bjsim merge part*.json

    PART... are the files that `bjsim run --shard K/N --checkpoint PART` or `bjsim count` has written,
    one for each shard. The result is that of the run on one machine, to the bit.
    """
    files.check()
    if zipfile.is_zipfile(parts[0]):
        merge_to_file(parts, files, workers)
        return
    if files.save_path:
        raise InputError(f"--save {files.save_path} takes parts of `bjsim count`; {parts[0]} is not one")
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


def merge_to_file(parts: tuple[str, ...], files: Files, workers: int | None) -> None:
    if not files.save_path or files.json_path or files.plot_path or files.html_path:
        raise InputError(f"{parts[0]} is a counter's: give --save FILE alone, and bjsim count --load FILE reports it")
    with waiting("merging"):
        run = merge_counts(parts, workers)
    save_count_run(run, files.save_path)
    text = f"{run.rounds:,} rounds in {files.save_path}; bjsim count --load reports them"
    Console().print(text, highlight=False, soft_wrap=True)

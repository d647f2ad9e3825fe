"""The picture and the page of `bjsim run`: returns and their convergence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bjsim.cli.captions import published, without_folders
from bjsim.cli.pages import convergence_part, page, text_rows
from bjsim.cli.plots import plot_convergence
from bjsim.cli.render import difference_rows, program_rows, result_rows
from bjsim.cli.screen import result_lines
from bjsim.run_result import RunResult
from bjsim.sim.game.game_text import game_text

if TYPE_CHECKING:  # what plays programs needs Linux
    from bjsim.bots.player import BotPlayer


def plot_run(result: RunResult, path: str, command: str) -> None:
    """Plot the convergence of the returns. Raises: InputError: The file cannot be written."""
    result = published(result)
    plot_convergence(result, path, "\n".join([_title(result), *_lines(result)]), command)


def run_page(result: RunResult, programs: Sequence[BotPlayer], more: Sequence[str], command: str) -> str:
    """Render the page."""
    result = published(result)
    headings, rows = result_rows(result)
    difference_headings, differences = difference_rows(result.differences)
    fault_headings, faults = program_rows(programs)
    names = [program.name for program in programs]
    return page(
        "run.html", _title(result), _lines(result), command, [result.rules], headings=headings, rows=text_rows(rows),
        notes=[*result_lines(result), *more], difference_headings=difference_headings,
        differences=text_rows(differences), panels=convergence_part(result), fault_headings=fault_headings,
        faults=[[without_folders(cell, names) for cell in row] for row in text_rows(faults)],
    )  # fmt: skip


def _title(result: RunResult) -> str:
    return f"The return of {result[0].name}" if len(result) == 1 else f"The returns of {len(result)} bots"


def _lines(result: RunResult) -> list[str]:
    hands = {one.tally.rounds for one in result}
    each = " each" if len(result) > 1 else ""
    count = f"{max(hands, default=0):,} hands{each}" if len(hands) < 2 else f"up to {max(hands):,} hands each"
    return [game_text(result.rules), f"{count}, seed {result.seed}"]

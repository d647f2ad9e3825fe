"""The picture and the report of `bjsim run`: returns and their convergence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bjsim.cli.captions import published, without_folders
from bjsim.cli.pages import convergence_part, rules_part, table_part
from bjsim.cli.plots import plot_convergence
from bjsim.cli.render import program_rows, result_rows
from bjsim.cli.screen import result_lines
from bjsim.report import Notes, Report, Section
from bjsim.run_result import RunResult
from bjsim.sim.game.events import game_text

if TYPE_CHECKING:  # what plays programs needs Linux
    from bjsim.bots.player import BotPlayer


def plot_run(result: RunResult, path: str, command: str) -> None:
    """Plot the convergence of the returns. Raises: InputError: The file cannot be written."""
    result = published(result)
    plot_convergence(result, path, "\n".join([_title(result), *_lines(result)]), command)


def report_run(result: RunResult, programs: Sequence[BotPlayer], more: Sequence[str], command: str) -> Report:
    result = published(result)
    convergence = convergence_part(result)
    faults, names = table_part("programs", program_rows(programs)), [program.name for program in programs]
    faults = faults._replace(rows=[[without_folders(cell, names) for cell in row] for row in faults.rows])
    parts = [
        Section("Results"),
        table_part("results", result_rows(result)),
        Notes([*result_lines(result), *more], small=True),
        *([Section("Convergence"), convergence] if convergence.panels else []),
        *([Section("Programs"), faults] if faults.rows else []),
    ]
    return Report(_title(result), _lines(result), command, rules_part([result.rules]), parts)


def _title(result: RunResult) -> str:
    return f"The return of {result[0].name}" if len(result) == 1 else f"The returns of {len(result)} bots"


def _lines(result: RunResult) -> list[str]:
    hands = {one.tally.rounds for one in result}
    each = " each" if len(result) > 1 else ""
    count = f"{max(hands, default=0):,} hands{each}" if len(hands) < 2 else f"up to {max(hands):,} hands each"
    return [game_text(result.rules), f"{count}, seed {result.seed}"]

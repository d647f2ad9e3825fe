"""Write all files that are computed from the journal of a contest."""

from __future__ import annotations

from pathlib import Path

from bjsim.bots.contest.play.timings import Timings
from bjsim.bots.contest.report.output import write_atomically, write_standings
from bjsim.bots.contest.report.page import PageData, render_page
from bjsim.bots.contest.scoring.standings import Standings


def write_results(folder: Path, standings: Standings, page: PageData, timings: Timings) -> None:
    """Write standings.json, standings.csv and index.html.

    Args:
        folder: The contest's folder.
        standings: The standings.
        page: The data of the page.
        timings: The times of moves.
    """
    write_standings(folder, standings, timings)
    write_atomically(folder / "index.html", render_page(standings, page, timings))

"""Write all files that are computed from the journal of a contest."""

from __future__ import annotations

from pathlib import Path

from bjsim.bots.contest.play import journal
from bjsim.bots.contest.play.timings import Timings
from bjsim.bots.contest.report.bot_page import render_bot
from bjsim.bots.contest.report.output import marks_csv, write_atomically, write_standings
from bjsim.bots.contest.report.page import ContestReport, render_index
from bjsim.bots.contest.report.page_data import PageData
from bjsim.bots.contest.scoring.marks import make_marks
from bjsim.bots.contest.scoring.standings import Standings
from bjsim.files import make_folder

PAGES = "pages"  # the folder with the pages of the bots


def write_results(folder: Path, standings: Standings, page: PageData, timings: Timings) -> None:
    """Write standings.json, standings.csv, index.html, a page for each bot and, where there are marks, marks.csv."""
    write_standings(folder, standings, timings)
    if standings.contest.marks:
        faults = {bot: group.shown[0]["detail"] for (bot, _), group in sorted(page.faults.items(), reverse=True)}
        write_atomically(folder / "marks.csv", marks_csv(make_marks(standings, faults)))
    report = ContestReport(standings, page, timings, (folder / journal.NAME).stat().st_mtime, folder)
    pages = folder / PAGES
    make_folder(pages)
    for row in (*report.former, *report.rows):  # the present version of a bot replaces an earlier one
        write_atomically(pages / f"{row['slug']}.html", render_bot(report, row))
    write_atomically(folder / "index.html", render_index(report))

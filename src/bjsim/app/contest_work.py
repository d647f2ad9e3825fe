"""The pages of a contest's folder, made anew from its journal when that has grown. Nothing of it is run."""

import re
from functools import lru_cache
from pathlib import Path

from bjsim.app.controls import MORE, PAGES
from bjsim.bots.contest import journal
from bjsim.bots.contest.journal import Logs
from bjsim.bots.contest.page import ContestReport, render_bot, render_index, templates
from bjsim.bots.contest.page_data import PageData
from bjsim.bots.contest.standings import Standings
from bjsim.errors import InputError, shorten
from bjsim.report import page as report_page

INDEX = "index.html"


def contest_page(folder: str, name: str) -> str:
    """A page of a contest, `index.html` or `pages/BOT.html`, with style and scripts in files of their own."""
    place = Path(folder)
    with journal.sensible(place):
        written = journal.find_journal(place).stat()
        report = _report(place, written.st_size, written.st_mtime)
        pages = {f"pages/{row['slug']}.html": row for row in (*report.former, *report.rows)}
        if name == INDEX:
            page = render_index(report)
        elif name in pages:
            page = render_bot(report, pages[name])
        else:
            raise InputError(f"the contest has no page {shorten(name)}")
    page = re.sub(r"<li>Download: .*?</li>", "", page, flags=re.S)
    script = "contest.js" if name == INDEX else "bot.js"
    up = "../" * (1 + name.count("/"))
    navigation = report_page.render_page(
        "bjsim.app", "nav.html", pages=PAGES, more=MORE, page="contest", up=up, ending=""
    )
    page = re.sub(r"<style>.*?</style>", f'<link rel="stylesheet" href="{up}static/contest.css">', page, flags=re.S)
    before, _, after = page.rpartition("<script>")
    page = f'{before}<script src="{up}static/{script}"></script>{after.partition("</script>")[2]}'
    return re.sub("<body.*?>", lambda body: body[0] + navigation, page, count=1)


def contest_assets() -> dict[str, tuple[str, str]]:
    """The stylesheet and the scripts of these pages by name, with their types."""
    read, own = templates().get_template, report_page.templates("bjsim.app").get_template
    style = read("style.css").render()
    reload = own("host.js").render() + read("reload.js").render()
    return {
        "contest.css": (own("tokens.css").render() + style + own("nav.css").render(), "text/css"),
        "contest.js": (reload + read("page.js").render(), "text/javascript"),
        "bot.js": (reload + read("bot.js").render(), "text/javascript"),
    }


@lru_cache(maxsize=1)
def _report(folder: Path, size: int, changed: float) -> ContestReport:
    records = journal.read(folder)
    standings = Standings(next(records))
    data = PageData(standings.contest)
    for record in records:
        standings.add(record)
        data.add(record)
    return ContestReport(standings, data, Logs(folder), changed)

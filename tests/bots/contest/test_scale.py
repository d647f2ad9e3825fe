"""Many bots and long journals: memory does not grow with the journal, nor the page with the square of the bots."""

import gc
import io
import re
import tracemalloc
from collections import Counter
from types import SimpleNamespace

import pytest
from support.long_journal import crashers, played, repeated
from support.matches import CARDSHARK, index_of, match_of

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.page import DRAWN
from bjsim.bots.contest.page_data import PageData
from bjsim.bots.contest.replay import verify
from bjsim.bots.contest.standings import COMPARED, Standings
from bjsim.cli import koth_play, koth_show
from bjsim.cli.options import NO_FILES
from bjsim.cli.waiting import Waiting
from bjsim.errors import InputError


def peak(action, *arguments):
    """Peak memory that Python allocated during an action, in bytes."""
    gc.freeze()  # otherwise objects from other tests influence when cyclic garbage is collected
    gc.collect()
    tracemalloc.start()
    try:
        action(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.unfreeze()


@pytest.fixture(scope="module")
def journals(tmp_path_factory):
    """Contests with journals of about half a megabyte and ten times that."""
    folder = tmp_path_factory.mktemp("journals")
    short = played(folder / "short", 3, crashers(folder))
    size = (short / journal.NAME).stat().st_size
    return short, [repeated(short, folder / str(times), times * size) for times in (1, 10)]


def show(folder):
    koth_show.show_contest(folder, NO_FILES)


def show_a_hand_that_is_not_there(folder):
    with pytest.raises(InputError, match="has no match 999"):
        koth_show.show_hand(folder, "999.1.1", None, asked=False)


def resume(folder):
    Host.resume(folder, trust=True)._journal.close()


@pytest.mark.parametrize("action", [show, show_a_hand_that_is_not_there, resume])
def test_memory_does_not_grow_with_the_journal(journals, action):
    """All its records in memory would take more than the journal: at least another 5 MB."""
    _, (once, ten_times) = journals
    grown = (ten_times / journal.NAME).stat().st_size - (once / journal.NAME).stat().st_size
    action(once)  # loads what is cached for the rest of the process
    assert grown > 4e6 and peak(action, ten_times) - peak(action, once) < grown / 4


def test_verify_does_not_grow_with_the_journal(journals, tmp_path):
    short, _ = journals
    long = played(tmp_path, 12, crashers(tmp_path))
    grown = (long / journal.NAME).stat().st_size - (short / journal.NAME).stat().st_size
    verify(short)
    assert grown > 1e6 and peak(verify, long) - peak(verify, short) < grown / 4


def test_memory_that_grows_is_noticed(journals):
    """Negative control of the tests above."""
    _, (once, ten_times) = journals
    kept = [peak(lambda folder: list(journal.read(folder)), folder) for folder in (once, ten_times)]
    assert kept[1] - kept[0] > 4e6


def make_standings(bots):
    """A contest after eight matches in which only the first two bots win or lose."""
    contest = Contest(CARDSHARK, matches=8)
    bot = {"source": "lim17", "language": "in process", "sha256": "", "protocol": "argv"}
    header = {"contest": contest.to_dict(), "bots": [{"name": f"b{number}", **bot} for number in range(bots)]}
    standings = Standings(header)
    for match in range(8):
        rounds = []
        for table in range(bots // 4):
            seats = list(range(4 * table, 4 * table + 4))
            net = [10 * (match % 3), -10, 0, 0] if table == 0 else [0, 0, 0, 0]
            rounds.append({"table": table, "seats": seats, "net": net})
        standings.add(match_of(match, *rounds))
    return standings, PageData(contest)


def test_the_page_of_300_bots_compares_the_first_of_them():
    """All pairs would be 90,000 cells, about a megabyte."""
    page = index_of(*make_standings(300))
    assert len(page) < 300_000
    rows = re.search(r'<table id="standings".*?</table>', page, re.S)[0].count("<tr")
    compared = re.search(r'aria-describedby="cross-note">.*?</table>', page, re.S)[0]
    assert rows == 301 and compared.count("<tr>") == COMPARED + 1 and compared.count("<td") == COMPARED**2
    assert f"Only the first {COMPARED} bots are compared" in page and page.count("<polyline") == DRAWN
    assert "Only the first" not in index_of(*make_standings(COMPARED))


class Slow:
    """A simulated clock, advanced by simulated work."""

    def __init__(self):
        self.now = 0.0
        self.spent = {"page": [], "screen": []}

    def perf_counter(self):
        return self.now

    def work(self, kind, seconds):
        self.spent[kind].append(seconds)
        self.now += seconds
        return ""


@pytest.mark.parametrize("growth", [0.0, 0.25])
def test_pages_and_screens_take_a_tenth_of_the_time_at_most(monkeypatch, growth):
    """However long each of them takes, even if each takes longer than the last."""
    slow = Slow()
    monkeypatch.setattr(koth_play, "time", slow)
    monkeypatch.setattr(koth_play, "write_results", lambda *_: slow.work("page", 5 + growth * len(slow.spent["page"])))
    monkeypatch.setattr(
        koth_play, "contest_table", lambda *_: slow.work("screen", 2 + growth * len(slow.spent["screen"]))
    )
    nothing = SimpleNamespace(
        standings=SimpleNamespace(rounds=0, matches=0, roster=SimpleNamespace(finished=False, total=1)),
        contest=SimpleNamespace(matches=1), folder=None, page=None,
        logs=SimpleNamespace(moves=Counter()),
    )  # fmt: skip
    screen = koth_play.ContestScreen(nothing, koth_play.Console(force_terminal=True, file=io.StringIO()), Waiting())
    while slow.now < 3000:
        screen.update(nothing)
        slow.now += 0.05
    for times in (slow.spent["page"], slow.spent["screen"]):
        assert len(times) > 5 and sum(times[:-1]) <= 0.1 * slow.now

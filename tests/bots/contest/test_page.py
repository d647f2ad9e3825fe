"""The page of a contest: well formed, complete without JavaScript, and alive in a real browser."""

import json
from html.parser import HTMLParser

import pytest
from chromium import PROGRAM, Chromium

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.field import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.page import PageData, fitted, render_page, replay
from bjsim.bots.contest.standings import Standings
from bjsim.sim.presets import load_rules

CARDSHARK = load_rules("cardshark")


class Hostile:
    """A bot whose name and faults try to break out of the page."""

    name = "</script><b>bad"

    def decide(self, view):
        raise RuntimeError("<img src=x onerror=alert(1)></script>")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("contest")
    bots = [*(f"a-bot-with-a-long-name-{n}={bot}" for n, bot in enumerate(["lim17", "optimal", "hoyle", "lim19"]))]
    contest = Contest(CARDSHARK, matches=10)
    host = Host.begin(where, contest, gather([*bots, f"{__file__}:Hostile"], CARDSHARK))
    host.run()
    (where / "index.html").write_text(render_page(host.standings, host.page), encoding="utf-8")
    return where


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "index.html").read_text(encoding="utf-8")


class Structure(HTMLParser):
    """Tags that are open, and what the page would fetch."""

    void = {"meta", "link", "br", "img", "input"}  # noqa: RUF012

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.fetched, self.tags = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.fetched += [value for name, value in attrs if name in ("src", "href") and not value.startswith("data:")]
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))


def test_it_is_well_formed_and_fetches_nothing(page):
    structure = Structure()
    structure.feed(page)
    assert not structure.open and not structure.wrong and not structure.fetched
    assert {"main", "h1", "svg", "table", "noscript"} <= set(structure.tags)
    assert "b" not in structure.tags and "img" not in structure.tags  # names and faults are text, not markup


def test_it_is_computed_from_the_journal_alone(folder, page):
    header, *records = journal.read(folder)
    standings, data = Standings(header), PageData()
    for record in records:
        standings.add(record)
        data.add(record)
    assert render_page(standings, data) == page


@pytest.mark.parametrize("name", ["lim17", "Ünïcode and <i>more</i>", "W" * 40, "名前" * 20, ""])
def test_names_fit_beside_the_drawings(name):
    shown = fitted(name)
    assert name.startswith(shown.removesuffix("…")) and len(shown) <= 18
    assert shown == name or (shown.endswith("…") and len(shown) > 8)


def test_replays_end_with_the_recorded_chips(folder):
    header, *records = journal.read(folder)
    names = [bot["name"] for bot in header["bots"]]
    for record in [record for record in records if record["record"] == "round"][:50]:
        hand = replay(CARDSHARK, record, names, "test")
        held = [chips for _, _, chips, _ in hand["steps"][-1][2]]
        assert held == [chips + net for chips, net in zip(record["chips"], record["net"], strict=True)]
        json.dumps(hand)


def test_a_page_of_a_contest_that_has_only_begun(tmp_path):
    host = Host.begin(tmp_path, Contest(CARDSHARK), gather(["lim17", "lim17"], CARDSHARK))
    assert "No hand is played yet" in render_page(host.standings, host.page)


needs_browser = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium here")


@pytest.fixture(scope="module")
def browser():
    with Chromium() as chromium:
        yield chromium


ROWS = "[...document.querySelectorAll('#standings tbody tr')].map(row => row.cells[{0}].textContent)"


@needs_browser
def test_standings_sort_and_the_replay_steps(browser, folder):
    browser.open((folder / "index.html").as_uri())
    ranks = browser.run(ROWS.format(0))
    assert ranks == ["1", "2", "3", "4", "5"]
    click = "document.querySelectorAll('#standings th button')[{0}].click();"
    assert browser.run(click.format(1) + ROWS.format(1)) == sorted(browser.run(ROWS.format(1)))
    chips = [float(text) for text in browser.run(click.format(2) + ROWS.format(2))]
    assert chips == sorted(chips)
    chips = [float(text) for text in browser.run(click.format(2) + ROWS.format(2))]
    assert chips == sorted(chips, reverse=True)
    assert browser.run("document.querySelector('th[aria-sort]').textContent") == "chips"
    said = "document.getElementById('said').textContent"
    first = browser.run(said)
    second = browser.run(f"document.getElementById('next').click(); {said}")
    assert first.startswith("1 of") and second.startswith("2 of")
    assert browser.run(f"document.getElementById('back').click(); {said}") == first
    last = browser.run(f"document.getElementById('end').click(); {said}")
    assert "wins" in last or "loses" in last
    choose = "(hand => { hand.value = 3; hand.dispatchEvent(new Event('change')) })(document.getElementById('hand'));"
    assert browser.run(f"{choose} {said}").startswith("1 of")
    assert not browser.problems


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_cut_off_on_a_phone(browser, folder, dark):
    browser.open((folder / "index.html").as_uri(), width=390, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") <= 390
    # what is wider than the screen stands in a box that scrolls
    cut = """[...document.querySelectorAll('main *')].filter(
        e => !e.closest('.wide') && e.getBoundingClientRect().right > 390.5).map(e => e.tagName)"""
    assert browser.run(cut) == []
    colours = "(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))"
    ink, paper = (sum(map(int, text[4:-1].split(","))) for text in browser.run(colours))
    assert (ink > paper) == dark and abs(ink - paper) > 400
    assert not browser.problems


@needs_browser
def test_tables_stand_without_javascript(browser, folder):
    browser.open((folder / "index.html").as_uri(), script=False)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.run(ROWS.format(0)) == ["1", "2", "3", "4", "5"]
    assert browser.run("getComputedStyle(document.getElementById('replay')).display") == "none"


@needs_browser
def test_a_script_that_fails_is_noticed(browser, tmp_path):
    """Negative control of the tests above."""
    (tmp_path / "page.html").write_text("<script>throw new Error('on purpose')</script>")
    browser.open((tmp_path / "page.html").as_uri())
    assert any("on purpose" in problem for problem in browser.problems)

"""The pages of contests in a real browser: they reload themselves, fit on a phone, and are accessible."""

import json
import re
import time
from pathlib import Path

import pytest
from chromium import AXE
from support.colour_vision import VISIONS, contrast, smallest_difference
from support.matches import begin, counted, index_of

from bjsim.bots.contest import page as pages
from bjsim.bots.contest.page import DARK, LIGHT, make_colours, make_slugs, write_results


class Failing:
    """A bot that fails at every move."""

    name = "failing"

    def decide(self, view):
        raise RuntimeError("on purpose")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A contest of 60 bots after two matches, with its pages."""
    where = tmp_path_factory.mktemp("sixty")
    bots = [f"a-rather-long-name-of-a-bot-{n}=lim{12 + n % 9}" for n in range(58)]
    bots += ["optimal", f"{__file__}:Failing"]
    host = begin(where, bots, matches=2, sessions=1, hands=3, seed=1, title="The <i>hill</i>")
    write_results(where, host.run(), host.page, host.logs)
    return where


def index_and_pages(folder):
    return [folder / "index.html", folder / "pages" / "failing.html", folder / "pages" / "optimal.html"]


# --- reloading


def write_page(folder, records):
    """Write the page after some matches of a journal."""
    (folder / "index.html").write_text(index_of(*counted(folder, records)), encoding="utf-8")


@pytest.fixture
def running(tmp_path):
    """A contest of two matches, of which the page shows one."""
    begin(tmp_path, ["lim17", "optimal"], matches=2, seed=1).run()
    write_page(tmp_path, 1)
    return tmp_path


@pytest.fixture
def quick(running, monkeypatch):
    """The same, with a page that reloads soon."""
    monkeypatch.setattr(pages, "RELOAD", 0.4)
    write_page(running, 1)
    return running


READER = """
document.getElementById('swing-details').open = true;
document.querySelectorAll('#standings th button')[2].click();
document.getElementById('hand').value = 2;
document.getElementById('hand').dispatchEvent(new Event('change'));
document.getElementById('start').click();
document.getElementById('replay-title').scrollIntoView();
window.scrollBy(0, 40);
"""
READY = "document.readyState === 'complete'"
STATE = """JSON.stringify([
    4 * Math.round(document.getElementById('replay-title').getBoundingClientRect().top / 4),
    document.getElementById('swing-details').open, document.querySelector('th[aria-sort]')?.textContent,
    document.getElementById('step').textContent.slice(0, 4)])"""


def test_it_reloads_until_the_end_and_keeps_what_a_reader_sees(browser, quick):
    browser.open((quick / "index.html").as_uri(), height=600)
    assert browser.run("document.title").endswith(": not decided")
    assert not browser.run("document.getElementById('live').hidden")
    browser.run(READER)
    state = browser.run(STATE)
    assert json.loads(state) == [-32, True, "score", "1 of"]  # 40 px further than with the padding of 8
    browser.run("window.old = true; true")
    browser.until(f"!window.old && {READY} && document.getElementById('live')?.hidden === false")
    assert browser.run(STATE) == state
    write_page(quick, 99)
    browser.until(f"{READY} && document.body.textContent.includes('The contest is over')")
    assert browser.run("[document.body.dataset.reload ?? null, document.getElementById('live')]") == [None, None]
    browser.until(f"Math.abs(JSON.parse({STATE})[0] + 32) <= 1")  # though a drawing appeared above
    assert json.loads(browser.run(STATE))[1:3] == [True, "score"]
    browser.run("window.old = true; true")
    time.sleep(0.8)
    assert browser.run("window.old")  # not reloaded after the end
    assert not browser.problems


def test_a_reader_can_stop_it(browser, quick):
    browser.open((quick / "index.html").as_uri())
    browser.run("document.getElementById('auto').click(); window.old = true; true")
    time.sleep(0.8)
    assert browser.run("window.old")
    browser.run("document.getElementById('auto').click(); true")
    rules = "document.getElementById('rules').open"  # which a link has opened, and the reader closes
    browser.run("location.hash = 'rules'; true")
    browser.until(f"{rules} && ({rules} = false, true)")
    browser.until(f"!window.old && {READY} && performance.now() > 100")
    assert not browser.run(rules)
    browser.run("window.old = true; true")
    step = "(document.getElementById('back').focus(), window.old = true)"  # through a hand; before it loads again
    browser.until(f"!window.old && {READY} && {step}")
    time.sleep(0.8)
    assert browser.run("window.old")


def test_links_to_hands_and_bots(browser, folder):
    page = (folder / "index.html").as_uri()
    browser.open(page)
    hands = browser.run("[...document.getElementById('hand').options].map(o => o.textContent)")
    number = re.search(r"hand (\S+)$", hands[7])[1]
    browser.open("about:blank")
    browser.open(f"{page}#hand={number}")
    assert browser.run("document.getElementById('hand').selectedOptions[0].textContent").endswith(f"hand {number}")
    browser.open("about:blank")
    browser.open(f"{page}#bot-failing")
    assert browser.run("document.querySelector(':target th').textContent") == "failing"
    bot = (folder / "pages" / "optimal.html").as_uri()
    browser.open(bot)
    hand = browser.run("document.querySelector('details.hand[id]').id")
    browser.open("about:blank")
    browser.open(f"{bot}#{hand}")
    assert browser.run("document.querySelector('details.hand[open]').id") == hand
    assert browser.run("document.querySelectorAll('details.hand[open] .card').length") >= 4
    assert not browser.problems


# --- layout and accessibility


@pytest.mark.parametrize("width", [390, 1280])
def test_sixty_bots_fit(browser, folder, width):
    for page in index_and_pages(folder):
        browser.open(page.as_uri(), width=width)
        browser.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        assert browser.run("document.documentElement.scrollWidth") <= width
        cut = f"""[...document.querySelectorAll('main *')].filter(
            e => !e.closest('.wide') && e.getBoundingClientRect().right > {width + 0.5}).map(e => e.outerHTML)"""
        assert browser.run(cut) == []
    browser.open((folder / "index.html").as_uri(), width=width)
    scrolls = "(box => box.scrollWidth > box.clientWidth)(document.getElementById('standings').parentElement)"
    assert not browser.run(scrolls)  # the standings themselves are not cut off either


AUDIT = (Path(__file__).parent / "accessibility.js").read_text(encoding="utf-8")
CONTRAST, STRUCTURE = (f"(() => {{ {AUDIT} return {name}(); }})()" for name in ("contrast", "structure"))


@pytest.mark.parametrize("dark", [False, True])
def test_contrast_is_that_of_wcag_aa(browser, folder, dark):
    for page in index_and_pages(folder):
        browser.open(page.as_uri(), dark=dark)
        browser.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        colours = "(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))"
        ink, paper = (sum(map(int, text[4:-1].split(","))) for text in browser.run(colours))
        assert (ink > paper) == dark and abs(ink - paper) > 400
        count, low = browser.run(CONTRAST)
        assert count > (20 if page.stem == "failing" else 100) and low == []  # one that never answers has few words


def test_the_structure_is_accessible(browser, folder, running):
    for page in (*index_and_pages(folder), running / "index.html"):
        browser.open(page.as_uri())
        assert browser.run(STRUCTURE) == []


def test_a_bad_page_is_noticed(browser, tmp_path):
    """Negative control of the two tests above."""
    bad = "<body style='background:#fff'><h3>a</h3><p style='color:#999'>b<svg></svg><input>"
    (tmp_path / "bad.html").write_text(bad)
    browser.open((tmp_path / "bad.html").as_uri())
    assert {"language", "title", "svg", "<h3>a</h3>", "<input>"} <= set(browser.run(STRUCTURE))
    assert [each[0][:2] for each in browser.run(CONTRAST)[1]] == ["<p"]


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core: npm pack axe-core, and BJSIM_AXE=.../axe.min.js")
@pytest.mark.parametrize(("dark", "width"), [(False, 390), (True, 1280)])
def test_axe_finds_nothing(browser, folder, running, dark, width):
    for page in (*index_and_pages(folder)[:2], running / "index.html"):
        browser.open(page.as_uri(), width=width, dark=dark)
        browser.run("document.querySelectorAll('details').forEach((each, n) => { each.open = n < 20; })")
        assert browser.findings() == []


# --- colours and words


@pytest.mark.parametrize(("palette", "paper"), [(LIGHT, "#ffffff"), (DARK, "#14181c")])
def test_colours_of_bots_differ_for_the_colour_blind(palette, paper):
    assert all(smallest_difference(palette, vision) > 11 for vision in VISIONS)
    assert all(contrast(colour, paper) >= 3 for colour in palette)  # of graphics by WCAG 2, AA
    tableau = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f"]
    assert smallest_difference(tableau, "deuteranopia") < 6  # negative control: the usual colours of drawings


def test_a_bot_keeps_its_colour():
    names = [f"bot {n}" for n in range(40)]
    colours = make_colours(names)
    assert all(len(set(colours[n : n + 8])) == 8 for n in range(0, 40, 8))
    assert make_colours(names[:11]) == colours[:11]  # later bots change nothing
    assert make_colours([*names, names[3]]) == [*colours, colours[3]]  # another version of a bot
    assert make_colours(["lim17", "optimal"])[1] == make_colours(["optimal"])[0] == 3


def test_bots_drawn_together_differ_in_colour():
    names = [f"bot {n}" for n in range(40)]
    colours = make_colours(names)
    same = [number for number, colour in enumerate(colours) if colour == colours[0]]
    assert len(same) == 5  # one in each block of eight
    drawn = make_colours([*names, names[same[1]]], same)
    assert len({drawn[number] for number in same}) == 5 and drawn[0] == colours[0]  # the best keeps its own
    assert drawn[-1] == drawn[same[1]]  # another version of a bot
    assert [drawn[n] for n in range(40) if n not in same] == [colours[n] for n in range(40) if n not in same]


def test_file_names_of_bots_are_plain_and_differ():
    names = ["lim17", "LIM17", "../../etc/passwd", "", "名前", "lim17-2", "x" * 300]
    assert make_slugs([*names, "LIM17"], left=[0, 1]) == [
        "lim17-1",
        "lim17-2-2",
        *make_slugs(names)[2:5],
        "lim17-2",
        "x" * 40,
        "lim17",
    ]
    slugs = make_slugs(names)
    assert slugs == ["lim17", "lim17-2", "etc-passwd", "bot-4", "bot-5", "lim17-2-6", "x" * 40]

"""The page of a bot: what failed or its mistakes first, hands with totals and reasons, all columns on a phone."""

import re
import shutil
from html import unescape
from types import SimpleNamespace

import pytest
from support.matches import CARDSHARK, begin, deal_of

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.page import GAP, draw_convergence, draw_intervals, write_results
from bjsim.bots.contest.replay import replay
from bjsim.sim.game.actions import Action, raise_by
from bjsim.sim.game.presets import load_rules


class Raiser:
    """Raises by 7, then stands; it fails at every move with a ten."""

    name = "raiser"

    def decide(self, view):
        if "T" in view.hand:
            raise RuntimeError("on purpose")
        return raise_by(7) if view.stake == 10 and view.chips >= 7 else Action("S")


class Wrong:
    """Names an action that is not legal, and once fails."""

    name = "wrong"
    failed = False

    def decide(self, view):
        if not self.failed:
            self.failed = True
            raise RuntimeError("once")
        return "Q"


def play_pages(folder, bots, **settings):
    """Play a contest; returns its host, and its pages as text by name."""
    host = begin(folder, bots, sandbox="auto", **{"matches": 8, "seed": 1, **settings})
    write_results(folder, host.run(), host.page, host.logs)
    files = [folder / "index.html", *folder.glob("pages/*.html")]
    return host, {file.stem: file.read_text(encoding="utf-8") for file in files}


def headings(page):
    return re.findall(r"<h[23][^>]*>(.*?)</h[23]>", page)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("contest")
    return folder, *play_pages(folder, ["lim14", "optimal", f"{__file__}:Raiser", "lim19"])


@pytest.fixture(scope="module")
def pages(played):
    return played[2]


def test_it_begins_with_the_most_expensive_mistakes(played):
    _, host, pages = played
    bot = host.standings.names.index("lim14")
    found = host.page.mistakes.bots[bot]
    assert headings(pages["lim14"])[:2] == ["The most expensive mistakes", "Figures"]
    assert f"<strong>{found.chips_per_hand:.3f} chips a hand</strong> in all" in pages["lim14"]
    table = re.search(r'<table id="mistakes".*?</table>', pages["lim14"], re.S)[0]
    rows = [re.sub("<[^>]*>", " ", row).split() for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)[1:]]
    cell, mistake = found.costliest(1)[0]
    dealer = cell.column.replace("T", "10")
    assert rows[0] == [
        cell.row, "v", dealer, cell.answer, cell.best,
        f"{mistake.bets / mistake.count:.3f}", str(mistake.count), f"{mistake.chips:.1f}",
    ]  # fmt: skip
    totals = [float(row[-1]) for row in rows]
    assert len(rows) == 8 and totals == sorted(totals, reverse=True)
    assert f"{len(found.by_cell) - 8} more mistakes cost less" in pages["lim14"]


def test_the_hands_of_the_mistakes_are_shown(pages):
    """In place of the largest wins and losses, which a bot that never raises has in its first hands."""
    links = re.findall(r'<a href="#(hand=[^"]*)">', pages["lim14"])
    assert len(links) == 8 and all(f'id="{link}"' in pages["lim14"] for link in links)
    assert headings(pages["lim14"])[-2:] == ["The hands with these mistakes", "The last match, match 8"]
    assert "The largest wins and losses" in headings(pages["raiser"])


def test_a_bot_without_mistakes_is_told_so(pages):
    assert re.search(r"None: each of its \d+ answers was the best one", pages["optimal"])
    assert 'id="mistakes"' not in pages["optimal"]


def test_its_faults_are_counted_at_the_beginning_and_priced_with_its_mistakes(played):
    _, host, pages = played
    found = host.page.mistakes.bots[host.standings.names.index("raiser")]
    cost = found.fault_chips / found.hands
    assert cost > 0 and f"Faults cost another <strong>{cost:.3f} chips a hand</strong>" in pages["raiser"]
    assert "Faults cost" not in pages["lim14"]
    beginning = pages["raiser"].partition("<h2")[0]
    assert re.search(r'<a class="bad" href="#faults-title">\d+ faults</a>, crash: it stood', beginning)
    assert "faults-title" not in pages["lim14"].partition('<nav aria-label="Sections"')[0]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_bot_that_does_not_compile_shows_only_why(tmp_path):
    source = tmp_path / "broken.c"
    source.write_text("int main() { return <b>oops }")
    host, pages = play_pages(tmp_path / "out", ["lim17", "lim14", source])
    page = pages["broken"]
    assert host.standings.scores[2].faults == {"start-failure": 30}
    beginning = page.partition("<h2")[0]
    assert re.search(r'<strong class="failed">It cannot be started:</strong> broken does not compile', beginning)
    assert re.search(r'<pre class="failed">.*error', beginning, re.S) and "&lt;b&gt;oops" in beginning
    assert headings(page) == ["The program", "Faults", "What it was asked", "What it wrote to stderr"]
    assert "chips per match" not in page and "profit" not in page and 'class="hand"' not in page
    row = re.search(r'<tr id="bot-broken">(.*?)</tr>', pages["index"], re.S)[1]
    assert not re.search(r"\d\.\d", re.sub("<[^>]*>", " ", row))  # nor in the standings
    assert pages["index"].count('<span class="mean"') == 2


@pytest.mark.parametrize(("retire", "why"), [(0, "It does not answer:"), (1, "It has retired after match 1: ")])
def test_a_bot_that_answers_wrongly_shows_its_commonest_fault(tmp_path, retire, why):
    """Also in the marks. It was said that it cannot be started, and the first fault by the alphabet was shown."""
    bots = [f"{__file__}:Wrong", "lim17"]
    host, pages = play_pages(tmp_path, bots, matches=2, retire=retire, marks="-9:B")
    assert host.standings.scores[0].faults.keys() == {"bad-reply", "crash"}
    said = re.search(r'<strong class="failed">(.*?)</strong> (.*?)\. It is not ranked', pages["wrong"])
    assert said[1].startswith(why) and "Q" in said[2]
    [row] = [line for line in (tmp_path / "marks.csv").read_text().splitlines() if line.startswith("wrong,")]
    assert "Q" in row


# --- hands


def shown_hand(rules, cards, moves):
    """The end of a round of one seat: its result and total, and the dealer's total."""
    record = {"match": 0, "table": 0, "session": 0, "hand": 0, "seats": [0], "chips": [200]}
    result = replay(Contest(rules), {**record, "cards": cards, "moves": [moves], "net": [0]}, ["bot"])
    text, _, [[_, hands]], dealer = result["steps"][-1]
    return text, hands[0][2], hands[0][3], dealer


@pytest.mark.parametrize(
    ("hand", "dealer", "moves", "status", "points"),
    [
        ("73T", "TK", ["H", "S"], "-10 (ties 20: loses)", (20, 20)),
        ("T4K", "7T", ["H"], "-10 (bust 24)", (24, 17)),
        ("T9", "7T", ["S"], "+10 (19 against 17)", (19, 17)),
        ("T9", "75T", ["S"], "+10 (19 against 22, bust)", (19, 22)),
        ("T9", "759", ["S"], "-10 (19 against 21)", (19, 21)),
    ],
)
def test_a_hand_says_why_it_wins_or_loses(hand, dealer, moves, status, points):
    text, *shown = shown_hand(CARDSHARK, deal_of(hand, dealer), moves)
    assert shown == [status, *points]
    assert text == f"bot {'wins' if status[0] == '+' else 'loses'} 10 chips {status[4:]}."


@pytest.mark.parametrize(
    ("hand", "dealer", "moves", "status"),
    [
        ("AK", "9T", [], "+15 (natural)"),
        ("T9", "9T", ["S"], "+0 (ties 19: pushes)"),
        ("T9", "TA", [], "-10 (19 against a natural)"),
    ],
)
def test_naturals_and_pushes(hand, dealer, moves, status):
    rules = load_rules("vegas-s17")
    assert shown_hand(rules, deal_of(hand, dealer, rules), moves)[1] == status


def test_totals_are_on_the_page(pages):
    assert re.search(r"Dealer: <span class=\"cards\">.*</span> \d+</p>", pages["lim14"])
    assert re.search(r"</span></span> \d+</td>", pages["lim14"])
    assert re.search(r"ties \d+: loses", unescape(pages["lim14"]))


# --- scales


def rows_of(chips, widths):
    pairs = zip(chips, widths, strict=True)
    return [
        {"score": mean, "score_ci95": [mean - half, mean + half], "started": True, "ruined": False}
        for mean, half in pairs
    ]


def test_one_wide_interval_does_not_set_the_scale():
    """It is cut off, and marked; all means stay inside. Without it nothing is cut."""
    chips = [400.0, *(150.0 + n for n in range(19))]
    drawing = draw_intervals(rows_of(chips, [390.0, *[20.0] * 19]), 200)
    assert drawing["clipped"] and [row["cut"] for row in drawing["rows"]] == [["left", "right"], *[[]] * 19]
    assert drawing["rows"][0]["x"] == 98 and drawing["rows"][1]["width"] > 14
    assert all(0 <= row["low"] <= row["low"] + row["width"] <= 100 for row in drawing["rows"])
    plain = draw_intervals(rows_of(chips, [40.0, *[20.0] * 19]), 200)
    assert not plain["clipped"] and not any(row["cut"] for row in plain["rows"])


def test_one_lucky_match_does_not_set_the_scale():
    """The line runs along the edge, whose mark says how far it went."""
    first, later = [1100.0, *[150.0] * 19], [170.0, *(150.0 + n for n in range(19))]
    standings = SimpleNamespace(
        matches=20, names=["bot"] * 20, scores=[SimpleNamespace(started=True)] * 20, order=lambda: list(range(20)),
        ruined=lambda bot: False,
        progress=[(1, first), *((match, later) for match in range(2, 21))],
    )  # fmt: skip
    drawing = draw_convergence(standings, [0] * 20)
    assert drawing["cut"] == [(3, 1100.0)] and drawing["means"][0][1] == first
    heights = [[float(point.split(",")[1]) for point in line["points"].split()] for line in drawing["lines"]]
    assert heights[0][0] == 3 and all(3 <= height <= 97 for line in heights for height in line)
    standings.progress[0] = 1, later
    assert draw_convergence(standings, [0] * 20)["cut"] == []


@pytest.mark.parametrize("last", [320.0, 900.0])
def test_a_label_stands_at_its_line(last):
    """Also where the bot with the highest mean is ruined and comes last, and where its line is cut off."""
    means = [300.0, 200.0, 100.0, last]
    standings = SimpleNamespace(
        matches=2, names=["bot"] * 4, scores=[SimpleNamespace(started=True)] * 4, order=lambda: list(range(4)),
        ruined=lambda bot: bot == 3, progress=[(1, means), (2, means)],
    )  # fmt: skip
    lines = draw_convergence(standings, [0] * 4)["lines"]
    heights = [float(line["points"].rpartition(",")[2]) for line in lines]
    assert heights[3] == 3 and all(abs(line["label"] - at) <= GAP for line, at in zip(lines, heights, strict=True))


# --- in a browser


@pytest.mark.parametrize("name", ["index", "pages/lim14", "pages/raiser", "pages/optimal"])
def test_no_column_is_lost_on_a_phone(browser, played, name):
    browser.open((played[0] / f"{name}.html").as_uri(), width=390)
    browser.run("document.querySelectorAll('details.hand').forEach(each => { each.open = true; })")
    cut = """[...document.querySelectorAll('.wide')].filter(
        box => box.checkVisibility() && box.scrollWidth > box.clientWidth).map(box => box.outerHTML.slice(0, 99))"""
    assert browser.run(cut) == [] and not browser.problems

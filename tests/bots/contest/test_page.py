"""The page of a contest: well formed, complete without JavaScript, and interactive in a real browser."""

import ntpath
import posixpath
import re
import shlex
from html import unescape
from html.parser import HTMLParser
from itertools import islice

import pytest
from bot_helpers import Scripted
from support.command import bjsim
from support.conformance import Watched
from support.games import ONE_HAND, few
from support.matches import CARDSHARK, begin, counted, index_of, match_of, whole

from bjsim.bots.contest import page as pages
from bjsim.bots.contest.config import SETTINGS, Contest
from bjsim.bots.contest.match import play_table
from bjsim.bots.contest.page import published_sources, replayed, write_results
from bjsim.bots.contest.page_data import PageData
from bjsim.bots.contest.replay import replay, shorten
from bjsim.bots.contest.schedule import TablePlan
from bjsim.bots.protocol import make_argv
from bjsim.sim.game.actions import ATTACK, INSURANCE, Action
from bjsim.sim.game.presets import PRESETS, load_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.shoe import ScriptedShoe
from bjsim.strategies.formats.files import format_text
from bjsim.strategies.players.catalogue import find_player

GAMES = [name for name in ONE_HAND if PRESETS[name].rules.ties != "replay"]  # contests cannot replay ties


class Hostile:
    """A bot whose name and faults contain markup."""

    name = "</script><b>bad"

    def decide(self, view):
        raise RuntimeError("<img src=x onerror=alert(1)></script>")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("contest")
    bots = [*(f"a-bot-with-a-long-name-{n}={bot}" for n, bot in enumerate(["lim17", "optimal", "hoyle", "lim19"]))]
    host = begin(where, [*bots, f"{__file__}:Hostile"], matches=12, seed=1)  # no two bots are tied
    write_results(where, host.run(), host.page, host.logs)
    (where / "index.html").write_text(index_of(host.standings, host.page), encoding="utf-8")
    return where


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "index.html").read_text(encoding="utf-8")


def make_page(folder, bots, **settings):
    """Play a contest and render its page."""
    host = begin(folder, bots, **settings)
    return index_of(host.run(), host.page)


def make_cells(page, table):
    """The cell texts of a table by id, row by row."""
    rows = re.split("<tr[^>]*>", re.search(rf'<table id="{table}".*?</table>', page, re.S)[0])[1:]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    return [[unescape(re.sub("<[^>]*>", "", cell)) for cell in row] for row in cells]


class Structure(HTMLParser):
    """Collects open tags, mismatched tags and external resources."""

    void = {"meta", "link", "br", "img", "input"}  # noqa: RUF012

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.fetched, self.tags, self.links, self.ids = [], [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        urls = [value for name, value in attrs if name in ("src", "href") and not value.startswith("data:")]
        (self.links if tag == "a" else self.fetched).extend(urls)
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))


def structure_of(page):
    structure = Structure()
    structure.feed(page)
    return structure


def test_pages_of_bots_are_well_formed_and_links_lead_somewhere(folder):
    """A name with markup gives a file with a plain name, and its faults are text."""
    found = {file.relative_to(folder).as_posix(): file for file in [folder / "index.html", *folder.glob("pages/*")]}
    assert len(found) == 6 and "pages/script-b-bad.html" in found
    pages = {name: structure_of(file.read_text(encoding="utf-8")) for name, file in found.items()}
    assert {"main", "h1", "svg", "table", "noscript"} <= set(pages["index.html"].tags)
    for name, structure in pages.items():
        assert not structure.open and not structure.wrong and not structure.fetched
        assert "b" not in structure.tags and "img" not in structure.tags
        assert len(structure.ids) == len(set(structure.ids))
        for link in structure.links:
            target, _, anchor = link.partition("#")
            where = posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) if target else name
            assert (folder / where).is_file()
            assert not anchor or anchor.startswith("hand=") or anchor in pages[where].ids
    bad = found["pages/script-b-bad.html"].read_text(encoding="utf-8")
    assert "&lt;img src=x onerror=alert(1)&gt;" in bad and "crash: 30" in bad


def test_versions_of_a_bot_share_its_colour_and_former_bots_keep_a_page(tmp_path):
    config = tmp_path / "contest.toml"
    config.write_text('bots = ["lim17", "mine=lim13", "lim15", "hoyle"]\nmatches = 2\nhouse = "mimic"\nseed = 1')
    folder = tmp_path / "hill"

    def koth(*words):
        assert bjsim("koth", *words).status == 0
        return {file.stem: file.read_text(encoding="utf-8") for file in folder.glob("pages/*.html")}

    colour = re.compile(r'<h1><span class="dot" style="(.*?)"')
    before = koth("play", "--config", config, "--out", folder)
    koth("replace", folder, "mine=lim14")
    koth("drop", folder, "lim15")
    after = koth("add", folder, "lim19")
    assert after.keys() == {"lim17", "mine", "mine-v1", "lim15", "hoyle", "lim19"}
    for name in before:
        assert colour.search(before[name])[1] == colour.search(after[name])[1]
    assert colour.search(after["mine-v1"])[1] == colour.search(after["mine"])[1] != colour.search(after["lim19"])[1]
    assert "No longer in the standings (dropped)" in after["lim15"]
    assert re.search(r"<dt>version 1, replaced</dt><dd>[\d.]+ chips in 2 matches</dd>", after["mine"])
    index = (folder / "index.html").read_text(encoding="utf-8")
    assert all(f'<a href="pages/{name}.html">' in index for name in after)
    assert "journal.jsonl" not in index  # bots may still join


def test_it_is_computed_from_the_journal_alone(folder, page):
    assert index_of(*counted(folder)) == page


# --- luck, means, and the command that reproduces the contest


@pytest.mark.parametrize("game", ["cardshark", "vegas-s17", "blackjack-p"])
def test_the_page_states_whether_results_are_luck_adjusted(game, tmp_path):
    page = make_page(tmp_path, ["lim17", "hoyle"], rules=load_rules(game), matches=8)
    adjusted = game != "blackjack-p"  # whose splits have no limit
    header, *rows = make_cells(page, "standings")
    assert header[2] == ("score" if adjusted else "chips") and "luck-adjusted per hand" not in header
    assert all(len(row) == len(header) for row in rows)
    assert ("at the end of a match without the luck of the cards" in page) == adjusted
    assert ("Results are not luck-adjusted under these rules" in page) == (not adjusted)
    assert ("in luck-adjusted chips per match" in page) == adjusted


def test_unknown_luck_is_a_dash(tmp_path, monkeypatch):
    unknown = {"luck_adjusted": None, "luck_adjusted_ci95": None}
    row_values = pages.row_values
    monkeypatch.setattr(pages, "row_values", lambda row, logs: {**row_values(row, logs), **unknown})
    header, *rows = make_cells(make_page(tmp_path, ["lim17", "hoyle"], matches=2, score="chips"), "standings")
    assert "its 95% interval" in header and {row[header.index("luck-adjusted per hand")] for row in rows} == {"–"}


def test_the_drawn_means_are_also_in_a_table(folder, page):
    header, *rows = make_cells(page, "means")
    assert header == ["matches", *(row[1] for row in make_cells(page, "standings")[1:])]
    progress = counted(folder)[0].progress
    assert [int(row[0]) for row in rows] == [matches for matches, _ in progress]
    last = [f"{mean:.1f}" for mean in progress[-1][1]]
    assert sorted(rows[-1][1:]) == sorted(last) and len(page.split("<polyline")) == len(last) + 1


COURSE = {"against": ("hoyle", "lim15"), "marks": "-1:B 0:A", "title": "A course", "strikes": 3, "retire": 1}


@pytest.mark.parametrize(
    ("rules", "settings"),
    [
        (CARDSHARK, {"matches": 2}),
        (
            load_rules("vegas-h17"),
            {"matches": 2, "seed": 7, "until": "decided", "house": "lim17", "timeout": 3.5},
        ),
        (
            CARDSHARK.replace(chips=500, name="rich"),
            {"matches": 6, "duplicate": True, "sessions": 2, "hands": 3, "strikes": 4},
        ),
        (CARDSHARK, {**COURSE, "matches": 2, "protocols": ("line",), "lives": "contest", "cold": True}),
        (
            load_rules("blackjack-p").replace(blackjack_pays="6/5", max_hands=3),
            {"matches": 1, "until": "100000"},
        ),
    ],
)
def test_the_page_has_the_command_that_reproduces_it(rules, settings, tmp_path, monkeypatch):
    bots = tmp_path / "bots"
    (bots / "more").mkdir(parents=True)
    charts = [bots / "my chart.txt", bots / "more" / "other.txt"]
    for chart, limit in zip(charts, ["lim16", "lim19"], strict=True):
        chart.write_text(format_text(find_player(limit, rules)))
    first, second = tmp_path / "first", bots / "again"
    host = begin(first, ["lim17", f"it's={charts[0]}", charts[1]], rules=rules, **settings)
    page, contest = index_of(host.run(), host.page), host.contest
    assert str(tmp_path) not in page and 'id="again"' not in page
    assert bjsim("koth", "close", first).status == 0
    page = (first / "index.html").read_text(encoding="utf-8")
    parts = dict(re.findall(r'<pre id="(again|again-file)">(.*?)</pre>', page, re.S))
    monkeypatch.chdir(bots)
    if "again-file" in parts:
        (bots / "contest.toml").write_text(unescape(parts["again-file"]))
    program, *arguments = shlex.split(unescape(parts["again"]))
    assert program == "bjsim"
    for words in (arguments, ["koth", "close", second]):
        outcome = bjsim(*words)
        assert outcome.status == 0, outcome.err
    assert whole(first) == whole(second)
    shown = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page, re.S))
    values = {name: text.partition(" <span")[0] for name, text in shown.items()}
    assert values["until"] == (contest.until or "–") and values["house"] == (contest.house or "–")
    assert values["duplicate"] == ("yes" if contest.duplicate else "no") and values["seed"] == str(contest.seed)
    assert values.keys() >= {*SETTINGS} - {"title", "marks"} and "<dt>marks</dt>" not in page
    assert unescape(shown["it&#39;s"]).startswith("./my chart.txt, ")
    assert shown["other"].startswith("./more/other.txt, ")


def test_files_are_relative_to_their_common_folder():
    files = ["/somewhere/bots/a.py", "/somewhere/bots/c/b.c"]
    named = ["./a.py", "./c/b.c"]
    assert published_sources(["lim17", *files, "package.module:player"]) == ["lim17", *named, "package.module:player"]
    assert published_sources(["/somewhere/bots/a.py", "lim17"]) == ["./a.py", "lim17"]


def test_on_two_drives_they_are_relative_to_the_folder_of_each(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(pages.os, "path", ntpath)
        found = published_sources(["C:\\a\\one.txt", "lim17", "D:\\b\\two.txt", "D:\\b\\c\\three.txt"])
    assert found == ["./one.txt", "lim17", "./two.txt", "./c\\three.txt"]


# --- replays


class Splitter:
    """Splits whenever possible, and doubles sometimes."""

    name = "splitter"

    def decide(self, view):
        letter = next(iter(set("PD") & set(view.legal)), "H") if view.chips % 3 else "H"
        letter = "P" if "P" in view.legal else letter if letter in view.legal else "S"
        return Action(letter if int(make_argv(view)[0]) < 16 or letter == "P" else "S")


class Shared(Watched):
    """One whose copies are itself, so that what they see is known."""

    def __deepcopy__(self, memo):
        return self


def rounds_with_requests(contest, bots, match=0):
    """The records of a match at one table, each with the requests to every seat."""
    players = [Shared(Splitter() if bot == "splitter" else find_player(bot, contest.rules)) for bot in bots]
    plan = TablePlan(match, 0, match, tuple(range(len(bots))))
    rounds = play_table(contest, plan, players.__getitem__, None).rounds
    asked = [
        iter([[] if view.legal in (ATTACK, INSURANCE) else make_argv(view) for view, _ in player.seen])
        for player in players  # programs are not asked about an attack or insurance
    ]
    for record in rounds:
        made = zip(record["seats"], record["moves"], strict=True)
        yield record, [[*filter(None, islice(asked[bot], len(moves)))] for bot, moves in made]


ANSWERED = re.compile(r"(?P<name>\S+)(?: \(hand (?P<hand>\d+)\))? receives “(?P<request>.*)” and answers ")


def check_replay(contest, record, requests, names):
    """The replay shows every request, its tables agree with the requests, and it ends like the round."""
    hand = replay(contest, record, names)
    shown = [[] for _ in record["seats"]]
    seats = [names[bot] for bot in record["seats"]]
    before = None
    for text, dealer, table, _ in hand["steps"]:
        if answer := ANSWERED.match(text):
            seat = seats.index(answer["name"])
            shown[seat].append(answer["request"].split(" "))
            _, cards, visible, stake, chips = shown[seat][-1]
            held, hands = before[seat]
            assert (answer["hand"] is None) == (len(hands) == 1)
            assert hands[int(answer["hand"] or 1) - 1][:2] == [cards, int(stake)] and max(held, 0) == int(chips)
            assert visible.startswith(dealer)
        before = table
    assert shown == requests
    moves = [iter(moves) for moves in record["moves"]]
    players = [Scripted(lambda _, left=left: parsed(next(left))) for left in moves]
    dealt = Round(contest.rules, ScriptedShoe(record["cards"]), len(players), record["chips"])
    dealt.play(players)
    assert [[cards[:2] for cards in hands] for _, hands in before] == [
        [[played.letters, played.stake] for played in seat.hands] for seat in dealt.seats
    ]
    assert dealer in (dealt.dealer.letters, dealt.dealer.letters[:1] + "#")
    assert [held for held, _ in before] == [a + b for a, b in zip(record["chips"], record["net"], strict=True)]
    return hand


def parsed(move):
    return Action(move[0], int(move[2:] or 0))


@pytest.mark.parametrize("game", few(GAMES))
def test_replays_show_the_requests_of_bots(game):
    """Each split hand separately, with peeks too."""
    contest = Contest(load_rules(game), hands=20, seed=2)  # of which some split pairs again
    names = ["splitter", "lim17", "optimal", "kelly" if contest.rules.raises else "hoyle"]
    words, most_hands = "", 0
    for record, requests in rounds_with_requests(contest, names):
        hand = check_replay(contest, record, requests, names)
        words += "\n".join(text for text, *_ in hand["steps"])
        most_hands = max(most_hands, *(len(hands) for _, hands in hand["steps"][-1][2]))
    assert most_hands > (2 if contest.rules.max_hands > 2 else 1) or contest.rules.split_by == "never"
    assert ("The dealer has a natural" in words) == contest.rules.peek
    assert ("checks the hole card: no natural" in words) == (contest.rules.peek and contest.rules.dealer_shows == "up")
    assert ("answers B" in words) == contest.rules.raises


@pytest.mark.parametrize("game", few(GAMES))
def test_every_game_gives_a_page(game, tmp_path):
    structure = structure_of(make_page(tmp_path, ["lim17", "optimal"], rules=load_rules(game), matches=2))
    assert not structure.open and not structure.wrong


def test_a_bot_out_of_strikes_gets_no_requests():
    contest = Contest(CARDSHARK, strikes=2)
    players = [Hostile(), find_player("lim17", CARDSHARK)]
    data = PageData(contest)
    data.add(match_of(0, *play_table(contest, TablePlan(0, 0, 0, (0, 1)), players.__getitem__, None).rounds))
    steps = [step for record in data.last for step in replay(contest, record, ["hostile", "lim17"])["steps"]]
    words = [text for text, *_ in steps if text.startswith(("hostile is", "hostile receives"))]
    assert len(words) > 10 and all("receives" in text and "(fault, crash" in text for text in words[:2])
    assert all("out of strikes" in text for text in words[2:])


def test_a_shortened_replay_is_the_same():
    names = ["splitter", "lim17", "optimal"]
    contest = Contest(load_rules("blackjack-p"))
    for record, _ in rounds_with_requests(contest, names):
        hand = replay(contest, record, names)
        seats = [None] * len(record["seats"])
        for (_, _, full, _), (_, _, short, _) in zip(hand["steps"], shorten(hand)["steps"], strict=True):
            seats = [new or old for new, old in zip(short, seats, strict=True)]
            assert seats == full


def test_the_last_match_can_be_replayed_whole_or_its_first_500_rounds():
    for hands, said in ((31, "all 155 rounds of the last match, match 2"), (102, "the first 500 of 510 rounds of the")):
        contest = Contest(CARDSHARK.replace(chips=10**6), hands=hands)
        data = PageData(contest)
        for match, names in enumerate([["lim17", "lim18"], ["lim17", "lim19"]]):
            records = [record for record, _ in rounds_with_requests(contest, names, match)]
            data.add(match_of(match, *records))
        assert [{k: v for k, v in kept.items() if k not in ("spent", "places")} for kept in data.last] == records[:500]
        assert said in replayed(data, 12)
    data.add(match_of(2, records[0]))
    assert replayed(data, 1) == "The hand with the largest swing, and the only round of the last match, match 3."


def test_a_page_of_a_contest_that_has_only_begun(tmp_path):
    for name, bots, settings in (("c", ["lim17", "lim17"], {}), ("course", ["lim17"], {"against": ("hoyle",)})):
        host = begin(tmp_path / name, bots, matches=1, **settings)
        page = index_of(host.standings, host.page)
        assert "No hand has been played yet" in page
        assert f"<p>{'1 bot' if name == 'course' else '2 bots'}, 0 of at most 1 match, 0 rounds dealt." in page


def test_the_name_of_a_bot_keeps_its_letters(tmp_path):
    page = make_page(tmp_path, ["lim17", f"{__file__}:Hostile"], matches=1)
    assert "<strong>lim17 is the only bot with a rank.</strong>" in page


@pytest.mark.parametrize(
    ("bot", "heading", "verdict"),
    [("lim20", "optimal is ahead", "optimal is ahead of every other bot"), ("optimal", "not decided", "Not decided: ")],
)
def test_the_heading_says_what_the_verdict_says(bot, heading, verdict, tmp_path):
    page = make_page(tmp_path, ["optimal", bot], matches=30, seed=1, title="Ours")
    assert f"<title>Ours: {heading}</title>" in page and re.search(rf"<strong[^>]*>{verdict}", page)


ROWS = "[...document.querySelectorAll('#standings tbody tr')].map(row => row.cells[{0}].textContent)"


def ranks(browser):
    """The ranks that the standings show, without the ranges beside them."""
    return [text.split()[0] for text in browser.run(ROWS.format(0))]


def test_standings_sort_and_the_replay_steps(browser, folder):
    browser.open((folder / "index.html").as_uri())
    assert ranks(browser) == ["1", "2", "3", "4", "–"]
    click = "document.querySelectorAll('#standings th button')[{0}].click();"
    assert browser.run(click.format(1) + ROWS.format(1)) == sorted(browser.run(ROWS.format(1)))
    chips = [float(text) for text in browser.run(click.format(2) + ROWS.format(2)) if text != "–"]
    assert chips == sorted(chips)
    chips = [float(text) for text in browser.run(click.format(2) + ROWS.format(2)) if text != "–"]
    assert chips == sorted(chips, reverse=True)
    assert browser.run("document.querySelector('th[aria-sort]').textContent") == "score"
    text = "document.getElementById('step').textContent"
    whole = browser.run(text)  # a hand is first shown as a whole
    assert re.match(r"(\d+) of \1\.", whole)
    first = browser.run(f"document.getElementById('start').click(); {text}")
    second = browser.run(f"document.getElementById('next').click(); {text}")
    assert first.startswith("1 of") and second.startswith("2 of")
    assert browser.run(f"document.getElementById('back').click(); {text}") == first
    last = browser.run(f"document.getElementById('end').click(); {text}")
    assert "wins" in last or "loses" in last
    choose = "(hand => { hand.value = 3; hand.dispatchEvent(new Event('change')) })(document.getElementById('hand'));"
    assert re.match(r"(\d+) of \1\.", browser.run(f"{choose} {text}"))
    assert not browser.problems


STEPS = """(() => {
  const choice = document.getElementById('hand');
  choice.value = %d; choice.dispatchEvent(new Event('change'));
  document.getElementById('start').click();
  const shown = [];
  for (;;) {
    shown.push([...document.getElementById('seats').rows].map(row => [...row.cells].map(cell => cell.textContent)));
    if (document.getElementById('next').disabled) break;
    document.getElementById('next').click();
  }
  return shown;
})()"""


def test_split_hands_are_shown_separately(browser, tmp_path):
    host = begin(tmp_path, [f"{__file__}:Splitter", "lim17"], rules=load_rules("blackjack-p"), matches=4)
    (tmp_path / "index.html").write_text(index_of(host.run(), host.page), encoding="utf-8")
    browser.open((tmp_path / "index.html").as_uri())
    most_hands = 0
    for number, (_, _, record) in enumerate(host.page.swings):
        shown = browser.run(STEPS % number)
        hand = replay(host.contest, record, host.standings.names)
        assert shown == [rows_of(hand["names"], seats) for _, _, seats, _ in hand["steps"]]
        most_hands = max(most_hands, len(shown[-1]))
    assert most_hands > 3 and not browser.problems


def rows_of(names, seats):
    """The rows of the table; the first hand of a seat has the cell with its chips."""
    rows = []
    for name, (chips, hands) in zip(names, seats, strict=True):
        for index, (cards, stake, status, points) in enumerate(hands):
            label = f"{name}, hand {index + 1}" if len(hands) > 1 else name
            held = f"{cards.replace('T', '10')} {points or ''}"
            rows.append([label, held, str(stake), *([] if index else [str(chips)]), status])
    return rows


def test_tables_work_without_javascript(browser, folder):
    browser.open((folder / "index.html").as_uri(), script=False)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert ranks(browser) == ["1", "2", "3", "4", "–"]
    assert browser.run("getComputedStyle(document.getElementById('replay')).display") == "none"


def test_a_failing_script_is_detected(browser, tmp_path):
    """Negative control of the tests above."""
    (tmp_path / "page.html").write_text("<script>throw new Error('on purpose')</script>")
    browser.open((tmp_path / "page.html").as_uri())
    assert any("on purpose" in problem for problem in browser.problems)

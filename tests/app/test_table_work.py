"""The page Play says what the terminal says, takes answers up again, and notes each mistake once."""

import json
import re
from html import unescape

import pytest
from support.command import bjsim

pytest.importorskip("starlette")
from support.games import few

from bjsim.app import table_work
from bjsim.app.table_work import AskedPlay, play_report
from bjsim.app.work import ChosenGame
from bjsim.errors import InputError
from bjsim.sim.game.actions import View
from bjsim.sim.game.presets import PRESETS

EASY, SIX = ChosenGame("easy", ()), ChosenGame("vegas-s17", ())


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(table_work, "_tables", table_work.OrderedDict())
    table_work._drill.cache_clear()
    return tmp_path / "bjsim" / "practice.json"


def said(page):
    part = page.partition('role="log"')[2].partition("</div>")[0]
    return [unescape(line) for line in re.findall(r"<p[^>]*>(.*?)</p>", part)]


def give(asked, *answers):
    """Give answers one after the other, as a page does; returns the pages."""
    given, pages = [], []
    for answer in answers:
        given.append(answer)
        pages.append(play_report(asked._replace(answers="\n".join(given), new="yes")))
    return pages


def test_split_hands_have_numbers():
    bet, split = give(AskedPlay(SIX, "3", ""), "10", "p")
    assert 'data-key="p"' in bet and not re.search(r"Hand \d", bet)
    assert re.findall(r"Hand \d", split)[:2] == ["Hand 1", "Hand 2"]


@pytest.mark.parametrize("system", ["", "hilo"])
@pytest.mark.parametrize("seed", [3, 5])
def test_the_table_says_what_the_terminal_says(seed, system):
    asked, answers, lines = AskedPlay(SIX, str(seed), system), [], []
    for _ in range(25):
        page = play_report(asked._replace(answers="\n".join(answers)))
        answers.append("s" if 'data-key="s"' in page else "2" if "What is the" in page else "10")
        if answers[-1] == "10":
            lines += said(page)
    count = ["--count", system] if system else []
    typed = "".join(f"{answer}\n" for answer in answers)
    out = bjsim("play", "--rules", "vegas-s17", "--seed", seed, "--coach", *count, stdin=typed.encode()).out
    printed = [line for line in out.splitlines() if line and not re.search(r" > \S*$", line)]
    assert len(lines) > 30
    assert printed[2 : 2 + len(lines)] == lines


def test_another_worker_takes_the_answers_up_again(monkeypatch):
    asked = AskedPlay(SIX, "21", "hilo")
    answers = ["10", "s", "10", "s", "10", "s", "s", "late", "x1"]  # insurance is declined in the third round
    *_, live = give(asked, *answers[:-1])
    monkeypatch.setattr(table_work, "_tables", table_work.OrderedDict())
    again = play_report(asked._replace(answers="\n".join(answers[:-1])))
    assert again == live and "Too late" in live
    with pytest.raises(InputError, match="x1 is not a count"):
        play_report(asked._replace(answers="\n".join(answers)))
    assert play_report(asked._replace(answers="\n".join(answers[:-1]))) == live  # nothing was changed


def test_each_mistake_is_noted_once(home):
    asked = AskedPlay(SIX, "156")
    give(asked, "10", "s")  # A A against 4
    noted = json.loads(home.read_text())
    [cells] = noted.values()
    assert cells == {"AA v 4": 4.0}
    play_report(asked._replace(answers="10\ns"))  # a reload
    table_work._tables.clear()
    play_report(asked._replace(answers="10\ns"))
    assert json.loads(home.read_text()) == noted


@pytest.mark.parametrize("answers", ["0", "999999", "ten", "10\nx", "10\ns\nh", "\n", "10\n\0", "é" * 99, "1\n" * 4000])
def test_wrong_answers_are_refused_in_a_line(answers):
    with pytest.raises(InputError) as refused:
        play_report(AskedPlay(SIX, "5", answers=answers))
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 200


def test_only_few_tables_are_kept():
    for seed in range(table_work.KEPT + 3):
        play_report(AskedPlay(EASY, str(seed)))
    assert len(table_work._tables) == table_work.KEPT


def test_a_drill_grades_answers_and_asks_weak_cells_first(home):
    asked = AskedPlay(EASY, "3", drill="hard")
    page = play_report(asked)
    words = re.findall(r'data-word="(\S+ \S+ \S+)"', page)
    pages = {word: give(asked, word)[0] for word in words}
    wrong = [word for word, page in pages.items() if " costs " in page]
    assert len(wrong) == len(words) - 1 and sum("best by" in page for page in pages.values()) == 1
    assert all("1 of 1 right (100%)" in pages[word] for word in words if word not in wrong)
    table_work._drill.cache_clear()  # another session
    assert "Due from earlier sessions" in play_report(asked._replace(seed="4"))
    assert home.exists()
    with pytest.raises(InputError, match="set the count drill to none"):
        play_report(asked._replace(system="hilo"))


def test_a_drill_asks_what_the_record_of_a_page_calls_weak():
    page = play_report(AskedPlay(SIX, "3", drill="all", due="88 v 9,16 v T,nonsense"))
    assert "Due from earlier sessions: 88 v 9, 16 v T." in page and 'data-word="88 9 s"' in page
    asked = AskedPlay(SIX, "4", drill="pairs", due="88 v 9")
    assert 'data-cell="88 v 9" data-wrong="yes"' in give(asked, "88 9 s")[0]
    assert "data-cell" not in play_report(asked._replace(answers="88 9 s"))  # a reload


def test_a_drill_that_is_loaded_again_asks_the_same():
    asked = AskedPlay(SIX, "5", drill="all", due="88 v 9,16 v T,12 v 2")
    moves = [re.findall(r'data-word="(.*?)"', play_report(asked)) for _ in range(3)]
    assert moves[0] == moves[1] == moves[2]
    after = [re.findall(r'data-word="(.*?)"', play_report(asked._replace(answers=moves[0][0]))) for _ in range(2)]
    assert moves[0] != after[0] == after[1]


@pytest.mark.parametrize("answer", ["T6 7 z", "T6", "", "ZZ 7 h", "T6 7 h h\nT6 7 q"])
def test_wrong_answers_of_a_drill_are_refused(answer):
    with pytest.raises(InputError, match=r" is not an answer of this drill; begin a new one$"):
        play_report(AskedPlay(EASY, "3", drill="all", answers=answer or " "))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"drill": "x"}, "no topic is called 'x'"),
        ({"system": "x.toml"}, "no counting system is called 'x.toml'"),
        ({"seed": "x"}, "seed: x is not accepted"),
        ({"game": EASY, "system": "hilo"}, "cards cannot be counted in an infinite shoe"),
    ],
)
def test_what_cannot_be_played_is_refused(changes, said):
    with pytest.raises(InputError, match=said):
        play_report(AskedPlay(SIX)._replace(**changes))


@pytest.mark.parametrize("name", few(PRESETS))
def test_every_game_can_be_played(name):
    asked = AskedPlay(ChosenGame(name, ()), "1")
    page = give(asked, "1")[-1]
    assert "You" in page and "card" in page


def test_a_hint_gives_the_values_of_the_moves_and_answers_nothing():
    asked = AskedPlay(SIX, "7")
    *_, page = give(asked, "10")
    hinted = play_report(asked._replace(answers="10", hint="yes"))
    shown = re.findall(r"<span>([\w ]+)</span><svg.*?<span class=.number \w+.>([+−][.0-9]+)</span>", hinted)
    out = bjsim("play", "--coach", "--rules", "vegas-s17", "--seed", "7", stdin=b"10\n?\n").out
    printed = out.partition("Expected profit")[2]
    lines = re.findall(r"^  (.*?) +(-?[.0-9]+)  (?:best|.* less)", printed, re.M)
    assert len(lines) > 2
    assert shown == [(name.capitalize(), f"{float(value):+.4f}".replace("-", "−")) for name, value in lines]
    assert 'class="bars"' not in page and play_report(asked._replace(answers="10")) == page


def test_a_page_does_not_speak_of_keys_of_the_terminal():
    with pytest.raises(InputError, match=r"x is not a bet: type 1 to \d+, Enter for 10$"):
        give(AskedPlay(SIX, "7"), "x")
    with pytest.raises(InputError, match=r"zz is not a move here: [^,]*, [^,]*, d.double$"):
        give(AskedPlay(SIX, "7"), "10", "zz")
    with pytest.raises(InputError, match=r"x is not a count: type a number such as -2$"):
        give(AskedPlay(SIX, "21", "hilo"), "10", "s", "10", "s", "10", "s", "s", "x")


def test_drills_that_are_open_at_once_lose_no_answer(home):
    noted, given = set(), {"hard": [], "soft": []}
    for topic in ("hard", "soft", "hard"):
        asked, answers = AskedPlay(EASY, "3", drill=topic), given[topic]
        page = play_report(asked._replace(answers="\n".join(answers)))
        answers.append(re.search(r'data-word="(.*?)"', page)[1])
        page = play_report(asked._replace(answers="\n".join(answers), new="yes"))
        noted.add(re.search(r'data-cell="(.*?)"', page)[1])
    [cells] = json.loads(home.read_text()).values()
    assert cells.keys() == noted and len(noted) == 3


@pytest.mark.parametrize("topic", ["", "hard"])
def test_a_record_that_is_set_aside_is_told(home, topic):
    home.parent.mkdir()
    home.write_text("[")
    page = play_report(AskedPlay(EASY, "3", drill=topic, answers="" if topic else "10", new="yes"))
    assert "practice.json is not a record of bjsim: it is renamed practice.broken" in page


def test_a_page_says_what_is_free():
    view = View(PRESETS["free-bet"].rules, 0, "65", "T", "T#65", 10, 90, "SHD")
    assert table_work._moves(view) == [("h", "h", "hit"), ("s", "s", "stand"), ("d", "d", "free double")]

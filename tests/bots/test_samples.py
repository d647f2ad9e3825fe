"""The sample bots play as described, in every language."""

import runpy

import pytest
from bot_helpers import SAMPLES, Scripted, a_view, lim17, needs, play
from support.matches import rounds_in

from bjsim.bots.contest import journal
from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.entrants import gather
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.replay import protocols, questions
from bjsim.bots.export import export
from bjsim.bots.player import open_bot
from bjsim.bots.sandbox.languages import LANGUAGES
from bjsim.errors import InputError
from bjsim.sim.game.actions import HIT, STAND, Action
from bjsim.sim.game.presets import named_rules
from bjsim.strategies.players.catalogue import find_player

SLOW = {".go": [pytest.mark.slow]}  # to compile
ENDINGS = [
    pytest.param(ending, marks=[needs(ending), *SLOW.get(ending, [])])
    for ending in (row.endings[0] for row in LANGUAGES)
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_lim17_is_the_same_in_every_language(ending):
    """The same seed, the same table: the event logs are equal to those of Lim 17 in this process."""
    rounds = 4 if ending in (".java", ".js") else 40
    inside = find_player("lim17", named_rules("cardshark"))
    with open_bot(SAMPLES / f"lim17{ending}", sandbox="auto", timeout=20.0) as bot:
        assert play([inside, bot, inside, bot], rounds) == play([inside] * 4, rounds)
        assert not bot.faults


def test_lim17_of_the_helpers_is_lim17():
    inside = find_player("lim17", named_rules("cardshark"))
    assert play([Scripted(lim17)] * 4, 100) == play([inside] * 4, 100)


@needs(".py")
def test_the_exported_chart_plays_as_the_chart_does():
    chart = find_player("optimal", named_rules("cardshark"))
    with open_bot(SAMPLES / "optimal.py", sandbox="auto", timeout=20.0) as bot:
        assert play([bot, bot, chart, chart], 150) == play([chart] * 4, 150)
        assert not bot.faults


@pytest.mark.parametrize("name", ["optimal", "lim17", "hoyle"])
@pytest.mark.parametrize(
    "fields",
    [{"surrender": True, "raises": False}, {"double_cards": "any", "raises": False}, {"double_cards": "any"}],
)
@needs(".py")
def test_charts_are_exported_for_other_rules_too(tmp_path, name, fields):
    rules = named_rules("cardshark").replace(double_on="9-11", hit_soft_17=True, ties="push", **fields)
    chart = find_player(name, rules)
    path = tmp_path / "exported.py"
    path.write_text(export(chart))
    with open_bot(path, sandbox="auto", timeout=20.0) as bot:
        assert play([bot, chart, bot, chart], 60, rules) == play([chart] * 4, 60, rules)
        assert not bot.faults


def test_the_sample_is_what_the_command_writes():
    chart = find_player("optimal", named_rules("cardshark"))
    assert export(chart) == (SAMPLES / "optimal.py").read_text()


@pytest.mark.parametrize("preset", ["easy", "vegas-s17", "neller-v1"])
def test_a_chart_that_a_bot_could_not_follow_is_refused(preset):
    with pytest.raises(InputError, match="a bot does not see enough to follow a chart for it; use"):
        export(find_player("optimal", named_rules(preset)))


def test_a_hand_of_three_cards_that_doubles_but_does_not_surrender_is_refused():
    rules = named_rules("cardshark").replace(double_cards="any", surrender=True, raises=False)
    with pytest.raises(InputError, match="surrender = late: with double_cards = any, a bot does not see enough"):
        export(find_player("optimal", rules))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"attack": True, "deal": "dppd"}, "attack = true"),
        ({"max_doubles": 2}, "max_doubles = 2"),
        ({"surrender": "late", "surrender_after_double": True}, "surrender_after_double = true"),
        ({"surrender": "late", "surrender_cards": "any"}, "surrender_cards = any"),
    ],
)
def test_what_a_bot_is_not_asked_is_not_exported(fields, named):
    rules = named_rules("vegas-s17").replace(split_by="never", **fields)
    with pytest.raises(InputError, match=f"{named}: a bot does not see enough .*; use {named.split()[0]} = "):
        export(find_player("optimal", rules))


@needs(".py")
def test_the_bettor_raises_with_its_score_and_once_only():
    with open_bot(SAMPLES / "bettor.py", sandbox="auto", timeout=20.0) as bot:
        raises = [bot.decide(a_view(hand, chips=190)) for hand in ("T7", "T8", "T9", "TT")]
        assert raises == [STAND, Action("B", 19), Action("B", 47), Action("B", 95)]
        assert bot.decide(a_view("TT", "SHB", stake=105, chips=95)) == STAND
        assert bot.decide(a_view("T5")) == HIT and not bot.faults


@needs(".c")
def test_the_counter_counts():
    """Fifteen against a ten: it hits while low cards are left, and stands once they are gone."""
    with open_bot(SAMPLES / "counter.c", sandbox="auto", timeout=20.0) as bot:
        few, many = (bot.run(["15", "T5", visible, "10", "190"]) for visible in ("T#T5" + "2" * 40, "T#T5KQJTKQJT"))
        assert (few.stdout, many.stdout) == (b"S\n", b"H\n")
        assert bot.decide(a_view("65")) == Action("D") or bot.decide(a_view("65")) == HIT
        assert not bot.faults


def counter_functions(monkeypatch):
    """The functions of the counter, which has no lines to read."""
    monkeypatch.setattr("sys.stdin", [])
    return runpy.run_path(str(SAMPLES / "counter_line.py"))


@pytest.mark.parametrize(
    ("hand", "dealer", "unseen", "move"),
    [
        ("TT", "6", {"T": 8}, ("S", 190)),  # the dealer has 16 and draws a ten: everything is raised
        ("TT", "T", {"T": 8}, ("S", 0)),  # the dealer has 20, and ties lose
        ("T7", "T", {"5": 1, "T": 1}, ("S", 0)),  # the dealer busts with 15 and a ten, a quarter; any card busts
        ("56", "T", {"9": 1, "T": 3}, ("H", 0)),  # 20 or 21 against 19 or 20
        ("T9", "9", {"8": 2, "9": 1, "T": 1}, ("S", 95)),  # the dealer has 17 (1/2), 18 or 19: wins 3/4, edge 1/2
    ],
)
def test_the_counter_computes_with_the_cards_that_are_left(monkeypatch, hand, dealer, unseen, move):
    choose = counter_functions(monkeypatch)["choose"]
    assert choose(hand, dealer, unseen, 10, 190, "SHB") == move


@needs(".py")
def test_the_line_counter_counts(tmp_path):
    """Its notes are the Hi-Lo counts of the cards seen of the shoe, which cardshark deals to its last card."""
    contest = Contest(named_rules("cardshark"), seed=5, matches=2, protocols=("argv", "line"))
    entrants = gather([str(SAMPLES / "counter_line.py"), "lim17", "optimal"], contest.rules)
    Host.begin(tmp_path, contest, entrants, 1, "auto").run()
    header, *records = journal.read(tmp_path)
    assert not any(record.get("faults") for record in rounds_in(tmp_path))
    asked = 0
    for match in range(2):
        rounds = records[match]["rounds"]
        seen, dealt, current = "", 0, False
        for question in questions(contest, rounds, protocols(header)):
            for word, *words in map(str.split, question.sent):
                if word in ("card", "hidden"):
                    if dealt % 52 == 0:
                        seen, current = "", False
                    dealt += 1
                    seen += words[1] if word == "card" else ""
                    current = current or word == "hidden"
                elif word == "shown":
                    seen += words[1] if current else ""
            asked += 1
            count = sum((card in "23456") - (card in "TJQKA") for card in seen)
            assert f"count={count:+d}" in question.answer
    assert asked > 40


@needs(".c")
@pytest.mark.slow
def test_the_line_counter_beats_the_bots_without_memory(tmp_path):
    """Separated from all of them, simultaneously at 95% and at any time, after 246 matches."""
    samples = ("counter_line.py", "bettor.py", "counter.c", "lim17.py", "optimal.py")
    contest = Contest(named_rules("cardshark"), seed=12, matches=400, until="decided", protocols=("argv", "line"))
    host = Host.begin(tmp_path, contest, gather([str(SAMPLES / name) for name in samples], contest.rules), 2, "auto")
    standings = host.run()
    assert standings.decided and standings.rows()[0].name == "counter_line"
    assert not any(score.faults for score in standings.scores)

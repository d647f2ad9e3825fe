"""The sample bots play as described, in every language."""

import ast
import runpy
from dataclasses import replace
from pathlib import Path

import pytest
from bot_helpers import EACH_LANGUAGE, SAMPLES, TEST_BOTS, a_view, needs, play
from support.command import bjsim
from support.matches import begin, rounds_in

from bjsim.bots.check import check_match, situation
from bjsim.bots.contest import journal
from bjsim.bots.contest.replay import protocols, questions
from bjsim.bots.export import export
from bjsim.bots.player import open_bot
from bjsim.bots.protocol import Reply, classify_reply
from bjsim.bots.seats import BotOptions, ProgramFile
from bjsim.errors import InputError
from bjsim.sim.game.actions import HIT, STAND, Action
from bjsim.sim.game.presets import named_rules
from bjsim.sim.running.driver import Driver
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.players.catalogue import find_player


@pytest.mark.parametrize("ending", EACH_LANGUAGE)
def test_lim17_is_the_same_in_every_language(ending):
    """The same seed, the same table: the event logs are equal to those of Lim 17 in this process."""
    rounds = 4 if ending in (".java", ".js") else 40
    inside = find_player("lim17", named_rules("cardshark"))
    with open_bot(SAMPLES / f"lim17{ending}", sandbox="auto", timeout=20.0) as bot:
        assert play([inside, bot, inside, bot], rounds) == play([inside] * 4, rounds)
        assert not bot.faults


@needs(".py")
def test_the_exported_chart_plays_as_the_chart_does(tmp_path):
    chart = find_player("optimal", named_rules("cardshark"))
    (tmp_path / "optimal.py").write_text(export(chart))
    with open_bot(tmp_path / "optimal.py", sandbox="auto", timeout=20.0) as bot:
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


@needs(".py")
def test_an_exported_chart_gives_up_where_it_could_not_pay_a_double(tmp_path):
    """With fewer chips left than its stake, in a game of raises and surrender."""
    rules = named_rules("cardshark").replace(surrender="late")
    chart, path = find_player("optimal", rules), tmp_path / "exported.py"
    path.write_text(export(chart))
    views = [situation(rules, hand, card, chips=rules.buy_in + 5).view for hand in ("T6", "65") for card in "T6"]
    with open_bot(path, sandbox="auto", timeout=20.0) as bot:
        assert [bot.decide(view) for view in views] == [chart.decide(view) for view in views]
    assert chart.decide(views[0]).letter == "R"


def test_an_exported_chart_says_what_it_is():
    written = export(find_player("optimal", named_rules("cardshark")))
    assert written.startswith(
        '"""optimal, a chart for cardshark, as a bot: exact values of the finite shoe (bjsim.strategies.shoe).\n\n'
        "Written by `bjsim bot export`. The arguments and the moves are described at the top of the sample lim17.py.\n"
        '"""\n\nimport sys\n\n# Moves against 23456789TA: FIRST on the first move; LATER on all others, and in '
        'place of a double that it cannot pay.\nFIRST = {\n    "hard 4": "HHHHHHHHHH",\n'
    )


def test_no_name_of_a_chart_is_code():
    lim17 = find_player("lim17", named_rules("cardshark"))
    about = 'a\\xb"""; print("S")\n\0\udcff.txt'
    strange, plain = (ast.parse(export(chart)) for chart in (replace(lim17, name=about, source=about), lim17))
    assert ast.get_docstring(strange, clean=False).count(about) == 2
    assert list(map(ast.dump, strange.body[1:])) == list(map(ast.dump, plain.body[1:]))


FOLLOW = "a bot does not see enough to follow a chart for it; use"


@pytest.mark.parametrize(
    ("preset", "fields", "said"),
    [
        ("easy", {}, FOLLOW),
        ("vegas-s17", {}, FOLLOW),
        ("neller-v1", {}, FOLLOW),
        ("cardshark", {"double_cards": "any", "surrender": True, "raises": False},
         "surrender = late: with double_cards = any, a bot does not see enough"),
        ("vegas-s17", {"split_by": "never", "attack": True, "deal": "dppd"}, f"attack = true: {FOLLOW} attack = "),
        ("vegas-s17", {"split_by": "never", "max_doubles": 2}, f"max_doubles = 2: {FOLLOW} max_doubles = "),
        ("vegas-s17", {"split_by": "never", "surrender": "late", "surrender_after_double": True},
         f"surrender_after_double = true: {FOLLOW} surrender_after_double = "),
        ("vegas-s17", {"split_by": "never", "surrender": "late", "surrender_cards": "any"},
         f"surrender_cards = any: {FOLLOW} surrender_cards = "),
    ],
)  # fmt: skip
def test_a_chart_that_a_bot_could_not_follow_is_refused(preset, fields, said):
    with pytest.raises(InputError, match=said):
        export(find_player("optimal", named_rules(preset).replace(**fields)))


@needs(".py")
def test_the_bettor_raises_with_its_score_and_once_only():
    with open_bot(TEST_BOTS / "bettor.py", sandbox="auto", timeout=20.0) as bot:
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
    host = begin(tmp_path, [SAMPLES / "counter_line.py", "lim17", "optimal"], sandbox="auto", seed=5, matches=2)
    host.run()
    header, *records = journal.read(tmp_path)
    assert not any(record.get("faults") for record in rounds_in(tmp_path))
    asked = 0
    for match in range(2):
        rounds = records[match]["rounds"]
        seen, dealt, current = "", 0, False
        for question in questions(host.contest, rounds, protocols(header)):
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


@needs(".py")
@pytest.mark.parametrize("preset", ["vegas-s17", "spanish-21", "neller"])
def test_the_line_counter_plays_games_with_insurance_or_without_tens_or_an_end(bot, preset):
    """neller has an infinite shoe."""
    check = check_match(bot("x.py", (SAMPLES / "counter_line.py").read_text(), timeout=20.0), named_rules(preset))
    assert not check.faults and all(check.passed.values())


@needs(".c")
@pytest.mark.slow
def test_the_line_counter_beats_the_bots_without_memory(tmp_path):
    """Separated from all of them, simultaneously at 95% and at any time, after 246 matches."""
    samples = [SAMPLES / name for name in ("counter.c", "lim17.py")]
    (tmp_path / "optimal.py").write_text(export(find_player("optimal", named_rules("cardshark"))))
    bots = [SAMPLES / "counter_line.py", TEST_BOTS / "bettor.py", *samples, tmp_path / "optimal.py"]
    standings = begin(tmp_path / "contest", bots, 2, "auto", seed=12, matches=400, until="decided").run()
    assert standings.decided and standings.rows()[0].name == "counter_line"
    assert not any(score.faults for score in standings.scores)


# --- Bots in the style of 2011: bets with a fraction, card counting in C before C99; and Python 2.


FRACTION = """
import sys

score, stake = int(sys.argv[1]), int(sys.argv[4])
if score <= 14:
    print("H")
elif stake > 10:
    print("S")
else:
    print("B", 150 * score / 21)
"""
COUNTER = r"""
/* Uses the mean of the unseen cards. It does not declare atoi, which compilers of the time accepted. */
#include <stdio.h>
#include <string.h>

static int points_of(char card, int ace)
{
    const char *low = strchr("123456789", card);
    return card == '#' ? 0 : card == 'A' ? ace : low ? card - '0' : 10;
}

int main(int argc, char **argv)
{
    int score = atoi(argv[1]), stake = atoi(argv[4]), chips = atoi(argv[5]);
    int ace = score > 10 ? 1 : 11, points = 0, cards = 0, backs = 0;
    const char *seen;

    for (seen = argv[3]; *seen; seen++) {
        if (cards == 0) {
            cards = 52;
            points += 4 * (44 + 40 + ace);
        }
        points -= points_of(*seen, ace);
        cards--;
        backs += *seen == '#';
    }
    if (chips > 0 && chips < 10)
        printf("B %d\n", chips);
    else if (strlen(argv[2]) == 2 && stake == 10 && chips >= 10 && (score == 10 || score == 11))
        puts("D");
    else
        puts(score + (double)points / (cards + backs) <= 21 || score <= 14 ? "H" : "S");
    return 0;
}
"""
PYTHON_2 = """
import sys
if int(sys.argv[1]) < 17:
    print "H"
else:
    print "S"
"""


@needs(".c")
@needs(".py")
@pytest.mark.parametrize("hands", [60, pytest.param(1500, marks=pytest.mark.slow)])
def test_they_play_without_a_fault(tmp_path: Path, hands: int) -> None:
    rules = named_rules("cardshark")
    (tmp_path / "fraction.py").write_text(FRACTION)
    (tmp_path / "counter.c").write_text(COUNTER)
    names = [str(path) for path in (SAMPLES / "lim17.py", tmp_path / "fraction.py", tmp_path / "counter.c")]
    options = BotOptions("auto", 60.0, False, None)
    programs = [ProgramFile(name).start(options) for name in names]
    try:
        progress = Driver(make_experiment(rules, [*programs, find_player("lim17", rules)], hands, 1)).run()
        assert [program.faults for program in programs] == [{}, {}, {}]
    finally:
        for program in programs:
            program.close()
    stakes = [{abs(net) for net, _ in tally.counts} for tally in progress.tallies]
    assert [tally.rounds for tally in progress.tallies] == [hands] * 4
    assert stakes[0] == stakes[3] == {10}
    assert stakes[1] <= {10, *(10 + 150 * score // 21 for score in range(15, 22))} and 10 + 142 in stakes[1]
    assert 20 in stakes[2], "it doubles"


@needs(".py")
def test_a_bot_in_python_2_gets_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "old.py"
    path.write_text(PYTHON_2)
    checked = bjsim("bot", "check", path)
    assert checked.status == 1 and "it looks like Python 2" in checked.err
    with open_bot(path, cold=True, sandbox="auto") as player:
        player.decide(a_view())
        (fault,) = player.first_faults.values()
    assert fault.kind == "crash" and "it looks like Python 2" in fault.detail


@pytest.mark.parametrize(
    ("said", "old"),
    [
        ("SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?", True),
        ("NameError: name 'raw_input' is not defined", True),
        ("TypeError: unsupported operand type(s) for >>: 'builtin_function_or_method' and '_io.TextIOWrapper'", True),
        ("SyntaxError: multiple exception types must be parenthesized", True),
        ("SyntaxError: '(' was never closed", False),
        ("NameError: name 'score' is not defined", False),
        ("", False),
    ],
)
def test_python_2_is_known_by_what_python_3_says(said: str, old: bool) -> None:
    fault = classify_reply(Reply("exit", 1, 10, b"", said.encode()), a_view())
    assert ("it looks like Python 2" in fault.detail) == old  # type: ignore[union-attr]

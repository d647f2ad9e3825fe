"""The sample bots play as described, in every language."""

import pytest
from bot_helpers import SAMPLES, Scripted, a_view, lim17, needs, play

from bjsim.bots.export import export
from bjsim.bots.player import open_bot
from bjsim.bots.sandbox.languages import LANGUAGES
from bjsim.errors import InputError
from bjsim.sim.game.actions import HIT, STAND, Action
from bjsim.sim.game.presets import named_rules
from bjsim.strategies.players.find import find_player

ENDINGS = [pytest.param(row.endings[0], marks=needs(row.endings[0])) for row in LANGUAGES]


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
    with pytest.raises(InputError, match="cannot be a bot"):
        export(find_player("optimal", named_rules(preset)))


def test_a_hand_of_three_cards_that_doubles_but_does_not_surrender_is_refused():
    rules = named_rules("cardshark").replace(double_cards="any", surrender=True, raises=False)
    with pytest.raises(InputError, match="surrender = late cannot be a bot"):
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

"""`CountCoach`: what is right at a count, and what another action costs, against the typical shoe at that count.

And the count of a player at the table: only cards that are shown are counted.
"""

from fractions import Fraction

import pytest

from bjsim.errors import InputError
from bjsim.sim.game.actions import HIT, STAND, Action, View
from bjsim.sim.game.events import Dealt, Event, Peeked, Revealed, Settled, Shuffled
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.counting.count_coach import CountCoach, TableCount
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.counting.typical import typical_shoe
from bjsim.strategies.evaluation.coach import Coach
from bjsim.strategies.shoe.present import action_values

RULES = load_rules("vegas-s17").replace(insurance=True)


@pytest.fixture(scope="module")
def coach():
    return CountCoach(TableCount(find_system("hilo"), RULES), RULES)


def seen(coach, cards):
    """The coach after cards of the shoe; a new count every time."""
    coach.count = TableCount(find_system("hilo"), RULES)
    coach.count.see([Dealt(card, 0) for card in cards])
    return coach


def view(hand, dealer, legal="SH"):
    return View(RULES, 0, hand, dealer, dealer + "#" + hand, RULES.buy_in, RULES.chips, legal)


@pytest.mark.parametrize(("cards", "right"), [("2" * 24 + "3" * 20, "S"), ("T" * 44, "H"), ("7" * 24 + "8" * 20, "S")])
def test_sixteen_against_ten_depends_on_the_count(coach, cards, right):
    wrong = {"S": HIT, "H": STAND}[right]
    judgement = seen(coach, cards).judge(view("T6", "T"), wrong)
    assert judgement.chart == judgement.best == right if coach.count.true else judgement.chart == "S"
    assert judgement.is_mistake == bool(judgement.cost > 0)
    assert not coach.judge(view("T6", "T"), Action(right)).is_mistake


@pytest.mark.parametrize(("cards", "insured"), [("23456" * 9, True), ("", False), ("T" * 30, False)])
def test_insurance_costs_what_the_expected_tens_say(coach, cards, insured):
    judgement = seen(coach, cards).judge(view("T5", "A", "IS"), Action("S" if insured else "I"))
    unseen, running = 312 - len(cards), int(coach.count.running)
    # by hand: of the tags +1, 0, -1 with 5, 3, 5 of 13 ranks, the tens are 4 of the 5 ranks of -1
    mean = Fraction(-running, unseen)
    tens = float(Fraction(4, 13) * (1 - mean * Fraction(13, 10)))
    assert judgement.values["I"] == pytest.approx((3 * tens - 1) / 2, abs=1e-12)
    assert (judgement.values["I"] > 0) == insured and judgement.is_mistake


def test_values_are_those_of_the_typical_shoe(coach):
    judgement = seen(coach, "2345" * 13).judge(view("T6", "9", "SHD"), STAND)
    shoe = typical_shoe(find_system("hilo"), 6, 312 - 52, float(coach.count.running) / 5)
    expected = action_values(View.alone(RULES, "T6", "9", "SHD"), shoe.ranks)
    assert judgement.values == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "hand", "dealer", "given", "right"),
    [
        ("free-bet", "98", "9", {"legal": "SH", "split": True, "free": True}, "H"),  # 17/free is hit, 17 is not
        ("free-bet", "98", "9", {"legal": "SH", "split": True}, "S"),
        ("super-fun-21", "853", "9", {"legal": "SR", "doubled": 1}, "R"),  # 16 that may be rescued
        pytest.param("spanish-21", "56A4", "T", {"legal": "SR", "doubled": 1}, "R", marks=pytest.mark.slow),
    ],
)
def test_a_free_or_doubled_hand_has_rows_of_its_own(name, hand, dealer, given, right):
    rules = load_rules(name)
    coach = CountCoach(TableCount(find_system("hilo"), rules), rules)
    question = View(rules, 0, hand, dealer, dealer + "#" + hand, rules.buy_in, rules.chips, **given)
    found, full = (one.judge(question, STAND) for one in (coach, Coach(rules)))
    assert found.chart == full.chart == found.best == right
    assert found.values == pytest.approx(full.values, abs=0.02)


@pytest.mark.parametrize(
    "before",  # what comes before the dealer looks for a natural, where ace and ten are shown
    [
        {},
        pytest.param({"surrender": "early"}, marks=pytest.mark.slow),
        pytest.param({"deal": "pdp", "peek": False, "no_hole_loses": "original"}, marks=pytest.mark.slow),
    ],
)
def test_nothing_seen_is_nearly_the_coach_of_the_full_shoe(before):
    rules = RULES.replace(**before)
    coach, plain = CountCoach(TableCount(find_system("hilo"), rules), rules), Coach(rules)
    for hand, dealer in (("T6", "T"), ("88", "9"), ("A7", "A"), ("95", "2")):
        legal = "SHDP" if hand[0] == hand[1] else "SHD"
        legal += "R" if "surrender" in before and dealer in "AT" else ""
        question = view(hand, dealer, legal)._replace(rules=rules)
        found, full = (each.judge(question, HIT) for each in (coach, plain))
        assert found.values == pytest.approx(full.values, abs=0.02)
        assert found.values.get("R", -0.5) == pytest.approx(-0.5) == full.values.get("R", -0.5)
        assert found.cell is None  # what is missed at a count is no weakness of the chart


DEAL: list[Event] = [Dealt("2", 0), Dealt("9"), Dealt("6", 0), Dealt("A", face_down=True)]


@pytest.mark.parametrize(
    ("then", "running"),
    [
        ([], 2),  # the ace was not shown
        ([Peeked(natural=False)], 2),
        ([Peeked(natural=True), Revealed("A")], 1),
        ([Dealt("5", 0), Revealed("A"), Dealt("K")], 1),  # 2 + 1 - 1 - 1
        ([Shuffled(), Dealt("K", 0)], -1),
        ([Shuffled(), Dealt("K", 0), Revealed("A")], -1),  # of the shoe before
    ],
)
def test_the_cards_that_are_counted(then: list[Event], running: int) -> None:
    count = TableCount(find_system("hilo"), RULES)
    count.see([*DEAL, *then])
    assert count.running == running


def test_true_counts_are_by_half_decks() -> None:
    """Of 312 cards, 90 low ones are gone: 222 are left, 4.27 decks or nine half decks; 90 / 4.5 = 20."""
    count = TableCount(find_system("hilo"), RULES)
    for _ in range(9):
        count.see([Dealt("5", 0)] * 10)
    assert (count.running, count.decks_unseen, count.true) == (90, Fraction(9, 2), 20)
    count.see([Dealt("T", 0)])
    assert count.true == 19  # 89 / 4.5 = 19.8, rounded down
    count.see([Shuffled()])
    assert (count.running, count.decks_unseen, count.true) == (0, 6, 0)


def test_a_running_count_starts_where_its_system_does() -> None:
    count = TableCount(find_system("ko"), RULES)
    count.see(DEAL)
    assert count.running == 4 - 4 * 6 + 2 and not count.system.uses_true_count


def test_cards_that_cannot_be_counted() -> None:
    with pytest.raises(InputError, match="cannot be counted in an infinite shoe"):
        TableCount(find_system("hilo"), load_rules("easy"))


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(load_rules("double-exposure").replace(decks=1), id="both cards shown", marks=pytest.mark.slow),
        pytest.param(load_rules("single-deck").replace(split_by="never"), id="no splits"),
    ],
)
def test_a_game_without_hands_of_the_illustrious_has_plays_too(rules):
    coach = CountCoach(TableCount(find_system("hilo"), rules), rules)
    assert any(play.row == "16" for play in coach.departures.plays)


@pytest.mark.parametrize(("timing", "right"), [("decision", "S"), ("round", "I")])
def test_a_system_may_decide_by_the_count_before_the_round(timing, right):
    """At +3, a ten and the dealer's ace make it +2."""
    system = find_system("hilo").replace(timing=timing)
    coach = CountCoach(TableCount(system, RULES), RULES)
    coach.count.see([Dealt(card, 0) for card in "2" * 16 + "8" * 26] + [Settled(0, 0, Fraction(1), Fraction(0))])
    assert coach.count.decision == 3
    coach.count.see([Dealt(card, 0) for card in "TA"])
    assert coach.judge(view("T6", "A", "IS"), STAND).chart == right
    coach.count.see([Settled(0, 0, Fraction(1), Fraction(0))])
    assert coach.count.decision == 2

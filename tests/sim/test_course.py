"""What happens against an open card, as data, against rounds that are played; and who may read the rule of the peek."""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path

import pytest

import bjsim
from bjsim.sim.game.actions import INSURANCE, Action
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.dealer import Course, course
from bjsim.sim.game.events import Peeked
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules, RulesError
from bjsim.sim.game.shoe import ScriptedShoe

VEGAS, EUROPEAN = (named_rules(name).replace(insurance=False) for name in ("vegas-s17", "european"))
SECONDS = "A6TK"
# Rules that say nothing about the open card, set so that only a natural beats a 21 of three cards, and so that a seat
# may double and split.
PLAIN = {
    "bonuses": "none", "charlie": "none", "dealer_22_pushes": False, "player_21_wins": False, "ties": "push",
    "raises": False, "double_on": "any", "double_cards": "two", "split_by": "value", "max_hands": 2,
    "max_ace_hands": "none", "surrender_after_split": False, "seats": 1, "free_doubles": "none", "free_splits": "none",
    "attack": False, "exchange": "none", "max_doubles": 1, "surrender_after_double": False, "insurance": False,
    "natural_beats_21": True,
}  # fmt: skip
CHANGES: tuple[dict[str, object], ...] = (
    {},
    {"insurance": True},
    {"surrender": "late"},
    {"surrender": "early"},
    {"surrender": "early-ten", "insurance": True},
    {"surrender": "early-ace"},
    {"peek": False, "surrender": "none"},
    {"peek": False, "surrender": "late", "no_hole_loses": "original"},
    {"peek": False, "surrender": "none", "no_hole_loses": "busted-plus-one", "insurance": True},
    {"peek": False, "surrender": "none", "naturals": "player", "insurance": False, "no_hole_loses": "all"},
)
TAKEN = {  # of a doubled hand; of a pair, one bust; of a pair that stands
    (-2, -2, -2): "all",
    (-1, -1, -1): "original",
    (-1, -2, -1): "busted-plus-one",
    (-1, -2, -2): "original-and-busted",
}


def played(rules: Rules, dealer: str, hand: str, later: str, letters: str) -> tuple[Fraction, str, bool]:
    """Play a seat's hand by these letters and stand afterwards, without insurance.

    Returns: the profit; I and H for each question about insurance and the hand; whether a natural ended the round.
    """
    cards = {"p": list(hand), "d": list(dealer)}
    dealt = [cards[letter].pop(0) for letter in rules.deal]
    table = Round(rules, ScriptedShoe(" ".join([*dealt, *later, *cards["d"], *"TTTTTT"])), 1)
    steps, script, asked = table.steps(), iter(letters), ""
    try:
        question = next(steps)
        while True:
            insurance = question.view.legal == INSURANCE
            asked += "I" if insurance else "H"
            question = steps.send(Action("S" if insurance else next(script, "S")))
    except StopIteration as end:
        return end.value.net[0], asked, Peeked(True) in table.events


def played_course(rules: Rules, up: str) -> Course:
    """What happens against an open card, from rounds that are played."""
    rounds = {second: played(rules, up + second, "56", "T", "H") for second in SECONDS}
    beaten = [second for second in SECONDS if rounds[second][0] < 0]  # a 21 of three cards
    if not beaten:
        assert not any("I" in asked or ended for _, asked, ended in rounds.values())
        return Course("", False, -1, "")
    assert beaten in (["A"], ["T", "K"])
    _, asked, looks = rounds[beaten[0]]
    assert {asked, *(rounds[second][1] for second in beaten)} == {asked}
    hands = (("56", "2", "D"), ("88", "9T9", "PH"), ("88", "99", "P"))
    double, bust, pair = (int(played(rules, up + beaten[0], *hand)[0]) for hand in hands)
    takes = "all" if looks else TAKEN[double, bust, pair]
    before = "I" * ("I" in asked) + "R" * (looks and "H" in asked)
    return Course(before, looks, RANKS.index(beaten[0]), takes)


def games() -> list[Rules]:
    found = []
    for preset in PRESETS.values():
        for change in CHANGES:
            try:
                found.append(preset.rules.replace(**{**PLAIN, **change}))
            except RulesError:
                continue
    return found


def test_the_course_is_what_the_readable_round_plays() -> None:
    found, kinds = games(), set()
    for rules in found:
        for up, card in enumerate(RANKS):
            expected = played_course(rules, card)
            assert course(rules, up) == expected, f"{rules.name} {card}"
            kinds.add(expected)
    assert (len(found), len(kinds)) == (178, 16)


def test_a_wrong_course_is_noticed() -> None:
    early = VEGAS.replace(surrender="early", insurance=True)
    for change in ({"surrender": "late"}, {"insurance": False}, {"surrender": "late", "peek": False}):
        assert played_course(early.replace(**change), "A") != course(early, 0)


@pytest.mark.parametrize(
    ("rules", "up", "expected"),
    [
        (VEGAS, "A", Course("", True, TEN, "all")),
        (VEGAS, "K", Course("", True, 0, "all")),
        (VEGAS, "9", Course("", False, -1, "")),
        (VEGAS.replace(insurance=True, surrender="early"), "A", Course("IR", True, TEN, "all")),
        (VEGAS.replace(insurance=True, surrender="early"), "T", Course("R", True, 0, "all")),
        (VEGAS.replace(insurance=True, surrender="early-ten"), "A", Course("I", True, TEN, "all")),
        (EUROPEAN.replace(no_hole_loses="original"), "A", Course("", False, TEN, "original")),
        (VEGAS.replace(peek=False, naturals="player"), "A", Course("", False, -1, "")),
    ],
)
def test_courses_in_full(rules: Rules, up: str, expected: Course) -> None:
    assert course(rules, RANKS.index(up)) == expected


def test_only_the_card_that_completes_a_natural_ends_a_round_and_only_where_the_dealer_looks() -> None:
    against_ace, against_king = course(VEGAS, 0), course(VEGAS, RANKS.index("K"))
    assert [card for card in RANKS if against_ace.ends(RANKS.index(card))] == list("TJQK")
    assert [card for card in RANKS if against_king.ends(RANKS.index(card))] == ["A"]
    assert not any(course(EUROPEAN, 0).ends(second) for second in range(len(RANKS)))


# --- one owner

SOURCE = Path(bjsim.__file__).parent
OWNERS = {  # who may read these: the course, the readable round, and what is accepted and needed of the rules
    "peek": {
        "sim/game/dealer.py", "sim/game/round.py", "sim/game/seats.py", "sim/game/rule_text.py", "sim/game/support.py",
        "strategies/evaluation/known.py",  # refuses games without a look
    },
    "EARLY_SURRENDER": {
        "sim/game/dealer.py", "sim/game/round.py", "sim/game/rule_text.py", "sim/game/support.py",
    },
}  # fmt: skip


def names_read(source: str) -> set[str]:
    """The names and attributes that a module reads."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute | ast.Name)]
    return {
        node.id if isinstance(node, ast.Name) else node.attr for node in nodes if not isinstance(node.ctx, ast.Store)
    }


@pytest.mark.parametrize("name", OWNERS)
def test_who_reads_the_rule_of_the_peek(name: str) -> None:
    files = {str(path.relative_to(SOURCE).as_posix()): path.read_text("utf-8") for path in SOURCE.rglob("*.py")}
    assert {path for path, source in files.items() if name in names_read(source)} == OWNERS[name]

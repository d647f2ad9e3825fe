"""Decisions as text, and answers as actions: a table of tricky ones, and every decision of a game there and back."""

from __future__ import annotations

import pytest

from bjsim.errors import InputError
from bjsim.sim.game.actions import ATTACK, EXCHANGE, INSURANCE, LETTERS, NAMES, View
from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.learning.observations import parse_answer, write_prompt

EASY = PRESETS["easy"].rules


def view(legal: str, hand: str = "T6", dealer: str = "9", split: bool = False, hands: int = 1) -> View:
    return View(EASY, 0, hand, dealer, f"{dealer}#{hand}", 10, 90, legal, split, hands)


@pytest.mark.parametrize(
    ("seen", "prompt"),
    [
        (view("SHD"), "You hold 10 and 6 (hard 16). The dealer shows a 9. You may stand, hit or double. "),
        (view("SH", "A24", "A"), "You hold ace, 2 and 4 (soft 17). The dealer shows an ace. You may stand or hit. "),
        (view("S", "KQ", "8"), "You hold king and queen (hard 20). The dealer shows an 8. You may stand. "),
        (
            view("SHP", "88", "T6", split=True, hands=2),
            "You hold 8 and 8 (hard 16). The hand comes from a split; you have 2 hands. "
            "The dealer shows 10 and 6 (hard 16). You may stand, hit or split. ",
        ),
        (
            view(INSURANCE, "J9", "A"),
            "You hold jack and 9 (hard 19). The dealer shows an ace. You may insure or decline. ",
        ),
    ],
)
def test_prompts(seen: View, prompt: str) -> None:
    assert write_prompt(seen) == prompt + "Answer with one word."


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("H", "H"),
        (" h.\n", "H"),
        ("**Hit**", "H"),
        ("(S)", "S"),
        ("I would hit", "H"),
        ("I'd double down here.", "D"),
        ("Action: double", "D"),
        ("action = P", "P"),
        ("**Action:** Hit", "H"),
        ("Final answer: *stand*.", "S"),
        ("The best move is to split.", "P"),
        (r"Standing loses more often than hitting. \boxed{H}", "H"),
        ("<think>Hit or stand? Never split tens.</think><answer>stand</answer>", "S"),
        ("Action: hit\nWait, the dealer is weak.\nAction: stand", "S"),
        ("Action: surrender (hitting loses 0.54)", "R"),
        ("My answer is hit because if I stand I lose.", "H"),
        ("The dealer stands on 17 and hits 16, so: hit.", "H"),
        ("Let me double-check. Sixteen against nine: hit.", "H"),
        ("I understand. Stick.", "S"),
        ("stay", "S"),
        ("HITTING", "H"),
        ("Hit, hit, hit!", "H"),
    ],
)
def test_answers_name_an_action(answer: str, letter: str) -> None:
    assert parse_answer(answer, view("SHDPR")) == LETTERS.index(letter)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "names no action"),
        ("Seventeen.", "names no action"),
        ("I", "names no action"),
        ("X", "names no action"),
        ("whitelist", "names no action"),
        ("Hit or stand?", "names several actions"),
        ("Action: hit or stand", "names several actions"),
        ("If the dealer must stand, I hit.", "names several actions"),
        ("I would not hit.", "says what not to do"),
        ("Don\u2019t stand", "says what not to do"),
        ("Never hit.", "says what not to do"),
        ("Hit rather than stand", "says what not to do"),
        ("Answer: not hit", "says what not to do"),
        ("Action: the usual", "names no action"),
        ("Split", r"is not legal here \(split\)"),
        ("P", r"is not legal here \(split\)"),
        ("insure", r"is not legal here \(insure\)"),
    ],
)
def test_other_answers_are_refused(answer: str, problem: str) -> None:
    with pytest.raises(InputError, match=f"{problem}; accepted is one of stand, hit, double$"):
        parse_answer(answer, view("SHD"))


@pytest.mark.parametrize(
    ("answer", "action"),
    [("insure", 5), ("I", 5), ("Yes.", 5), ("I take insurance", 5), ("decline", 0), ("No", 0), ("No insurance!", 0)],
)
def test_answers_on_insurance(answer: str, action: int) -> None:
    assert parse_answer(answer, view(INSURANCE, dealer="A")) == action


@pytest.mark.parametrize(
    "answer", ["hit", "yes or no", "No insurance? I insure", "I don't decline", "H", "insure or decline"]
)
def test_other_answers_on_insurance_are_refused(answer: str) -> None:
    with pytest.raises(InputError, match=r"accepted is one of insure, decline$"):
        parse_answer(answer, view(INSURANCE, dealer="A"))


def test_every_legal_action_is_understood_by_its_name_and_letter() -> None:
    for legal in ("S", "SH", "SHD", "SHDP", "SHDPR"):
        for letter in legal:
            number = LETTERS.index(letter)
            assert parse_answer(NAMES[letter], view(legal)) == parse_answer(letter, view(legal)) == number
            assert NAMES[letter] in write_prompt(view(legal))


def test_how_much_to_raise_is_not_asked_for() -> None:
    seen = view("SHDB")
    assert "You may stand, hit or double. " in write_prompt(seen)
    with pytest.raises(InputError, match=r"accepted is one of stand, hit, double$"):
        parse_answer("raise", seen)


@pytest.mark.parametrize("legal", [ATTACK, EXCHANGE])
def test_what_has_no_prompt_is_refused(legal: str) -> None:
    for ask in (lambda: write_prompt(view(legal, hand="")), lambda: parse_answer("stand", view(legal))):
        with pytest.raises(InputError, match="attacks and exchanges have no prompt"):
            ask()

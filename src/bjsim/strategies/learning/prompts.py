"""Decisions as text for a language model: a prompt in plain English, and the action that an answer names.

An answer is not guessed at: one that names two actions, or says what not to do, is an error. If it states its action,
as in `Action: hit`, only that counts.
"""

from __future__ import annotations

import re

from bjsim.errors import InputError, shorten
from bjsim.sim.game.actions import INSURANCE, LETTERS, NAMES, View
from bjsim.sim.game.cards import count_points, parse_rank

CARDS = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
WORDS = {  # not `stands` and `hits`, which the dealer does
    "S": r"stand(?:ing)?|stick(?:ing)?|stay(?:ing)?",
    "H": r"hit(?:ting)?",
    "D": r"doubl(?:e|ing)(?![- ]check)",
    "P": r"split(?:ting)?",
    "R": r"surrender(?:ing)?",
    "I": r"insur(?:e|ing|ance)",
}
INSURANCE_WORDS = {"S": rf"declin(?:e|ing)|no|{WORDS['S']}", "I": rf"yes|{WORDS['I']}"}
NEGATION = re.compile(r"\b(?:not|never|cannot|avoid|instead of|rather than|dont|\w+n't)\b")
STATED = re.compile(r"\b(?:action|answer|decision|move)\W*(?::|=|\bis\b)|\\boxed\{|<(?:action|answer)>")
ENDS = re.compile(r"[.;(}<\n]|\b(?:because|since)\b")  # of what is stated


def write_prompt(view: View) -> str:
    """Describe a decision in plain English, in a few short sentences, and ask for one word."""
    hand = f"You hold {_cards(view.hand)}."
    if view.split:
        hand += f" The hand comes from a split; you have {view.hands} hands."
        hand += " The house put up the bet on this one." if view.free else ""
    if view.doubled:
        hand += f" It has doubled; its stake is {2**view.doubled} bets."
    names = ["insure", "decline"] if view.legal == INSURANCE else [NAMES[letter] for letter in view.legal]
    choice = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return f"{hand} The dealer shows {_cards(view.dealer)}. You may {choice}. Answer with one word."


def parse_answer(answer: str, view: View) -> int:
    """Return the number of the action that an answer names, in words or as a single letter.

    `answer` is such as `H`, `I would hit.`, or any reasoning that ends with `Action: double`, where the last
    action stated like this counts. No action, several, a negated or an illegal one is an InputError.
    """
    text = answer.lower().replace("\u2019", "'")
    if stated := [match.end() for match in STATED.finditer(text)]:
        text = ENDS.split(text[stated[-1] :].lstrip(), maxsplit=1)[0]
    words = INSURANCE_WORDS if view.legal == INSURANCE else WORDS
    text = text.replace("no insurance", "decline")
    found = {letter for letter, pattern in words.items() if re.search(rf"\b(?:{pattern})\b", text)}
    alone = re.sub(r"[\W_]", "", text).upper()
    if len(alone) == 1 and alone in (INSURANCE if words is INSURANCE_WORDS else LETTERS):
        found = {alone}
    names = NAMES | ({"I": "insure", "S": "decline"} if words is INSURANCE_WORDS else {"I": "insure"})
    accepted = ", ".join(names[letter] for letter in view.legal)
    if NEGATION.search(text):
        problem = "says what not to do"
    elif len(found) != 1:
        problem = "names several actions" if found else "names no action"
    elif not found <= set(view.legal):
        problem = f"is not legal here ({names[min(found)]})"
    else:
        return (LETTERS + INSURANCE[0]).index(min(found))
    raise InputError(f"the answer {shorten(answer)!r} {problem}; accepted is one of {accepted}")


def _cards(letters: str) -> str:
    """Cards in words, with their points if there are several: `10 and 6 (hard 16)`."""
    names = [CARDS.get(letter, letter) for letter in letters]
    if len(names) == 1:
        return f"{'an' if letters in 'A8' else 'a'} {names[0]}"
    points, soft = count_points([parse_rank(letter) for letter in letters])
    return f"{', '.join(names[:-1])} and {names[-1]} ({'soft' if soft else 'hard'} {points})"

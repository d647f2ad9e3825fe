"""Whole rounds, event by event, derived by hand from docs/reference/rules.md and not from program output."""

from __future__ import annotations

from fractions import Fraction

import pytest
from support.table import line, play_script, transcript

from bjsim.sim.game.presets import named_rules

# name: (preset, fields changed, cards in the order they are drawn, answers of each seat, events, profits, tied)
ROUNDS = {
    "easy: a pair resplit to the limit of four hands; a double after a split; the dealer ties one of them": (
        "easy", {}, "T6 88  8 3 T  8 2 9  8  A  5", ["P, P, D, P, H, S, S, S"],
        """
        dealer card T, card 6
        0.0 card 8, card 8, action P, card 8, action P, card 3, action D, card T, end stood
        0.1 card 8, action P, card 2, action H, card 9, action S, end stood
        0.2 card 8, action S, end stood
        0.3 card A, action S, end stood
        dealer card 5
        0.0 paid 0
        0.1 paid -1
        0.2 paid -1
        0.3 paid -1
        """,
        [-3], [0],
    ),
    "easy: split aces get one card each, are not split again, and their 21 is an ordinary one": (
        "easy", {}, "98 AA A K", ["P"],
        """
        dealer card 9, card 8
        0.0 card A, card A, action P, card A, end stood
        0.1 card K, end 21
        0.0 paid -1
        0.1 paid 1
        """,
        [0], [0],
    ),
    "easy: surrender, and the dealer draws no card": (
        "easy", {}, "T5 T6", ["R"],
        """
        dealer card T, card 5
        0.0 card T, card 6, action R, end surrendered, paid -1/2
        """,
        [Fraction(-1, 2)], [0],
    ),
    "easy: two naturals push": (
        "easy", {}, "AK QA", [""],
        """
        dealer card A, card K
        0.0 card Q, card A, end natural
        dealer peek natural
        0.0 paid 0
        """,
        [0], [0],
    ),
    "easy: the player's natural pays 3:2, the other seat plays on; the dealer hits soft 17": (
        "easy", {"seats": 2}, "A6 A9 TK 4", ["", "S"],
        """
        dealer card A, card 6
        0.0 card A
        1.0 card 9
        0.0 card T
        1.0 card K
        0.0 end natural
        1.0 action S, end stood
        dealer card 4
        0.0 paid 3/2
        1.0 paid -1
        """,
        [Fraction(3, 2), -1], [0, 0],
    ),
    "easy: a bust is lost at once, and the dealer draws no card": (
        "easy", {}, "T5 T6 8", ["H"],
        """
        dealer card T, card 5
        0.0 card T, card 6, action H, card 8, end bust, paid -1
        """,
        [-1], [0],
    ),
    "blackjack-p: the player's natural wins even against the dealer's": (
        "blackjack-p", {}, "A K T A", [""],
        """
        0.0 card A
        dealer card K
        0.0 card T
        dealer hidden A
        0.0 end natural
        dealer shown A
        0.0 paid 3/2
        """,
        [Fraction(3, 2)], [0],
    ),
    "blackjack-p: there is no peek, so a doubled bet is lost to the dealer's natural, a 21 against it too": (
        "blackjack-p", {}, "6 T 5 A  T", ["D"],
        """
        0.0 card 6
        dealer card T
        0.0 card 5
        dealer hidden A
        0.0 action D, card T, end stood
        dealer shown A
        0.0 paid -2
        """,
        [-2], [0],
    ),
    "blackjack-p: ace and ten after splitting tens are naturals": (
        "blackjack-p", {}, "T 9 Q 9  A  3 9", ["P, H"],
        """
        0.0 card T
        dealer card 9
        0.0 card Q
        dealer hidden 9
        0.0 action P, card A, end natural
        0.1 card 3, action H, card 9, end bust
        dealer shown 9
        0.0 paid 3/2
        0.1 paid -1
        """,
        [Fraction(1, 2)], [0],
    ),
    "vegas: a dealer's natural under an ace is seen before anybody can double": (
        "vegas-s17", {"decks": "inf", "insurance": False}, "6 A 5 K", [""],
        """
        0.0 card 6
        dealer card A
        0.0 card 5
        dealer hidden K, peek natural, shown K
        0.0 paid -1
        """,
        [-1], [0],
    ),
    "vegas: no natural under the ten; a 21 stands by itself, the dealer stands on soft 17": (
        "vegas-s17", {"decks": "inf"}, "6 6 5 A  T", ["H"],
        """
        0.0 card 6
        dealer card 6
        0.0 card 5
        dealer hidden A
        0.0 action H, card T, end 21
        dealer shown A
        0.0 paid 1
        """,
        [1], [0],
    ),
    "european: no hole card, so a dealer's natural takes a doubled bet": (
        "european", {"decks": "inf", "insurance": False}, "9 A 2  T  K", ["D"],
        """
        0.0 card 9
        dealer card A
        0.0 card 2, action D, card T, end stood
        dealer card K
        0.0 paid -2
        """,
        [-2], [0],
    ),
    "european: a player's natural waits for the dealer's second card and no more": (
        "european", {"decks": "inf"}, "A T K  5", [""],
        """
        0.0 card A
        dealer card T
        0.0 card K, end natural
        dealer card 5
        0.0 paid 3/2
        """,
        [Fraction(3, 2)], [0],
    ),
    "neller: a tie is replayed; 21 is not stood on for the player": (
        "neller", {}, "7 T 4 A  T", ["H, S"],
        """
        0.0 card 7
        dealer card T
        0.0 card 4
        dealer hidden A
        0.0 action H, card T, action S, end stood
        dealer shown A
        0.0 paid replayed
        """,
        [0], [1],
    ),
    "neller-v1: three sevens win triple": (
        "neller-v1", {}, "7 6 7 T  7  9", ["H, S"],
        """
        0.0 card 7
        dealer card 6
        0.0 card 7
        dealer hidden T
        0.0 action H, card 7, action S, end stood
        dealer shown T, card 9
        0.0 paid 3
        """,
        [3], [0],
    ),
    "neller-v1: 8-7-6 wins double, a tie with it is replayed": (
        "neller-v1", {}, "7 T 8 6  6  5", ["H, S"],
        """
        0.0 card 7
        dealer card T
        0.0 card 8
        dealer hidden 6
        0.0 action H, card 6, action S, end stood
        dealer shown 6, card 5
        0.0 paid replayed
        """,
        [0], [1],
    ),
    "neller-v1: six cards win triple, five cards nothing when the dealer has more": (
        "neller-v1", {"seats": 2}, "2 2 9  2 3 9  3 2 4 6  2 4 6", ["H, H, H, H, S", "H, H, H, S"],
        """
        0.0 card 2
        1.0 card 2
        dealer card 9
        0.0 card 2
        1.0 card 3
        dealer hidden 9
        0.0 action H, card 3, action H, card 2, action H, card 4, action H, card 6, action S, end stood
        1.0 action H, card 2, action H, card 4, action H, card 6, action S, end stood
        dealer shown 9
        0.0 paid 3
        1.0 paid -1
        """,
        [3, -1], [0, 0],
    ),
    "neller-v2: two jacks are split, each half takes its own way, and ace and jack is a natural there too": (
        "neller-v2", {}, "J 6 J 9  5 5  A  7", ["P, H, S"],
        """
        0.0 card J
        dealer card 6
        0.0 card J
        dealer hidden 9
        0.0 action P, card 5, action H, card 5, action S, end stood
        0.1 card A, end natural
        dealer shown 9, card 7
        0.0 paid 1
        0.1 paid 1
        """,
        [2], [0],
    ),
    "neller-v2: a natural on split aces wins at once, the dealer's 21 or not": (
        "neller-v2", {}, "A A A T  K  5", ["P, S"],
        """
        0.0 card A
        dealer card A
        0.0 card A
        dealer hidden T
        0.0 action P, card K, end natural
        0.1 card 5, action S, end stood
        dealer shown T
        0.0 paid 1
        0.1 paid -1
        """,
        [0], [0],
    ),
    "cardshark: one move each round the table, raises cost no card, ties lose": (
        "cardshark", {"seats": 3}, "5 9 T T  6 7 8 7   T  9", ["B 15, H, S", "H", "S"],
        """
        0.0 card 5
        1.0 card 9
        2.0 card T
        dealer card T
        0.0 card 6
        1.0 card 7
        2.0 card 8
        dealer hidden 7
        0.0 action B 15
        1.0 action H, card T, end bust
        2.0 action S, end stood
        0.0 action H, card 9, action S, end stood
        dealer shown 7
        0.0 paid 5/2
        1.0 paid -1
        2.0 paid 1
        """,
        [Fraction(5, 2), -1, 1], [0, 0, 0],
    ),
    "cardshark: ace and ten is a 21 like any other, no one is asked at 21, and a tie loses": (
        "cardshark", {"seats": 1}, "A T T A", [""],
        """
        0.0 card A
        dealer card T
        0.0 card T
        dealer hidden A
        0.0 end 21
        dealer shown A
        0.0 paid -1
        """,
        [-1], [0],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("preset", "changes", "cards", "answers", "events", "net", "tied"), ROUNDS.values(), ids=ROUNDS
)
def test_a_written_round(
    preset: str, changes: dict[str, object], cards: str, answers: list[str], events: str,
    net: list[Fraction], tied: list[Fraction],
) -> None:  # fmt: skip
    result, _ = play_script(named_rules(preset).replace(**changes), cards, answers)
    assert [line(event) for event in result.events] == transcript(events)
    assert list(result.net) == net
    assert list(result.tied) == tied

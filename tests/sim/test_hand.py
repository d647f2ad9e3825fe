"""Cards, what a hand counts, and its code in strategy tables."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bjsim.sim.game.cards import RANKS, VALUES, Hand, count_points, parse_rank

CARDS = st.lists(st.sampled_from(RANKS), min_size=1, max_size=12)

# cards: (points, soft, player's code, code with nosplit, dealer's code)
CODES = {
    "AT": (21, True, "BJ", "BJ", "BJ"),
    "KA": (21, True, "BJ", "BJ", "BJ"),
    "A55": (21, True, "21", "21", "21"),
    "777": (21, False, "21", "21", "21"),
    "TJA": (21, False, "21", "21", "21"),
    "AA": (12, True, "AA", "AA", "AA"),
    "AAT": (12, False, "12", "12", "12"),
    "AAAA": (14, True, "A3", "A3", "A3"),
    "A2": (13, True, "A2", "A2", "A2"),
    "A6": (17, True, "A6", "A6", "A6"),
    "A24": (17, True, "A6", "A6", "A6"),
    "A7": (18, True, "A7", "A7", "18"),
    "A8": (19, True, "A8", "A8", "19"),
    "9A": (20, True, "A9", "A9", "20"),
    "A45": (20, True, "A9", "A9", "20"),
    "A9A": (21, True, "21", "21", "21"),
    "A6T": (17, False, "17", "17", "17"),
    "22": (4, False, "22", "4", "4"),
    "88": (16, False, "88", "16", "16"),
    "99": (18, False, "99", "18", "18"),
    "TT": (20, False, "TT", "20", "20"),
    "KJ": (20, False, "TT", "20", "20"),
    "QT": (20, False, "TT", "20", "20"),
    "222": (6, False, "6", "6", "6"),
    "23": (5, False, "5", "5", "5"),
    "T6": (16, False, "16", "16", "16"),
    "T9": (19, False, "19", "19", "19"),
    "999": (27, False, "0", "0", "0"),
    "TT2": (22, False, "0", "0", "0"),
    "TTAA": (22, False, "0", "0", "0"),
    "TTA": (21, False, "21", "21", "21"),
}


@pytest.mark.parametrize("cards", CODES)
def test_points_and_codes_of_seed_000(cards: str) -> None:
    points, soft, code, nosplit, dealers = CODES[cards]
    hand, dealer = Hand(*cards), Hand(*cards, dealer=True)
    assert (hand.points, hand.soft) == (dealer.points, dealer.soft) == (points, soft)
    assert (hand.code(), hand.code(nosplit=True)) == (code, nosplit)
    assert dealer.code() == dealer.code(nosplit=True) == dealers
    assert hand.natural == (code == "BJ")


def test_every_two_cards_have_a_code_of_the_initial_table() -> None:
    """HARD without 4 and 20, SPLIT, A2 .. A9 and BJ for the player; HARD, AA, A2 .. A6 and BJ for the dealer."""
    pairs = [(one, other) for one in RANKS for other in RANKS]
    hard = {str(n) for n in range(5, 20)}
    splits = {card * 2 for card in "23456789TA"}
    assert {Hand(*pair).code() for pair in pairs} == hard | splits | {f"A{n}" for n in range(2, 10)} | {"BJ"}
    dealer = {str(n) for n in range(4, 21)} | {"AA", "BJ"} | {f"A{n}" for n in range(2, 7)}
    assert {Hand(*pair, dealer=True).code() for pair in pairs} == dealer
    assert not {Hand(*pair).code(nosplit=True) for pair in pairs} & (splits - {"AA"})


def brute_points(cards: list[str]) -> int:
    """The best total over all ways to count the aces; the lowest, if all bust."""
    hard = sum(1 if card == "A" else 10 if card in "TJQK" else int(card) for card in cards)
    totals = [hard + 10 * high for high in range(cards.count("A") + 1)]
    return max((total for total in totals if total <= 21), default=hard)


@settings(max_examples=500)
@given(CARDS, st.randoms(use_true_random=False))
def test_the_order_of_the_cards_never_matters(cards: list[str], rng) -> None:
    shuffled = rng.sample(cards, len(cards))
    for dealer in (False, True):
        one, other = Hand(*cards, dealer=dealer), Hand(*shuffled, dealer=dealer)
        assert (one.points, one.soft, one.score, one.natural) == (other.points, other.soft, other.score, other.natural)
        for nosplit in (False, True):
            assert one.code(nosplit) == other.code(nosplit)


@settings(max_examples=500)
@given(CARDS)
def test_points_score_and_soft(cards: list[str]) -> None:
    hand = Hand(*cards)
    assert hand.points == brute_points(cards)
    assert (hand.score == 0) == (hand.points > 21)
    assert hand.score in (0, hand.points)
    hard = sum(VALUES[rank] for rank in hand.ranks)
    assert hand.soft == (hand.points == hard + 10)
    assert not (hand.soft and "A" not in cards)
    assert hand.cards == "".join(cards)


@settings(max_examples=300)
@given(CARDS.filter(lambda cards: len(cards) > 2))
def test_more_than_two_cards_are_never_a_pair_or_a_natural(cards: list[str]) -> None:
    hand = Hand(*cards)
    assert not hand.natural
    assert hand.code() == hand.code(nosplit=True)
    assert hand.code() not in {"BJ", *(card * 2 for card in "23456789T")}


@pytest.mark.parametrize(
    ("given", "rank"), [("A", 0), ("a", 0), (1, 0), ("1", 0), (2, 1), ("9", 8), (10, 9), ("10", 9), ("t", 9), ("K", 12)]
)
def test_a_card_may_be_written_in_several_ways(given: object, rank: int) -> None:
    assert parse_rank(given) == rank


@pytest.mark.parametrize("given", ["", "X", "0", 0, 11, "11", -1, None, "AK", "#", 2.0, " "])
def test_what_is_no_card_is_refused_by_name(given: object) -> None:
    with pytest.raises(ValueError, match="is not a card") as caught:
        Hand("A", given)
    assert repr(given) in str(caught.value)
    assert "A 2 3 4 5 6 7 8 9 T J Q K" in str(caught.value)


def test_a_hand_shows_itself() -> None:
    assert repr(Hand("A", 10)) == "Hand('A', 'T')"
    assert repr(Hand("8", "8", dealer=True)) == "Hand('8', '8', dealer=True)"


def test_naturals_are_two_cards() -> None:
    naturals = {one + other for one in RANKS for other in RANKS if Hand(one, other).natural}
    assert naturals == {"A" + ten for ten in "TJQK"} | {ten + "A" for ten in "TJQK"}
    assert count_points([]) == (0, False)
    assert not Hand("A").natural and not Hand("A55").natural


@pytest.mark.parametrize("cards", ["16", "1010", "12", "A1"])
def test_points_are_no_hand(cards: str) -> None:
    """16 was read as an ace and a six, a soft 17."""
    with pytest.raises(ValueError, match=f"'{cards}' is not accepted; write a character for each card"):
        Hand(cards)
    assert Hand("1").cards == Hand(1).cards == "A" and Hand("10").cards == Hand(10).cards == "T"

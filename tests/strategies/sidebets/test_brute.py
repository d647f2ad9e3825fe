"""Side bets against a second statement of them, in fractions: over all orders of tiny shoes, and in whole decks."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import pytest

import bjsim
from bjsim.strategies.sidebets.bets import FINISHED, KINDS, BetRules, Event, built_in
from bjsim.strategies.sidebets.exact import SideBet

ORDER = "A23456789TJQK"
Cards = tuple[str, ...]


def points(card: str) -> int:
    return min(ORDER.index(card[0]) + 1, 10)


def totals(cards: Cards) -> set[int]:
    hard = sum(map(points, cards))
    return {hard, hard + 10} if any(card[0] == "A" for card in cards) else {hard}


def same(cards: Cards, letter: int) -> bool:
    return len({card[letter] for card in cards}) == 1


def is_row(cards: Cards) -> bool:
    places = sorted(ORDER.index(card[0]) for card in cards)
    low, middle, high = places
    return (middle - low, high - middle) == (1, 1) or places == [0, 11, 12]


def poker(cards: Cards) -> str:
    if same(cards, 0):
        return "suited trips" if same(cards, 1) else "trips"
    if is_row(cards):
        return "straight flush" if same(cards, 1) else "straight"
    return "flush" if same(cards, 1) else ""


def pairs(cards: Cards) -> str:
    if not same(cards, 0):
        return ""
    colours = {card[1] in "hd" for card in cards}
    return "perfect" if same(cards, 1) else "coloured" if len(colours) == 1 else "mixed"


def royal(cards: Cards) -> str:
    return ("royal" if {cards[0][0], cards[1][0]} == {*"KQ"} else "suited") if same(cards, 1) else ""


def lucky(cards: Cards) -> str:
    letters, suited = "".join(sorted(card[0] for card in cards)), "suited " if same(cards, 1) else ""
    if letters in ("777", "678"):
        return suited + "-".join(letters)
    best = max({19, 20, 21} & totals(cards), default=0)
    return f"{suited if best == 21 else ''}{best}" if best else ""


def ladies(cards: Cards) -> str:
    hand, dealer = cards[:2], cards[2:]
    if 20 not in totals(hand):
        return ""
    if hand == ("Qh", "Qh"):
        return "queens of hearts" + (" with a dealer's natural" if 21 in totals(dealer) else "")
    return "any" if not same(hand, 1) else "same rank and suit" if same(hand, 0) else "suited"


def match(cards: Cards) -> str:
    wins = [card for card in cards[:2] if card[0] == cards[2][0]]
    names = sorted(("same rank and suit" if card == cards[2] else "same rank" for card in wins), key=len, reverse=True)
    return " + ".join(names)


def insured(cards: Cards) -> str | None:
    return None if cards[0][0] != "A" else "natural" if points(cards[1]) == 10 else ""


BETS: dict[str, tuple[int, Callable[[Cards], str | None]]] = {
    "21+3": (3, poker),
    "perfect-pairs": (2, pairs),
    "royal-match": (2, royal),
    "over-13": (2, lambda cards: "over 13" if sum(map(points, cards)) > 13 else ""),
    "under-13": (2, lambda cards: "under 13" if sum(map(points, cards)) < 13 else ""),
    "lucky-ladies": (4, ladies),
    "match-the-dealer": (3, match),
    "lucky-lucky": (3, lucky),
    "insurance": (2, insured),
}
TINY = {  # the nine cards of a shoe; each has hands of most events
    "21+3": "2s 2s 2s 3s 4s 3h 4d 2h Kc",
    "perfect-pairs": "Ah Ah Ad As As Kc Kc Ks 2d",
    "royal-match": "Kh Qh Kd Qd Qc 2c 3c 3s 4h",
    "over-13": "Ah 3d 4s 5s 7h 8c 9d Ts Kc",
    "under-13": "Ah Ad 4s 5s 7h 8c 9d Ts Kc",
    "lucky-ladies": "Qh Qh Qs Qs Kh Ad 9d Ac 5c",
    "match-the-dealer": "9h 9h 9d 8s 8s 8c Kd Kd Ac",
    "lucky-lucky": "7h 7h 7h 6h 8h 7s Ah 9d Kh",
    "insurance": "Ah As 2d Kc Qc 5h 6h 7h 8h",
}
PAYS = {"match-the-dealer": "same rank=4,same rank and suit=19"}


def exact(bet: str, decks: object = None, **options: object) -> SideBet:
    return bjsim.sidebet(bet, decks, pays=PAYS.get(bet), **options)  # type: ignore[arg-type]


def by_all_orders(bet: str, shoe: list[str]) -> dict[str, Fraction]:
    """The probabilities of the events, from every order of the cards."""
    size, name = BETS[bet]
    seen = Counter(name(cards) for cards in permutations(shoe, size))
    dealt = sum(count for event, count in seen.items() if event is not None)
    return {event: Fraction(count, dealt) for event, count in seen.items() if event}


@pytest.mark.parametrize("bet", BETS)
def test_tiny_shoes_in_fractions(bet: str) -> None:
    shoe = TINY[bet].split()
    found = exact(bet, shoe=Counter(shoe))
    chances = {each.event: each.probability for each in found.events if each.probability}
    assert chances == by_all_orders(bet, shoe)
    assert len(chances) >= min(len(found.events), 2)
    for kind, change in found.removal_by_kind.items():
        left = shoe.copy()
        left.remove(kind)
        if bet != "insurance" or "Ah" in left:
            pays = {each.event: each.pays for each in found.events}
            ev = sum(p * (pays[event] + 1) for event, p in by_all_orders(bet, left).items()) - 1
            assert change == pytest.approx(float(ev - found.ev), abs=1e-12)


def busts(shoe: Cards, hits_soft_17: bool) -> Counter[int]:
    """In how many orders of all cards the dealer busts with so many cards."""
    seen: Counter[int] = Counter()
    for cards in permutations(shoe):
        drawn = 2
        while True:
            best = max((total for total in totals(cards[:drawn]) if total <= 21), default=0)
            soft = best and min(totals(cards[:drawn])) < best
            if not best or best > 17 or (best == 17 and not (soft and hits_soft_17)):
                break
            drawn += 1
        seen[0 if best else drawn] += 1
    return seen


@pytest.mark.parametrize("hits", [False, True])
def test_busts_in_all_orders(hits: bool) -> None:
    shoe = ("Ah", "As", "2d", "4c", "6h", "6d", "Ts", "Kc")
    table = {f"{n}": n for n in range(3, 8)}
    found = bjsim.sidebet("buster", shoe=Counter(shoe), pays=table, rules="vegas-h17" if hits else "vegas-s17")
    seen = busts(shoe, hits)
    orders = math.factorial(len(shoe))
    assert [each.probability for each in found.events] == [Fraction(seen[n], orders) for n in range(3, 8)]
    for kind in ("Ah", "6d", "Kc"):
        left = [*shoe]
        left.remove(kind)
        ev = bjsim.sidebet("buster", shoe=Counter(left), pays=table, rules="vegas-h17" if hits else "vegas-s17").ev
        assert found.removal_by_kind[kind] == pytest.approx(float(ev - found.ev), abs=1e-12)


def finished(shoe: Cards) -> Cards:
    """The dealer's hand from these cards, drawn in order; soft 17 is stood."""
    drawn = 2
    while not [total for total in totals(shoe[:drawn]) if 17 <= total <= 21] and min(totals(shoe[:drawn])) <= 16:
        drawn += 1
    return shoe[:drawn]


def ended(cards: Cards) -> str:
    """The first event of `HANDS` that a finished hand fulfils."""
    best = max((total for total in totals(cards) if total <= 21), default=min(totals(cards)))
    if best == 22:
        return (
            "22 of one suit"
            if same(cards, 1)
            else "red or black 22"
            if len({c[1] in "hd" for c in cards}) == 1
            else "22"
        )
    if best > 21:
        return "bust with a small card up" if cards[0][0] in "23456" else "other bust"
    return "18" if best == 18 else ""


HANDS = BetRules(
    "hands",
    FINISHED,
    (
        Event("22 of one suit", Fraction(50), {"total": "22", "suited": True}),
        Event("red or black 22", Fraction(20), {"total": "22", "one_colour": True}),
        Event("22", Fraction(8), {"total": "22"}),
        Event("bust with a small card up", Fraction(1), {"bust": "3+", "upcard": "2-6"}),
        Event("other bust", Fraction(3), {"bust": "3+"}),
        Event("18", Fraction(1, 2), {"total": "18"}),
    ),
)
CARDS_OF_22 = ("2h", "6h", "Jh", "Kh", "Qd", "6c", "As")


@pytest.mark.parametrize("upcard", ["", "6", "T"])
def test_finished_hands_in_all_orders(upcard: str) -> None:
    """Totals, suits and upcards, and what the loss of a card changes; against one upcard, only its orders count."""

    def by_orders(shoe: Cards) -> dict[str, Fraction]:
        orders = [each for each in permutations(shoe) if not upcard or min(points(each[0]), 10) == points(upcard)]
        seen = Counter(ended(finished(each)) for each in orders)
        return {event: Fraction(count, len(orders)) for event, count in seen.items() if event}

    bet = replace(HANDS, upcard=upcard)
    found = bjsim.sidebet(bet, shoe=Counter(CARDS_OF_22))
    assert {each.event: each.probability for each in found.events if each.probability} == by_orders(CARDS_OF_22)
    assert upcard or all(each.probability for each in found.events)
    for kind in ("2h", "Qd", "6c"):
        left = tuple(card for card in CARDS_OF_22 if card != kind)
        ev = bjsim.sidebet(bet, shoe=Counter(left)).ev
        assert found.removal_by_kind[kind] == pytest.approx(float(ev - found.ev), abs=1e-12)


def by_all_kinds(bet: str, decks: int, spanish: bool) -> dict[str, Fraction]:
    """The probabilities of the events in whole decks, from the kinds of all cards but the dealer's two."""
    size, name = BETS[bet]
    kinds = [kind for kind in KINDS if not spanish or kind[0] != "T"]
    seen: dict[str | None, int] = defaultdict(int)
    for cards in product(kinds, repeat=2 if size == 4 else size):
        ways = math.prod(decks - cards[:n].count(card) for n, card in enumerate(cards))
        seen[name((*cards, "2c", "3c") if size == 4 else cards)] += ways
    dealt = sum(ways for event, ways in seen.items() if event is not None)
    return {event: Fraction(ways, dealt) for event, ways in seen.items() if event and ways}


@pytest.mark.slow
@pytest.mark.parametrize("bet", BETS)
@pytest.mark.parametrize("decks", [1, 8])
@pytest.mark.parametrize("spanish", [False, True])
def test_whole_decks_in_fractions(bet: str, decks: int, spanish: bool) -> None:
    """Published are returns from other numbers of decks, and one with Spanish ones."""
    chances: dict[str, Fraction] = defaultdict(Fraction)
    for each in exact(bet, decks, deck="spanish" if spanish else "standard").events:
        chances[each.event.removesuffix(" with a dealer's natural")] += each.probability
    assert {event: p for event, p in chances.items() if p} == by_all_kinds(bet, decks, spanish)


def test_every_built_in_bet_is_stated_twice() -> None:
    assert {*BETS, "buster"} == {*built_in()}

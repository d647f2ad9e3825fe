"""Side bets against a second statement of them: over all orders of tiny shoes in fractions, and in simulations."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import permutations

import numpy as np
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


@cache
def dealt(size: int, decks: int, spanish: bool) -> tuple[np.ndarray, np.ndarray]:
    """A million deals of the first cards of a shuffled shoe, and how often each was dealt."""
    cards = [kind for kind in range(52) if not spanish or KINDS[kind][0] != "T"]
    rng = np.random.default_rng(31 + decks)
    drawn = rng.integers(len(cards) * decks, size=(1_200_000, size))
    ordered = np.sort(drawn, axis=1)
    kinds = np.array(cards)[drawn[(ordered[:, 1:] != ordered[:, :-1]).all(axis=1)][:1_000_000] // decks]
    codes, counts = np.unique(kinds @ 52 ** np.arange(size), return_counts=True)
    return codes, counts


def standard_errors(found: SideBet, bet: str, decks: int, spanish: bool) -> float:
    """How many standard errors the mean of a million simulated bets is from the exact value."""
    size, name = BETS[bet]
    pays = {"": -1.0, **{each.event: float(each.pays) for each in found.events}}
    needed = 2 if size == 4 else size  # the dealer's two cards are drawn only where they matter
    codes, counts = dealt(needed, decks, spanish)
    rng, total, rounds = random.Random(31), 0.0, 0
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        cards = tuple(KINDS[code // 52**place % 52] for place in range(needed))
        if cards == ("Qh", "Qh") and size == 4:
            left = [kind for kind in KINDS for _ in range(decks) if not (spanish and kind[0] == "T")]
            left = [kind for kind in left if kind != "Qh"] + ["Qh"] * (decks - 2)
            events = [name(cards + tuple(rng.sample(left, 2))) for _ in range(count)]
            total += sum(pays[str(event)] for event in events)
        elif (event := name((*cards, "2c", "3c") if size == 4 else cards)) is not None:
            total += count * pays[event]
        else:
            continue
        rounds += count
    return (total / rounds - float(found.ev)) / (found.sd / math.sqrt(rounds))


SLOW = pytest.mark.slow
SHOES = [
    (6, False),
    *(pytest.param(*shoe, marks=SLOW) for shoe in ((1, False), (2, False), (8, False), (6, True), (8, True))),
]


@pytest.mark.parametrize("bet", BETS)
@pytest.mark.parametrize(("decks", "spanish"), SHOES)
def test_simulation(bet: str, decks: int, spanish: bool) -> None:
    """A million deals agree within four standard errors. Error rate: below 54 * 6.4e-5 = 0.4% for all together."""
    found = exact(bet, decks, deck="spanish" if spanish else "standard")
    assert abs(standard_errors(found, bet, decks, spanish)) < 4


def test_simulation_notices_a_wrong_shoe() -> None:
    """Negative control: the exact values of fewer decks."""
    assert abs(standard_errors(exact("perfect-pairs", 5), "perfect-pairs", 6, False)) > 4
    assert abs(standard_errors(exact("21+3", 2), "21+3", 6, False)) > 4


@SLOW
@pytest.mark.parametrize(("decks", "rules"), [(1, "vegas-s17"), (6, "vegas-h17"), (8, "spanish-21")])
def test_simulation_of_busts(decks: int, rules: str) -> None:
    """A million dealers; error rate as above, 3 * 6.4e-5."""
    game = bjsim.load_rules(rules)
    found = bjsim.sidebet("buster", decks, rules=game)
    ranks = [rank for rank in range(13) for _ in range(decks * 4) if game.deck == "standard" or ORDER[rank] != "T"]
    rng, rounds, most = np.random.default_rng(31), 1_000_000, 12
    pays = np.array([-1.0] * 3 + [2, 2, 4, 12, 50] + [250] * 9)
    total = 0.0
    for _ in range(rounds // 100_000):
        shoe = np.tile(np.minimum(np.array(ranks, np.int8) + 1, 10), (100_000, 1))
        rows, hard, aces = np.arange(100_000), np.zeros(100_000, int), np.zeros(100_000, bool)
        size, going = np.zeros(100_000, int), np.ones(100_000, bool)
        for card in range(most):
            other = rng.integers(card, len(ranks), 100_000)
            shoe[rows, other], shoe[:, card] = shoe[:, card].copy(), shoe[rows, other].copy()
            hard += np.where(going, shoe[:, card], 0)
            aces |= going & (shoe[:, card] == 1)
            size += going
            soft = aces & (hard <= 11)
            best = hard + 10 * soft
            going &= (size < 2) | (best < 17) | ((best == 17) & soft & game.hit_soft_17)
        total += float(np.where(hard > 21, pays[size], -1).sum())
    assert abs(total / rounds - float(found.ev)) < 4 * found.sd / math.sqrt(rounds)


def test_every_built_in_bet_is_stated_twice() -> None:
    assert {*BETS, "buster"} == {*built_in()}

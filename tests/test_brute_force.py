"""Commands against brute force in games of random rules, or refused by the name of a rule.

The games have the values that `support/unusual.py` declares, so that a rule that is added joins them by being declared
there. `solve` and `known` deal every round of a tiny shoe, in fractions; `bank` every hand of an infinite one, and
`sidebet` every hand of the dealer. None of this is computed by bjsim.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import islice

import pytest
from support.endless_shoe import EndlessShoe
from support.games import random_chart, slow
from support.tiny_shoe import POINTS, OutOfCards, Policy, TinyShoe, follow, sort, total
from support.unusual import MORE, PLAIN, UNUSUAL, random_games, tell

import bjsim
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules, plain
from bjsim.strategies.shoe.solver import ShoeSolver

ROUNDING = 1e-11
PART, PARTS = 10, 6  # games of a case, and cases of a command
SEEDS = {"solve": 1013, "known": 1050, "bank": 1101, "sidebet": 1147}  # by which every value is drawn
LOW = "A23456789"


def tiny_cards(rules: Rules, rng: random.Random) -> str:
    """13 to 16 cards: at least seven tens, and one to three each of three other values."""
    cards = "".join(card * rng.randint(1, 3) for card in rng.sample(LOW, 3))
    tens = "TTTJJJQQTTTTTTTT" if rules.split_by == "rank" else "TTTTTTTTTTTTTTTT"
    return cards + tens[: max(rng.randint(13, 16) - len(cards), 7)]


def in_tiny_shoes(rules: Rules, seed: int, compare: Callable[[Rules, str], dict[str, tuple[float, float]]]) -> None:
    """Compare in the first shoe that lasts for every round."""
    rng = random.Random(seed)
    for _ in range(20):
        cards = tiny_cards(rules, rng)
        try:
            found = compare(rules, cards)
        except OutOfCards:
            continue
        wrong = {name: pair for name, pair in found.items() if not abs(pair[0] - pair[1]) < ROUNDING}
        assert not wrong, (tell(rules), cards)
        return
    raise AssertionError(f"no shoe lasts for every round of {tell(rules)}")


def settled(rules: Rules, cards: str, play: Callable[[TinyShoe], Fraction]) -> tuple[TinyShoe, Fraction]:
    """The shoe with the value of a tied bet, which is that of the game where it is replayed; and that value."""
    tiny = TinyShoe(rules, cards)
    net = play(tiny)
    if rules.ties != "replay":
        return tiny, net
    tied = play(TinyShoe(rules, cards, 1)) - net
    return TinyShoe(rules, cards, net / (1 - tied)), net / (1 - tied)


def playing(policy: Policy) -> Callable[[TinyShoe], Fraction]:
    return lambda tiny: tiny.value(policy)


def knowing_holes(chart: Policy) -> Callable[[TinyShoe], Fraction]:
    return lambda tiny: sum((won for *_, won in tiny.deals(knowing_naturals(tiny, chart), knows_hole=True)), Fraction())


def solve(rules: Rules, cards: str) -> dict[str, tuple[float, float]]:
    """The values of the best and of a random chart, and its standard deviation."""
    solver, found = ShoeSolver(rules, Counter(cards)), {}
    other = random_chart(rules, len(tell(rules)))
    found["best chart"] = float(settled(rules, cards, playing(follow(solver.chart)))[1]), float(solver.value)
    tiny, value = settled(rules, cards, playing(follow(other)))
    found["random chart"] = float(value), float(solver.value_of(other))
    if not solver.refusal and rules.ties != "replay":
        deviation = math.sqrt(tiny.value(follow(other), 2) - value**2)
        found["deviation"] = deviation, sd_of(solver, other, deviation)
    return found


def sd_of(solver: ShoeSolver, chart: bjsim.Chart, right: float) -> float:
    """The standard deviation; the right one where it is refused, which is in words."""
    try:
        return solver.sd_of(chart)
    except InputError as error:
        assert "sd" in str(error) or "deviation" in str(error)
        return right


def known(rules: Rules, cards: str) -> dict[str, tuple[float, float]]:
    """The values by each card that can be known."""
    found = {}
    played, value = settled(rules, cards, playing(follow(ShoeSolver(rules, Counter(cards)).chart)))
    for what in ("first", "up", "hole"):
        try:
            answer = bjsim.known(rules, what, shoe=Counter(cards))
        except InputError as error:
            assert is_named(error, rules)
            continue
        chart, tiny = follow(answer.chart), played
        found[f"{what}, the game"] = float(value), answer.game
        sums: dict[str, list[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
        if what == "hole":  # it is known after a tie as well
            tiny, _ = settled(rules, cards, knowing_holes(chart))
        policy = knowing_naturals(tiny, chart) if what == "hole" else chart
        for shown, hole, first, chance, won in tiny.deals(policy, knows_hole=what == "hole"):
            label = "T" if first in "JQK" else first
            if what == "up":
                label = "T" if shown in "JQK" else shown
            if what == "hole":
                natural = tiny.dealer_natural(sort(shown + hole))
                label = "BJ" if natural else answer.chart.states.column(shown + hole)
            sums[label] = [sums[label][0] + chance, sums[label][1] + won]
        for label, (chance, won) in sums.items():
            found[f"{what} {label}"] = float(won / chance), answer.values[label]
    return found


def knowing_naturals(tiny: TinyShoe, chart: Policy) -> Policy:
    """A chart for both of the dealer's cards, and the best answers to a natural that only the player knows."""

    def policy(hand: str, seen: str, split: str, legal: str) -> str:
        if not tiny.dealer_natural(sort(seen)):
            return "S" if legal == "IS" else chart(hand, seen, split, legal)
        return "I" if legal == "IS" else "R" if "R" in legal else "S"

    return policy


def is_named(error: InputError, rules: Rules) -> bool:
    """Whether a refusal is one line with the name of an unusual rule of the game."""
    unusual = [
        each.name for each in dataclasses.fields(rules) if getattr(rules, each.name) != getattr(PLAIN, each.name)
    ]
    return "\n" not in str(error) and any(name in str(error) for name in unusual)


def check_bank(rules: Rules, seed: int) -> None:
    """All profits of one round in an infinite shoe; most games have no more than two hands, which is fast."""
    game = rules.replace(decks="inf", max_hands=min(rules.max_hands, 3 if seed % 5 == 0 else 2))
    try:
        found = bjsim.bank(game, 1000, 1).results
    except InputError as error:
        assert is_named(error, game)
        return
    right: dict[float, float] = defaultdict(float)
    for profit, p in EndlessShoe(game).profits(follow(bjsim.solve(game).chart)).items():
        right[round(float(profit), 9)] += p
    rounded = {round(profit, 9): p for profit, p in dict(found).items()}
    assert rounded == pytest.approx({x: p for x, p in right.items() if p > 1e-18}, abs=ROUNDING), tell(game)


def check_sidebet(rules: Rules, seed: int) -> None:
    """How often the dealer busts with each number of cards, shows a natural below an ace, and 14 or more points."""
    game = rules.replace(decks=(1, 2, 6, 8, "inf")[seed % 5])
    if game.infinite:  # the cards, from which dealing takes nothing
        deck = dict.fromkeys(LOW, 4) | {"T": 12 if game.deck == "spanish" else 16}
    else:
        deck = dict.fromkeys(LOW, 4 * int(game.decks)) | {"T": (12 if game.deck == "spanish" else 16) * int(game.decks)}
    busts = dealer_busts(game.dealer_stands_on, game.hit_soft_17, tuple(deck.values()), game.infinite)
    pays = {3: 2, 4: 2, 5: 4, 6: 12, 7: 50}
    wins = sum((p * (1 + pays.get(cards, 250)) for cards, p in busts.items()), Fraction(0))
    first = {card: Fraction(count, sum(deck.values())) for card, count in deck.items()}
    size, taken = sum(deck.values()), 0 if game.infinite else 1
    pairs = {(one, other): first[one] * Fraction(deck[other] - taken * (one == other), size - taken)
             for one in deck for other in deck}  # fmt: skip
    over = sum((p for cards, p in pairs.items() if sum(POINTS[card] for card in cards) > 13), Fraction(0))
    right = {
        "buster": wins - 1,
        "over-13": 2 * over - 1,
        "insurance": 3 * pairs["A", "T"] / first["A"] - 1,
    }
    assert {bet: bjsim.sidebet(bet, rules=game).ev for bet in right} == right, tell(game)


@cache
def dealer_busts(stands_on: int, hit_soft: bool, deck: tuple[int, ...], replaced: bool) -> dict[int, Fraction]:
    """The probability of each number of cards with which the dealer busts."""

    @cache
    def drawn(held: tuple[int, ...]) -> dict[int, Fraction]:
        cards = "".join(card * count for card, count in zip("A23456789T", held, strict=True))
        points, soft = total(cards) if cards else (0, False)
        if points > 21:
            return {len(cards): Fraction(1)}
        if len(cards) > 1 and points >= stands_on and not (points == 17 and soft and hit_soft):
            return {}
        found: dict[int, Fraction] = defaultdict(Fraction)
        left = [count - (0 if replaced else gone) for count, gone in zip(deck, held, strict=True)]
        for n, count in enumerate(left):
            after = (*held[:n], held[n] + 1, *held[n + 1 :])
            for number, p in drawn(after).items() if count else ():
                found[number] += p * Fraction(count, sum(left))
        return found

    return drawn((0,) * len(deck))


CHECKS: dict[str, Callable[[Rules, int], None]] = {
    "solve": lambda rules, seed: in_tiny_shoes(of_few_hands(rules), seed, solve),
    "known": lambda rules, seed: in_tiny_shoes(of_few_hands(rules), seed, known),
    "bank": check_bank,
    "sidebet": check_sidebet,
}


def of_few_hands(rules: Rules) -> Rules:
    return rules.replace(decks=1, max_hands=min(rules.max_hands, 3))


def games(command: str, part: int) -> Iterator[Rules]:
    return islice(random_games(SEEDS[command] + part, 8), PART)


FAST = [("solve", 0, 0), ("solve", 0, 2), ("known", 0, 0), ("bank", 0, 2), ("sidebet", 0, 0)]


@pytest.mark.parametrize(
    ("command", "part", "number"), [*FAST, *(slow(command, part, None) for command in CHECKS for part in range(PARTS))]
)
def test_random_rules(command: str, part: int, number: int | None) -> None:
    """Some games; nightly, 60 for each command."""
    asked = [check(command, rules, n) for n, rules in enumerate(games(command, part)) if number in (None, n)]
    assert sum(asked) > len(asked) / 2


def check(command: str, rules: Rules, seed: int) -> bool:
    """Compare a game, or return False if it is refused by the name of a rule."""
    try:
        CHECKS[command](rules, seed)
    except InputError as error:
        assert is_named(error, rules), tell(rules)
        return False
    return True


def test_a_tied_bet_is_replayed_with_the_hole_card_known() -> None:
    """Its value is that of the game with every hole card known. Refused where a known natural can be insured."""
    rules = PLAIN.replace(decks=1, hit_soft_17=True, ties="replay", double_after_split=False, max_doubles=3)
    assert all(abs(right - found) < ROUNDING for right, found in known(rules, "2287TTTTTTTTTT").values())
    with pytest.raises(InputError, match="ties = replay: what insuring or surrendering to a natural"):
        bjsim.known(rules.replace(insurance=True), "hole")


@pytest.mark.parametrize("command", CHECKS)
def test_every_declared_value_is_drawn(command: str) -> None:
    left = {(name, str(value)) for name, values in (*UNUSUAL.items(), *MORE.items()) for value in values}
    for part in range(PARTS):
        for rules in games(command, part):
            left -= {(name, str(plain(getattr(rules, name)))) for name in {*UNUSUAL, *MORE}}
    assert {(name, value) for name, value in left if value not in ("True", "False")} == set()


def test_a_forgotten_rule_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A finite shoe whose solver knows nothing of ties."""
    rules = PLAIN.replace(ties="lose")
    check("solve", rules, 1)
    solver = ShoeSolver
    monkeypatch.setitem(globals(), "ShoeSolver", lambda rules, cards: solver(rules.replace(ties="push"), cards))
    with pytest.raises(AssertionError):
        check("solve", rules, 1)

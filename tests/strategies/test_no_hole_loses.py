"""What a dealer's natural takes without a peek: one bet in any case, as with one; or busted bets and one more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from support.engines import never

from bjsim.errors import InputError
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.play import Walkers
from bjsim.sim.game.automaton import Automaton
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.seats import Cards, PlayedHand, Seat, settle_hands
from bjsim.sim.game.shoe import stream_key
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Moments, round_sd
from bjsim.strategies.shoe.solver import ShoeSolver

SPLITS = {"max_hands": "inf", "resplit_aces": True, "hit_split_aces": True, "split_tens_blackjack": True}
GAMES = {
    **{
        name: preset.rules
        for name, preset in PRESETS.items()
        if preset.rules.naturals == "both"
        and not preset.rules.free_bets
        and not preset.rules.attack
        and preset.rules.bets == 1
        and preset.rules.double_on != "never"  # else no bet is added
    },
    "endless splits": named_rules("vegas-s17").replace(**SPLITS, double_cards="any"),
    "replayed ties": named_rules("vegas-h17").replace(ties="replay", double_after_split=False),
}


def pair(name: str, **fields: object) -> tuple[Rules, Rules]:
    """A game in which only the original bet is lost, and the same with a peek."""
    fields = {"surrender": "none", "player_21_wins": False, "bonuses": "none", "dealer_shows": "up", **fields}
    fields |= {"surrender_cards": "two", "surrender_after_double": False, "surrender_after_split": False}
    game = GAMES[name].replace(**{"charlie": "none", **fields}, peek=False, no_hole_loses="all")
    return game.replace(deal="pdp", no_hole_loses="original"), game.replace(deal="pdpd", peek=True)


@pytest.mark.parametrize("name", GAMES)
def test_in_the_infinite_shoe(name: str) -> None:
    original, peeked = (Solver(rules) for rules in pair(name, decks="inf", cut=1))
    assert original.value == pytest.approx(peeked.value, abs=1e-13)
    assert original.chart.cells == peeked.chart.cells
    everything = Solver(original.rules.replace(no_hole_loses="all"))
    assert everything.value < original.value - 1e-4  # negative control
    chart = everything.chart  # another
    values = [solver.ev(chart.policy) for solver in (original, peeked)]
    assert values[0].value == pytest.approx(values[1].value, abs=1e-13)
    if values[0].tied == 0:
        sd = [round_sd(Automaton(solver.rules), chart.policy) for solver in (original, peeked)]
        assert sd[0] == pytest.approx(sd[1], abs=1e-12)


def test_in_exact_fractions() -> None:
    original, peeked = (Solver(rules, Fraction) for rules in pair("european", decks="inf", max_hands=2))
    assert original.value == peeked.value


@pytest.mark.parametrize("decks", [1, 6])
def test_in_a_finite_shoe(decks: int) -> None:
    original, peeked = (ShoeSolver(rules) for rules in pair("european", decks=decks, insurance=True))
    for strategy in ("td", "cdz-"):
        assert original.value_of(strategy) == pytest.approx(peeked.value_of(strategy), abs=1e-13)
    assert original.chart.cells == peeked.chart.cells


def test_late_surrender_saves_half_a_bet_from_the_natural() -> None:
    original, peeked = pair("vegas-h17", surrender="late", decks="inf")
    assert Solver(original).value == pytest.approx(Solver(peeked.replace(surrender="early")).value, abs=1e-13)
    assert Solver(original).value > Solver(peeked).value + 1e-3


@pytest.mark.parametrize("fields", [{"charlie": 5}, {"player_21_wins": True}, {"bonuses": "at-once"}])
def test_the_finite_shoe_refuses_hands_that_win_at_once(fields: dict[str, object]) -> None:
    with pytest.raises(InputError, match="no_hole_loses = original: what hands lose to a natural has no exact value"):
        ShoeSolver(pair("european", decks=6, **fields)[0])


# --- busted bets and one more

BUSTED = named_rules("vegas-s17").replace(decks="inf", peek=False, no_hole_loses="busted-plus-one", max_hands=3)
# A finished hand is (stake in bets, score), with the score 0 if it has bust.


def draws() -> Iterator[tuple[int, Fraction]]:
    yield from ((points, Fraction(4 if points == 10 else 1, 13)) for points in range(1, 11))


def chart(state: HandState, column: str, legal: str) -> str:
    """Hits to 14, doubles a total of 11 in two cards, and splits."""
    return play(state.points, state.soft, state.cards, "P" in legal)


def play(total: int, soft: bool, cards: int, pair: bool) -> str:
    return "P" if pair else "D" if (total, soft, cards) == (11, False, 2) else "H" if total < 15 else "S"


def drawn(hard: int, ace: bool, card: int) -> tuple[int, bool, int, bool]:
    """A hand after a card: the sum with aces as 1, whether it has an ace, the total, and whether that is soft."""
    hard, ace = hard + card, ace or card == 1
    soft = ace and hard <= 11
    return hard, ace, hard + 10 * soft, soft


@cache
def ends(hard: int, ace: bool, cards: int, stake: int = 1) -> dict[tuple[int, int], Fraction]:
    """Distribution of (stake, score) of a hand."""
    total, soft = (hard + 10, True) if ace and hard <= 11 else (hard, False)
    action = play(total, soft, cards, False) if total < 21 and stake == 1 else "S"
    if action == "S":
        return {(stake, total if total <= 21 else 0): Fraction(1)}
    found: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for card, p in draws():
        for end, q in ends(*drawn(hard, ace, card)[:2], cards + 1, 1 + (action == "D")).items():
            found[end] += p * q
    return found


@cache
def split(card: int, pending: int, hands: int) -> dict[tuple[tuple[int, int], ...], Fraction]:
    """Distribution of the finished hands of a pair that is split, and again up to three hands."""
    if not pending:
        return {(): Fraction(1)}
    found: dict[tuple[tuple[int, int], ...], Fraction] = defaultdict(Fraction)
    for second, p in draws():
        if second == card and hands < 3:
            parts = ((after, q) for after, q in split(card, pending + 1, hands + 1).items())
        else:
            parts = (
                ((*others, end), q * r)
                for end, q in ends(*drawn(card, card == 1, second)[:2], 2).items()
                for others, r in split(card, pending - 1, hands).items()
            )
        for finished, q in parts:
            found[tuple(sorted(finished))] += p * q
    return found


@cache
def dealer(hard: int, ace: bool, cards: int) -> dict[int, Fraction]:
    """Distribution of the dealer's score, 0 for a bust and 22 for a natural."""
    total = hard + 10 if ace and hard <= 11 else hard
    if total >= 17:
        return {22 if total == 21 and cards == 2 else total if total <= 21 else 0: Fraction(1)}
    found: dict[int, Fraction] = defaultdict(Fraction)
    for card, p in draws():
        for score, q in dealer(*drawn(hard, ace, card)[:2], cards + 1).items():
            found[score] += p * q
    return found


def paid(hands: tuple[tuple[int, int], ...], score: int, wins_21: bool) -> int:
    """The rule in its own words: busted bets, and one more if any hand has not been settled."""
    busted = sum(stake for stake, own in hands if not own)
    at_once = sum(stake for stake, own in hands if own == 21 and wins_21)
    open_hands = [(stake, own) for stake, own in hands if own and not (own == 21 and wins_21)]
    if score == 22:
        return at_once - busted - bool(open_hands)
    return at_once - busted + sum(stake * ((own > score) - (own < score)) for stake, own in open_hands)


@pytest.mark.parametrize("wins_21", [False, True])
@pytest.mark.parametrize("up", [1, 10])
@pytest.mark.parametrize("card", [2, 6, 8])
def test_splits_by_enumeration(card: int, up: int, wins_21: bool) -> None:
    """All finished hands of a split together, without the automaton's order of hands; in exact fractions."""
    rules = BUSTED.replace(player_21_wins=wins_21)
    solver = Solver(rules, Fraction)
    column = solver.columns["A" if up == 1 else "T"]
    scores = dealer(up, up == 1, 1)
    moments = [
        sum(p * q * paid(hands, score, wins_21) ** power
            for hands, p in split(card, 2, 2).items() for score, q in scores.items())
        for power in (1, 2)
    ]  # fmt: skip
    hand = solver.states.add(solver.states.add(HandState(), card - 1), card - 1)
    assert solver.means(column, Fraction(0), chart).act(hand, "P") == moments[0]
    outcomes = [float(p) for p in column.probabilities.values()]
    values = Moments(solver.states, column, chart, 0).act(hand, "P") @ outcomes
    assert values == pytest.approx([float(moment) for moment in moments], abs=1e-12)
    for other in ("all", "original"):  # negative control
        changed = Solver(rules.replace(no_hole_loses=other), Fraction)
        assert changed.means(changed.columns[column.label], Fraction(0), chart).act(hand, "P") != moments[0]


@pytest.mark.parametrize(
    ("hands", "lost"),
    [
        (["stood 2"], [-1]),
        (["bust 2"], [-2]),
        (["bust 2", "stood 2", "stood 1"], [-2, -1, 0]),
        (["stood 1", "bust 1", "stood 2"], [-1, -1, 0]),
        (["bust 1", "bust 2"], [-1, -2]),
        (["natural 1", "stood 2", "natural 1"], [0, -1, 0]),
        (["surrendered 1", "charlie 1", "stood 1", "stood 1"], [Fraction(-1, 2), 1, -1, 0]),
    ],
)
def test_settlement_by_hand(hands: list[str], lost: list[Fraction]) -> None:
    assert settle_by_hand("busted-plus-one", hands) == lost


@pytest.mark.parametrize(
    ("loses", "hands", "lost"),
    [
        ("original-and-busted", ["stood 2"], [-1]),
        ("original-and-busted", ["bust 2", "stood 2", "stood 1"], [-2, -1, -1]),
        ("original-and-busted", ["natural 1", "stood 2"], [0, -1]),
        ("original", ["stood 2"], [-1]),
        ("original", ["natural 1"], [0]),
        ("original", ["bust 2", "stood 2", "stood 1"], [-1, 0, 0]),
        ("original", ["surrendered 1", "stood 1"], [Fraction(-3, 2), 0]),
        ("all", ["bust 2", "stood 2", "natural 1"], [-2, -2, 0]),
    ],
)
def test_settlement_of_the_other_rules_by_hand(loses: str, hands: list[str], lost: list[Fraction]) -> None:
    assert settle_by_hand(loses, hands) == lost


def settle_by_hand(loses: str, hands: list[str]) -> list[Fraction]:
    """The profits of split hands against a natural."""
    rules = BUSTED.replace(no_hole_loses=loses, buy_in=10, chips=200, split_tens_blackjack=True)
    cards = {"stood": [8, 9], "bust": [9, 9, 9], "natural": [0, 9], "surrendered": [8, 6], "charlie": [1, 1, 1, 1, 1]}
    played = []
    for end, stake in map(str.split, hands):
        hand = PlayedHand(10 * int(stake), cards[end], split_from=9)
        hand.ending = end  # type: ignore[assignment]
        played.append(hand)
    settled = settle_hands(rules, Seat(0, 0, played), Cards([0, 12]), special=True)
    return [each.net for each in settled]


def test_values_for_luck_are_exact_and_move_no_mean() -> None:
    """The value before the first card is exact, and the mean is within 4 standard errors of it."""
    rules = BUSTED.replace(surrender="late", surrender_after_split=True, insurance=True)
    best = Solver(rules).chart
    compiled = compile_rules(rules, [best.policy])
    played = Walkers(compiled, never).adjusted(rules.unit)
    exact = Solver(rules).ev(best.policy).value
    assert played.values == pytest.approx([exact], abs=1e-12)
    counts = played.play([stream_key(14, 0, 0)], [400_000]).counts
    units = np.arange(counts.shape[2]) - compiled.numbers.width
    mean = float((counts[0, 0] * units).sum()) * float(rules.unit) / 400_000
    assert mean == pytest.approx(exact, abs=4 * 1.15 / 400_000**0.5)


def test_the_finite_shoe_refuses_busted_plus_one() -> None:
    with pytest.raises(InputError, match="busted-plus-one: what hands lose to a natural has no exact value"):
        ShoeSolver(BUSTED.replace(decks=6))


def test_between_the_two_others() -> None:
    values = [Solver(BUSTED.replace(no_hole_loses=word)).value for word in ("all", "busted-plus-one", "original")]
    assert values == sorted(values) and values[0] < values[1] - 1e-4 < values[2] - 1e-4


def test_the_word_of_the_trade() -> None:
    assert named_rules("vegas-s17").replace(obo=True, enhc=True).no_hole_loses == "original"

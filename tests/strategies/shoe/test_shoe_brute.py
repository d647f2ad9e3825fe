"""The finite-shoe solver against every way of dealing a tiny shoe, in fractions."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction

import pytest
from support.games import random_chart, slow
from support.tiny_shoe import FREE, POINTS, OutOfCards, TinyShoe, draws, follow, less, sort

from bjsim.sim.game.actions import View
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.rules import Rules, RulesError
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.shoe.present import action_values
from bjsim.strategies.shoe.solver import ShoeSolver, find_node, find_start

ROUNDING = 1e-12
LOW = "A23456789"
FIRST_FREE, FIRST_ATTACK = 2000, 3000  # the first seeds with free bets, and with attacks


def random_game(seed: int) -> tuple[Rules, str]:
    """Rules that make sense, and 16 to 20 cards: five or more tens, and two to four each of three other values."""
    rng, later = (
        random.Random(seed),
        random.Random(-1 - seed),
    )  # `later`: for fields added since, seeds keep their games
    while True:
        low = rng.randint(4, 11)
        try:
            rules = Rules(
                decks=1,
                dealer_stands_on=rng.choice([17, 17, 17, 18]),
                hit_soft_17=rng.random() < 0.5,
                dealer_shows=rng.choice(["up", "up", "both"]),
                peek=rng.random() < 0.6,
                blackjack_pays=rng.choice([Fraction(3, 2), Fraction(6, 5), Fraction(1)]),
                naturals=rng.choice(["both", "both", "player", "none"]),
                natural_beats_natural=rng.random() < 0.3,
                ties=rng.choice(["push", "push", "lose"]),
                double_on=rng.choice(["any", "any", "never", f"{low}-{rng.randint(low, 20)}"]),
                double_after_split=rng.random() < 0.5,
                surrender=rng.random() < 0.5,  # type: ignore[arg-type]
                surrender_after_split=rng.random() < 0.5,
                split_by=rng.choice(["value", "value", "rank", "never"]),
                max_hands=rng.choice([2, 3, 3, 4, "inf"]),  # type: ignore[arg-type]
                resplit_aces=rng.random() < 0.5,
                hit_split_aces=rng.random() < 0.5,
                split_tens_blackjack=rng.random() < 0.3,
                stand_on_21=rng.random() < 0.8,
                dealer_22_pushes=rng.random() < 0.3,
                charlie=rng.choice(["none", 5, 6]),  # type: ignore[arg-type]
                double_cards=later.choice(["two", "any"]),
                player_21_wins=later.random() < 0.3,
                max_ace_hands=later.choice(["none", "none", "2", "3"]),
            )
            if seed >= FIRST_ATTACK:
                rules = rules.replace(attack=True, deal="dppd", dealer_shows="up")
            elif seed >= FIRST_FREE:
                doubles = later.choice(["none", "9-11", f"{low}-{low + 5}"])
                cards = later.choice(["two", "any"])
                splits = later.choice(["none", "A2356789", "A23456789T"])
                rules = rules.replace(free_doubles=doubles, free_double_cards=cards, free_splits=splits)
        except RulesError:
            continue
        if rules.surrender == "late" and rules.peek and rules.dealer_shows == "up" and not rules.surrender_after_split:
            rules = rules.replace(surrender=("late", "early", "early-ten", "early-ace")[seed % 4])
        if rules.naturals == "both" and rules.dealer_shows == "up":
            rules = rules.replace(insurance=seed % 3 > 0)
        plain = rules.charlie == "none" and not rules.player_21_wins and not rules.surrender_after_split
        splits_tie = not (rules.natural_beats_natural and rules.split_tens_blackjack)
        if (
            plain
            and splits_tie
            and not rules.free_bets
            and not rules.attack
            and rules.naturals == "both"
            and not rules.peek
        ):
            rules = rules.replace(no_hole_loses="original" if seed % 4 else "all")
        cards = "".join(card * rng.randint(2, 4) for card in rng.sample(LOW, 3))
        tens = "TTTTTTTTTTTTTTTT" if rules.split_by != "rank" else "TTTJJJQQTTTTTTTT"
        return rules, cards + tens[: max(rng.randint(16, 20) - len(cards), 7)]


class Players:
    """The strategies of a solver as policies of a TinyShoe."""

    def __init__(self, solver: ShoeSolver, tiny: TinyShoe) -> None:
        self.solver, self.tiny = solver, tiny
        self.chart = follow(solver.chart)

    def action(self, hand: str, shown: str, name: str) -> str:
        shoe = self.solver.shoe
        return " SHDPR"[self.solver.plays(name)[find_start(shoe, shown)].act[find_node(shoe, hand, True)]]

    def attacks(self, shown: str, name: str) -> str:
        return "A" if self.solver.plays(name)[find_start(self.solver.shoe, shown)].bets == 2 else "S"

    def insures(self, hand: str, shown: str) -> str:
        """By the cards of the hand: more than a third of the rest are tens."""
        rest = less(self.tiny.cards, hand + shown)
        return "I" if 3 * sum(POINTS[card] == 10 for card in rest) > len(rest) else "S"

    def with_exceptions(self, hand: str, shown: str, split: str, legal: str) -> str:
        if legal == "AS":
            return self.attacks(shown, "td-2c")
        if legal == "IS":
            return self.insures(hand, shown)
        if not split and len(hand) == 2:
            return self.action(hand, shown, "td-2c")
        return self.chart(hand, shown, split, legal)

    def by_cards(self, name: str):
        """CDZ- and CDP1: stand, hit and double are the tiny shoe's own choice; splits and surrenders the solver's."""

        def policy(hand: str, shown: str, split: str, legal: str) -> str:
            if legal == "AS":
                return self.attacks(shown, name)
            whole = self.tiny.legal(hand, "", 99)
            if legal == "IS":
                return self.insures(hand, shown)
            if not split:
                action = self.tiny.best(hand, shown, "", whole)[0]
                solved = self.action(hand, shown, name)
                assert solved in ("P", "R") or solved == action
                return solved
            if "P" in legal:
                return "P"
            if name == "cdp1":
                return self.tiny.best(hand, shown, split, legal)[0]
            if FREE in split:
                return self.tiny.best(hand, shown, split, legal)[0]
            action = self.tiny.best(hand, shown, "", whole)[0]
            if action in legal:
                return action
            return self.tiny.best(hand, shown, "", "SH")[0] if "H" in legal else "S"

        return policy


def check(seed: int) -> bool:
    """Compare everything for one random game; whether its shoe lasts for every round."""
    rules, cards = random_game(seed)
    solver, tiny = ShoeSolver(rules, Counter(cards)), TinyShoe(rules, cards)
    players = Players(solver, tiny)
    chart = random_chart(rules, seed)
    try:
        compared = [
            (tiny.value(players.chart), solver.value),
            (tiny.value(players.with_exceptions), solver.value_of("td-2c")),
            (tiny.value(players.by_cards("cdz-")), solver.value_of("cdz-")),
            (tiny.value(players.by_cards("cdp1")), solver.value_of("cdp1")),
            (tiny.value(follow(chart)), solver.value_of(chart)),
        ]
        mean, square = (tiny.value(follow(chart), power) for power in (1, 2))
    except OutOfCards:
        return False
    if rules.split_by != "rank" and not (rules.free_bets and rules.split_by != "never"):
        assert solver.sd_of(chart) == pytest.approx(math.sqrt(square - mean**2), abs=ROUNDING)
    for exact, value in compared:
        assert value == pytest.approx(float(exact), abs=ROUNDING), (rules.to_dict(), cards, compared)
    return True


@pytest.mark.parametrize(
    "seed", [3, 94, 101, 145, 174, 791, 2003, 3003, *map(slow, [5, 9, 157, 920, 1072, 2001, 2006])]
)
def test_a_tiny_shoe_has_its_brute_force_value(seed: int) -> None:
    """From 101 on split hands surrender; 145 has a tie; from 157 on surrender is early (174: ten, 791: ace).
    Insurance is offered where the seed is no multiple of 3; in 94 a natural takes the original bet only. The house pays
    for doubles and splits from 2000 on (2001: of up to three hands of eights); from 3000 on bets are doubled against
    some cards."""
    assert check(seed)


def test_tens_split_by_rank_have_their_brute_force_value() -> None:
    """Of tens of three ranks, split again and again; the dealer may show one of the pair's rank."""
    rules = Rules(decks=1, split_by="rank", max_hands=3, peek=True)
    cards = "TTTJJQQ99556678"
    solver, tiny = ShoeSolver(rules, Counter(cards)), TinyShoe(rules, cards)
    best = solver.chart
    chart = Chart("tens", rules, dict(best.cells) | {("TT", column): "P" for column in best.states.columns})
    exact = tiny.value(follow(chart))
    assert solver.value_of(chart) == pytest.approx(float(exact), abs=ROUNDING)
    assert solver.value_of(chart) < solver.value - 0.01


def split_rather_than_stand(tiny: TinyShoe, pair: str, shown: str, policy) -> Fraction:
    """What splitting a pair as dealt gains over standing, if split hands follow `policy`; no natural is possible."""

    def value(letter: str) -> Fraction:
        def play(hand: str, up: str, split: str, legal: str) -> str:
            return policy(hand, up, split, legal) if split else letter if hand == pair else "S"

        rest = less(tiny.cards, shown)
        dealt = [(q, tiny._dealt(play, shown, sort(shown + hole), less(rest, hole), 1)) for hole, q in draws(rest)]
        return sum((q * sum(won.values()) for q, won in dealt), Fraction(0))

    rest, held = len(tiny.cards) - 1, less(tiny.cards, shown).count(pair[0])
    return (value("P") - value("S")) / Fraction(held * (held - 1), rest * (rest - 1))


@pytest.mark.parametrize(
    ("pair", "shown", "cards", "changes"),
    [
        ("88", "6", "888866655TTTTTTT", {"max_hands": 4}),
        ("88", "7", "8888777233TTTTTT", {"max_hands": 3}),
        ("33", "5", "333355AATTTTTTTT", {"max_hands": "inf", "double_after_split": False}),
        ("22", "6", "22223366TTTTTTTT", {"max_hands": 4, "charlie": 5}),
        ("AA", "6", "AAAA6657TTTTTTTT", {"max_hands": 4, "resplit_aces": True}),  # nothing to decide: the best play
        ("99", "7", "9999773TTTTTTT", {"max_hands": 2}),
    ],
)
def test_the_present_split_is_worth_what_a_player_can_get(pair: str, shown: str, cards: str, changes: dict) -> None:
    """By the plan for the first of two split hands, whatever the number of hands turns out to be."""
    rules = Rules(decks=1, **{"double_after_split": True, "split_by": "value", **changes})
    tiny = TinyShoe(rules, cards)
    policy = Players(ShoeSolver(rules, Counter(cards)), tiny).by_cards("cdp1")
    unseen = [less(tiny.cards, pair + shown).count(rank) for rank in RANKS]
    found = action_values(View.alone(rules, pair, shown, "SP"), unseen)
    assert found["P"] - found["S"] == pytest.approx(
        float(split_rather_than_stand(tiny, pair, shown, policy)), abs=ROUNDING
    )


@pytest.mark.slow
def test_twelve_tiny_shoes_have_their_brute_force_values() -> None:
    lasted = 0
    for seed in range(100, 130):
        lasted += check(seed)
        if lasted == 12:
            return
    raise AssertionError(f"only {lasted} of 30 shoes lasted for every round")

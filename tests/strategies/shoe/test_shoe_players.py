"""Players that know the shoe: in the readable round, and one decision on the present composition."""

from __future__ import annotations

import itertools
import pickle
import random

import pytest
from support.games import slow

from bjsim.errors import InputError
from bjsim.sim.engine.kernels.layout import DOUBLE
from bjsim.sim.game.actions import ATTACK, CODES, Action, View
from bjsim.sim.game.cards import TEN, parse_rank
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe
from bjsim.strategies.players.catalogue import find_player
from bjsim.strategies.shoe.hands import all_hands
from bjsim.strategies.shoe.players import CardPlayer, Perfect, TwoCardPlayer
from bjsim.strategies.shoe.present import action_values
from bjsim.strategies.shoe.solver import ShoeSolver

ONE = named_rules("vegas-h17").replace(decks=1, surrender=True)


def unseen(cards: str, decks: int = 1) -> list[int]:
    counts = [4 * decks] * 13
    for card in cards:
        counts[parse_rank(card)] -= 1
    return counts


def view(rules: Rules, hand: str, dealer: str, legal: str, others: str = "", split: bool = False) -> View:
    return View(rules, 0, hand, dealer, dealer + "#" + hand + others, 10, 190, legal, split, 1 + split)


@pytest.mark.parametrize(
    ("cards", "shown"), [("T6", "T"), ("22", "7"), ("65", "A"), ("A7", "2"), ("236", "9"), ("88", "A"), ("2222", "6")]
)
def test_the_first_decision_has_the_solvers_value(cards: str, shown: str) -> None:
    values = ShoeSolver(ONE).hand_values(cards, shown, "cdp1")
    found = action_values(View.alone(ONE, cards, shown, "".join(values)), unseen(cards + shown))
    assert found == pytest.approx(values, abs=1e-13)


NO_HOLE = {"deal": "pdp", "peek": False, "no_hole_loses": "original", "surrender": "late"}


@pytest.mark.parametrize("before", [{"surrender": "early"}, NO_HOLE], ids=["early", "original"])
@pytest.mark.parametrize(("cards", "shown", "natural"), [("T6", "T", 4 / 49), ("96", "A", 16 / 49), ("T6", "9", 0)])
def test_before_the_look_a_natural_is_included(
    cards: str, shown: str, natural: float, before: dict[str, object]
) -> None:
    """It takes a bet of every action but of a surrender, which has -1/2."""
    rules = ONE.replace(**before)
    found = action_values(View.alone(rules, cards, shown, "SHDR"), unseen(cards + shown))
    given = action_values(View.alone(ONE, cards, shown, "SHD"), unseen(cards + shown))
    expected = {letter: (1 - natural) * value - natural for letter, value in given.items()} | {"R": -1 / 2}
    assert found == pytest.approx(expected, abs=1e-13)
    assert found == pytest.approx(ShoeSolver(rules).hand_values(cards, shown), abs=1e-13)


def test_an_ace_on_a_split_ten_is_no_natural() -> None:
    rules = ONE.replace(stand_on_21=False)
    whole, half = (action_values(View.alone(rules, "TA", "6", "SH", split), unseen("TA6")) for split in (False, True))
    assert whole["S"] == pytest.approx(1.5)
    assert 0.8 < half["S"] < 1


def test_a_depleted_shoe() -> None:
    """Farmer's program, version 7.6, before splitting: 2,2 v 7 with few cards left."""
    left = dict(zip("A23456789TJQK", [0, 2, 4, 2, 0, 0, 1, 0, 0, 7, 0, 0, 0], strict=True))
    found = action_values(View.alone(named_rules("vegas-s17"), "22", "7", "SHD"), list(left.values()))
    assert found == pytest.approx({"S": -0.61639194, "H": -0.13266733, "D": -1.23278388}, abs=5.1e-9)


def test_two_card_exceptions_and_all_cards_are_played() -> None:
    """8,4 v 3 stands where 12 is hit; 6,2 v 5 does not double at one deck."""
    two, cards, chart = (find_player(name, ONE) for name in ("optimal-2c", "optimal-cd", "optimal"))
    for player in (two, cards):
        assert player.decide(view(ONE, "84", "3", "SHD")) == Action("S")
        assert player.decide(view(ONE, "T2", "3", "SHD")) == Action("H")
        assert pickle.loads(pickle.dumps(player)).name == player.name
    assert chart.decide(view(ONE, "84", "3", "SHD")) == Action("H")
    assert cards.decide(view(ONE, "88", "6", "SHD", split=True)) == Action("S")
    assert cards.decide(view(ONE, "88", "6", "SHDP", split=True)) == Action("P")


def test_perfect_sees_the_table() -> None:
    """16 v T is hit off the top and stood with low cards gone, which a chart cannot tell."""
    rules = named_rules("cardshark")
    perfect = Perfect(rules)
    actions = {
        others: perfect.decide(view(rules, "T6", "7", "SHDB", others)).letter for others in ("KQJTKQ", "234523452345")
    }
    assert actions == {"KQJTKQ": "H", "234523452345": "S"}
    assert sum(perfect.unseen(view(rules, "T6", "7", "SH", "5555"))) == 52 - 7
    assert min(perfect.unseen(view(rules, "T6", "7", "SH", "55555"))) >= 0  # a second deck has been opened


@pytest.mark.parametrize("name", ["optimal-2c", "optimal-cd", "perfect"])
@pytest.mark.parametrize("game", ["vegas-h17", "easy", slow("european"), "cardshark", slow("neller-v2")])
def test_they_play_whole_rounds(name: str, game: str) -> None:
    rules = named_rules(game).replace(decks=2, seats=1)
    player = find_player(name, rules)
    rng = random.Random(3)
    cards = list("A23456789TJQK" * 8)
    for _ in range(25):
        rng.shuffle(cards)
        assert len(Round(rules, ScriptedShoe("".join(cards)), 1).play([player]).net) == 1


@pytest.mark.parametrize("game", ["neller", slow("neller-v2"), "vegas-s17"])
def test_perfect_begins_as_the_shoe_is_solved(game: str) -> None:
    """With the value of a tied bet that is replayed."""
    rules = named_rules(game).replace(decks=2)
    solver, perfect = ShoeSolver(rules), Perfect(rules)
    for hand, card in itertools.product(("T2", "88", "A7", "TT", "54"), "469TA"):
        values = solver.hand_values(hand, card, "cdp1")
        seen = View.alone(rules, hand, card, "".join(values))._replace(visible=f"{card}#{hand}")
        assert values[perfect.decide(seen).letter] == pytest.approx(max(values.values()), abs=1e-12)


@pytest.mark.parametrize("kind", [slow(TwoCardPlayer), CardPlayer])
def test_split_hands_of_three_cards_are_played_as_solved(kind: type[TwoCardPlayer]) -> None:
    """Hands of any number of cards may double, but not those of a split."""
    rules = ONE.replace(double_cards="any", double_after_split=False, hit_split_aces=True)
    player = kind(rules)
    shoe, kinds = player.solver.shoe, player.solver.game.kinds
    doubled = 0
    for start, play in player.solver.plays(player.strategy).items():
        shown = "A23456789T"[shoe.starts[start][0]]
        for tree in filter(None, shoe.layout.trees):
            for node, hand in enumerate(tree.hands.tolist(), tree.starts[0]):
                cards = "".join("A23456789T"[card] * count for card, count in enumerate(all_hands().counts[hand]))
                legal = kinds[shoe.kind[node]].legal
                if len(cards) > 2 and legal:
                    assert CODES[player.decide(view(rules, cards, shown, legal, split=True)).letter] == play.act[node]
                    doubled += play.act[hand] == DOUBLE
    assert doubled > 50  # the same hands as dealt


@pytest.mark.parametrize("name", ["optimal-2c", "optimal-cd", "perfect"])
def test_an_infinite_shoe_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"^decks = inf: {name} .*shoe"):
        find_player(name, named_rules("easy"))


def test_seeing_more_cards_never_lowers_the_value() -> None:
    """Averaged over an unseen card, the value of the best decision after seeing it is at least as high."""
    cards, shown = "T2", "4"
    blind = action_values(View.alone(ONE, cards, shown, "SH"), unseen(cards + shown))
    mean = {letter: 0.0 for letter in blind}
    best = total = 0.0
    for card in "A23456789TJQK":
        weight = unseen(cards + shown)[parse_rank(card)]
        seen = action_values(View.alone(ONE, cards, shown, "SH"), unseen(cards + shown + card))
        total += weight
        best += weight * max(seen.values())
        for letter in mean:
            mean[letter] += weight * seen[letter]
    assert {letter: ev / total for letter, ev in mean.items()} == pytest.approx(blind, abs=1e-12)
    assert best / total > max(blind.values()) + 1e-4


BY_RANK = named_rules("vegas-s17").replace(decks=1, split_by="rank")


@pytest.mark.parametrize("strategy", ["cdz-", "cdp1", "cdp"])
def test_a_pair_of_queens_is_split_again_only_with_further_queens(strategy: str) -> None:
    """The value of a pair of tens was the mean over their ranks, whatever they were."""
    left = {**dict.fromkeys("A23456789TJK", 4), "Q": 2}
    solver, once = (ShoeSolver(rules, left) for rules in (BY_RANK, BY_RANK.replace(max_hands=2)))
    queens, jacks = (solver.hand_values(pair, "6", strategy) for pair in ("QQ", "JJ"))
    assert queens == pytest.approx(once.hand_values("QQ", "6", strategy), abs=1e-13)
    of_any_rank = solver.plays(strategy)[solver.shoe.starts.index((5,))].split[TEN]
    assert (36 * jacks["P"] + 2 * queens["P"]) / 38 == pytest.approx(of_any_rank, abs=1e-13)
    assert abs(jacks["P"] - queens["P"]) > 1e-3
    with pytest.raises(InputError, match="QQ against Q cannot be dealt from this shoe"):
        solver.hand_values("QQ", "Q", strategy)


def test_the_dealers_queen_is_one_less_to_split_again() -> None:
    solver = ShoeSolver(BY_RANK)
    king, queen = (solver.hand_values("QQ", shown, "cdp1") for shown in "KQ")
    assert abs(king["P"] - queen["P"]) > 1e-3
    for shown, values in (("K", king), ("Q", queen)):
        found = action_values(View.alone(BY_RANK, "QQ", shown, "".join(values)), unseen("QQ" + shown))
        assert found == pytest.approx(values, abs=1e-13)


@pytest.mark.parametrize(("card", "attack"), [("K", "A"), ("A", "S")])
def test_perfect_attacks_every_ten(card: str, attack: str) -> None:
    """Naturals pay 10:1: a king, which is no letter of a column, was never attacked."""
    perfect = Perfect(named_rules("double-attack").replace(blackjack_pays=10, decks=1))
    assert perfect.decide(View.alone(perfect.rules, "", card, ATTACK)).letter == attack

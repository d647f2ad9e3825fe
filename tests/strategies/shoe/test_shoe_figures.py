"""Published figures of finite shoes, to their last digit. Per cent of the bet unless the name says otherwise."""

from __future__ import annotations

import pytest

from bjsim.sim.game.hand_states import DEALER_NATURAL
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.shoe.solver import ShoeSolver

S17 = named_rules("vegas-s17")  # double any two and after splits, four hands, one card to split aces, peek, 3:2
H17 = S17.replace(hit_soft_17=True)
DEPLETED = [0, 4, 4, 2, 0, 0, 2, 0, 0, 7]


def solver(decks: int, rules: Rules = S17, **changes: object) -> ShoeSolver:
    return ShoeSolver(rules.replace(decks=decks, **changes))


@pytest.mark.parametrize(("decks", "value"), [(1, 0.181934306), (6, -0.402870236)])
def test_cdz_to_nine_digits(decks: int, value: float) -> None:
    """Farmer's program, version 7.6."""
    assert 100 * solver(decks).value_of("cdz-") == pytest.approx(value, abs=6e-10)


def test_cdz_by_upcard() -> None:
    """Farmer's program, version 7.6; dealer's naturals included."""
    found = solver(6).by_upcard("cdz-")
    for column, value in {"2": 9.267505837, "6": 23.575407663, "T": -17.313880618, "A": -34.165284767}.items():
        assert 100 * found[column] == pytest.approx(value, abs=6e-10)


@pytest.mark.parametrize(
    ("rules", "decks", "cards", "shown", "values"),
    [
        (S17, 1, "T6", "T", "-.542952 -.506929"),
        (S17, 1, "77", "T", "-.509739 -.514818"),
        (S17, 1, "5T", "T", "-.538433 -.501091"),
        (S17, 1, "65", "A", "-.634013 .172946 .240259"),
        (S17, 1, "236", "9", "-.541969 .167563"),
        (H17, 1, "26", "6", "-.108450 .119677 .111237"),
        (H17, 2, "2T", "4", "-.206125 -.204205 -.408411"),
        (S17, 6, "78", "T", "-.536220 -.499763 -.999525"),
        (S17, 1, "T2", "4", "-.211839 -.193955"),
        (S17, 6, "T2", "4", "-.211115 -.210364"),
        (S17, 8, "T2", "4", "-.211100 -.211161"),
    ],
)
def test_hands(rules: Rules, decks: int, cards: str, shown: str, values: str) -> None:
    """Stand, hit and double, given no dealer's natural."""
    found = solver(decks, rules).hand_values(cards, shown)
    for letter, value in zip("SHD", values.split(), strict=False):
        assert found[letter] == pytest.approx(float(value), abs=5.1e-7), letter


def test_a_depleted_shoe_with_its_split() -> None:
    found = ShoeSolver(S17, DEPLETED).hand_values("22", "7")
    for letter, value in {"S": -0.61639194, "H": -0.13266733, "D": -1.23278388, "P": -0.76210220}.items():
        assert found[letter] == pytest.approx(value, abs=5.1e-9)


@pytest.mark.parametrize(("decks", "cards", "loss"), [(1, 51, 3), (6, 311, 23), (8, 415, 31)])
def test_insurance_off_the_top(decks: int, cards: int, loss: int) -> None:
    assert 3 * solver(decks).dealer("A")[DEALER_NATURAL] - 1 == pytest.approx(-loss / cards, abs=1e-15)


@pytest.mark.parametrize(
    ("soft_17", "values"),
    [(False, (0.161, -0.145, -0.287, -0.333, -0.357)), (True, (-0.012, -0.329, -0.481, -0.529, -0.555))],
)
def test_the_best_chart_is_at_least_as_good_as_published_ones(soft_17: bool, values: tuple[float, ...]) -> None:
    """hhoppe's total-dependent charts with late surrender, not optimised for the shoe; and not much better."""
    for decks, value in zip((1, 2, 4, 6, 8), values, strict=True):
        found = 100 * solver(decks, hit_soft_17=soft_17, surrender=True).value
        assert value - 0.0005 <= found <= value + 0.02


@pytest.mark.parametrize(("decks", "gap"), [(2, 0.014), (4, 0.0055), (6, 0.0031), (8, 0.0019)])
def test_what_a_chart_gives_away(decks: int, gap: float) -> None:
    """Total-dependent below composition-dependent play: Wizard of Odds, as many digits as printed."""
    shoe = solver(decks)
    printed = 0.0005 if decks == 2 else 0.00005
    assert 100 * (shoe.value_of("cdz-") - shoe.value) == pytest.approx(gap, abs=printed * 1.01)


def test_what_the_best_chart_gives_away_at_one_deck() -> None:
    """Wizard of Odds prints .0387 for a chart of his; the best chart gives away a little less."""
    shoe = solver(1)
    assert 0.0375 < 100 * (shoe.value_of("cdz-") - shoe.value) < 0.0387


def test_two_card_exceptions() -> None:
    """hhoppe, H17 with late surrender: all at six decks; those named at two."""
    six = {(e.cards, e.column, e.action) for e in solver(6, H17, surrender=True).exceptions}
    assert six == {("87", "T", "H")}
    two = {(e.cards, e.column, e.action) for e in solver(2, H17, surrender=True).exceptions}
    assert two >= {("87", "T", "H"), ("T2", "4", "H"), ("84", "3", "S"), ("75", "3", "S"), ("87", "A", "H")}


def test_effects_of_removal() -> None:
    """Published for six decks, one split: they are those of the game with late surrender, to about .005."""
    published = dict(zip("A23456789T", (-94, 69, 82, 110, 141, 79, 41, -8, -40, -91), strict=True))
    found = solver(6, max_hands=2, surrender=True).removal("cdz-")
    for card, effect in published.items():
        assert 100_000 * found[card] == pytest.approx(effect, abs=5.2)

"""The effects of rules on the value next to published figures: [WoO], "Rule variations", 8 decks, S17, percent."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bjsim.sim.game.hand_states import DEALER_22, BonusScheme
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.solver import ShoeSolver

EIGHT = named_rules("vegas-s17").replace(decks=8)


def effect(decks: object, **changes: object) -> float:
    """The gain in value from changing rules of `vegas-s17`, in percent."""

    def value(rules: Rules) -> float:
        return float(Solver(rules).value) if rules.infinite else ShoeSolver(rules).value

    game = EIGHT.replace(decks=decks)
    return 100 * (value(game.replace(**changes)) - value(game))


@pytest.mark.parametrize(("name", "percent"), [("vegas-h17", -7.683917), ("vegas-s17", -7.350096)])
def test_a_dealers_22_that_pushes_in_an_infinite_shoe(name: str, percent: float) -> None:
    """Two independent programs agree on these digits; naturals are paid."""
    game = named_rules(name).replace(decks="inf", dealer_22_pushes=True)
    assert 100 * Solver(game).value == pytest.approx(percent, abs=5e-7)


@pytest.mark.parametrize(
    ("cards", "published", "eight_decks", "infinite"), [(5, 1.46, 1.5235, 1.5777), (6, 0.16, 0.1496, 0.1605)]
)
def test_a_charlie(cards: int, published: float, eight_decks: float, infinite: float) -> None:
    """Ours for five cards is above the published one by .06, for six below by .01: it is the best chart that counts
    cards, split hands included. The infinite shoe has more small cards left after some, which helps."""
    assert effect(8, charlie=cards) == pytest.approx(eight_decks, abs=1e-3)
    assert effect("inf", charlie=cards) == pytest.approx(infinite, abs=1e-3)
    assert effect(8, charlie=cards) == pytest.approx(published, abs=0.07 if cards == 5 else 0.015)
    assert abs(effect(8, charlie=cards + 1) - published) > 0.1  # negative control


@pytest.mark.parametrize(("decks", "published"), [(1, 0.073362), (2, 0.073470), (6, 0.073536), (8, 0.073544)])
def test_how_often_the_dealer_draws_to_22(decks: int, published: float) -> None:
    """[WoO], "Push 22", for a dealer who hits soft 17 and plays whatever the player does. (Its other column has more
    for a dealer who stands and one deck, .073630, where standing sooner must give less; ours is .072401.)"""
    solver = ShoeSolver(EIGHT.replace(decks=decks, hit_soft_17=True, dealer_22_pushes=True))
    cards = {card: 16 / 52 if card == "T" else 4 / 52 for card in "A23456789T"}
    found = sum(p * solver.dealer(card)[DEALER_22] for card, p in cards.items())
    assert found == pytest.approx(published, abs=6e-7)


@pytest.mark.parametrize("decks", ["inf", 8])
def test_a_dealers_22_that_pushes(decks: object) -> None:
    """7.26% of the rounds, less those in which the hand has bust or is a natural, more for doubled bets."""
    assert effect(decks, dealer_22_pushes=True) == pytest.approx(-6.838, abs=1e-3)


@pytest.mark.parametrize(("decks", "ten", "ace"), [(8, 0.2430, 0.3842), ("inf", 0.2511, 0.3780)])
def test_early_surrender(decks: object, ten: float, ace: float) -> None:
    """Published are .24 against a ten and .39 against an ace, compared with no surrender. Ours for the ace, .384, would
    be .387 together with late surrender against nines. Late surrender against that card only is a negative control."""

    def by_card(surrender: str) -> dict[str, float]:
        rules = EIGHT.replace(decks=decks, surrender=surrender)
        if rules.infinite:
            solver = Solver(rules)
            return {label: float(solver.column_total(column, 0.0, None)) for label, column in solver.columns.items()}
        return {card: ev * (4 if card == "T" else 1) / 13 for card, ev in ShoeSolver(rules).by_upcard().items()}

    none = by_card("none")
    gains = {kind: {card: 100 * (ev - none[card]) for card, ev in by_card(kind).items()}
             for kind in ("late", "early", "early-ten", "early-ace")}  # fmt: skip
    early, late = gains["early"], gains["late"]
    assert (early["T"], early["A"]) == pytest.approx((ten, ace), abs=1e-4)
    assert (early["T"], early["A"]) == pytest.approx((0.24, 0.39), abs=0.013)
    assert abs(late["T"] - 0.24) > 0.1 and abs(late["A"] - 0.39) > 0.1
    assert gains["early-ten"] == pytest.approx(late | {"T": early["T"]}, abs=1e-12)
    assert gains["early-ace"] == pytest.approx(late | {"A": early["A"]}, abs=1e-12)


def test_the_chart_of_early_surrender() -> None:
    """As in every book: against a ten 14 to 16, 77 and 88; against an ace 5 to 7, 12 to 17, 33, 66, 77 and 88."""
    cells = ShoeSolver(EIGHT.replace(surrender="early")).chart.cells
    given_up = {card: {row for (row, column), code in cells.items() if column == card and code[0] == "R"}
                for card in "9TA"}  # fmt: skip
    assert given_up["9"] == {"16"}
    assert given_up["T"] == {"14", "15", "16", "77", "88"}
    assert given_up["A"] == {"5", "6", "7", "12", "13", "14", "15", "16", "17", "33", "66", "77", "88"}


def test_surrender_after_a_split() -> None:
    """Little: hands of split eights are about the only ones that are bad enough, and 15 against a ten hardly is."""
    late = {"surrender": "late"}
    more = [effect(decks, **late, surrender_after_split=True) - effect(decks, **late) for decks in ("inf", 8)]
    assert more == pytest.approx([2.564e-4, 5.37e-5], abs=2e-7)


@pytest.mark.parametrize(("decks", "value"), [("inf", 0.22553), (8, 0.22821)])
def test_doubles_on_any_number_of_cards(decks: object, value: float) -> None:
    assert effect(decks, double_cards="any") == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize(("decks", "value"), [(6, -0.24739), (8, -0.24804)])
def test_insurance_with_a_spanish_deck(decks: object, value: float) -> None:
    """24.7% is the published loss, with six and eight decks."""
    solver = ShoeSolver(EIGHT.replace(decks=decks, deck="spanish", insurance=True))
    taken = solver.value_of(replace(solver.chart, insurance="I")) - solver.value_of(solver.chart)
    assert taken == pytest.approx(value / 24, abs=6e-5 / 24)  # half a bet, in one round of twelve


def test_a_spanish_deck_in_an_infinite_shoe_is_a_probability_of_tens() -> None:
    game = EIGHT.replace(decks="inf")
    assert Solver(game.replace(deck="spanish")).value == Solver(game.replace(ten_probability="1/4")).value


@pytest.mark.slow
def test_a_huge_shoe_pays_the_bonuses_of_an_infinite_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Doubled hands win no bonus, in the finite shoe too; with the bonus they would win more.

    Suits are those of an infinite shoe: three sevens of six decks are less often suited, which costs 5e-6.
    """
    spread = BonusScheme.spread
    monkeypatch.setattr(BonusScheme, "spread", lambda scheme, meld, decks: spread(scheme, meld, math.inf))
    game = named_rules("spanish-21").replace(max_hands=2, max_ace_hands=2, resplit_aces=False)
    chart = Solver(game.replace(decks="inf")).chart
    huge = ShoeSolver(game, [300_000] * 9 + [900_000])
    exact, sd = Solver(game.replace(decks="inf")).ev(chart.policy), Solver(game.replace(decks="inf")).sd_of(chart)
    assert huge.value_of(chart) == pytest.approx(float(exact.value), abs=3e-6)
    assert huge.sd_of(chart) == pytest.approx(sd, abs=1e-5)

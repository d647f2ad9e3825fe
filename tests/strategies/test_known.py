"""Known cards: averages, figures of known naturals, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import bjsim
from bjsim.errors import InputError
from bjsim.strategies.shoe.solver import ShoeSolver

S17 = bjsim.load_rules("vegas-s17").replace(decks="inf")
GAMES = [
    S17,
    S17.replace(insurance=True, surrender="early", hit_soft_17=True),
    S17.replace(peek=False, deal="pdp", decks=6),
    S17.replace(decks=2, insurance=True, surrender="late"),
    bjsim.load_rules("spanish-21").replace(decks="inf"),
    bjsim.load_rules("blackjack-p"),
    S17.replace(ties="replay", double_cards="any", max_doubles=2, charlie=6),  # best play wins more than its chart
]


@pytest.mark.parametrize("game", GAMES, ids=str)
@pytest.mark.parametrize("what", ["first", "up"])
def test_the_mean_over_the_cards_is_the_value_of_the_game(game: bjsim.Rules, what: str) -> None:
    found = bjsim.known(game, what)
    assert math.fsum(found.chances.values()) == pytest.approx(1, abs=1e-12)
    assert found.value == pytest.approx(float(bjsim.solve(game).value), abs=1e-12)
    assert found.selective > max(found.value, 0)


def test_a_first_card_where_both_of_the_dealers_are_seen() -> None:
    found = bjsim.known("easy")
    assert found.value == pytest.approx(float(bjsim.solve("easy").value), abs=1e-12)


def test_a_shoe_without_a_card_has_no_value_for_it() -> None:
    shoe = dict.fromkeys("A2345678", 8) | {"T": 32}
    found = bjsim.known(S17.replace(decks=2), shoe=shoe)
    assert set(found.values) == set("A2345678T")
    assert found.value == pytest.approx(ShoeSolver(S17.replace(decks=2), shoe).value, abs=1e-12)


def test_a_result_names_the_cards_that_it_is_of() -> None:
    found = replace(bjsim.known("blackjack-p"), shoe={"A": 4, "T": 12})
    assert found.describe().lines[0].startswith("blackjack-p: shoe A=4,T=12, S17")
    data = found.to_json()
    assert data["shoe"] == {"A": 4, "T": 12} and data["rules"]["name"] == "blackjack-p" and data["what"] == "first"
    assert data["chances"]["T"] == pytest.approx(4 / 13) and data.keys() >= {"values", "game", "value", "selective"}


def test_a_known_natural_is_insured_and_surrendered() -> None:
    """Half of the naturals have an ace up: insurance wins a bet; early surrender saves half, unless both have one."""
    game = S17.replace(insurance=False)
    plain, natural = bjsim.known(game, "hole"), 2 / 13 * 4 / 13
    insured = bjsim.known(game.replace(insurance=True), "hole")
    assert insured.value - plain.value == pytest.approx(natural / 2)
    late, early = (bjsim.known(game.replace(surrender=when), "hole") for when in ("late", "early"))
    assert early.value - late.value == pytest.approx(natural * (1 - natural) / 2)
    tens = bjsim.known(game.replace(decks=1, surrender="early", double_on="never"), "hole").values["BJ"]
    assert tens == pytest.approx(-(1 - 2 * 3 * 15 / (50 * 49)) / 2)


@pytest.mark.parametrize(
    ("game", "what", "says"),
    [
        (S17, "third", "what: 'third' is not accepted; use first, up, hole"),
        ("easy", "hole", "dealer_shows = both: both of the dealer's cards are seen; use dealer_shows = up"),
        ("easy", "up", "dealer_shows = both: both of the dealer's cards are seen; use dealer_shows = up"),
        (
            S17.replace(peek=False, deal="pdp"),
            "hole",
            "deal = pdp: the dealer has no hole card; use deal = pdpd",
        ),
    ],
)
def test_errors(game: bjsim.Rules | str, what: str, says: str) -> None:
    with pytest.raises(InputError, match=says.replace("(", "\\(")):
        bjsim.known(game, what)

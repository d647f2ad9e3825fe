"""The value of a round whose first card is known, in an infinite shoe, from the values of two-card hands."""

from __future__ import annotations

import pytest

import bjsim
from bjsim.sim.game.cards import RANKS

FIGURES = {
    "vegas-s17": dict(
        zip(
            "A23456789T",
            map(
                float,
                [
                    "50.4019",
                    "-13.2947",
                    "-15.3950",
                    "-17.6969",
                    "-19.6529",
                    "-20.9834",
                    "-18.0796",
                    "-8.4058",
                    "-.9417",
                    "14.3489",
                ],
            ),
            strict=True,
        )
    ),
    "vegas-h17": {"A": 50.1844, "T": 14.0328},
}


def first_card(solver: bjsim.Solver, first: str) -> float:
    """The value given the first card, in % of the bet."""
    chances = solver.rules.card_probabilities
    natural = 2 * chances[0] * sum(chances[9:])
    value = 0.0
    for second, chance in zip(RANKS, chances, strict=True):
        if {first, second} & {"A"} and {first, second} & {*"TJQK"}:
            value += float(chance * (1 - natural) * solver.rules.blackjack_pays)
            continue
        hands = (
            float(solver.columns[label].probability)
            * max(map(float, solver.hand_values(first + second, label).values()))
            for label in solver.columns
        )
        value += float(chance) * (sum(hands) - float(natural))
    return 100 * value


@pytest.mark.parametrize("game", FIGURES)
def test_known_first_card(game: str) -> None:
    solver = bjsim.Solver(bjsim.load_rules(game).replace(decks="inf"))
    for card, published in FIGURES[game].items():
        assert first_card(solver, card) == pytest.approx(published, abs=5.1e-5)
    whole = sum(
        float(p) * first_card(solver, card) for card, p in zip(RANKS, solver.rules.card_probabilities, strict=True)
    )
    assert whole == pytest.approx(100 * float(solver.value))

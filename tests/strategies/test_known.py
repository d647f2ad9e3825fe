"""Known cards: figures, averages, and rounds played by somebody who looks at the shoe."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bjsim
from bjsim.errors import InputError
from bjsim.sim.game.actions import Action
from bjsim.sim.game.hand_states import DealerState
from bjsim.sim.game.shoe import Unshuffled

S17 = bjsim.load_rules("vegas-s17").replace(decks="inf")
GAMES = [
    S17,
    S17.replace(insurance=True, surrender="early", hit_soft_17=True),
    S17.replace(peek=False, deal="pdp", decks=6),
    S17.replace(decks=2, insurance=True, surrender="late"),
    bjsim.load_rules("spanish-21").replace(decks="inf"),
    bjsim.load_rules("blackjack-p"),
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


def test_the_upcards_of_a_shoe_are_those_of_its_solver() -> None:
    game = S17.replace(decks=2, insurance=True)
    solver = bjsim.solve(game)
    assert isinstance(solver, bjsim.ShoeSolver)
    assert bjsim.known(game, "up").values == pytest.approx(solver.by_upcard(), abs=1e-12)


def test_many_decks_are_almost_infinite() -> None:
    shoe = dict.fromkeys("A23456789", 30_000) | {"T": 120_000}
    found = bjsim.known(S17.replace(decks=6), shoe=shoe)
    assert found.values == pytest.approx(bjsim.known(S17).values, abs=1e-4)


def test_a_shoe_without_a_card_has_no_value_for_it() -> None:
    shoe = dict.fromkeys("A2345678", 8) | {"T": 32}
    found = bjsim.known(S17.replace(decks=2), shoe=shoe)
    assert set(found.values) == set("A2345678T")
    assert found.value == pytest.approx(bjsim.ShoeSolver(S17.replace(decks=2), shoe).value, abs=1e-12)


def test_a_known_natural_is_insured_and_surrendered() -> None:
    """Half of the naturals have an ace up: insurance wins a bet; early surrender saves half, unless both have one."""
    plain = bjsim.known(S17, "hole")
    natural = 2 / 13 * 4 / 13
    insured = bjsim.known(S17.replace(insurance=True), "hole")
    assert insured.value - plain.value == pytest.approx(natural / 2)
    late, early = (bjsim.known(S17.replace(surrender=when), "hole") for when in ("late", "early"))
    assert early.value - late.value == pytest.approx(natural * (1 - natural) / 2)
    tens = bjsim.known(S17.replace(decks=1, surrender="early", double_on="never"), "hole").values["BJ"]
    assert tens == pytest.approx(-(1 - 2 * 3 * 15 / (50 * 49)) / 2)


def test_the_published_edge_of_a_known_hole_card() -> None:
    """Thirteen per cent."""
    assert bjsim.known(S17.replace(insurance=True), "hole").value == pytest.approx(0.13, abs=5e-4)


class OpenShoe(Unshuffled):
    """An infinite shoe whose next card can be seen."""

    def __init__(self, seed: int) -> None:
        weights = [float(p) for p in S17.card_probabilities]
        self.cards = np.random.default_rng(seed).choice(13, size=2_000_000, p=weights).tolist()

    def draw(self) -> int:
        return int(self.cards.pop())


@pytest.mark.slow
@pytest.mark.parametrize("what", ["hole", "next"])
def test_rounds_of_somebody_who_sees_the_card(what: str) -> None:
    """In the readable round; 4 standard errors."""
    found, best = bjsim.known(S17, what), bjsim.Solver(S17).chart
    shoe, profits = OpenShoe(7), []
    while len(shoe.cards) > 1_000:
        shoe.draw()  # the card that was seen, else stopping before a ten would make tens likely in the next round
        played = bjsim.Round(S17, shoe, 1)
        asked, chart = played.steps(), best
        try:
            question = next(asked)
            if what == "next":
                chart = found.charts["A23456789T"[min(shoe.cards[-1], 9)]]
            while True:
                view = question.view
                if what == "hole":
                    chart = found.charts["any"]
                    both = chart.states.dealer_add(DealerState(), played.dealer.ranks[0])
                    column = chart.states.dealer_code(chart.states.dealer_add(both, played.dealer.ranks[1]))
                else:
                    column = chart.states.column(view.dealer)
                state = chart.find_state(view.hand, view.split)
                question = asked.send(Action(chart.policy(state, column, view.legal)))
                chart = best
        except StopIteration as end:
            profits.append(float(end.value.net[0]))
    mean, error = float(np.mean(profits)), float(np.std(profits)) / len(profits) ** 0.5
    assert error < 0.004
    assert abs(mean - found.value) < 4 * error
    assert abs(mean - found.game) > 20 * error  # negative control


@pytest.mark.parametrize(("chance", "value"), [(1, 0.504019), (1 / 13, -0.005117336), (0, -0.047545)])
def test_a_predicted_ace(chance: float, value: float) -> None:
    """Worked: without an ace, the mean of the other cards is (-.005117 - .504019 / 13) 13 / 12."""
    assert bjsim.predict(S17, "A", chance).value == pytest.approx(value, abs=1e-6)


def test_a_prediction_breaks_even() -> None:
    found = bjsim.predict(S17, "A", 0.5)
    assert found.break_even is not None
    assert bjsim.predict(S17, "A", found.break_even).value == pytest.approx(0, abs=1e-12)
    assert found.break_even == pytest.approx(0.047545 / (0.504019 + 0.047545), abs=1e-5)
    assert bjsim.predict(S17, "6").break_even is None


def test_a_predicted_ace_that_goes_to_the_dealer() -> None:
    ace, up = bjsim.known(S17).values["A"], bjsim.known(S17, "up").values["A"]
    assert bjsim.predict(S17, "A", 1, to_dealer=0).value == pytest.approx(ace)
    lost = bjsim.predict(S17, "A", 0, to_dealer=1).value  # the player's first card is no ace then
    assert lost < up
    usual = bjsim.predict(S17, "A", 1 / 13, to_dealer=12 / 13 / 13)
    assert usual.value == pytest.approx(bjsim.known(S17).game, abs=1e-12)
    found = bjsim.predict(S17, "A", 0.4, to_dealer=0.1)
    assert found.break_even is not None
    assert bjsim.predict(S17, "A", found.break_even, to_dealer=0.1).value == pytest.approx(0, abs=1e-12)


def test_the_kelly_bet_of_a_certain_ace() -> None:
    """By the distribution of the profits given an ace, found here by growth itself, to second order."""
    found = bjsim.predict(S17, "A")
    assert 0.3 < found.kelly < 0.4
    assert bjsim.predict(S17, "5").kelly == 0


@pytest.mark.parametrize(
    ("game", "what", "says"),
    [
        (S17, "third", "what: 'third' is not accepted; use first, up, hole, next"),
        ("easy", "hole", "easy has no hole card: the dealer shows both cards"),
        ("easy", "up", "easy has no upcard: the dealer shows both cards"),
        (S17.replace(peek=False, deal="pdp"), "hole", "vegas-s17 has no hole card: the dealer is dealt one card"),
        ("vegas-s17", "next", "next needs decks = inf"),
    ],
)
def test_errors(game: bjsim.Rules | str, what: str, says: str) -> None:
    with pytest.raises(InputError, match=says.replace("(", "\\(")):
        bjsim.known(game, what)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"card": "K"}, "card: 'K' is not accepted; use one of A, 2,"),
        ({"chance": 1.5}, "chance: 1.5 is not accepted; use a probability from 0 to 1"),
        ({"chance": 0.7, "to_dealer": "0.4"}, "chance and to_dealer are more than 1 together"),
    ],
)
def test_errors_of_predictions(changes: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        bjsim.predict(S17, **changes)  # type: ignore[arg-type]

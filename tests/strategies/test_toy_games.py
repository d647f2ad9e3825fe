"""The optimum of Gymnasium's toy blackjack, which its documentation does not state, as a decision process of its code.

A natural is special only in what it wins: with `natural`, a player's natural that beats the dealer's total pays 3:2;
with `sab`, it wins against any dealer who has no natural. The dealer stands on every 17. The class has neither, but
`make("Blackjack-v1")` sets `sab`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.mdp.model import Outcome, build_mdp
from bjsim.strategies.mdp.solve import start_value, value_iteration

CARDS = {card: (4 if card == 10 else 1) / 13 for card in range(1, 11)}


class Toy(NamedTuple):
    """A state: the sum with aces as 1, whether there is an ace, whether it is a natural, the dealer's card."""

    points: int = 0
    ace: bool = False
    natural: bool = False
    shown: int = 0

    @property
    def score(self) -> int:
        """The total, 0 for a bust."""
        total = self.points + 10 if self.ace and self.points <= 11 else self.points
        return total if total <= 21 else 0

    def draw(self, card: int) -> Toy:
        """The state after a card."""
        return self._replace(points=self.points + card, ace=self.ace or card == 1, natural=False)


@cache
def dealer(hand: Toy, cards: int = 1) -> dict[tuple[int, bool], float]:
    """The probabilities of the dealer's score and whether it is a natural."""
    if cards > 1 and (hand.score >= 17 or hand.points > 21):
        return {(hand.score, cards == 2 and hand.score == 21): 1.0}
    found: dict[tuple[int, bool], float] = {}
    for card, p in CARDS.items():
        for end, q in dealer(hand.draw(card), cards + 1).items():
            found[end] = found.get(end, 0.0) + p * q
    return found


class ToyGame:
    """The game as a process; `wins` rewards a win with 1, and anything else with 0."""

    def __init__(self, natural: bool = False, sab: bool = False, wins: bool = False) -> None:
        self.natural, self.sab, self.wins = natural, sab, wins

    def start(self) -> dict[Toy | str, float]:
        found: dict[Toy | str, float] = {}
        for one, p in CARDS.items():
            for two, q in CARDS.items():
                for shown, r in CARDS.items():
                    state = Toy().draw(one).draw(two)
                    state = state._replace(natural=state.score == 21, shown=shown)
                    found[state] = found.get(state, 0.0) + p * q * r
        return found

    def terminal(self, state: Toy | str) -> bool:
        return state == "end"

    def actions(self, state: Toy | str) -> tuple[str, ...]:
        return "hit", "stand"

    def outcomes(self, state: Toy | str, action: str) -> Iterator[Outcome]:
        assert isinstance(state, Toy)
        if action == "stand":
            for (score, natural), p in dealer(Toy().draw(state.shown)).items():
                yield Outcome(p, "end", self.reward(state, score, natural))
            return
        for card, p in CARDS.items():
            after = state.draw(card)
            bust = after.points > 21
            yield Outcome(p, "end" if bust else after, -1.0 * (bust and not self.wins))

    def reward(self, state: Toy, score: int, natural: bool) -> float:
        """As `BlackjackEnv.step` of Gymnasium."""
        reward = float((state.score > score) - (state.score < score))
        if self.sab and state.natural and not natural:
            reward = 1.0
        elif not self.sab and self.natural and state.natural and reward == 1.0:
            reward = 1.5
        return float(reward > 0) if self.wins else reward


def optimum(game: ToyGame) -> float:
    mdp = build_mdp(game)
    return start_value(mdp, value_iteration(mdp).values)


@pytest.mark.parametrize(
    ("game", "percent"),
    [
        (ToyGame(), -4.655598),
        (ToyGame(natural=True), -2.572918),
        (ToyGame(sab=True), -4.311311),
        (ToyGame(wins=True), 43.163),
    ],
    ids=["neither", "natural", "sab", "wins"],
)
def test_the_optimum(game: ToyGame, percent: float) -> None:
    digits = 3 if game.wins else 6
    assert round(100 * optimum(game), digits) == percent


def test_the_game_with_neither_is_one_of_ours() -> None:
    """No natural is special, and 21 may be hit."""
    rules = Rules(
        decks=math.inf, naturals="none", double_on="never", split_by="never", stand_on_21=False, peek=False
    )  # fmt: skip
    assert optimum(ToyGame()) == pytest.approx(float(Solver(rules).value), abs=1e-12)


def test_the_game_with_sab_is_example_5_1_of_sutton_and_barto() -> None:
    """A dealer's natural only ties a drawn 21."""
    rules = PRESETS["sutton-barto"].rules
    assert optimum(ToyGame(sab=True)) == pytest.approx(float(Solver(rules).value), abs=1e-12)
    beaten = Solver(rules.replace(natural_beats_21=True)).value
    assert beaten < Solver(rules).value - 0.002


def test_the_rewards_are_those_of_gymnasium() -> None:
    """Every reward of random episodes, for the three games; hands are those that Gymnasium deals."""
    gymnasium = pytest.importorskip("gymnasium", reason="needs the extra bjsim[gym]")
    assert gymnasium.spec("Blackjack-v1").kwargs == {"sab": True, "natural": False}
    for options in ({"sab": False}, {"sab": False, "natural": True}, {"sab": True}):
        game, env = ToyGame(**options), gymnasium.make("Blackjack-v1", **options).unwrapped
        rewards = set()
        for seed in range(1500):
            env.reset(seed=seed)
            player = sorted(env.player)
            reward = env.step(0)[1]
            state = Toy(sum(player), 1 in player, player == [1, 10])
            end = dealer_of(env.dealer)
            assert reward == game.reward(state, *end)
            rewards.add(reward)
        assert rewards >= ({-1.0, 0.0, 1.0, 1.5} if "natural" in options else {-1.0, 0.0, 1.0})


def dealer_of(cards: list[int]) -> tuple[int, bool]:
    hand = Toy(sum(cards), 1 in cards)
    return hand.score, sorted(cards) == [1, 10]

"""Players of a finite shoe: the best chart with two-card exceptions, and composition-dependent play."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bjsim.sim.game.actions import ATTACK, INSURANCE, ActionCode
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.hand_states import SPLIT_ACES, WHOLE, HandState
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import CardStates
from bjsim.sim.game.support import need
from bjsim.strategies.charts.chart import StatePlayer
from bjsim.strategies.shoe.hands import VALUES, all_hands
from bjsim.strategies.shoe.solver import ShoeSolver


class TwoCardPlayer(StatePlayer):
    """Plays the best chart of its finite shoe, with exceptions for hands of two cards as dealt."""

    name = "optimal-2c"
    about = "plays the best chart of its shoe with exceptions for two-card hands; needs a finite shoe"
    source = "exact values of the finite shoe (bjsim.strategies.shoe)"
    strategy = "td-2c"

    def __init__(self, rules: Rules) -> None:
        need(rules, self.name)
        self.rules = rules
        self.states = CardStates(rules)
        self.solver = ShoeSolver(rules)
        starts, plays = self.solver.shoe.starts, self.solver.plays(self.strategy)
        self._insured = next((play.insured for play in plays.values() if play.insured is not None), None)
        shown = {"".join(RANKS[card] for card in starts[start]): play for start, play in plays.items()}
        self._acts = {column: play.act for column, play in shown.items()}
        self._attacked = [column for column, play in shown.items() if play.bets > 1]

    def __reduce__(self) -> tuple[type[TwoCardPlayer], tuple[Rules]]:
        return type(self), (self.rules,)

    def policy(self, state: HandState, column: str, legal: str) -> str:
        if legal == INSURANCE:
            taken = self._insured is not None and self._insured[_hand_numbers()[state.held]]
            return "I" if taken else "S"
        if legal == ATTACK:
            return "A" if column in self._attacked else "S"
        if state.split != WHOLE and "P" in legal:
            return "P"  # as the first pair
        letter = ActionCode(int(self._acts[column][self._node(state, "P" in legal)])).letter
        if letter in legal:
            return letter
        cards = "".join(RANKS[value] for value in state.held)  # a stake that the player cannot afford
        values = self.solver.hand_values(cards, column, self.strategy, pair=False)
        return "H" if "H" in legal and values.get("H", -9.0) > values["S"] + 1e-12 else "S"

    def _node(self, state: HandState, may_split: bool) -> int:
        if state.doubled:
            return self._node(state._replace(doubled=0), False) + state.doubled * self.solver.shoe.layout.block
        layout, value, free = self.solver.shoe.layout, state.held[-1], state.risk == 0  # after a split alone
        if state.split == WHOLE and not free:
            return layout.pairs + value if may_split else _hand_numbers()[state.held]
        trees = layout.trees[VALUES:] if free else layout.trees
        if state.cards > 2:  # the decision is the same in every split that the hand can come from
            hand, made_by = _hand_numbers()[state.held], [trees[pair] for pair in state.held]
            nodes = [tree.starts[0] + np.flatnonzero(tree.hands == hand) for tree in made_by if tree]
            return int(np.concatenate(nodes)[0])
        pair, second = value, state.held[0]
        if state.split == SPLIT_ACES or trees[pair] is None:  # the house does not pay for every split
            pair, second = second, pair
        tree = trees[pair]
        assert tree is not None  # as the hand was split
        return int(tree.second(0)[second])


class CardPlayer(TwoCardPlayer):
    """Plays every hand optimally for its cards, and split hands like the same hand before a split: CDZ-."""

    name = "optimal-cd"
    about = "plays every hand optimally for all of its cards; needs a finite shoe"
    strategy = "cdz-"


@lru_cache(maxsize=1)
def _hand_numbers() -> dict[tuple[int, ...], int]:
    """The number of every hand in `all_hands`, by its sorted values."""
    counts = all_hands().counts.tolist()
    return {
        tuple(value for value in range(VALUES) for _ in range(hand[value])): number
        for number, hand in enumerate(counts)
    }

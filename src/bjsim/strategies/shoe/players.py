"""Players of a finite shoe: the best chart with two-card exceptions, composition-dependent play, and perfect play."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from bjsim.sim.game.actions import ATTACK, INSURANCE, Action, ActionCode, View
from bjsim.sim.game.cards import HIDDEN, RANKS, TEN
from bjsim.sim.game.hand_states import SPLIT_ACES, WHOLE, HandState
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import MOST_KEPT, CardStates
from bjsim.sim.game.support import need
from bjsim.strategies.charts.chart import StatePlayer
from bjsim.strategies.shoe.analysis import Analysis
from bjsim.strategies.shoe.game import make_game
from bjsim.strategies.shoe.hands import VALUES, all_hands
from bjsim.strategies.shoe.present import action_values, unseen_of, with_fresh_decks
from bjsim.strategies.shoe.solver import ShoeSolver
from bjsim.sums import add_up


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
        self._acts = {"".join(RANKS[card] for card in starts[start]): play.act for start, play in plays.items()}
        self._attacked = self.solver.attacked(self.strategy)

    def __reduce__(self) -> tuple[type[TwoCardPlayer], tuple[Rules]]:
        return type(self), (self.rules,)

    def policy(self, state: HandState, column: str, legal: str) -> str:
        if legal == INSURANCE:
            taken = self._insured is not None and self._insured[all_hands().find(state.held)]
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
            return layout.pairs + value if may_split else all_hands().find(state.held)
        trees = layout.trees[VALUES:] if free else layout.trees
        if state.cards > 2:  # the decision is the same in every split that the hand can come from
            hand, made_by = all_hands().find(state.held), [trees[pair] for pair in state.held]
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


class Perfect:
    """A player that takes the best action given all visible cards of the round, in a finite shoe.

    It computes the value of every action for the unseen cards: exact, but for a split as the docstring of `present`
    says. It never raises and does not remember earlier rounds.
    """

    name = "perfect"
    about = "plays every hand optimally for all visible cards on the table; needs a finite shoe"
    source = "exact values for the current composition (bjsim.strategies.shoe)"

    def __init__(self, rules: Rules) -> None:
        need(rules, self.name)
        self.rules = rules
        self._known: dict[tuple[object, ...], Action] = {}

    def __deepcopy__(self, memo: object) -> Perfect:
        return self  # the only state is a cache

    def __reduce__(self) -> tuple[type[Perfect], tuple[Rules]]:
        return Perfect, (self.rules,)

    def decide(self, view: View) -> Action:
        """Return the action with the highest exact value."""
        if view.legal == ATTACK:
            column = make_game(self.rules).states.column(view.dealer)
            return Action("A" if column in self._attacked else "S")
        if view.legal == INSURANCE:
            unseen = self.unseen(view)
            return Action("I" if 3 * add_up(unseen[TEN:]) > add_up(unseen) else "S")
        key = view.key, view.hands, "".join(sorted(view.visible))
        if key not in self._known:
            if len(self._known) >= MOST_KEPT:  # hands of a full table hardly recur
                self._known.clear()
            values = action_values(view._replace(rules=self.rules), self.unseen(view), self._tie_value)
            self._known[key] = Action(max(values, key=values.__getitem__))
        return self._known[key]

    @cached_property
    def _tie_value(self) -> float:
        return ShoeSolver(self.rules).tie_value_of("cdp1")

    @cached_property
    def _attacked(self) -> list[str]:
        """What is attacked in a full shoe: no card but a two has a value near 0."""
        shoe = ShoeSolver(self.rules).shoe
        analysis = Analysis(shoe)
        values = {start: analysis.round_value(start, analysis.by_cards(start, "cdp1")) for start in shoe.live}
        return [shoe.game.columns[start] for start, value in values.items() if value > 0]

    def unseen(self, view: View) -> Sequence[float]:
        """Return the number of unseen cards of each rank; if few are left, another deck is added."""
        return with_fresh_decks(unseen_of(self.rules, view.visible.replace(HIDDEN, "")), self.rules.deck)

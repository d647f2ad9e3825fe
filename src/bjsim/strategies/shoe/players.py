"""Players of a finite shoe: the best chart with two-card exceptions, and composition-dependent play."""

from __future__ import annotations

from bjsim.sim.game.actions import Action, View
from bjsim.sim.game.rules import Rules
from bjsim.strategies.shoe.solver import ShoeSolver


class TwoCardPlayer:
    """Plays the best chart of its shoe, with exceptions for hands of two cards as dealt.

    Args:
        rules: The game, with a finite shoe.

    Raises:
        InputError: The shoe is infinite.
    """

    name = "optimal-2c"
    about = "plays the best chart of its shoe with exceptions for two-card hands; needs a finite shoe"
    source = "exact values of the finite shoe (bjsim.strategies.shoe)"

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.solver = ShoeSolver(rules)
        self.chart = self.solver.chart
        self._known: dict[tuple[object, ...], Action] = {}

    def __deepcopy__(self, memo: object) -> TwoCardPlayer:
        return self  # the only state is a cache

    def __reduce__(self) -> tuple[type[TwoCardPlayer], tuple[Rules]]:
        return type(self), (self.rules,)

    def decide(self, view: View) -> Action:
        """Return the action for a view."""
        key = view.hand, view.dealer, view.split, view.legal
        if key not in self._known:
            self._known[key] = Action(self.letter(view))
        return self._known[key]

    def letter(self, view: View) -> str:
        """The letter of the action."""
        if len(view.hand) == 2 and not view.split:
            letter = self.solver.best_action(view.hand, view.dealer, "td-2c")
            if letter in view.legal:
                return letter
        return self.chart.decide(view).letter


class CardPlayer(TwoCardPlayer):
    """Plays every hand optimally for its cards, and split hands like the same hand before a split: CDZ-."""

    name = "optimal-cd"
    about = "plays every hand optimally for all of its cards; needs a finite shoe"

    def letter(self, view: View) -> str:
        """The letter of the action."""
        if view.split and "P" in view.legal:
            return "P"
        letter = self.solver.best_action(view.hand, view.dealer, "cdz-", pair=not view.split and "P" in view.legal)
        if letter in view.legal:
            return letter
        values = self.solver.hand_values(view.hand, view.dealer, pair=False)
        return "H" if "H" in view.legal and values.get("H", -9.0) > values["S"] + 1e-12 else "S"

"""Values for the luck of a counter: a luck model with a chart for each of several counts, and values of actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bjsim.sim.engine.kernels.layout import SPLIT, CompiledRules, LuckModel
from bjsim.sim.engine.luck_model import assemble
from bjsim.sim.engine.state_values import CompiledAutomaton, StateValues
from bjsim.sim.game.actions import CODES
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.sim.values.dealer_index import DealerIndex

Array = np.ndarray[Any, Any]


class CountingValues(NamedTuple):
    """The values of T pairs of a chart and a composition of the shoe, the charts of the luck model.

    The chart may change during a round. The luck model has nodes for all actions of all charts; for hands that
    charts play differently, the values of these actions are known too.

    Attributes:
        luck_model: The luck model of one seat.
        row: The row of these hands in the other arrays, 0 for hands that all charts play alike, (S,).
        actions: Values by context and action code, 0 for actions that no chart takes, (T, rows, X, 6).
        splits: Values of a split for a seat that holds h + 1 hands of which w more are pending, (T, rows, X, h, w).
        ends: Whether a context is a dealer's natural that ends the round, int64 (X,).
    """

    luck_model: LuckModel
    row: Array
    actions: Array
    splits: Array
    ends: Array


def make_counting_values(rules: Rules, compiled: CompiledRules, points: Sequence[tuple[int, Array]]) -> CountingValues:
    """Compute the values of charts in shoes of several compositions.

    Args:
        rules: The rules of the game; ties are not replayed.
        compiled: The compiled rules, with the charts that the count may select.
        points: Index of a chart in `compiled.act`, and probabilities of the ranks, as `draw_probabilities` has them.
    """
    automata = {chart: CompiledAutomaton(rules, compiled, chart) for chart, _ in points}
    values = [StateValues(automata[chart], DealerIndex(automata[chart], p)) for chart, p in points]
    luck_model = assemble(values, np.zeros(1, np.int64), [float(one.start[0]) for one in values], compiled.act)
    differs = (compiled.act != compiled.act[0]).any(axis=(0, 1, 3))
    acting, rows = values[0].dealers.acting, 1 + int(differs.sum())
    deepest = luck_model.split.shape[-1]
    actions = np.zeros((len(values), rows, acting.stop, 1 + len(CODES)))
    splits = np.zeros((*actions.shape[:3], deepest - 1, deepest - 1))
    for number, one in enumerate(values):
        for row, hand in enumerate(np.flatnonzero(differs).tolist(), 1):
            taken = set(compiled.act[:, :, hand].ravel().tolist())
            for letter, code in CODES.items():
                if code in taken and code != SPLIT:
                    actions[number, row, acting, code] = one.act(HandState(hand, cards=2), letter)[:, 0]
            if SPLIT in taken:
                splits[number, row, acting] = _split_values(one, hand, deepest - 1)
    ends = np.zeros(acting.stop, np.int64)
    ends[acting] = values[0].dealers.ended
    return CountingValues(luck_model, np.where(differs, np.cumsum(differs), 0), actions, splits, ends)


def _split_values(values: StateValues, hand: int, deepest: int) -> Array:
    """What a split adds, by the number of hands before it less 1 and of pending hands, (acting, deepest, deepest).

    0 where as many hands would be pending as there are.
    """
    pair = HandState(hand, cards=2)
    added = np.zeros((values.dealers.acting.stop - values.dealers.acting.start, deepest, deepest))
    for hands in range(1, deepest + 1):
        for pending in range(hands):
            added[:, hands - 1, pending] = values.split_again(pair, pending, hands)[:, 0]
    return added

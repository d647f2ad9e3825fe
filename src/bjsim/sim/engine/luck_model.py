"""The luck model: the values of `state_values.py`, arranged by draw for the compiled round.

A node is a kind of draw in a state of the round: who gets the card, that hand, and the dealer's hand. For each node the
model has the value after every rank, with its slopes, so that the luck of a draw takes a lookup and an expectation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bjsim.arguments import argument
from bjsim.errors import InputError
from bjsim.sim.engine.kernels.layout import DOUBLE, HIT, NO_LIMIT, SPLIT, WIDE, CompiledRules, LuckModel
from bjsim.sim.engine.state_values import StateValues, draw_probabilities, value_of_game
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.rules import Rules

Array = np.ndarray[Any, Any]
EXACT = 13  # decimals to which equal values agree
DEEPEST = 6  # hands held; with more, a split has the value that it has at this number


def make_luck_model(rules: Rules, compiled: CompiledRules) -> LuckModel:
    """Compute the luck model of a table.

    Args:
        rules: The rules of the game.
        compiled: The compiled rules and charts of its seats.

    Returns:
        The model.

    Raises:
        InputError: The value of a chart is not finite.
    """
    probabilities, unit = draw_probabilities(rules, compiled), float(rules.unit)
    _, first, chart = np.unique(compiled.act, axis=0, return_index=True, return_inverse=True)
    value = [value_of_game(rules, compiled, seat) for seat in first.tolist()]
    if not all(map(math.isfinite, value)):
        raise InputError(
            f"{argument('adjust_luck', True)} needs charts of finite value; one of these ties at least as many bets "
            "as it is dealt"
        )
    evs = [StateValues(compiled, seat, probabilities, ev, unit) for seat, ev in zip(first.tolist(), value, strict=True)]
    nodes = _Nodes(len(probabilities))
    charts = [_ChartNodes(values, nodes) for values in evs]
    context_add = evs[0].context_add
    if len(probabilities) < len(RANKS):
        context_add = np.concatenate([context_add, *[context_add[:, -1:]] * (len(RANKS) - len(probabilities))], axis=1)
    ev, slopes, number = nodes.distinct()
    return LuckModel(
        ev=ev,
        slopes=slopes,
        own=padded(np.diagonal(slopes, axis1=1, axis2=2).astype(np.float64)),
        chart=chart.reshape(len(compiled.act)),
        dealt=number[np.stack([one.dealt for one in charts])],
        hit=number[np.stack([one.hit for one in charts])],
        double=number[np.stack([one.double for one in charts])],
        split=number[np.stack([one.split for one in charts])],
        dealer=number[np.stack([one.dealer for one in charts])],
        context_add=context_add,
        start=np.stack([one.start[1:] for one in evs]),
        value=np.array(value),
        full=probabilities * (1 if rules.infinite else rules.shoe_size),
    )


def padded(ranks: Array) -> Array:
    """Pad the last axis, which is over ranks, with zeros to the length WIDE."""
    result = np.zeros((*ranks.shape[:-1], WIDE), ranks.dtype)
    result[..., : ranks.shape[-1]] = ranks
    return result


class _Nodes:
    """Nodes, numbered in the order in which they are added. Number 0 means no draw and has the value 0."""

    def __init__(self, ranks: int) -> None:
        self.blocks: list[Array] = [np.zeros((1, ranks, 1 + ranks))]
        self.count = 1

    def add(self, after: Array) -> Array:
        """Add nodes with these values after each rank, (.., Q, 1 + Q), and return their numbers."""
        numbers = self.count + np.arange(math.prod(after.shape[:-2])).reshape(after.shape[:-2])
        self.blocks.append(after.reshape(-1, *after.shape[-2:]))
        self.count += numbers.size
        return numbers

    def distinct(self) -> tuple[Array, Array, Array]:
        """Return the first two fields of `LuckModel` for the distinct nodes, and the number of every node among these.

        Most nodes equal others. A small table of nodes stays in the processor's cache.
        """
        after = np.concatenate(self.blocks).reshape(self.count, -1)
        rounded = np.ascontiguousarray(after.round(EXACT) + 0.0)  # no negative zeros
        rows = rounded.view(np.dtype((np.void, rounded.shape[1] * rounded.itemsize))).ravel()
        _, first, number = np.unique(rows, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")  # number 0 stays 0
        position = np.empty(len(order), np.int32)
        position[order] = np.arange(len(order), dtype=np.int32)
        distinct = after[first[order]].reshape(len(order), -1, self.blocks[0].shape[-1])
        slopes = padded(np.swapaxes(distinct[..., 1:], 1, 2).astype(np.float32))
        return padded(distinct[..., 0]), slopes, position[number.ravel()]


class _ChartNodes:
    """The nodes of one chart."""

    def __init__(self, values: StateValues, nodes: _Nodes) -> None:
        self.values = values
        self.nodes = nodes
        compiled = values.compiled
        shape = len(values.contexts), len(compiled.add)
        self.dealt, self.hit, self.double = (np.zeros(shape, np.int32) for _ in range(3))
        for to_dealer, (contexts, hands) in values.deal:
            for hand in hands.tolist():
                if to_dealer:
                    self.dealt[contexts, hand] = nodes.add(values.after_dealt(contexts, hand))
                else:
                    self.hit[contexts, hand] = nodes.add(values.after_hit(contexts, hand))
        for hand in range(len(compiled.add)):
            for letter, numbers, after in (
                (HIT, self.hit, values.after_hit), (DOUBLE, self.double, values.after_double),
            ):  # fmt: skip
                contexts = self._find_contexts(letter, hand)
                numbers[contexts, hand] = nodes.add(after(contexts, hand))
        self.split = self._splits()
        drawing = np.flatnonzero(compiled.dealer_done == 0)
        self.dealer = np.zeros(values.finished.shape[:3], np.int32)
        self.dealer[drawing] = nodes.add(np.moveaxis(values.finished[values.dealer_add[drawing]], 1, -2))

    def _find_contexts(self, code: int, hand: int) -> Array:
        """The contexts in which the chart takes this action with a hand."""
        known = self.values.known[~self.values.ended[self.values.known]]
        taken = (self.values.act[:, hand][:, self.values.columns[known]] == code).any(axis=0)
        contexts: Array = known[taken]
        return contexts

    def _splits(self) -> Array:
        values = self.values
        limit = values.numbers.max_hands
        deepest = 2 if limit == NO_LIMIT else max(min(limit, DEEPEST), 2)
        split = np.zeros((*self.hit.shape, deepest - 1, deepest), np.int32)
        for pair in np.flatnonzero(values.compiled.split_to).tolist():
            split_hand, contexts = int(values.compiled.split_to[pair]), self._find_contexts(SPLIT, pair)
            at = np.searchsorted(values.known, contexts)
            for held in range(2, deepest + 1):
                for pending in range(1, held + 1):
                    after = values.after_split(split_hand, pending, held)[at]
                    split[contexts, split_hand, held - 2, pending - 1] = self.nodes.add(after)
        return split

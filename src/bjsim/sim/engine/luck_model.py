"""The luck model: the values of `state_values.py`, arranged by draw for the compiled round.

A node is a kind of draw in a state of the round: who gets the card, that hand, and the dealer's hand. For each node the
model has the value after every rank, with its slopes, so that the luck of a draw takes a lookup and an expectation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bjsim.arguments import argument
from bjsim.errors import InputError
from bjsim.sim.engine.kernels.layout import NO_LIMIT, CompiledRules, LuckModel
from bjsim.sim.engine.packed_tables import padded
from bjsim.sim.engine.state_values import CompiledAutomaton, StateValues, draw_probabilities, value_chart
from bjsim.sim.game.actions import CODES
from bjsim.sim.game.automaton import Draw, Finished
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.hand_states import HandState, Result
from bjsim.sim.game.rules import Rules
from bjsim.sim.values.dealer_index import DealerIndex

Array = np.ndarray[Any, Any]
EXACT = 12  # decimals to which the weighted sums of equal values agree
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
    _, first, chart = np.unique(compiled.act, axis=0, return_index=True, return_inverse=True)
    automata = [CompiledAutomaton(rules, compiled, seat) for seat in first.tolist()]
    probabilities = draw_probabilities(rules, compiled)
    dealers = DealerIndex(automata[0], probabilities)
    value, values = zip(*[value_chart(automaton, dealers) for automaton in automata], strict=True)
    if not all(map(math.isfinite, value)):
        raise InputError(
            f"{argument('adjust_luck', True)} needs charts of finite value; one of these ties at least as many bets "
            "as it is dealt"
        )
    return assemble(values, chart.reshape(len(compiled.act)), value)


def assemble(
    values: Sequence[StateValues], chart: Array, value: Sequence[float], act: Array | None = None
) -> LuckModel:
    """Arrange the values of charts as a luck model.

    Args:
        values: The values of the charts.
        chart: Index of each seat's chart, (seats,).
        value: The value of the game under each chart.
        act: Charts for whose actions there are nodes, as in `CompiledRules`; None: for each chart its own.
    """
    dealers, rules = values[0].dealers, values[0].automaton.rules
    probabilities = draw_probabilities(rules, values[0].automaton.compiled)
    nodes = _Nodes(len(probabilities))
    charts = [_ChartNodes(one, nodes, one.automaton.act[None] if act is None else act) for one in values]
    context_add = dealers.after[: dealers.acting.stop]
    if len(probabilities) < len(RANKS):
        context_add = np.concatenate([context_add, *[context_add[:, -1:]] * (len(RANKS) - len(probabilities))], axis=1)
    ev, slopes, number = nodes.distinct()
    return LuckModel(
        ev=ev,
        slopes=slopes,
        own=padded(np.diagonal(slopes, axis1=1, axis2=2).astype(np.float64)),
        chart=chart,
        dealt=number[np.stack([one.dealt for one in charts])],
        hit=number[np.stack([one.hit for one in charts])],
        double=number[np.stack([one.double for one in charts])],
        split=number[np.stack([one.split for one in charts])],
        dealer=number[np.stack([one.dealer for one in charts])],
        context_add=context_add,
        start=np.stack([one.start[1:] for one in values]),
        value=np.array(value),
        full=probabilities * (1 if rules.infinite else rules.shoe_size),
    )


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

        Most nodes equal others. A small table of nodes stays in the processor's cache. Nodes are compared by a weighted
        sum of their numbers, which is much faster than to compare rows.
        """
        after = np.concatenate(self.blocks).reshape(self.count, -1)
        weights = np.random.default_rng(0).random(after.shape[1])  # regular ones could let payoffs cancel out
        _, first, number = np.unique((after @ weights).round(EXACT) + 0.0, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")  # number 0 stays 0
        position = np.empty(len(order), np.int32)
        position[order] = np.arange(len(order), dtype=np.int32)
        distinct = after[first[order]].reshape(len(order), -1, self.blocks[0].shape[-1])
        slopes = padded(np.swapaxes(distinct[..., 1:], 1, 2).astype(np.float32))
        return padded(distinct[..., 0]), slopes, position[number.ravel()]


class _ChartNodes:
    """The nodes of one chart: the arrays of these names in `LuckModel`."""

    def __init__(self, values: StateValues, nodes: _Nodes, act: Array) -> None:
        self.values = values
        self.act = act
        self.nodes = nodes
        compiled = values.automaton.compiled
        shape = values.dealers.acting.stop, len(compiled.add)
        limits = compiled.hand_limit[compiled.hand_limit < NO_LIMIT]
        self.deepest = max(min(int(limits.max(initial=2)), DEEPEST), 2)
        self.dealt, self.hit, self.double = (np.zeros(shape, np.int32) for _ in range(3))
        self.split = np.zeros((*shape, self.deepest - 1, self.deepest), np.int32)
        self.dealer = np.zeros((len(compiled.dealer_add), *compiled.pay.shape[:2]), np.int32)
        self._add_deal()
        for number in range(len(compiled.add)):
            self._add_actions(HandState(number, cards=2))
        self._add_dealer()

    def _add_deal(self) -> None:
        automaton, dealers = self.values.automaton, self.values.dealers
        add = automaton.compiled.add[:, : len(dealers.probabilities)]
        evs = np.zeros((*self.hit.shape, 1 + len(dealers.probabilities)))
        states = [HandState()]
        for state in states:  # which grows in the loop
            evs[dealers.acting, state.points] = self.values.at(automaton.dealt(state))
            if state.cards < 2:
                states += {automaton.add(state, rank) for rank in range(len(dealers.probabilities))} - {*states}
        evs = dealers.before_acting(evs[dealers.acting])
        contexts, hands = np.array([0]), np.array([0])
        for to_dealer in automaton.compiled.deal:
            for hand in hands.tolist():
                if to_dealer:
                    self.dealt[contexts, hand] = self.nodes.add(evs[dealers.after[contexts], hand])
                else:
                    self.hit[contexts, hand] = self.nodes.add(evs[contexts[:, None], add[hand]])
            if to_dealer:
                contexts = np.unique(dealers.after[contexts])
            else:
                hands = np.unique(add[hands])

    def _add_actions(self, state: HandState) -> None:
        """The draws that follow a decision, against the dealer's hands against which a chart takes the action."""
        values = self.values
        codes = np.where(values.columns < 0, 0, self.act[:, :, state.points][..., values.columns])
        for letter, code in CODES.items():
            taken = np.flatnonzero((codes == code).any(axis=(0, 1)))
            if not len(taken) or letter in "SR":
                continue
            contexts, node = values.dealers.acting.start + taken, values.automaton.move(state, letter)
            if isinstance(node, Draw):
                numbers = self.hit if letter == "H" else self.double
                numbers[contexts, state.points] = self.nodes.add(values.after(node)[taken])
            else:
                self._add_splits(state, contexts, taken)

    def _add_splits(self, pair: HandState, contexts: Array, taken: Array) -> None:
        for held in range(2, self.deepest + 1):
            for pending in range(1, held + 1):
                node = self.values.automaton.waiting(pair, pending, held)
                after = self.values.after(node)[taken]
                self.split[contexts, node.split_hand.points, held - 2, pending - 1] = self.nodes.add(after)

    def _add_dealer(self) -> None:
        values, dealers = self.values, self.values.dealers
        results, stakes = self.dealer.shape[1:]
        ends = [[Finished(Result("", result), 1 + twice) for twice in range(stakes)] for result in range(results)]
        finished = np.stack([np.stack([values.settled(node) for node in row], axis=1) for row in ends], axis=1)
        drawing = [number for number, hand in enumerate(dealers.hands) if not values.automaton.dealer_done(hand)]
        after = np.moveaxis(finished[dealers.after[drawing]], 1, -2)
        self.dealer[[dealers.hands[number].points for number in drawing]] = self.nodes.add(after)

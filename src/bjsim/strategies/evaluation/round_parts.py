"""The value of a round of the best chart by the player's first card and what the dealer shows, in any shoe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from bjsim.errors import InputError
from bjsim.sim.game.automaton import START, Finished, Node
from bjsim.sim.game.cards import TEN
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.best import solve
from bjsim.strategies.exact.moments import Moments
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Column, round_nodes
from bjsim.strategies.shoe.solver import ShoeSolver
from bjsim.strategies.solution import Solution


class RoundPart(NamedTuple):
    """A case of a round: the first card, the column, and the case's probability, profit and its square times that."""

    first: int
    column: str
    chance: float
    profit: float
    square: float = 0.0


def solution_of(rules: Rules, shoe: Mapping[str, int] | None) -> Solution:
    return solve(rules) if shoe is None else ShoeSolver(rules, shoe)


def round_parts(solution: Solution, squares: bool = False) -> Iterator[RoundPart]:
    """The cases of a round of the best chart, by first card and column; `BJ` where both cards are shown."""
    solution.rules.need_one_hand()
    if solution.rules.attack:
        raise InputError(
            "attack: known cards are not valued where bets are doubled before the deal; use attack = false"
        )
    if isinstance(solution, Solver):
        yield from _infinite_parts(solution, squares)
        return
    assert isinstance(solution, ShoeSolver)
    counts = solution.shoe.nodes.counts
    for start, nodes, chances, profits in solution.round_parts():
        column = "BJ" if solution.game.ended(solution.shoe.starts[start]) else solution.game.columns[start]
        shares = chances * counts[:, nodes] / 2
        for first, (share, profit) in enumerate(zip(shares.sum(axis=1), shares @ profits, strict=True)):
            yield RoundPart(first, column, float(share), float(profit))


def _infinite_parts(solver: Solver, squares: bool) -> Iterator[RoundPart]:
    ranks, policy = solver.states.ranks, solver.chart.policy
    insured = any(column.insurable for column in solver.cases)
    for column in solver.cases:
        means = solver.means(column, solver.tie_value)
        moments = Moments(solver.states, column, policy, solver.tie_value) if squares else None
        outcomes = np.array([float(p) for p in column.probabilities.values()])
        insurance = round_nodes(column, solver.rules, policy)[1:]
        ups = _upcards(column, solver.rules, insured)
        for first, p in ranks:
            for second, q in ranks:
                nodes = (_dealt(solver, solver.states.hand((first, second)), column), *insurance)
                chance = float(column.probability) * float(p * q) / len(ups)
                square = float(moments.together(nodes)[1] @ outcomes) if moments else 0.0
                for up in ups:
                    yield RoundPart(min(first, TEN), up, chance, chance * float(means.together(nodes)), chance * square)


def _upcards(column: Column, rules: Rules, insured: bool) -> list[str]:
    """What the dealer shows, equally likely: the cases of a peeked natural have no label of their own."""
    if column.label:
        return [column.label]
    if rules.dealer_shows == "both":
        return ["BJ"]
    return ["A"] if column.insurable else ["T"] if insured else ["A", "T"]


def _dealt(solver: Solver, state: HandState, column: Column) -> Node:
    """The node of two cards: a decision, or the end of the round if the dealer's natural ends it."""
    return solver.states.dealt(state) if column.start == START else Finished(solver.states.result(state))

"""Coupons and chips of promotions, in an infinite shoe: their value, and the chart that is best with one.

A coupon changes what the first hand of a round pays; further hands of a split are ordinary. Where it comes back, after
a push or a win, it is used again, so its value v is the fixed point of the value of a round in which a returned coupon
pays v more.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bjsim.arguments import argument, exact_number
from bjsim.errors import InputError, shorten
from bjsim.sim.game.automaton import Chance, Finished, Node
from bjsim.sim.game.hand_states import SURRENDERED, HandState
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.best_play import best_code
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Column, Means, Number, Policy, round_nodes

COUPONS = {
    "match": "doubles one win: bet your own money next to it; it pays as much as the bet, at even money",
    "free-bet": "is the bet: it pays as a bet does, and is taken whether it wins or loses",
    "non-negotiable": "is the bet: it pays as a bet does, and is taken only if it loses",
}


@dataclass(frozen=True)
class Coupon:
    """The value of a coupon whose face is one initial bet, in initial bets.

    Attributes:
        kind: One of `match`, `free-bet` and `non-negotiable`.
        value: Expected profit from using it, own bets included, with the best chart.
        by_game_chart: The same with the best chart of the game without a coupon.
        chart: The best chart for the hand that carries the coupon.
        changes: The cells in which it differs from that of the game: (row, column) -> (the game's code, this code).
        hands: The value of every action in every cell of the chart, by row and column.
    """

    kind: str
    value: float
    by_game_chart: float
    chart: Chart
    changes: Mapping[tuple[str, str], tuple[str, str]]
    hands: Mapping[tuple[str, str], Mapping[str, float]]


class CouponMeans(Means):
    """Expected profit of the hand that carries the coupon, and of what follows it."""

    def __init__(
        self, solver: Solver, column: Column, policy: Policy | None, kind: str, back: tuple[float, float]
    ) -> None:
        super().__init__(solver.states, column, 0, policy)
        self.plain = solver.means(column, 0.0, policy)
        self.kind, self.back = kind, back
        self.two: CouponMeans | None = None  # with a limit of two hands: an ordinary hand need not be split again

    def leaf(self, node: Finished) -> Number:
        paid = ((p, self._paid(node, outcome)) for outcome, p in self.column.probabilities.items())
        ev = float(sum(p * profit for p, profit in paid))
        early = node.result == SURRENDERED and self.kind == "match"
        return ev + float(self.column.natural_odds) / 2 if early else ev

    def _paid(self, node: Finished, outcome: int) -> float:
        """The profit of the hand, with the value of the coupon if it comes back."""
        net = float(self.automaton.settle(*node, outcome)[0])
        after_push, after_win = self.back
        if net == 0:
            return after_push
        if self.kind == "match":
            return net + (net > 0)
        if node.result == SURRENDERED:
            return 0.0
        return net + (1 if net < 0 else after_win)

    def together(self, nodes: tuple[Node, ...]) -> Number:
        return self.at(nodes[0]) + sum(self.plain.at(node) for node in nodes[1:])

    def chance(self, node: Chance) -> Number:
        branches = self.automaton.branches(node, self.number)
        if self.automaton.repeats(node) and len(branches) > 1:
            (again, _), (rest, (other,)) = branches
            return float((again * self.plain.at(node) + rest * self.at(other)) / (1 - again))
        return self.mix([(p, self.together(nodes)) for p, nodes in branches])

    def act(self, state: HandState, letter: str) -> Number:
        found = super().act(state, letter)
        return max(found, self.two.act(state, "P")) if letter == "P" and self.two else found


def coupon(kind: str, rules: Rules | str | os.PathLike[str] = "vegas-h17", *, after_push: object = None) -> Coupon:
    """Compute the value of a coupon or a promotional chip, and the chart that is best with it.

    Args:
        kind: `match`, a coupon that doubles one win; `free-bet`, a chip that is taken after the round; or
            `non-negotiable`, a chip that is taken only when it loses.
        rules: The game. The number of decks is ignored: the figures are those of an infinite shoe.
        after_push: The value of the coupon after a push, in initial bets; 0 if it is taken. By default it comes back
            and is used again.

    Returns:
        The value, and best play.

    Raises:
        InputError: An argument is not accepted.

    Examples:
        >>> found = coupon("match", "vegas-h17")
        >>> f"{found.value:.4f}"
        '0.4668'
    """
    game = rules if isinstance(rules, Rules) else load_rules(rules)
    if kind not in COUPONS:
        raise InputError(f"{argument('kind')}: {shorten(kind)!r} is not accepted; use {', '.join(COUPONS)}")
    game.need_one_hand("have no coupons")
    if game.ties == "replay":
        raise InputError("ties: where ties are replayed, a coupon never comes back; use a game where ties push or lose")
    solver = Solver(game)
    fixed = (
        None
        if after_push is None
        else float(exact_number(argument("after_push"), after_push, 1, "a value from 0 to 1"))
    )
    value, by_column = _fixed_point(solver, None, kind, fixed)
    plain, _ = _fixed_point(solver, solver.chart.policy, kind, fixed)
    cells = {
        (row, label): best_code(means, state)
        for label, means in by_column.items()
        for row, state in solver.situations.items()
    }
    hands = {
        (row, label): {letter: float(means.act(state, letter)) for letter in means.automaton.legal(state)}
        for label, means in by_column.items()
        for row, state in solver.situations.items()
    }
    changes = {
        cell: (solver.chart.cells[cell], code) for cell, code in cells.items() if solver.chart.cells[cell] != code
    }
    chart = replace(
        solver.chart, name=kind, cells=cells, source="exact values of a coupon (bjsim.strategies.promotions)"
    )
    return Coupon(kind, value, plain, chart, changes, hands)


def _fixed_point(
    solver: Solver, policy: Policy | None, kind: str, after_push: float | None
) -> tuple[float, dict[str, CouponMeans]]:
    """The value that a returned coupon has, by the secant method: it is piecewise linear in itself."""
    two = Solver(solver.rules.replace(max_hands=2, max_ace_hands="none"))
    found: dict[str, CouponMeans] = {}

    def round_value(value: float) -> float:
        total = 0.0
        back = (value if after_push is None else after_push, value if kind == "non-negotiable" else 0.0)
        for case, simple in zip(solver.cases, two.cases, strict=True):
            means = CouponMeans(solver, case, policy, kind, back)
            means.two = CouponMeans(two, simple, None, kind, back) if policy is None else None
            total += float(case.probability * means.together(round_nodes(case, solver.rules, policy)))
            if case.label:
                found[case.label] = means
        return total

    before, now = 0.0, round_value(0.0)
    last = now
    while abs(now - before) > 1e-14:
        after = round_value(now)
        slope = (after - last) / (now - before)
        before, last, now = now, after, now + (after - now) / (1 - slope)
    return now, found

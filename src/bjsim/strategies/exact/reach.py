"""How often play reaches each decision when a chart is followed, in an infinite shoe."""

from __future__ import annotations

import math

from bjsim.sim.game.automaton import Automaton, Decision
from bjsim.sim.values.forward import count_visits
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.values import Column, Policy


def find_endless_split(chart: Chart) -> tuple[str, str] | None:
    """Find the row and column of a pair whose repeated splitting may keep a round from ending, or None.

    That requires rules without a limit on hands, and a pair again in at least every second split hand.
    """
    states = Automaton(chart.rules)
    if states.rules.most_hands != math.inf:
        return None
    for state in sorted(states.starts):
        legal = states.legal(state)
        endless = states.rules.hand_limit(aces=state.rank == 0) == math.inf
        if endless and "P" in legal and 2 * states.pair_again(states.split(state)) >= 1:
            for column in states.columns:
                if chart.policy(state, column, legal) == "P":
                    return states.rows_of(state)[0], column
    return None


def count_decisions(automaton: Automaton, column: Column, policy: Policy) -> dict[Decision, float]:
    """Return the expected visits to each decision per round where the dealer shows this column.

    Visits are infinite where the strategy splits pairs that multiply without end.
    """
    visits = count_visits(automaton.against(column.label), lambda state, legal: policy(state, column.label, legal))
    return {node: n for node, n in visits.items() if isinstance(node, Decision)}

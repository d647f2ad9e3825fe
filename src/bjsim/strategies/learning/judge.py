"""Judges any policy over the observations of the environments: its chart, with the exact value and regret."""

from __future__ import annotations

from dataclasses import dataclass

from bjsim.sim.game.actions import INSURANCE
from bjsim.sim.game.automaton import Decision
from bjsim.sim.game.hand_states import WHOLE
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import ACTIONS, CODES, INSURANCE_ROW, Chart
from bjsim.strategies.evaluation.evaluate import Evaluation, evaluate_chart
from bjsim.strategies.learning.policy_player import BatchPolicy, PolicyPlayer, SinglePolicy
from bjsim.sums import add_up


@dataclass(frozen=True)
class JudgedPolicy:
    """A policy as a chart, compared with the best one, with the cost of every wrong cell.

    `exceptions` has decisions in which the policy plays differently from its chart, such as `A7 v 9 (split hand)`:
    a chart has one cell for all hands of a row. `illegal` decisions have an answer that is not legal, and stand.
    """

    evaluation: Evaluation
    exceptions: tuple[str, ...]
    illegal: int = 0

    @property
    def chart(self) -> Chart:
        return self.evaluation.chart

    @property
    def value(self) -> float:
        """The exact value of the chart, in initial bets per settled bet."""
        return self.evaluation.value

    @property
    def regret(self) -> float:
        """The value of the best chart less that of this one."""
        return self.evaluation.difference


def judge_policy(
    rules: Rules | str, policy: BatchPolicy | SinglePolicy, *, batched: bool = True, name: str = "policy"
) -> JudgedPolicy:
    """Turn a policy into a chart, compute its exact value and regret, and list where the two differ.

    `policy` maps observations and action masks to actions, all at once if `batched`; see `PolicyPlayer`.
    """
    player = PolicyPlayer(rules, policy, batched=batched, name=name)
    states, rows = player.states, _rows(player.states)
    insured = 0.0
    if player.rules.insurance:
        insured = add_up(float(p) for state, p in states.starts.items() if player.policy(state, "A", INSURANCE) == "I")
    cells = {(row, column): _best_code(player, rows[row], column) for row in rows for column in states.columns}
    chart = Chart(name, player.rules, cells, "made from a policy", "I" if insured > 0.5 else "S")
    return JudgedPolicy(evaluate_chart(chart), _exceptions(player, chart, rows), player.illegal)


def _exceptions(player: PolicyPlayer, chart: Chart, rows: dict[str, list[Decision]]) -> tuple[str, ...]:
    found = []
    for row, decisions in rows.items():
        for column in player.states.columns:
            for decision in decisions:
                question = decision.state, column, decision.legal(player.states.against(column))
                if player.policy(*question) != chart.policy(*question):
                    found.append(f"{row} v {column}{_kind(decision)}")
    for state in player.states.starts if player.rules.insurance else ():
        if player.policy(state, "A", INSURANCE) != chart.insurance:
            found.append(f"{INSURANCE_ROW} with {player.states.rows_of(state)[0]}")
    return tuple(dict.fromkeys(found))


def _kind(decision: Decision) -> str:
    return " (split hand)" if decision.state.split else "" if decision.state.cards == 2 else " (more cards)"


def _rows(states: States) -> dict[str, list[Decision]]:
    """The decisions that are looked up in each row of a chart, those with the most choice first."""
    rows: dict[str, list[Decision]] = {}
    for state in states.reachable():
        for decision in (Decision(state), Decision(state, False))[: 1 + ("P" in states.legal(state))]:
            if decision.legal(states):
                rows.setdefault(states.rows_of(state, decision.may_split)[0], []).append(decision)
    for decisions in rows.values():
        decisions.sort(key=lambda decision: (decision.state.split != WHOLE, -len(decision.legal(states))))
    return rows


def _best_code(player: PolicyPlayer, decisions: list[Decision], column: str) -> str:
    """The code that plays the first decision of a row as the policy does, and most of the others."""
    legal = [decision.legal(player.states.against(column)) for decision in decisions]
    wanted = [
        player.policy(decision.state, column, letters) for decision, letters in zip(decisions, legal, strict=True)
    ]

    def agreement(code: str) -> tuple[bool, int]:
        taken = [next((action for action in ACTIONS[code] if action in letters), "H") for letters in legal]
        return taken[0] == wanted[0], sum(one == other for one, other in zip(taken, wanted, strict=True))

    return max(CODES, key=agreement)

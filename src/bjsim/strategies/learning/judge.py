"""Judges any policy over the observations of the environments: its chart, with the exact value and regret."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bjsim.errors import InputError
from bjsim.sim.game.actions import INSURANCE
from bjsim.sim.game.automaton import Decision
from bjsim.sim.game.hand_states import WHOLE
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import ACTIONS, CODES, INSURANCE_ROW, Chart
from bjsim.strategies.evaluation.evaluate import Evaluation, evaluate_chart
from bjsim.strategies.learning.encoder import Encoder

Array = NDArray[Any]
BatchPolicy = Callable[[Array, Array], Array]
SinglePolicy = Callable[[Array, Array], int]


@dataclass(frozen=True)
class JudgedPolicy:
    """A policy as a chart, compared with the best one.

    Attributes:
        evaluation: Its chart compared with the best one, with the cost of every wrong cell.
        exceptions: Decisions in which the policy plays differently from its chart, such as `A7 v 9 (split hand)`: a
            chart has one cell for all hands of a row.
    """

    evaluation: Evaluation
    exceptions: tuple[str, ...]

    @property
    def chart(self) -> Chart:
        """The policy as a chart."""
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
    """Turn a policy into a chart, and compute the exact value and regret of the chart.

    The policy is asked once about every hand against every card of the dealer. It should be a function of its
    arguments: the answers of a random one are a sample. A hand is shown as the only one of its seat, a split hand as
    one of two, and a pair that the limit of hands keeps from being split with as many hands as the limit. As in the
    environments, an answer that is not legal stands.

    Args:
        rules: The game: a `Rules`, the name of a preset, or a TOML file.
        policy: With `batched` a function of observations, int64 (n, 8), and action masks, int8 (n, actions), to n
            actions; else of one observation and mask to one action. See `BlackjackEnv`.
        batched: Whether the policy takes all observations at once.
        name: The name of the chart.

    Returns:
        The chart, its exact value and regret, and where the policy differs from it.

    Raises:
        InputError: The policy does not return an action for each observation.
    """
    encoder = Encoder(load_rules(rules) if isinstance(rules, str) else rules)
    rows, questions = _rows(encoder), _Questions(encoder)
    for decisions in rows.values():
        for decision in decisions:
            for column in range(len(encoder.columns)):
                questions.add(decision, column)
    starts = [Decision(state) for state in encoder.states.starts] if encoder.rules.insurance else []
    for decision in starts:
        questions.add(decision, encoder.columns.index("A"), insurance=True)
    answers = questions.ask(policy, batched)
    insured = sum(p for state, p in encoder.states.starts.items() if answers.get((Decision(state), -1)) == "I")
    cells = {
        (row, label): _best_code(encoder, decisions, column, answers)
        for row, decisions in rows.items() for column, label in enumerate(encoder.columns)
    }  # fmt: skip
    chart = Chart(name, encoder.rules, cells, "made from a policy", "I" if 2 * insured > 1 else "S")
    exceptions = [
        f"{row} v {label}{_kind(decision)}"
        for row, decisions in rows.items() for column, label in enumerate(encoder.columns) for decision in decisions
        if answers[decision, column] != chart.policy(decision.state, label, decision.legal(encoder.states))
    ]  # fmt: skip
    exceptions += [
        f"{INSURANCE_ROW} with {encoder.states.rows_of(decision.state)[0]}"
        for decision in starts if answers[decision, -1] != chart.insurance
    ]  # fmt: skip
    return JudgedPolicy(evaluate_chart(chart), tuple(dict.fromkeys(exceptions)))


def _kind(decision: Decision) -> str:
    return " (split hand)" if decision.state.split else "" if decision.state.cards == 2 else " (more cards)"


def _rows(encoder: Encoder) -> dict[str, list[Decision]]:
    """The decisions that are looked up in each row of a chart, those with the most choice first."""
    rows: dict[str, list[Decision]] = {}
    states = encoder.states
    for state in states.reachable():
        for decision in (Decision(state), Decision(state, False))[: 1 + ("P" in states.legal(state))]:
            if decision.legal(states):
                rows.setdefault(states.rows_of(state, decision.may_split)[0], []).append(decision)
    for decisions in rows.values():
        decisions.sort(key=lambda decision: (decision.state.split != WHOLE, -len(decision.legal(states))))
    return rows


class _Questions:
    """Collects decisions, and asks a policy about all of them."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.keys: list[tuple[Decision, int]] = []
        self.legal: list[str] = []
        self.observations: list[tuple[int, ...]] = []

    def add(self, decision: Decision, column: int, insurance: bool = False) -> None:
        """Add a decision; that about insurance has the column -1 in the answers."""
        encoder = self.encoder
        hands = 2 if decision.state.split != WHOLE else 1
        if not decision.may_split:
            limit = encoder.rules.hand_limit(aces=decision.state.rank == 0)
            hands = int(min(limit, encoder.most_hands))
        self.keys.append((decision, -1 if insurance else column))
        self.legal.append(INSURANCE if insurance else decision.legal(encoder.states))
        self.observations.append((*encoder.features(decision.state), column, 0 if insurance else hands))

    def ask(self, policy: BatchPolicy | SinglePolicy, batched: bool) -> dict[tuple[Decision, int], str]:
        """The letters of the policy's actions."""
        letters = self.encoder.letters
        observations = np.array(self.observations, np.int64)
        masks = np.array([self.encoder.mask(legal) for legal in self.legal])
        if batched:
            actions = np.asarray(policy(observations, masks))
        else:
            actions = np.array([policy(*question) for question in zip(observations, masks, strict=True)])
        if actions.shape != (len(observations),) or actions.dtype.kind not in "iu":
            raise InputError(
                f"the policy returned {actions.dtype} {actions.shape} for {len(observations)} observations; accepted "
                f"are integers ({len(observations)},)"
            )
        if actions.min() < 0 or actions.max() >= len(letters):
            wrong = actions[(actions < 0) | (actions >= len(letters))][0]
            raise InputError(f"the policy returned the action {wrong}; accepted are 0 to {len(letters) - 1}")
        answers = (letters[action] for action in actions)
        taken = (letter if letter in legal else "S" for letter, legal in zip(answers, self.legal, strict=True))
        return dict(zip(self.keys, taken, strict=True))


def _best_code(
    encoder: Encoder, decisions: list[Decision], column: int, answers: dict[tuple[Decision, int], str]
) -> str:
    """The code that plays the first decision of a row as the policy does, and most of the others."""
    legal = [decision.legal(encoder.states) for decision in decisions]
    wanted = [answers[decision, column] for decision in decisions]

    def agreement(code: str) -> tuple[bool, int]:
        taken = [next((action for action in ACTIONS[code] if action in letters), "H") for letters in legal]
        return taken[0] == wanted[0], sum(one == other for one, other in zip(taken, wanted, strict=True))

    return max(CODES, key=agreement)

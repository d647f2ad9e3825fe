"""A policy over the observations of the environments as a player, which compiled rounds can play."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bjsim.arrays import Array
from bjsim.errors import InputError
from bjsim.sim.game.actions import INSURANCE
from bjsim.sim.game.automaton import Decision
from bjsim.sim.game.hand_states import WHOLE, HandState
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.state_player import StatePlayer
from bjsim.strategies.learning.encoder import Encoder

BatchPolicy = Callable[[Array, Array], Array]
SinglePolicy = Callable[[Array, Array], int]


class PolicyPlayer(StatePlayer):
    """A policy as a player: it is asked once about every decision of the game, in one batch.

    The policy should be a function of its arguments: the answers of a random one are a sample. A hand is shown as
    the only one of its seat, a split hand as one of two, and a pair that the limit of hands keeps from being split
    with as many hands as the limit. As in the environments, an answer that is not legal stands; `illegal` counts them.

    With `batched`, `policy` is a function of observations, int64 (n, 8), and action masks, int8 (n, actions), to n
    actions; else of one observation and mask to one action. See `BlackjackEnv`.
    """

    def __init__(
        self, rules: Rules | str, policy: BatchPolicy | SinglePolicy, *, batched: bool = True, name: str = "policy"
    ) -> None:
        encoder = Encoder(load_rules(rules) if isinstance(rules, str) else rules)
        self.name, self.rules, self.states = name, encoder.rules, encoder.states
        decisions = list(_decisions(encoder))
        observations = np.array([_observation(encoder, *decision) for decision in decisions], np.int64)
        masks = np.array([encoder.mask(legal) for _, _, legal in decisions])
        actions = _ask(policy, observations, masks, batched)
        letters = [encoder.letters[action] for action in actions]
        self._answers = {
            decision: letter if letter in decision[2] else "S"
            for decision, letter in zip(decisions, letters, strict=True)
        }
        self.illegal = sum(letter not in legal for (*_, legal), letter in zip(decisions, letters, strict=True))

    def policy(self, state: HandState, column: str, legal: str) -> str:
        if legal != INSURANCE or state.cards:
            return self._answers[state, column, legal]
        answers = {answer for (_, _, asked), answer in self._answers.items() if asked == INSURANCE}
        if len(answers) > 1:  # a solver asks before the hand is known, as its cards say nothing about the dealer's
            raise InputError(f"{self.name} insures some hands and not others; judge_policy makes a chart of it")
        return answers.pop()


def _decisions(encoder: Encoder) -> Iterator[tuple[HandState, str, str]]:
    for state in encoder.states.reachable():
        for decision in (Decision(state), Decision(state, False))[: 1 + ("P" in encoder.states.legal(state))]:
            for column in encoder.columns:
                if letters := decision.legal(encoder.states.against(column)):
                    yield state, column, letters
    if encoder.rules.insurance:
        yield from ((state, "A", INSURANCE) for state in encoder.states.starts)


def _observation(encoder: Encoder, state: HandState, column: str, legal: str) -> tuple[int, ...]:
    hands = 2 if state.split != WHOLE else 1
    if legal == INSURANCE:
        hands = 0
    elif "P" in encoder.states.legal(state) and "P" not in legal:
        hands = int(min(encoder.rules.hand_limit(aces=state.rank == 0), encoder.most_hands))
    return *encoder.features(state), encoder.columns.index(column), hands


def _ask(policy: BatchPolicy | SinglePolicy, observations: Array, masks: Array, batched: bool) -> Array:
    if batched:
        actions = np.asarray(policy(observations, masks))
    else:
        actions = np.array([policy(*question) for question in zip(observations, masks, strict=True)])
    if actions.shape != (len(observations),) or actions.dtype.kind not in "iu":
        raise InputError(
            f"the policy returned {actions.dtype} {actions.shape} for {len(observations)} observations; accepted are "
            f"integers ({len(observations)},)"
        )
    number = masks.shape[1]
    if actions.min() < 0 or actions.max() >= number:
        wrong = actions[(actions < 0) | (actions >= number)][0]
        raise InputError(f"the policy returned the action {wrong}; accepted are 0 to {number - 1}")
    return actions

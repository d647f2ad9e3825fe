"""Tables of one seat that wait at their decisions, and are stepped together by a kernel (`kernels/step.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.compiled_rules import Policy, compile_rules
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.engine.kernels.play import RAN_AWAY
from bjsim.sim.engine.kernels.step import ACTION_CODES, OVER, Outputs, Signs, WaitingTables, step
from bjsim.sim.engine.rounds import ENDLESS, empty_seats, make_shoe
from bjsim.sim.game.actions import INSURANCE
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.game.states import States

Array = np.ndarray[Any, Any]


def compile_actions(states: States, letters: str) -> CompiledRules:
    """Compile the rules with a seat for each action, which takes it wherever it is legal, and else stands."""

    def always(letter: str) -> Policy:
        def policy(state: HandState, column: str, legal: str) -> str:
            return letter if letter in legal else INSURANCE[1] if legal == INSURANCE else "S"

        return policy

    compiled = compile_rules(states.rules, [always(letter) for letter in letters], states)
    return compiled._replace(numbers=compiled.numbers._replace(round_robin=1))


class SteppedTables:
    """Tables of one seat that wait at their decisions.

    Args:
        states: The states of the game.
        letters: The letters of the actions by number: LETTERS, and `I` if the rules offer insurance.
        features: Features of a hand by the number of its state (`compiled_rules.number_hands`), int64 (S, F).
        number: The number of tables.
        most_hands: The greatest number of hands to show.

    Attributes:
        rules: The compiled rules, with a seat for each action.
    """

    def __init__(self, states: States, letters: str, features: Array, number: int, most_hands: int) -> None:
        self.rules = compile_actions(states, letters)
        codes = np.zeros(len(letters), np.int64)
        codes[: len(ACTION_CODES)] = ACTION_CODES
        legal = (self.rules.act[..., 0] == codes[:, None, None]) & (codes > 0)[:, None, None]
        self._signs = Signs(
            features=features,
            masks=np.ascontiguousarray(np.moveaxis(legal, 0, 2), np.int8),
            natural=len(states.columns) if states.rules.dealer_shows == "both" else -1,
            most_hands=most_hands,
            unit=states.rules.unit.as_integer_ratio(),
        )
        self._tables = self._make_tables(number)

    def _make_tables(self, number: int) -> WaitingTables:
        shoe = make_shoe(self.rules, (0, 0))
        shoe = shoe._replace(
            cards=np.repeat(shoe.cards[None], number, axis=0),
            key=np.repeat(shoe.key[None], number, axis=0),
            read=np.repeat(shoe.read, number),
            ready=np.repeat(shoe.ready, number),
            chunk=np.repeat(shoe.chunk, number),
            before=np.repeat(shoe.before, number),
        )
        return WaitingTables(shoe, empty_seats(self.rules, number), *np.zeros((7, number), np.int64))

    def open_shoes(self, seeds: Sequence[int]) -> None:
        """Open a new shoe at every table, for the cards of `Stream(seed)`."""
        shoe, size = self._tables.shoe, self.rules.numbers.shoe_size
        shoe.key[:] = np.array([stream_key(seed, 0, 0) for seed in seeds], np.uint64)
        shoe.read[:], shoe.ready[:], shoe.chunk[:], shoe.before[:] = size, size, -1, -size

    def abandon(self) -> None:
        """Leave the rounds in progress; the next step deals at every table."""
        self._tables.phase[:] = OVER

    def step(self, actions: Array, same_step: bool) -> Outputs:
        """Play one action at every table; at one whose episode is over, deal instead.

        Args:
            actions: The numbers of the actions, int64 (N,).
            same_step: Whether to deal the next round in the step that ends an episode.

        Returns:
            New arrays.

        Raises:
            EndlessSplitting: A seat reached the limit on hands.
        """
        number, seen = len(actions), self._signs.features.shape[1] + 2
        outputs = Outputs(
            observation=np.empty((number, seen), np.int64),
            mask=np.empty((number, len(self.rules.act)), np.int8),
            reward=np.empty(number),
            ended=np.empty(number, np.bool_),
            illegal=np.empty(number, np.bool_),
            final=np.empty((number, seen), np.int64),
        )
        if step(self.rules, self._signs, self._tables, actions, same_step, outputs) == RAN_AWAY:
            raise EndlessSplitting(ENDLESS)
        return outputs

"""Observations and action masks: what the environments show of a game."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bjsim.errors import InputError
from bjsim.sim.game.actions import INSURANCE, LETTERS, View
from bjsim.sim.game.cards import parse_rank
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States

MAX_HANDS = 9  # greatest number of hands in an observation, unless the rules set a smaller limit

Observation = NDArray[np.int64]
Mask = NDArray[np.int8]


class Encoder:
    """Encodes the decisions of a game as integers; `BlackjackEnv` describes them.

    `columns` has what the dealer may show, `letters` the letters of the actions by number, `sizes` the number of
    values of each feature; `most_hands` is the greatest number of hands in an observation.
    """

    def __init__(self, rules: Rules) -> None:
        rules.need_one_hand("are not shown by environments")
        if rules.attack:
            raise InputError("attack = true: environments do not ask before the deal; use attack = false")
        self.rules = rules
        self.states = States(rules)
        self.columns = self.states.columns
        self.letters = LETTERS + INSURANCE[0] * rules.insurance
        self.most_hands = int(min(rules.most_hands, MAX_HANDS))
        self._melds = {meld: i for i, meld in enumerate(sorted({hand.meld for hand in self.states.reachable()}))}
        cards = max(6, self.states.counted)
        kinds = 6 if rules.free_splits != "none" else 3 * (1 + rules.max_doubles * self.states.plays_doubled)
        sizes = [23, 2, cards + 1, 14, len(self._melds), kinds, len(self.columns) + 1, self.most_hands + 1]
        self.sizes = np.array(sizes, np.int64)
        self._encoded: dict[tuple[object, ...], tuple[int, ...]] = {}
        self._masks: dict[str, Mask] = {}

    def features(self, state: HandState) -> tuple[int, ...]:
        """The features of a hand: all but what the dealer shows, and the number of hands."""
        pair = max(state.rank + 1, 0) if state.cards == 2 else 0
        meld = self._melds.get(state.meld, 0)  # a hand of one card may have none
        kind = state.split + 3 * ((state.risk == 0) + state.doubled)
        return state.points, int(state.soft), state.cards, pair, meld, kind

    def observation(self, view: View) -> Observation:
        key = "".join(sorted(view.hand)), view.dealer, (view.split and view.hand[0], view.free, view.doubled)
        encoded = self._encoded.get(key)
        if encoded is None:
            encoded = self._encoded[key] = self._encode(view)
        hands = 0 if view.legal == INSURANCE else min(view.hands, self.most_hands)
        return np.array((*encoded, hands), np.int64)

    def _encode(self, view: View) -> tuple[int, ...]:
        state = self.states.hand(map(parse_rank, view.hand), view.split, view.free, view.doubled)
        column = self.states.column(view.dealer)
        shown = self.columns.index(column) if column in self.columns else len(self.columns)
        return *self.features(state), shown

    def mask(self, legal: str) -> Mask:
        """1 for each legal action, else 0; `legal` has their letters."""
        if legal not in self._masks:
            self._masks[legal] = np.array([letter in legal for letter in self.letters], np.int8)
        return self._masks[legal].copy()

    def spaces(self) -> tuple[Any, Any]:
        """The observation space and the action space."""
        from gymnasium import spaces

        return spaces.MultiDiscrete(self.sizes), spaces.Discrete(len(self.letters))

"""Players that the compiled round can play: those that decide by the state of a hand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, lru_cache

from bjsim.sim.game.actions import ATTACK, Action, View
from bjsim.sim.game.cards import parse_rank
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.states import States
from bjsim.sim.running.backend import Need


class StatePlayer(ABC):
    """A player whose action depends only on the state of its hand, what the dealer shows, and what is legal.

    `states` are those that it distinguishes: `States`, or `CardStates` if it depends on the cards of a hand.
    """

    name: str
    states: States
    needs = Need.NOTHING  # the compiled round plays it

    @abstractmethod
    def policy(self, state: HandState, column: str, legal: str) -> str:
        """Return the letter of the action to take, one of `legal`; `column` is one of `states.columns`."""

    def decide(self, view: View) -> Action:
        if view.legal == ATTACK:
            return Action(self.policy(HandState(), self.states.column(view.dealer), ATTACK))
        return self._cached_decide(view.hand, view.split, view.dealer, view.legal, view.free, view.doubled)

    def __deepcopy__(self, memo: object) -> StatePlayer:
        return self  # the only state is a cache

    @cached_property
    def _cached_decide(self) -> Callable[[str, bool, str, str, bool, int], Action]:
        return lru_cache(maxsize=1 << 16)(self._decide)  # hands recur

    def _decide(self, hand: str, split: bool, dealer: str, legal: str, free: bool, doubled: int) -> Action:
        return Action(self.policy(self.find_state(hand, split, free, doubled), self.states.column(dealer), legal))

    def find_state(self, hand: str, split: bool, free: bool = False, doubled: int = 0) -> HandState:
        """Return the state of a hand, given as in a view, with its cards as rank letters.

        `free`: the house put up its bet. `doubled`: how often it has doubled, before each of its last cards.
        """
        return self.states.hand(map(parse_rank, hand), split, free, doubled)

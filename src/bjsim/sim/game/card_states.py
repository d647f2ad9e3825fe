"""States that also keep the cards of a hand, for strategies that depend on them."""

from __future__ import annotations

from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.hand_states import DealerState, HandState
from bjsim.sim.game.states import States


class CardStates(States):
    """The states of `States`, refined by the cards held (`HandState.held`).

    Columns are named by what the dealer shows: the value of the upcard, or both values in order.
    """

    def _add(self, state: HandState, rank: int) -> HandState:
        after = super()._add(state, rank)
        if after.points > 21:
            return after
        return after._replace(held=tuple(sorted((*state.held, min(rank, TEN)))))

    def _dealer_add(self, state: DealerState, rank: int) -> DealerState:
        after = super()._dealer_add(state, rank)
        if after.cards > 2 or self.rules.dealer_shows == "up":
            return after
        return after._replace(held=tuple(sorted((*state.held, min(rank, TEN)))))

    def dealer_code(self, state: DealerState) -> str:
        return "".join(RANKS[value] for value in state.held)

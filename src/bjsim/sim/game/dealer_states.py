"""States of the dealer's hand: a part of `States`."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, cached_property

from bjsim.sim.game.cards import RANKS, TEN, parse_rank
from bjsim.sim.game.hand import soft_code
from bjsim.sim.game.hand_states import DEALER_22, DEALER_NATURAL, DealerState, add_points
from bjsim.sim.game.rules import Rules


class DealerStates:
    """The dealer's hands of one game, and the columns of charts."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.dealer_add = cache(self._dealer_add)

    @cached_property
    def ranks(self) -> tuple[tuple[int, Fraction], ...]:
        """The ranks that the rules distinguish, as rank indices, with their probabilities in a full shoe."""
        probabilities = self.rules.card_probabilities
        if self.rules.split_by == "rank":
            return tuple((rank, p) for rank, p in enumerate(probabilities) if p)
        return (*((rank, probabilities[rank]) for rank in range(TEN)), (TEN, self.rules.ten_probability))

    def _dealer_add(self, state: DealerState, rank: int) -> DealerState:
        """The dealer's hand after drawing a card of rank index `rank`."""
        total = add_points(state.points, state.soft, rank, 23 if self.rules.dealer_22_pushes else 22)
        return DealerState(*total, min(state.cards + 1, 3))

    def dealer_done(self, state: DealerState) -> bool:
        """Whether the dealer draws no more cards."""
        if state.cards < 2:
            return False
        if state.points == 17 and state.soft and self.rules.hit_soft_17:
            return False
        return state.points >= self.rules.dealer_stands_on

    def dealer_outcome(self, state: DealerState) -> int:
        """The dealer's final score: 0 for a bust, 17..21, or DEALER_NATURAL or DEALER_22 if distinguished."""
        if self.rules.naturals == "both" and (state.points, state.soft, state.cards) == (21, True, 2):
            return DEALER_NATURAL
        if self.rules.dealer_22_pushes and state.points == 22:
            return DEALER_22
        return state.points if state.points <= 21 else 0

    @cached_property
    def dealer_outcomes(self) -> tuple[int, ...]:
        """All possible outcomes of the dealer, in order."""
        scores: tuple[int, ...] = (0, *range(self.rules.dealer_stands_on, 22))
        scores += (DEALER_NATURAL,) * (self.rules.naturals == "both")
        return scores + (DEALER_22,) * self.rules.dealer_22_pushes

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the dealer's hands that may be shown before the player acts, in the order of charts."""
        if self.rules.dealer_shows == "up":
            return (*"23456789TA",)
        names = {self.dealer_code(state) for state in self.dealer_starts()}
        hard = sorted((name for name in names if name.isdigit()), key=int)
        return (*hard, *sorted(names - set(hard), key=lambda name: (name != "AA", name)))

    def dealer_code(self, state: DealerState) -> str:
        """Name of a dealer's hand: its total, or a soft code such as `A6` while the dealer still draws."""
        return soft_code(state.points) if state.soft and not self.dealer_done(state) else str(state.points)

    def column(self, shown: str) -> str:
        """The chart column for the dealer's shown cards (letters)."""
        ranks = [parse_rank(card) for card in shown]
        if self.rules.dealer_shows == "up":
            return RANKS[min(ranks[0], TEN)]
        state = DealerState()
        for rank in ranks:
            state = self.dealer_add(state, rank)
        return self.dealer_code(state)

    def dealer_starts(self) -> dict[DealerState, Fraction]:
        """Probabilities of the dealer's first two cards in an infinite shoe, without naturals that end the round.

        They are not normalized.
        """
        probabilities: dict[DealerState, Fraction] = {}
        for first, p in self.ranks:
            for second, q in self.ranks:
                state = self.dealer_add(self.dealer_add(DealerState(), first), second)
                if not (self.rules.peek and self.dealer_outcome(state) == DEALER_NATURAL):
                    probabilities[state] = probabilities.get(state, Fraction(0)) + p * q
        return probabilities

"""What happens against the dealer's open card before the hands are played, and what a natural takes, as data.

Everything that is computed about a game reads it here. Only the readable round says it again: `round.py` with
`seats.py` is the second statement of the rules.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache, cached_property
from typing import NamedTuple, TypeVar

from bjsim.sim.game.cards import RANKS, TEN, parse_cards, soft_code
from bjsim.sim.game.hand_states import DEALER_22, DEALER_NATURAL, DealerState, add_points
from bjsim.sim.game.rule_text import EARLY_SURRENDER
from bjsim.sim.game.rules import Rules

ACE = 0  # its rank index


class Course(NamedTuple):
    """What happens against an open card.

    `before` has the letters of the choices made before the dealer looks for a natural: I, R, or both;
    `looks`: at the hole card, so that a natural ends the round before hands are played; `natural` is the rank
    index of the second card that completes one, all ten-valued ranks being one, -1 for none; `takes` what it
    takes, as in `Rules.no_hole_loses`, empty if none is possible.
    """

    before: str
    looks: bool
    natural: int
    takes: str

    def ends(self, second: int) -> bool:
        """Whether this second card of the dealer ends the round before the hands are played."""
        return self.looks and min(second, TEN) == self.natural


def course(rules: Rules, up: int) -> Course:
    """Return what happens against an open card; `up` is its rank index."""
    card = min(up, TEN)
    natural = {ACE: TEN, TEN: ACE}.get(card, -1) if rules.naturals == "both" else -1
    possible = natural >= 0
    before = "I" * (rules.insurance and card == ACE) + "R" * (RANKS[card] in EARLY_SURRENDER[rules.surrender])
    return Course(before, possible and rules.peek, natural, rules.no_hole_loses if possible else "")


# --- States of the dealer's hand: a part of `States`.


S = TypeVar("S")


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
        total = add_points(state.points, state.soft, rank, 23 if self.rules.dealer_22_pushes else 22)
        return DealerState(*total, min(state.cards + 1, 3))

    def columns_before_look(self, letter: str) -> list[str]:
        """The columns where this choice is made before the dealer looks for a natural."""
        return [RANKS[up] for up in range(TEN + 1) if letter in course(self.rules, up).before]

    def surrenders_early(self, column: str) -> bool:
        """Whether hands are surrendered against this column before the dealer looks for a natural."""
        return column in self.columns_before_look("R")

    def ends_round(self, outcome: int) -> bool:
        """Whether the dealer's first two cards with this outcome end the round before the hands are played."""
        return outcome == DEALER_NATURAL and course(self.rules, ACE).looks

    def dealer_done(self, state: DealerState) -> bool:
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

    def shown(self, state: DealerState) -> str:
        """The chart column that a dealer's hand shows with its last card; "" if none, or none that can be acted on."""
        if self.rules.dealer_shows == "up":
            return RANKS[0 if state.soft else state.points - 1] if state.cards == 1 else ""
        code = self.dealer_code(state) if state.cards == 2 else ""
        return code if code in self.columns else ""

    def column(self, shown: str) -> str:
        state, label = DealerState(), ""
        for rank in parse_cards(shown):
            state = self.dealer_add(state, rank)
            label = label or self.shown(state)
        return label

    def dealer_starts(self) -> dict[DealerState, Fraction]:
        """Probabilities of the dealer's first two cards in an infinite shoe, without naturals that end the round.

        They are not normalized.
        """
        starts = self.two_cards(self.dealer_add, DealerState())
        return {state: p for state, p in starts.items() if not self.ends_round(self.dealer_outcome(state))}

    def two_cards(self, add: Callable[[S, int], S], empty: S) -> dict[S, Fraction]:
        """Probabilities of a hand's first two cards in an infinite shoe."""
        probabilities: dict[S, Fraction] = {}
        for first, p in self.ranks:
            for second, q in self.ranks:
                state = add(add(empty, first), second)
                probabilities[state] = probabilities.get(state, Fraction(0)) + p * q
        return probabilities

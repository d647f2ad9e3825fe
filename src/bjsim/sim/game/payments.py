"""What finished hands win: a part of `States`."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from bjsim.sim.game.course import ACE, course
from bjsim.sim.game.dealer_states import DealerStates
from bjsim.sim.game.hand_states import (
    CARDS,
    DEALER_22,
    DEALER_NATURAL,
    MELDS,
    NOT_WAITING,
    ORIGINAL_BET,
    SPANISH_CARDS,
    WAITS_FOR_DEALER,
    WAITS_FOR_HOLE_CARD,
    HandState,
    Result,
    spanish_meld,
)
from bjsim.sim.game.rules import Rules


class Payments(DealerStates):
    """The payments of one game, and what they wait for."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        against_ace = course(rules, ACE)
        self.original_only = against_ace.takes == "original"
        self.one_and_busted = against_ace.takes == "busted-plus-one"
        self._natural_may_tie = against_ace.natural >= 0 and not against_ace.looks and not rules.natural_beats_natural
        self._one_bet = against_ace.takes not in ("", "all")  # of each hand at most
        self.at_once = rules.pays_at_once
        self.settle = cache(self._settle)

    def bonus(self, state: HandState) -> Fraction | int:
        """The multiple of the bet that this hand wins if it wins, and was not doubled."""
        if self.rules.bonuses == "none":
            return 1
        if self.rules.bonuses == "super-fun":
            return 2 if state.points == 21 and state.cards >= 5 else 1
        if self.rules.bonuses == "spanish":
            if state.points != 21:
                return 1
            made = state.meld in MELDS
            return spanish_meld(state.meld, self.rules.decks) if made else SPANISH_CARDS.get(state.cards, 1)
        return MELDS.get(state.meld) or CARDS.get(state.cards, 1)

    def doubled(self, result: Result) -> Result:
        return result._replace(bonus=1) if self.rules.bonuses in ("spanish", "super-fun") else result

    def waits(self, result: Result) -> int:
        """What the payoff of a finished hand waits for: NOT_WAITING, WAITS_FOR_HOLE_CARD or WAITS_FOR_DEALER."""
        rules = self.rules
        if result == ORIGINAL_BET or (self.original_only and result.end == "bust"):
            return WAITS_FOR_HOLE_CARD
        if result.end in ("bust", "charlie", "surrendered") or (self.at_once and result.bonus > 1):
            return NOT_WAITING
        if rules.player_21_wins and result.end == "stood" and result.score == 21:
            return NOT_WAITING
        if result.end == "insured":
            return WAITS_FOR_HOLE_CARD
        if result.end == "natural":
            return WAITS_FOR_HOLE_CARD if self._natural_may_tie else NOT_WAITING
        return WAITS_FOR_DEALER

    def _settle(self, result: Result, stake: int, dealer: int) -> tuple[Fraction, int]:
        """The profit and tied stake of a hand, in initial bets; the latter is 0 unless ties are replayed."""
        rules = self.rules
        if result.end == "surrendered":
            return Fraction(-stake, 2), 0
        if result.end == "insured":
            return Fraction(stake) if dealer == DEALER_NATURAL else Fraction(-stake, 2), 0
        if result == ORIGINAL_BET:
            return Fraction(-int(dealer == DEALER_NATURAL)), 0
        if self._one_bet and dealer == DEALER_NATURAL and self.waits(result) and (result.split or stake > 1):
            return Fraction(int(result.split) - 1), 0
        lost = -stake * Fraction(result.risk)
        if result.end == "bust":
            return lost, 0
        if result.end == "charlie":
            return Fraction(stake * result.bonus), 0
        if result.end == "natural" and (dealer != DEALER_NATURAL or rules.natural_beats_natural):
            return rules.blackjack_pays * stake, 0
        if self.at_once and result.bonus > 1:
            return Fraction(stake * result.bonus), 0
        if rules.player_21_wins and result.end == "stood" and result.score == 21:
            return Fraction(stake * result.bonus), 0
        if dealer == DEALER_22:
            return Fraction(0), 0
        score = DEALER_NATURAL if result.end == "natural" else result.score
        if dealer == DEALER_NATURAL and score == 21 and not rules.natural_beats_21:
            dealer = 21
        if score != dealer:
            return Fraction(stake * result.bonus) if score > dealer else lost, 0
        return lost if rules.ties == "lose" else Fraction(0), stake if rules.ties == "replay" else 0

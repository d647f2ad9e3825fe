"""The rules of play over states, which forget the cards of a hand.

The rules of play are implemented in two places, here and, in terms of cards, in `round.py`. The exact solver, the
decision process, the compiled rules and the values for luck adjustment are all computed from this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, NamedTuple, Self

from bjsim.sim.game.actions import View
from bjsim.sim.game.cards import RANKS, TEN, pair_code, parse_rank, soft_code
from bjsim.sim.game.dealer import ACE, DealerStates, course
from bjsim.sim.game.hand_states import (
    BUST,
    CHARLIE,
    DEALER_22,
    DEALER_NATURAL,
    HALF,
    NATURAL,
    NOT_WAITING,
    ORIGINAL_BET,
    SPLIT_ACES,
    SPLIT_HAND,
    SURRENDERED,
    WAITS_FOR_DEALER,
    WAITS_FOR_HOLE_CARD,
    WHOLE,
    DealerState,
    HandState,
    Result,
    add_points,
)
from bjsim.sim.game.rules import Rules

MOST_KEPT = 1 << 16  # situations and answers that are kept, as hands recur

# --- What finished hands win: a part of `States`.


class Payments(DealerStates):
    """The payments of one game, and what they wait for."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        against_ace = course(rules, ACE)
        self.original_only = against_ace.takes == "original"
        self.one_and_busted = against_ace.takes == "busted-plus-one"
        self._natural_may_tie = against_ace.natural >= 0 and not against_ace.looks and not rules.natural_beats_natural
        self._one_bet = against_ace.takes not in ("", "all")  # of each hand at most
        self.at_once = rules.scheme.at_once
        self.settle = cache(self._settle)

    def bonus(self, state: HandState) -> Fraction | int:
        """The multiple of the bet that this hand wins if it wins, and was not doubled."""
        return self.rules.scheme.multiple(state.points, state.cards, state.meld, self.rules.decks)

    def doubled(self, result: Result) -> Result:
        return result if self.rules.scheme.doubled else result._replace(bonus=1)

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
            return -stake * Fraction(result.risk), 0
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


class Situation(NamedTuple):
    """A decision as states have it; it is made once from a `View`, and read by all that values or plays it."""

    state: HandState  # an empty hand for an offer before the deal
    column: str  # of charts: what the dealer shows
    legal: str  # the letters to choose from, but for raises, which states do not have

    @property
    def bets(self) -> int:
        """The bets on the hand, which doubles with each double."""
        return int(2**self.state.doubled)


class States(Payments):
    """The states of one game and the transitions between them."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self.counted = rules.scheme.counted if rules.charlie == "none" else int(rules.charlie)
        keeps_split = "any" in (rules.double_cards, rules.free_doubles != "none" and rules.free_double_cards)
        keeps_split = keeps_split and not rules.double_after_split  # beyond two cards
        keeps_split |= rules.surrender_cards == "any" and not rules.surrender_after_split
        keeps_split |= self.original_only
        self.plays_doubled = rules.max_doubles > 1 or rules.surrender_after_double
        counts_cards = rules.charlie != "none" and rules.max_doubles > 1
        self._counts_doubled = counts_cards or bool(rules.scheme.cards and rules.scheme.doubled)
        self._last_split = SPLIT_HAND if keeps_split else WHOLE
        # cached, as the same few states recur
        self.add = cache(self._add)
        self.after = cache(self._after)
        self.bare = cache(self._bare)
        self.draws = cache(self._draws)
        self.legal = cache(self._legal)
        self.result = cache(self._result)
        self.rows_of = cache(self._find_rows)
        self._situations: dict[tuple[object, ...], Situation] = {}

    def __reduce__(self) -> tuple[type[States], tuple[Rules]]:
        return type(self), (self.rules,)

    # --- the player's hand

    def _add(self, state: HandState, rank: int) -> HandState:
        rules = self.rules
        points, soft = add_points(state.points, state.soft, rank)
        if points > 21:
            split = min(state.split, SPLIT_HAND) if self.original_only else WHOLE
            return HandState(22, False, 3, split=split, risk=state.risk, rest=state.rest, doubled=state.doubled)
        cards = min(state.cards + 1, self.counted)
        kept = {"risk": state.risk, "rest": state.rest, "doubled": state.doubled}
        if cards == rules.charlie:
            points = 20 if rules.scheme.of_21 and (points < 21 or state.doubled) else 21  # 21 has a bonus
            return HandState(points, False, cards, **kept)  # type: ignore[arg-type]
        if state.doubled and not self._counts_doubled:
            return state._replace(points=points, soft=soft, cards=3, rank=-1, meld=())
        shared = rank if rules.split_by == "rank" else min(rank, TEN)
        if rules.split_by == "never" or (state.cards == 1 and shared != state.rank) or state.cards >= 2:
            shared = -1
        meld: tuple[int, ...] = ()
        if rules.scheme.melds and len(state.meld) == state.cards:
            meld = tuple(sorted((*state.meld, rank)))
            meld = meld if rules.scheme.begins(meld) else ()
        split = state.split if cards <= 2 else min(state.split, self._last_split)
        return HandState(points, soft, cards, shared, meld, split, covered=state.covered, **kept)  # type: ignore[arg-type]

    def hand(self, ranks: Iterable[int], split: bool = False, free: bool = False, doubled: int = 0) -> HandState:
        """The hand of cards with these rank indices, in order; if it came from a split, the pair card is the first.

        free: Whether the house put up its bet. doubled: It has doubled before each of so many last cards.
        """
        first, *later = ranks
        plain = len(later) - doubled * self.plays_doubled
        kind = WHOLE if not split else SPLIT_HAND if first else SPLIT_ACES
        state = self.add(HandState(split=kind, risk=int(not free)), first)
        for number, rank in enumerate(later):
            state = self.add(state if number < plain else self.bare(self.doubling(state)), rank)
        return state

    def situation(self, view: View) -> Situation:
        """The decision that a view shows."""
        found = self._situations.get(key := view.key)
        if found is None:
            hand = HandState()
            if view.hand:
                hand = self.hand(map(parse_rank, view.hand), view.split, view.free, view.doubled)
            found = Situation(hand, self.column(view.dealer), view.legal.replace("B", ""))
            if len(self._situations) >= MOST_KEPT:
                self._situations.clear()
            self._situations[key] = found
        return found

    def _after(self, state: HandState) -> tuple[HandState, ...]:
        return tuple(self.add(state, rank) for rank, _ in self.ranks)

    def _bare(self, state: HandState) -> HandState:
        """A hand of two or more cards without what matters only for its first action; the transitions are the same."""
        cards, split = state.cards if self.counted > 3 else 3, min(state.split, self._last_split)
        return state._replace(cards=cards, rank=-1, split=split)

    def _draws(self, state: HandState, number: type = Fraction) -> tuple[tuple[Any, HandState], ...]:
        probabilities: dict[HandState, Fraction] = {}
        for (_, p), after in zip(self.ranks, self.after(state), strict=True):
            probabilities[after] = probabilities.get(after, Fraction(0)) + p
        return tuple((number(p), after) for after, p in probabilities.items())

    def split(self, state: HandState) -> HandState:
        """Either split hand of a pair, with one card."""
        split_hand = self.add(HandState(risk=state.risk), state.rank)
        return split_hand._replace(split=SPLIT_ACES if state.rank == 0 else SPLIT_HAND, covered=state.covered)

    def covered(self, split_hand: HandState) -> HandState:
        """A pending split hand after one that loses the bet that a dealer's natural takes besides busted bets, or
        after the first of a split that the house pays for."""
        risk = 0 if self.rules.splits_free(split_hand.rank) else split_hand.risk
        return split_hand._replace(covered=self.one_and_busted, risk=risk)

    def pending(self, split_hand: HandState, result: Result) -> HandState:
        """A pending split hand after one that finished with this result."""
        return self.covered(split_hand) if self.covers(result) else split_hand

    def covers(self, result: Result) -> bool:
        """Whether hands after one with this result are `covered`, if it is the first."""
        if self.rules.free_splits != "none":
            return True
        return self.one_and_busted and self.waits(result) > 0 and self.settle(result, 1, DEALER_NATURAL)[0] < 0

    def doubles_free(self, state: HandState) -> bool:
        """Whether the house pays for a double of this hand, if it may double."""
        return self.rules.doubles_free(state.points, state.soft, first=state.cards == 2)

    def doubling(self, state: HandState) -> HandState:
        """A hand once its bet is doubled, before its card."""
        risk = Fraction(state.risk + (not self.doubles_free(state)), 2)
        return state._replace(risk=risk if risk == HALF else int(risk), doubled=state.doubled + self.plays_doubled)

    def is_natural(self, state: HandState) -> bool:
        """Whether the rules pay this hand as a natural."""
        if self.rules.naturals == "none" or (state.points, state.soft, state.cards) != (21, True, 2):
            return False
        rules = self.rules
        return {WHOLE: True, SPLIT_HAND: rules.split_tens_blackjack, SPLIT_ACES: rules.split_aces_blackjack}[
            state.split
        ]

    def _legal(self, state: HandState) -> str:
        """Letters of the legal actions of a hand of two or more cards; empty if it can only stand.

        P is included for every pair that may be split; the caller applies the limit on hands.
        """
        rules = self.rules
        most = 20 if rules.stand_on_21 else 21
        if state.points > most or self.is_natural(state) or state.cards == rules.charlie or state.risk == HALF:
            return ""
        if state.doubled:
            again = rules.doubles_again(state.points, state.soft, state.doubled)
            letters = "S" + "D" * again + "R" * rules.surrender_after_double
            return letters if len(letters) > 1 else ""
        fresh = state.cards == 2
        pair = fresh and state.rank >= 0 and (state.split != SPLIT_ACES or rules.resplit_aces)
        if state.split == SPLIT_ACES and not rules.hit_split_aces:
            return "SP" if pair else ""
        letters = "SH"
        may_double = rules.doubles(state.points, state.soft, fresh) or self.doubles_free(state)
        if may_double and (state.split == WHOLE or rules.double_after_split):
            letters += "D"
        if pair:
            letters += "P"
        may_surrender = rules.surrender != "none" and (fresh or rules.surrender_cards == "any")
        if may_surrender and (state.split == WHOLE or rules.surrender_after_split):
            letters += "R"
        return letters

    def ends(self, state: HandState, letter: str) -> Result:
        """The result of a hand that ends by an action, which stands or surrenders."""
        return self.result(state) if letter == "S" else SURRENDERED

    def against(self, column: str) -> Self:
        """These states with what is legal against a column of charts: the one place for rules that depend on it."""
        return self

    def _result(self, state: HandState) -> Result:
        return self._end(state)._replace(risk=state.risk)

    def _end(self, state: HandState) -> Result:
        split = state.covered or (self.original_only and state.split != WHOLE)
        if state.points > 21:
            return BUST._replace(split=split)
        if self.is_natural(state):
            ties = state.covered and self.rules.ties != "lose"
            return NATURAL._replace(split=split and not ties)
        if state.cards == self.rules.charlie:
            return CHARLIE._replace(bonus=self.bonus(state))
        result = Result("stood", state.points, self.bonus(state), split)
        return self.doubled(result) if state.doubled else result

    # --- names of states: the rows and columns of charts

    def _find_rows(self, state: HandState, may_split: bool = True) -> tuple[str, ...]:
        """The chart rows that apply to this hand, the most specific first.

        Source: the codes of [Easy]. If cards are counted, `15/4` is fifteen in four cards and `14:77` two sevens; if
        21 may be hit, `A10` is a soft 21. `15/free` is fifteen with a bet of the house, `15x2` one that has doubled.
        """
        points, soft, pair = state.points, state.soft, state.cards == 2 and state.rank >= 0
        total = ("A10", "21") if soft and points == 21 else (soft_code(points),) if soft else (str(points),)
        if state.doubled:
            return (f"{total[0]}x{2**state.doubled}",)
        if pair and may_split and "P" in self.legal(state):
            return (pair_code(state.rank), *total)
        if state.risk == 0:
            total = (f"{total[0]}/free", *total)
        if state.meld and state.cards >= 2:
            return (f"{total[0]}:{''.join(RANKS[rank] for rank in state.meld)}", *total)
        if self.counted > 3 and state.cards > 2:
            return (f"{total[0]}/{state.cards}", *total)
        return total

    # --- what can be dealt

    @cached_property
    def starts(self) -> dict[HandState, Fraction]:
        """Probabilities of the player's first two cards in an infinite shoe."""
        return self.two_cards(self.add, HandState())

    def reachable(self) -> Iterator[HandState]:
        """Yield all reachable states of a hand of two or more cards, in the order of discovery."""
        todo = list(self.starts)
        seen = set(todo)
        while todo:
            state = todo.pop()
            yield state
            letters = self.legal(state)
            sources = [state] if "H" in letters or ("D" in letters and not state.doubled) else []
            sources += [self.bare(self.doubling(state))] if "D" in letters else []
            if "P" in letters:
                sources += dict.fromkeys((self.split(state), self.covered(self.split(state))))
            for source in sources:
                fresh = {self.add(source, rank) for rank, _ in self.ranks} - seen
                seen |= fresh
                if source.covered or source.risk != 1:  # after all others, of which charts have one
                    todo[:0] = sorted(fresh)
                else:
                    todo += sorted(fresh)


# --- States that also keep the cards of a hand, for strategies that depend on them.


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

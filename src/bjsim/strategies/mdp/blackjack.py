"""A game of blackjack in an infinite shoe as a finite decision process, as compact as its rules allow.

All moves and payments come from `bjsim.sim.game.states`. The states of the process:

    deal           one action; leads to the hand and the dealer's card, or to the end
    hand v card    the decisions. Equivalent hands (see `equivalence`) are one state: the total, the usable ace and the
                   dealer's card are always kept, but "first two cards", "pair" and the counts for bonuses only as far
                   as the rules make a difference between them
    stand v card   one action, the dealer's play. Scores with the same payments are one state, which is shared by all
                   hands and stakes with that score, so that a learner visits it often
    split r v card split hands of rank r that need their second card; see below

Stakes are weights (see `model`): a doubled hand leads to its `stand` state with weight 2. A replayed tie leads back to
`deal` with the tied stake as its weight, so that the value of `deal` solves V = net + tied * V. That is
net / (1 - tied), which the exact solver maximises, without a discount.

A split is two hands against one dealer. Expectations add even if the hands are dependent, so k split hands that cannot
become new pairs are one outcome of weight k. Where pairs are resplit up to a limit, "this hand and the others" are two
outcomes with half the probability and weight 2 each, which has the same expectation. Pairs are resplit whenever the
rules allow, as in the exact solver (`values`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.hand_states import DEALER_NATURAL, NOT_WAITING, SURRENDERED, HandState, Result
from bjsim.sim.game.rules import Rules, RulesError
from bjsim.sim.game.states import States
from bjsim.strategies.charts.rows import row_order
from bjsim.strategies.exact.values import Dealer, Policy
from bjsim.strategies.mdp.build import Outcome, build_mdp
from bjsim.strategies.mdp.equivalence import StateEquivalence
from bjsim.strategies.mdp.model import FiniteMDP, Ints

DEAL, PLAY_ON = "deal", "dealer plays"


class MDPState(NamedTuple):
    """A state of the process.

    Attributes:
        name: Its name, without the dealer's column.
        column: The dealer's column; empty for the deal and the end.
        hand: A representative of its hands, or the split hand that needs its second card.
        may_split: Whether the hand may be split, as far as the limit of hands is concerned.
        result: A representative of its finished hands.
        pending: The number of split hands that need their second card.
        hands: The number of hands of the seat if `pending` is not 0.
    """

    name: str
    column: str = ""
    hand: HandState | None = None
    may_split: bool = True
    result: Result | None = None
    pending: int = 0
    hands: int = 0

    def __str__(self) -> str:
        return f"{self.name} v {self.column}" if self.column else self.name

    @property
    def decides(self) -> bool:
        """Whether the state has a hand with a choice."""
        return self.hand is not None and not self.pending


START, END = MDPState("deal"), MDPState("end")


class GameProcess:
    """A game with an infinite shoe as a `Process` for `build_mdp`.

    Args:
        rules: The game.

    Raises:
        RulesError: The shoe is finite.
    """

    def __init__(self, rules: Rules) -> None:
        if not rules.infinite:
            raise RulesError(f"decks = {rules.decks:g} has too many states to learn; use decks = inf")
        self.rules = rules
        self.states_of_play = States(rules)
        self.dealer = Dealer(self.states_of_play)
        self.columns = self.dealer.columns()
        self.equivalence = StateEquivalence(self.states_of_play)

    # --- the process

    def start(self) -> dict[MDPState, float]:
        return {START: 1.0}

    def terminal(self, state: MDPState) -> bool:
        return state == END

    def actions(self, state: MDPState) -> list[str]:
        if not state.decides:
            return [PLAY_ON if state.result else DEAL]
        return list(self.legal(state))

    def outcomes(self, state: MDPState, action: str) -> list[Outcome]:
        """The outcomes of an action; those with the same next state, reward and weight are merged."""
        merged: dict[tuple[MDPState, float, float], float] = defaultdict(float)
        for probability, following, reward, weight in self._outcomes(state, action):
            if probability:
                merged[following, float(reward), float(weight)] += float(probability)
        return [Outcome(p, *rest) for rest, p in merged.items()]

    def legal(self, state: MDPState) -> str:
        """The letters of the legal actions of a state with a decision."""
        assert state.hand is not None
        return self.equivalence.legal(state.hand, state.may_split)

    @cached_property
    def decisions(self) -> dict[str, MDPState]:
        """Every state with a decision, by its name, in the order of charts."""
        states = {}
        for hand, may_split, name in sorted(self.equivalence.classes, key=lambda each: _row_order(each.name)):
            for column in self.columns:
                state = MDPState(name, column, hand, may_split)
                states[str(state)] = state
        return states

    def states_against(self, column: str) -> set[MDPState]:
        """Every reachable state in which the dealer shows `column`."""
        reached: set[MDPState] = set()
        unexplored = [START]
        while unexplored:
            state = unexplored.pop()
            for action in self.actions(state):
                after = {outcome.next_state for outcome in self.outcomes(state, action)}
                fresh = {following for following in after if following.column == column} - reached
                reached |= fresh
                unexplored += fresh
        return reached

    def find_state(self, hand: HandState, column: str, may_split: bool = True) -> MDPState:
        """The state of a hand with a decision."""
        hand, may_split, name = self.equivalence.find_class(hand, may_split)
        return MDPState(name, column, hand, may_split)

    def policy(self, mdp: FiniteMDP, policy: Policy) -> Ints:
        """Translate a strategy into rows of the decision process of this game.

        Equivalent hands are played as the representative of their class.

        Args:
            mdp: The process that `build_mdp` makes of this game.
            policy: The strategy, such as `Chart.policy`.

        Returns:
            int64 (S,), the row of each state; -1 where terminal.
        """
        rows = np.where(mdp.terminal, -1, mdp.action_start[:-1])
        for name, state in self.decisions.items():
            assert state.hand is not None
            if name in mdp.index:
                rows[mdp.index[name]] = mdp.row(name, policy(state.hand, state.column, self.legal(state)))
        return rows

    # --- outcomes

    def _outcomes(self, state: MDPState, action: str) -> Iterator[Outcome]:
        if state == START:
            yield from self._deals()
        elif state.pending:
            yield from self._second_cards(state)
        elif state.result is not None:
            yield from self._settled(state.result, state.column)
        else:
            yield from self._played(state, action)

    def _deals(self) -> Iterator[Outcome]:
        states = self.states_of_play
        ended = self.dealer.peeked_natural()
        for hand, p in states.starts.items():
            for column in self.columns.values():
                yield self._reached(float(p * column.probability), hand, column.label)
            yield self._payment(float(p) * float(ended), states.result(hand), DEALER_NATURAL)

    def _played(self, state: MDPState, action: str) -> Iterator[Outcome]:
        states, hand, column = self.states_of_play, state.hand, state.column
        assert hand is not None
        if action == "S":
            yield self._finished(1.0, states.result(hand), column)
        elif action == "R":
            yield self._finished(1.0, SURRENDERED, column)
        elif action == "P":
            yield Outcome(1.0, *self._pending(states.split(hand), 2, 2, column))
        else:
            for rank, p in states.ranks:
                after = states.add(hand, rank)
                if action == "H":
                    yield self._reached(float(p), after, column)
                else:
                    yield self._finished(float(p), states.result(after), column, stake=2)

    def _second_cards(self, state: MDPState) -> Iterator[Outcome]:
        """One of the pending split hands gets its second card."""
        states, split_hand, column = self.states_of_play, state.hand, state.column
        assert split_hand is not None
        for rank, p in states.ranks:
            hand = states.add(split_hand, rank)
            if state.hands < self.rules.max_hands and "P" in states.legal(hand):
                yield Outcome(float(p), *self._pending(split_hand, state.pending + 1, state.hands + 1, column))
            elif state.pending == 1:
                yield self._reached(float(p), hand, column, may_split=False)
            else:
                this = self._reached(float(p) / 2, hand, column, may_split=False)
                yield this._replace(reward=2 * this.reward, weight=2 * this.weight)
                others, reward, weight = self._pending(split_hand, state.pending - 1, state.hands, column)
                yield Outcome(float(p) / 2, others, 2 * reward, 2 * weight)

    def _pending(self, split_hand: HandState, count: int, hands: int, column: str) -> tuple[MDPState, float, float]:
        """The state, reward 0 and weight of `count` pending split hands of a seat with `hands` hands."""
        weight = 1
        if hands >= self.rules.max_hands:
            weight, count = count, 1
        elif self.rules.max_hands == math.inf:
            weight, count, hands = count, 1, 1
        split_hand = split_hand._replace(rank=min(split_hand.rank, 9))
        name = f"split {RANKS[split_hand.rank]}" + ("" if count == 1 == hands else f", {count} of {hands} hands")
        return MDPState(name, column, split_hand, pending=count, hands=hands), 0.0, float(weight)

    # --- the end of a hand

    def _reached(self, p: float, hand: HandState, column: str, may_split: bool = True) -> Outcome:
        if self.equivalence.legal(hand, may_split):
            return Outcome(p, self.find_state(hand, column, may_split))
        return self._finished(p, self.states_of_play.result(hand), column)

    def _finished(self, p: float, result: Result, column: str, stake: int = 1) -> Outcome:
        if self.states_of_play.waits(result) == NOT_WAITING:
            return self._payment(p, result, 0, stake)
        result = self.equivalence.results[self.equivalence.payments(result)]
        return Outcome(p, MDPState(_name(result), column, result=result), 0.0, float(stake))

    def _settled(self, result: Result, column: str) -> Iterator[Outcome]:
        for dealer, p in self.columns[column].probabilities.items():
            yield self._payment(float(p), result, dealer)

    def _payment(self, p: float, result: Result, dealer: int, stake: int = 1) -> Outcome:
        net, tied = self.states_of_play.settle(result, stake, dealer)
        return Outcome(p, START, float(net), float(tied)) if tied else Outcome(p, END, float(net))


def _name(result: Result) -> str:
    """The name of a finished hand, such as `stand 18` or `stand 19 for 2`."""
    if result.end != "stood":
        return result.end
    return f"stand {result.score}" + (f" for {result.bonus}" if result.bonus > 1 else "")


def _row_order(name: str) -> tuple[object, ...]:
    row, _, letters = name.partition(" ")
    return *row_order(row), letters


def game_mdp(rules: Rules) -> FiniteMDP:
    """Make the decision process of a game; the value of its start is the value of the game, in initial bets.

    Raises:
        RulesError: The shoe is finite.
    """
    return build_mdp(GameProcess(rules))

"""A game of blackjack in an infinite shoe as a finite decision process, as compact as its rules allow.

Every move and payment is asked of `bjsim.sim.game.states`. The states of the process:

    deal          one action; leads to the hand and the dealer's card, or ends at once
    hand v card   the decisions. Hands that are the same (see `same_hands`) are one state, so that the process
                  keeps the total, the usable ace, the dealer's card, and of "first two cards", "pair" and what bonuses
                  count only as much as these rules pay for
    stand v card  one action, the dealer's play. Scores that are paid alike whatever the dealer gets are one state, and
                  all hands and stakes that come to a score share it, so a learner sees it often
    half r v card half-hands of rank r that wait for their second card; see below

Stakes are weights (see `mdp`): a doubled hand leads to its `stand` state with weight 2. A tie that is replayed leads
back to `deal` with the tied stake as its weight, so that the value of `deal` solves V = net + tied * V, which is
net / (1 - tied): what the exact solver maximises, with no discount.

A split is two hands against one dealer. Expectations add, whatever the hands have in common, so k half-hands that can
make no new pair are one outcome of weight k. Where a pair is split again up to a limit, "this hand and the others" is
two outcomes of half the probability and weight 2 each: the same expectation. Pairs are split again whenever the rules
allow, as in the exact solver (`values`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.rules import Rules, RulesError
from bjsim.sim.game.states import DEALER_NATURAL, NOT_WAITING, SURRENDERED, HandState, Result, States
from bjsim.strategies.charts.rows import row_order
from bjsim.strategies.exact.values import Dealer, Policy
from bjsim.strategies.mdp.build import Outcome, build_mdp
from bjsim.strategies.mdp.equivalence import StateEquivalence
from bjsim.strategies.mdp.model import FiniteMDP, Ints

DEAL, PLAY_ON = "deal", "dealer plays"


class MDPState(NamedTuple):
    """A state of the process: its name, the dealer's column, and an example of the hands or results it stands for."""

    name: str
    column: str = ""
    hand: HandState | None = None
    may_split: bool = True
    result: Result | None = None
    waiting: int = 0
    hands: int = 0

    def __str__(self) -> str:
        return f"{self.name} v {self.column}" if self.column else self.name

    @property
    def decides(self) -> bool:
        """Whether a hand is played here, so that there is a choice."""
        return self.hand is not None and not self.waiting


START, END = MDPState("deal"), MDPState("end")


class GameProcess:
    """A game with an infinite shoe as something `build_mdp` can build. Raises: RulesError if the shoe is finite."""

    def __init__(self, rules: Rules) -> None:
        if not rules.infinite:
            raise RulesError(f"decks = {rules.decks:g} has too many states to learn; it takes decks = inf")
        self.rules = rules
        self.states_of_play = States(rules)
        self.dealer = Dealer(self.states_of_play)
        self.columns = self.dealer.columns()
        self.same = StateEquivalence(self.states_of_play)

    # --- the process

    def start(self) -> dict[MDPState, float]:
        return {START: 1.0}

    def terminal(self, state: MDPState) -> bool:
        return state == END

    def actions(self, state: MDPState) -> list[str]:
        if not state.decides:
            return [PLAY_ON if state.result else DEAL]
        return list(self.letters(state))

    def outcomes(self, state: MDPState, action: str) -> list[Outcome]:
        """What may follow; outcomes that lead to the same place for the same money are one."""
        merged: dict[tuple[MDPState, float, float], float] = defaultdict(float)
        for probability, place, reward, weight in self._outcomes(state, action):
            if probability:
                merged[place, float(reward), float(weight)] += float(probability)
        return [Outcome(p, *rest) for rest, p in merged.items()]

    def letters(self, state: MDPState) -> str:
        """The legal actions of a place where a hand is played."""
        assert state.hand is not None
        return self.same.legal(state.hand, state.may_split)

    @cached_property
    def decisions(self) -> dict[str, MDPState]:
        """Every place where a hand is played, by its name, in the order of charts."""
        places = {}
        for hand, may_split, name in sorted(self.same.kinds, key=lambda kind: _row_order(kind.name)):
            for column in self.columns:
                place = MDPState(name, column, hand, may_split)
                places[str(place)] = place
        return places

    def places_against(self, column: str) -> set[MDPState]:
        """Every place that play can reach when the dealer shows `column`; the deal and the end are left out."""
        found: set[MDPState] = set()
        todo = [START]
        while todo:
            state = todo.pop()
            for action in self.actions(state):
                after = {outcome.next_state for outcome in self.outcomes(state, action)}
                fresh = {place for place in after if place.column == column} - found
                found |= fresh
                todo += fresh
        return found

    def place(self, hand: HandState, column: str, may_split: bool = True) -> MDPState:
        """The state of the process that a hand to be played is in."""
        hand, may_split, name = self.same.kind(hand, may_split)
        return MDPState(name, column, hand, may_split)

    def policy(self, mdp: FiniteMDP, letter: Policy) -> Ints:
        """A strategy such as `Chart.letter` as rows of `mdp`, this game's process: int64 (S,), -1 where terminal.

        Hands that are one state here are played as the one that the state is named after.
        """
        rows = np.where(mdp.terminal, -1, mdp.action_start[:-1])
        for name, place in self.decisions.items():
            assert place.hand is not None
            if name in mdp.index:
                rows[mdp.index[name]] = mdp.row(name, letter(place.hand, place.column, self.letters(place)))
        return rows

    # --- what follows

    def _outcomes(self, state: MDPState, action: str) -> Iterator[Outcome]:
        if state == START:
            yield from self._deals()
        elif state.waiting:
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
            yield self._money(float(p) * float(ended), states.result(hand), DEALER_NATURAL)

    def _played(self, state: MDPState, action: str) -> Iterator[Outcome]:
        states, hand, column = self.states_of_play, state.hand, state.column
        assert hand is not None
        if action == "S":
            yield self._finished(1.0, states.result(hand), column)
        elif action == "R":
            yield self._finished(1.0, SURRENDERED, column)
        elif action == "P":
            yield Outcome(1.0, *self._halves(states.split(hand), 2, 2, column))
        else:
            for rank, p in states.ranks:
                after = states.add(hand, rank)
                if action == "H":
                    yield self._reached(float(p), after, column)
                else:
                    yield self._finished(float(p), states.result(after), column, stake=2)

    def _second_cards(self, state: MDPState) -> Iterator[Outcome]:
        """One of the half-hands gets its second card; the others wait."""
        states, half, column = self.states_of_play, state.hand, state.column
        assert half is not None
        for rank, p in states.ranks:
            hand = states.add(half, rank)
            if state.hands < self.rules.max_hands and "P" in states.legal(hand):
                yield Outcome(float(p), *self._halves(half, state.waiting + 1, state.hands + 1, column))
            elif state.waiting == 1:
                yield self._reached(float(p), hand, column, may_split=False)
            else:
                this = self._reached(float(p) / 2, hand, column, may_split=False)
                yield this._replace(reward=2 * this.reward, weight=2 * this.weight)
                others, reward, weight = self._halves(half, state.waiting - 1, state.hands, column)
                yield Outcome(float(p) / 2, others, 2 * reward, 2 * weight)

    def _halves(self, half: HandState, waiting: int, hands: int, column: str) -> tuple[MDPState, float, float]:
        """The place, reward 0 and weight of so many half-hands."""
        alike = 1
        if hands >= self.rules.max_hands:
            alike, waiting = waiting, 1
        elif self.rules.max_hands == math.inf:
            alike, waiting, hands = waiting, 1, 1
        half = half._replace(rank=min(half.rank, 9))
        name = f"half {RANKS[half.rank]}" + ("" if waiting == 1 == hands else f", {waiting} of {hands} hands")
        return MDPState(name, column, half, waiting=waiting, hands=hands), 0.0, float(alike)

    # --- the end of a hand

    def _reached(self, p: float, hand: HandState, column: str, may_split: bool = True) -> Outcome:
        if self.same.legal(hand, may_split):
            return Outcome(p, self.place(hand, column, may_split))
        return self._finished(p, self.states_of_play.result(hand), column)

    def _finished(self, p: float, result: Result, column: str, stake: int = 1) -> Outcome:
        if self.states_of_play.waits(result) == NOT_WAITING:
            return self._money(p, result, 0, stake)
        result = self.same.results[self.same.payments(result)]
        return Outcome(p, MDPState(_name(result), column, result=result), 0.0, float(stake))

    def _settled(self, result: Result, column: str) -> Iterator[Outcome]:
        for dealer, p in self.columns[column].probabilities.items():
            yield self._money(float(p), result, dealer)

    def _money(self, p: float, result: Result, dealer: int, stake: int = 1) -> Outcome:
        net, tied = self.states_of_play.settle(result, stake, dealer)
        return Outcome(p, START, float(net), float(tied)) if tied else Outcome(p, END, float(net))


def _name(result: Result) -> str:
    """A finished hand in words, such as `stand 18` or `stand 19 for 2`."""
    if result.end != "stood":
        return result.end
    return f"stand {result.score}" + (f" for {result.bonus}" if result.bonus > 1 else "")


def _row_order(name: str) -> tuple[object, ...]:
    row, _, letters = name.partition(" ")
    return *row_order(row), letters


def game_mdp(rules: Rules) -> FiniteMDP:
    """The game `rules` as a decision process; the value of its start is the value of the game, in initial bets.

    Raises: RulesError if the shoe is finite; MDPError if the value is infinite.
    """
    return build_mdp(GameProcess(rules))

"""A game of blackjack in an infinite shoe as a finite decision process, as compact as its rules allow.

All moves and payments come from `bjsim.sim.game.automaton`. The states of the process:

    deal           one action; leads to the hand and the dealer's card, or to the end
    attack v card  if bets may be doubled before the deal; leads to the hand, with a weight of 2 after an attack
    insurance v A  against an ace, if the rules offer it; leads to the hand, which says nothing about the hole card
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
rules allow. Only where split hands are not alike is that a choice, in a state such as `again split T, 2 of 2 hands`.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Ints
from bjsim.errors import InputError
from bjsim.sim.game.actions import ATTACK, INSURANCE
from bjsim.sim.game.automaton import Automaton, Decision, Draw, Ended, Finished, Node, PendingHands
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.hand_states import (
    DEALER_NATURAL,
    INSURED,
    NOT_WAITING,
    ORIGINAL_BET,
    SURRENDERED,
    WHOLE,
    HandState,
    Result,
)
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.support import need
from bjsim.strategies.charts.chart import row_order
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Column, Dealer, Policy
from bjsim.strategies.mdp.model import FiniteMDP, Outcome, build_mdp
from bjsim.sums import add_up

# --- State equivalence: a decision process needs one state for all hands with the same choices and the same future.
#
# Two hands are equivalent if the same actions are legal, they are paid the same when they stand, and every next card
# makes them equivalent hands. As the total of a hand only grows, one recursive pass finds the classes.


class StateClass(NamedTuple):
    """A class of equivalent hands with a choice, by a representative `node`.

    `name` is the hand's row in charts, followed by the legal actions if several classes have that row, and by
    whether it was split, or its cards, if several have both.
    """

    node: Decision
    name: str


class StateEquivalence:
    """The classes of equivalent hands and results of a game."""

    def __init__(self, states: Automaton) -> None:
        self.states = states
        self.payments = cache(self._payments)
        self._number = cache(self._find_number)
        self._numbers: dict[Hashable, int] = {}

    def find_class(self, node: Decision) -> StateClass:
        """The class of a hand with a choice. Pending hands that depend on how it ends divide it further."""
        alone = self._by_number[self._number(node._replace(state=node.state._replace(rest=())))]
        if not node.state.rest:
            return alone
        name, rest, _ = self.find_pending(*node.state.rest)
        state = alone.node.state._replace(rest=(rest,))
        return StateClass(alone.node._replace(state=state), f"{alone.name}, then {name}")

    def find_pending(self, node: PendingHands) -> tuple[str, PendingHands, int]:
        """The name of pending hands, those that represent them, and how many times: all ten-valued pairs are one.

        Hands that cannot become new pairs, or have no limit, are one times their number, unless they depend on each
        other, or the first has the seat's own bet.
        """
        split_hand, count, hands = node
        times = 1
        if self.states.is_endless(split_hand):
            times, count, hands = count, 1, 1
        elif hands >= self.states.hand_limit(split_hand) and self.states.covered(split_hand) == split_hand:
            times, count = count, 1
        ten = min(rank for rank, _ in self.states.ranks if rank >= TEN)  # a Spanish deck has no rank of tens
        split_hand = split_hand._replace(rank=min(split_hand.rank, ten))
        number = "" if count == 1 == hands else f", {count} of {hands} hands"
        covered = ", covered" if split_hand.covered else ", free" if split_hand.risk == 0 else ""
        name = f"split {RANKS[split_hand.rank]}{number}{covered}"
        return name, PendingHands(split_hand, count, hands), times

    @property
    def classes(self) -> list[StateClass]:
        """All classes, in no particular order."""
        return list(self._by_number.values())

    @cached_property
    def results(self) -> dict[Hashable, Result]:
        """For each distinct payment (see `payments`), the finished hand with the greatest score that has it."""
        finished = {self.states.result(hand) for hand in self.states.reachable()}
        finished |= {self.states.doubled(result) for result in finished}
        return {self.payments(result): result for result in sorted(finished, key=lambda result: result.score)}

    def _payments(self, result: Result) -> tuple[float, ...]:
        states = self.states
        return tuple(float(x) for dealer in states.dealer_outcomes for x in states.settle(result, 1, dealer))

    def _find_number(self, node: Decision) -> int:
        return self._numbers.setdefault(self._future(node), len(self._numbers))

    def _future(self, node: Decision) -> Hashable:
        states, hand, letters = self.states, node.state, node.legal(self.states)
        ends = self.payments(states.result(hand)), states.waits(states.result(hand)), hand.doubled
        if not letters:
            return ends
        parts: list[Hashable] = [letters, ends]
        if "H" in letters or "D" in letters:
            hits = states.after(hand) if "H" in letters or not states.plays_doubled else ()
            parts.append(tuple(self._number(Decision(after)) for after in hits))
            doubled = states.after(states.bare(states.doubling(hand))) if "D" in letters else ()
            parts.append(tuple(self.payments(states.doubled(states.result(after))) for after in doubled))
            parts.append(tuple(self._number(Decision(after)) for after in doubled if states.plays_doubled))
        if "P" in letters:
            parts.append(tuple(self._number(Decision(after, False)) for after in states.after(states.split(hand))))
        return tuple(parts)

    @cached_property
    def _by_number(self) -> dict[int, StateClass]:
        members: dict[int, Decision] = {}
        for node in (Decision(hand, may_split) for hand in self.states.reachable() for may_split in (True, False)):
            if node.legal(self.states):
                members.setdefault(self._number(node), node)
        names = [
            (self.states.rows_of(*node)[0], node.legal(self.states), self._kind(node.state))
            for node in members.values()
        ]
        rows, with_letters = Counter(row for row, _, _ in names), Counter(name[:2] for name in names)
        classes = {}
        for (number, node), (row, letters, kind) in zip(members.items(), names, strict=True):
            cards = "".join(RANKS[rank] for rank in node.state.meld) or f"{node.state.cards} cards"
            cards = cards if names.count((row, letters, kind)) > 1 else ""
            why = ", ".join(filter(None, (letters, kind, cards) if with_letters[row, letters] > 1 else (letters,)))
            classes[number] = StateClass(node, row if rows[row] == 1 else f"{row} ({why})")
        return classes

    def _kind(self, hand: HandState) -> str:
        kinds = ["covered" if hand.covered else "split" if hand.split != WHOLE else "", "free" * (hand.risk == 0)]
        kinds.append("free to double" if self.states.doubles_free(hand) else "")
        return ", ".join(filter(None, kinds))


DEAL, PLAY_ON, ATTACKS, AGAIN = "deal", "dealer plays", "attack", "again "
RESPLIT, KEEP = "split again", "keep"


class MDPState(NamedTuple):
    """A state of the process; `name` is without the dealer's column.

    `column` is empty and `node` None for the deal and the end; else `node` is the node of the automaton, with a
    representative of its hands or results.
    """

    name: str
    column: str = ""
    node: Node | None = None

    def __str__(self) -> str:
        return f"{self.name} v {self.column}" if self.column else self.name

    @property
    def decides(self) -> bool:
        return isinstance(self.node, Decision)


START, END, INSURE = MDPState("deal"), MDPState("end"), MDPState("insurance", "A")


class GameProcess:
    """A game with an infinite shoe as a `Process` for `build_mdp`."""

    def __init__(self, rules: Rules) -> None:
        need(rules, "learn")
        self.rules = rules
        self.automaton = Automaton(rules)
        self.cases = Dealer(self.automaton).cases()
        self.columns = {case.label: case for case in self.cases if case.label}
        self.equivalence = StateEquivalence(self.automaton)

    # --- the process

    def start(self) -> dict[MDPState, float]:
        if self.rules.most_hands == math.inf and (reason := Solver(self.rules).infinite_because):
            raise InputError(f"{self.rules.name}: {reason}")
        return {START: 1.0}

    def terminal(self, state: MDPState) -> bool:
        return state == END

    def actions(self, state: MDPState) -> list[str]:
        if state == INSURE:
            return ["S", "I"]
        if state.name == ATTACKS:
            return ["S", "A"]
        if state.name.startswith(AGAIN):
            return [RESPLIT, KEEP]
        if not state.decides:
            return [PLAY_ON if isinstance(state.node, Finished) else DEAL]
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
        assert isinstance(state.node, Decision)
        return state.node.legal(self.automaton.against(state.column))

    @cached_property
    def decisions(self) -> dict[str, MDPState]:
        """Every state with a decision, by its name, in the order of charts."""
        names = [MDPState(name, "", node) for node, name in self.equivalence.classes]
        if self.automaton.one_and_busted:
            known = {state.name for state in names}
            names += [each for each in self.states_against("A") if each.decides and each.name not in known]
        names.sort(key=lambda state: _row_order(state.name))
        states = (state._replace(column=column) for state in names for column in self.columns)
        return {str(state): state for state in states}

    def states_against(self, column: str) -> set[MDPState]:
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

    def policy(self, mdp: FiniteMDP, policy: Policy) -> Ints:
        """Translate a strategy into rows of the process that `build_mdp` makes of this game.

        Rows are int64 (S,), -1 where terminal. Equivalent hands are played as the representative of their class, and
        every pair is split again.
        """
        rows = np.where(mdp.terminal, -1, mdp.action_start[:-1])
        if str(INSURE) in mdp.index:
            rows[mdp.index[str(INSURE)]] = mdp.row(str(INSURE), policy(HandState(), "A", INSURANCE))
        for column in self.columns:
            if (name := str(MDPState(ATTACKS, column))) in mdp.index:
                rows[mdp.index[name]] = mdp.row(name, policy(HandState(), column, ATTACK))
        for name, state in self.decisions.items():
            assert isinstance(state.node, Decision)
            if name in mdp.index:
                rows[mdp.index[name]] = mdp.row(name, policy(state.node.state, state.column, self.legal(state)))
        return rows

    # --- outcomes

    def _outcomes(self, state: MDPState, action: str) -> Iterator[Outcome]:
        node, column = state.node, state.column
        if state == START and self.rules.attack:
            for case in self.columns.values():
                yield Outcome(self._cases_of(case.upcard)[1], MDPState(ATTACKS, case.upcard))
        elif state == START:
            yield from self._offered(self.cases)
        elif state.name == ATTACKS:
            bets: float = 1 + (action == "A")
            cases, offered = self._cases_of(column)
            for share, after, reward, weight in self._offered(cases):
                yield Outcome(share / offered, after, bets * reward, bets * weight)
        elif state == INSURE:
            yield from self._insured(action)
        elif isinstance(node, Finished):
            yield from self._settled(node.result, column)
        elif isinstance(node, PendingHands) and (kept := self.automaton.not_split_again(node)):
            (again, pair), (share, other) = self.automaton.branches(node, float)
            if not state.name.startswith(AGAIN):
                yield Outcome(again, state._replace(name=AGAIN + state.name))
                yield from self._drawn(share, other, column)
            elif action == RESPLIT:
                yield from self._reached(1.0, pair, column)
            else:
                yield from self._drawn(1.0, kept, column)
        elif node is not None:
            move = self.automaton.move(node.state, action) if isinstance(node, Decision) else node
            if isinstance(node, PendingHands) or isinstance(move, Draw):
                for rank, chance in self.automaton.ranks:
                    yield from self._reached(float(chance), self.automaton.follow(move, rank), column)
            else:
                lost = self._natural(column) if isinstance(move, PendingHands) and self.automaton.original_only else 0.0
                for one in self._reached(1.0, (move,), column):
                    yield one._replace(reward=one.reward - lost)

    def _drawn(self, p: float, nodes: tuple[Node, ...], column: str) -> Iterator[Outcome]:
        """The outcomes of a draw to the first of some nodes."""
        draw, *rest = nodes
        assert isinstance(draw, Draw)
        for share, after in self.automaton.branches(draw, float):
            yield from self._reached(p * share, (*after, *rest), column)

    def _natural(self, column: str) -> float:
        return float(self.columns[column].probabilities.get(DEALER_NATURAL, 0))

    def _cases_of(self, upcard: str) -> tuple[list[Column], float]:
        cases = [case for case in self.cases if case.upcard == upcard]
        return cases, add_up(float(case.probability) for case in cases)

    def _offered(self, cases: list[Column]) -> Iterator[Outcome]:
        """The deal in these cases, after the offer of insurance where there is one."""
        if plain := [case for case in cases if not case.insurable]:
            yield from self._dealt(plain)
        if offered := add_up(float(case.probability) for case in cases if case.insurable):
            yield Outcome(offered, INSURE)

    def _dealt(self, cases: list[Column]) -> Iterator[Outcome]:
        for deals in zip(*(self.automaton.branches(case.start, float) for case in cases), strict=True):
            for case, (p, nodes) in zip(cases, deals, strict=True):
                yield from self._reached(p * float(case.probability), nodes, case.label)

    def _insured(self, action: str) -> Iterator[Outcome]:
        cases = [case for case in self.cases if case.insurable]
        offered = add_up(float(case.probability) for case in cases)
        for case in cases:
            for outcome, p in case.probabilities.items() if action == "I" else [(None, 1.0)]:
                profit = 0.0 if outcome is None else float(self.automaton.settle(INSURED, 1, outcome)[0])
                for dealt in self._dealt([case]):
                    chance = dealt.probability * float(p) / offered
                    yield dealt._replace(probability=chance, reward=dealt.reward + profit)

    def _reached(self, p: float, nodes: tuple[Node, ...], column: str) -> Iterator[Outcome]:
        nodes = tuple(node for node in nodes if node != Finished(ORIGINAL_BET))  # paid with the split
        nodes = tuple(each for node in nodes for each in (node if isinstance(node, Ended) else (node,)))
        if len(nodes) == 1:
            yield self._node_reached(p, nodes[0], column)
            return
        for node in nodes:
            one = self._node_reached(p / len(nodes), node, column)
            yield Outcome(one.probability, one.next_state, len(nodes) * one.reward, len(nodes) * one.weight)

    def _node_reached(self, p: float, node: Node, column: str) -> Outcome:
        if isinstance(node, Decision):
            representative, name = self.equivalence.find_class(node)
            return Outcome(p, MDPState(name, column, representative))
        if isinstance(node, PendingHands):
            name, alike, times = self.equivalence.find_pending(node)
            return Outcome(p, MDPState(name, column, alike), 0.0, float(times))
        assert isinstance(node, Finished)
        if not column:
            return self._payment(p, node.result, DEALER_NATURAL)
        if self.automaton.waits(node.result) == NOT_WAITING:
            saved = float(self.columns[column].natural_odds) / 2 if node.result == SURRENDERED else 0.0
            return self._payment(p, node.result, 0, node.stake, saved)
        result = self.equivalence.results[self.equivalence.payments(node.result)]
        profits = (self.automaton.settle(*each, DEALER_NATURAL)[0] for each in (node, Finished(result)))
        alone, weighted = map(float, profits)  # a natural may take less than all of the stake
        returned = self._natural(column) * (alone - node.stake * weighted)
        return Outcome(p, MDPState(_name(result), column, Finished(result)), returned, float(node.stake))

    # --- the end of a hand

    def _settled(self, result: Result, column: str) -> Iterator[Outcome]:
        for dealer, p in self.columns[column].probabilities.items():
            yield self._payment(float(p), result, dealer)

    def _payment(self, p: float, result: Result, dealer: int, stake: int = 1, saved: float = 0.0) -> Outcome:
        """The payment of a hand; `saved` is what an early surrender saves in rounds that a natural has ended."""
        net, tied = self.automaton.settle(result, stake, dealer)
        return Outcome(p, START, float(net), float(tied)) if tied else Outcome(p, END, float(net) + saved)


def _name(result: Result) -> str:
    """The name of a finished hand, such as `stand 18` or `stand 19 for 2`."""
    split = ", split" * result.split
    if result.end != "stood":
        return result.end + split
    free = f", {result.risk} at risk" if result.risk != 1 else ""
    return f"stand {result.score}" + (f" for {result.bonus}" if result.bonus > 1 else "") + split + free


def _row_order(name: str) -> tuple[object, ...]:
    row, _, letters = name.partition(" ")
    return *row_order(row), letters


def game_mdp(rules: Rules) -> FiniteMDP:
    """Make the process of a game with an infinite shoe; its start has the game's value, in initial bets."""
    return build_mdp(GameProcess(rules))


# --- How many states a game needs, and why: "how much larger must your representation be?" ([Neller]).
#
# The states are those of the game's decision process (`game_mdp`), in which equivalent hands are one state
# (`StateEquivalence`). As the process is the same against every card of the dealer, the states against one card are
# counted.


# Rules that make a game larger: the value of the field at which they do not, and what must be remembered otherwise.
REASONS: tuple[tuple[dict[str, str | bool], str], ...] = (
    ({"dealer_shows": "up"}, "both of the dealer's cards, which are shown"),
    (
        {
            "surrender": "none",
            "surrender_after_split": False,
            "surrender_cards": "two",
            "surrender_after_double": False,
        },
        "which hands may surrender",
    ),
    ({"double_on": "never", "free_doubles": "none"}, "which hands may double, and for whose bet"),
    (
        {"split_by": "never", "free_splits": "none"},
        "the rank of a pair that may be split, and whether a hand comes from a split",
    ),
    ({"bonuses": "none"}, "the number of cards, or the cards so far, where they may win a bonus"),
    ({"charlie": "none"}, "the number of cards, as enough of them win at once"),
    ({"no_hole_loses": "all"}, "whether a hand comes from a split, as a dealer's natural takes one bet of all"),
    ({"insurance": False}, "whether insurance is offered"),
    ({"attack": False}, "whether the bet may be doubled before the deal"),
)


@dataclass(frozen=True)
class Size:
    """The size of a game as a decision process; counts other than `columns` are against one dealer column."""

    columns: int  # what the dealer may show
    hands: int  # states with a decision
    results: int  # finished hands, before the dealer plays
    split_hands: int  # split hands that need their second card
    unmerged_hands: int  # hands with a decision that the exact solver distinguishes, which is more than necessary
    offers: int = 0  # decisions before the deal, and on insurance

    @property
    def decisions(self) -> int:
        return self.hands * self.columns

    @property
    def states(self) -> int:
        """All states, including the deal and the end."""
        return (self.hands + self.results + self.split_hands) * self.columns + self.offers + 2

    def to_json(self) -> dict[str, int]:
        return {"states": self.states, "decisions": self.decisions, **asdict(self)}


@dataclass(frozen=True)
class Reason:
    """A feature that the states of a game must remember, and the size of the game if it did not matter."""

    why: str
    without: Size


def measure_size(rules: Rules) -> Size:
    """The number of states of the game, in an infinite shoe."""
    process = GameProcess(rules.replace(decks="inf"))
    automaton = process.automaton
    against_one = process.states_against(next(iter(process.columns)))
    return Size(
        columns=len(process.columns),
        hands=sum(state.decides for state in against_one),
        results=sum(isinstance(state.node, Finished) for state in against_one),
        split_hands=sum(isinstance(state.node, PendingHands) for state in against_one),
        unmerged_hands=sum(bool(automaton.legal(hand)) for hand in automaton.reachable()),
        offers=len(process.columns) * rules.attack + rules.insurance,
    )


def find_reasons(rules: Rules) -> list[Reason]:
    """The features that the game must remember besides the total of a hand and the dealer's open card."""
    reasons = []
    for plain, why in REASONS:
        without = rules.replace(**plain)
        if without != rules:
            reasons.append(Reason(why, measure_size(without)))
    return reasons


def plain_size(rules: Rules) -> Size:
    """The size of the game without these features: hit or stand against one open card."""
    return measure_size(rules.replace(**{name: value for plain, _ in REASONS for name, value in plain.items()}))

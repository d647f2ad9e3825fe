"""What the rules make of each node: a kind of situation, with its legal actions, its row in a chart and its result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.sim.game.cards import TEN
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import DEALER_NATURAL, SPLIT_ACES, SPLIT_HAND, DealerState, HandState, Result, States
from bjsim.strategies.charts.rows import row_order
from bjsim.strategies.shoe.composition import VALUES, Composition
from bjsim.strategies.shoe.dealer import DealerPlay, Start, dealer_play
from bjsim.strategies.shoe.hands import Hands, Layout, all_hands, keys_of, layout
from bjsim.strategies.shoe.kernel import DOUBLE, HIT, SPLIT, STAND, SURRENDER
from bjsim.strategies.shoe.splits import most_gone

LETTERS = {"S": STAND, "H": HIT, "D": DOUBLE, "R": SURRENDER, "P": SPLIT}
ACTIONS = len(LETTERS)
MOST_HANDS = 16  # that endless splits are followed to; more come less than once in 10 million splits, tens apart


class Kind(NamedTuple):
    """A kind of situation: hands that the rules treat alike and a chart looks up alike.

    legal: letters of the actions, empty for a hand that stands by itself. row: the chart row it is looked up in.
    fixed: it is played as a pair of aces that may no longer be split, whose row says to split it.
    """

    state: HandState
    legal: str
    row: str
    fixed: bool = False

    def act(self, code: str) -> int:
        """What a chart's code means here, as `Chart.letter` has it."""
        if not self.legal:
            return STAND
        if self.fixed:
            code = "P"
        if code[0] in self.legal:
            return LETTERS[code[0]]
        if "H" not in self.legal:
            return STAND
        return LETTERS[code[1].upper()] if len(code) > 1 else HIT


@dataclass(frozen=True)
class Options:
    """The codes that a chart's rows may have. names: (row, code), row by row. kinds, acts: what each plays, where."""

    names: list[tuple[str, str]]
    kinds: list[NDArray[np.int64]]
    acts: list[NDArray[np.int8]]

    @cached_property
    def rows(self) -> dict[str, range]:
        """Indices of the options of each row."""
        rows: dict[str, range] = {}
        for place, (row, _) in enumerate(self.names):
            rows[row] = range(rows[row].start if row in rows else place, place + 1)
        return rows

    @cached_property
    def _flat(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        first = np.cumsum([0, *map(len, self.kinds)])[:-1]
        return np.concatenate(self.kinds) * ACTIONS + np.concatenate(self.acts), first

    def ev(self, by_action: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each option brings in. by_action: worth by kind and action, (kinds, ACTIONS)."""
        flat, first = self._flat
        total: NDArray[np.float64] = np.add.reduceat(by_action.ravel()[flat], first)
        return total


@dataclass(frozen=True)
class Game:
    """The rules over multisets of cards. Decks, cut and raises do not matter here."""

    rules: Rules

    @cached_property
    def states(self) -> States:
        return States(self.rules)

    @cached_property
    def dealer(self) -> DealerPlay:
        return dealer_play(self.rules)

    @cached_property
    def columns(self) -> list[str]:
        """The chart column of each start."""
        labels = []
        for start in self.dealer.starts:
            state = DealerState()
            for value in start:
                state = self.states.dealer_add(state, value)
            both = self.rules.dealer_shows == "both"
            labels.append(self.states.dealer_code(state) if both else "A23456789T"[start[0]])
        return labels

    def ended(self, start: Start) -> bool:
        """Whether these two dealer's cards end the round before anybody acts."""
        return self.rules.peek and start == (0, TEN)

    def ends(self, start: Start) -> int:
        """The value of the hole card that would end the round, or -1."""
        if not self.rules.peek or len(start) == 2:
            return -1
        return {0: TEN, TEN: 0}.get(start[0], -1)

    # --- nodes

    def limit(self, value: int, composition: Composition) -> int:
        """Hands that a seat may come to hold by splitting a pair of this value; below 2 for none."""
        if self.rules.split_by == "never":
            return 0
        by_rank = self.rules.split_by == "rank" and value == TEN
        cards = max(composition.ranks[TEN:]) if by_rank else int(composition.values[value])
        limit = 2 if value == 0 and not self.rules.resplit_aces else self.rules.max_hands
        if limit == math.inf:
            limit = MOST_HANDS
        return int(min(limit, max(cards, 0)))

    def follows_all(self, value: int, composition: Composition) -> bool:
        """Whether every number of hands that matters is followed; endless splits of many tens go beyond."""
        many = value == TEN and int(composition.values[value]) > MOST_HANDS
        return not (many and self.rules.max_hands == math.inf and self.rules.split_by == "value")

    def nodes(self, composition: Composition) -> Layout:
        """The nodes that play from this shoe can come to."""
        most = []
        for value in range(VALUES):
            limit, pairs = self.limit(value, composition), int(composition.values[value]) - 2
            most.append(-1 if limit < 2 else most_gone(pairs, composition.cards - 3, limit))
        return layout(tuple(most), self.rules.hit_split_aces)

    @cached_property
    def _found(self) -> tuple[list[Kind], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Kinds; then those of hands as dealt (H,), of split hands of two cards (10, 10), of pairs as dealt (10,)."""
        hands, states = all_hands(), self.states
        kinds: dict[Kind, int] = {}

        def number(state: HandState, may_split: bool = False, fixed: bool = False) -> int:
            state = state if may_split else state._replace(rank=-1)
            kind = Kind(state, states.legal(state), states.rows_of(state, may_split)[0], fixed)
            return kinds.setdefault(kind, len(kinds))

        def drawn(state: HandState, values: list[int]) -> HandState:
            for value in values:
                state = states.add(state, value)
            return state

        dealt = [number(drawn(HandState(), np.repeat(range(VALUES), counts).tolist())) for counts in hands.counts]
        halves = np.zeros((VALUES, VALUES), np.int64)
        for pair in range(VALUES if self.rules.split_by != "never" else 0):
            half = drawn(HandState(), [pair])._replace(split=SPLIT_HAND if pair else SPLIT_ACES)
            for second in range(VALUES):
                halves[pair, second] = number(drawn(half, [second]), fixed=pair == second == 0)
        pairs = [number(drawn(HandState(), [pair, pair]), may_split=True) for pair in range(VALUES)]
        return list(kinds), np.array(dealt), halves, np.array(pairs)

    @property
    def kinds(self) -> list[Kind]:
        """Every kind of situation."""
        return self._found[0]

    @property
    def kind_of_hand(self) -> NDArray[np.int64]:
        """The kind of every hand as dealt, shape (H,)."""
        return self._found[1]

    def kind_of(self, values: list[int], split: bool) -> int:
        """The kind of one hand. values: of its cards; of a split hand the pair's own first."""
        if split and len(values) == 2:
            return int(self._found[2][values[0], values[1]])
        counts = np.bincount(values, minlength=VALUES).astype(np.int64)
        return int(self._found[1][np.flatnonzero(self.hands.key == keys_of(counts))[0]])

    def kinds_of(self, nodes: Layout) -> NDArray[np.int64]:
        """The kind of each node, shape (N,)."""
        _, dealt, halves, pairs = self._found
        kind = dealt[nodes.hand]
        for value, tree in enumerate(nodes.trees):
            if tree is not None:
                for gone in range(len(tree.starts)):
                    kind[tree.second(gone)] = halves[value]
        kind[nodes.pairs :] = pairs
        return kind

    @cached_property
    def legal(self) -> NDArray[np.int64]:
        """Bits 1 << action of what is legal, by kind; 0 for a hand that stands by itself."""
        return np.array([sum(1 << LETTERS[letter] for letter in kind.legal) for kind in self.kinds])

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The rows of a chart for this game, in order."""
        return tuple(sorted({kind.row for kind in self.kinds if kind.legal}, key=row_order))

    @cached_property
    def options(self) -> Options:
        """Every code that makes a difference in a row of a chart."""
        names: list[tuple[str, str]] = []
        members: list[NDArray[np.int64]] = []
        acts: list[NDArray[np.int8]] = []
        for row in self.rows:
            kinds = [n for n, kind in enumerate(self.kinds) if kind.row == row and kind.legal and not kind.fixed]
            letters = {letter for number in kinds for letter in self.kinds[number].legal}
            codes = [letter for letter in "SHP" if letter in letters]
            for code in codes + [letter + other for letter in "DR" if letter in letters for other in "hs"]:
                names.append((row, code))
                members.append(np.array(kinds))
                acts.append(np.array([self.kinds[number].act(code) for number in kinds], np.int8))
        return Options(names, members, acts)

    # --- money

    @cached_property
    def results(self) -> list[Result]:
        """What the hand of each kind amounts to when it stands."""
        return [self.states.result(kind.state) for kind in self.kinds]

    def paid(self, result: Result, outcome: int, tie_value: float) -> float:
        """Profit of one initial bet, a tied one being worth `tie_value`."""
        net, tied = self.states.settle(result, 1, outcome)
        return float(net) + tied * tie_value

    def pay(self, tie_value: float) -> NDArray[np.float64]:
        """Profit by kind and outcome; 0 where a dealer's natural has ended the round."""
        outcomes = self.dealer.outcomes
        table: dict[Result, list[float]] = {}
        for result in set(self.results):
            table[result] = [
                0.0 if self.rules.peek and outcome == DEALER_NATURAL else self.paid(result, outcome, tie_value)
                for outcome in outcomes
            ]
        return np.array([table[result] for result in self.results])

    def against_natural(self, tie_value: float) -> NDArray[np.float64]:
        """Profit by kind where a dealer's natural has ended the round."""
        return np.array([self.paid(result, DEALER_NATURAL, tie_value) for result in self.results])

    @property
    def hands(self) -> Hands:
        return all_hands()


@lru_cache(maxsize=16)
def _game(rules: Rules) -> Game:
    return Game(rules)


def game_of(rules: Rules) -> Game:
    """The game of these rules; one object for all numbers of decks."""
    return _game(rules.replace(decks=1, cut=1, raises=False))

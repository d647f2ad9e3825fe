"""The rules applied to each node: its kind, with the legal actions, the chart row and the result."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Acts, Floats, Ints
from bjsim.sim.game.actions import CODES, ENDINGS
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.dealer import Course, course
from bjsim.sim.game.hand_states import DEALER_NATURAL, HandState, Result
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.sim.game.support import need
from bjsim.strategies.charts.chart import ACTIONS as PREFERRED
from bjsim.strategies.charts.chart import ELSE, row_order
from bjsim.strategies.shoe.dealer import DealerPlay, Start, dealer_play
from bjsim.strategies.shoe.hands import VALUES, Composition, Hands, Layout, all_hands, layout
from bjsim.strategies.shoe.passes import STAND, Nodes, Shown
from bjsim.strategies.shoe.splits import most_gone

# --- Kinds of hands: what the rules make of them, and the codes that a chart may have for them.


ACTIONS = max(CODES.values()) + 1  # length of arrays by code of the action; 0 is not used


class Kind(NamedTuple):
    """A class of hands with the same legal actions, the same chart row and the same result.

    legal: letters of the legal actions; empty if the hand stands automatically. row: its row in a chart.
    fixed: a pair of aces that may not be split again, without a row; it is played as if its row had the code P.
    risk, risk_doubled: the share of its bets that it can lose, and once it has doubled.
    """

    state: HandState
    legal: str
    row: str
    fixed: bool = False
    risk: float = 1.0
    risk_doubled: float = 1.0

    @property
    def bets(self) -> int:
        """The bets on the hand, which doubles with each double."""
        return int(2**self.state.doubled)

    def act(self, code: str) -> int:
        """Return the action that a chart's code means for this kind."""
        return next((CODES[letter] for letter in PREFERRED["P" if self.fixed else code] if letter in self.legal), STAND)


KindTables = tuple[list[Kind], Ints, Ints, Ints]


@dataclass(frozen=True)
class Options:
    """The possible codes of a chart's rows.

    names: (row, code), row by row. kinds, acts: the kinds that each code covers, and its action for each of them.
    """

    names: list[tuple[str, str]]
    kinds: list[Ints]
    acts: list[Acts]

    @cached_property
    def rows(self) -> dict[str, range]:
        rows: dict[str, range] = {}
        for index, (row, _) in enumerate(self.names):
            rows[row] = range(rows[row].start if row in rows else index, index + 1)
        return rows

    @cached_property
    def _flat(self) -> tuple[Ints, Ints]:
        first = np.cumsum([0, *map(len, self.kinds)])[:-1]
        return np.concatenate(self.kinds) * ACTIONS + np.concatenate(self.acts), first

    def ev(self, by_action: Floats) -> Floats:
        """Return the value of each option. by_action: value by kind and action, shape (kinds, ACTIONS)."""
        flat, first = self._flat
        total: Floats = np.add.reduceat(by_action.ravel()[flat], first)
        return total


# --- Games without a peek where a dealer's natural takes one bet, however the seat plays.
#
# In a finite shoe they are solved as games with a peek: the natural costs the same, and all other rounds are alike.


def as_peeked(rules: Rules) -> Rules:
    """Return the rules with a peek that have the same values; `rules` if a natural takes more than the original bet.

    Late surrender, which saves half a bet from a natural, is early surrender with a peek.
    """
    if rules.no_hole_loses != "original":
        return rules
    surrender = "none" if rules.surrender == "none" else "early"
    return rules.replace(no_hole_loses="all", peek=True, deal="pdpd", surrender=surrender)


MAX_HANDS = 16  # followed where splits have no limit; a rank of whole decks makes more once in 10 million splits
MANY = 1 / 6  # of the shoe: a rank with a larger share, and more than `MAX_HANDS` cards, makes more hands too often


@dataclass(frozen=True, eq=False)
class Game:
    """The rules over multisets of cards; decks, cut and raises are ignored. Each is equal to itself only."""

    rules: Rules

    @cached_property
    def states(self) -> States:
        return States(self.rules)

    @cached_property
    def dealer(self) -> DealerPlay:
        return dealer_play(self.rules)

    @cached_property
    def columns(self) -> list[str]:
        """The chart column of each start, empty where it ends the round."""
        return [self.states.column("".join(RANKS[value] for value in start)) for start in self.dealer.starts]

    def course(self, start: Start) -> Course:
        return course(self.rules, start[0])

    def ended(self, start: Start) -> bool:
        """Return whether these two dealer cards end the round before any player acts."""
        return len(start) == 2 and self.course(start).ends(start[1])

    def ends(self, start: Start) -> int:
        """Return the value of the hole card that would end the round, or -1."""
        against = self.course(start)
        return against.natural if against.looks and len(start) == 1 else -1

    # --- nodes

    def limit(self, value: int, composition: Composition) -> int:
        """Return the maximum number of hands from splitting a pair of this value; below 2 if it cannot be split."""
        if self.rules.split_by == "never":
            return 0
        limit, cards = self._allowed(value, composition)
        return int(min(limit, MAX_HANDS, max(cards, 0)))

    def _allowed(self, value: int, composition: Composition) -> tuple[float, float]:
        """Return the hands that the rules allow from splitting a pair of this value, and the cards that can pair."""
        by_rank = self.rules.split_by == "rank" and value == TEN
        cards = max(composition.ranks[TEN:]) if by_rank else float(composition.values[value])
        again = value > 0 or self.rules.resplit_aces
        return self.rules.hand_limit(aces=value == 0) if again else 2, cards

    def follows_all(self, value: int, composition: Composition) -> bool:
        """Return whether `MAX_HANDS` is enough; unlimited splits of many cards, such as tens, may need more."""
        limit, cards = self._allowed(value, composition)
        return limit < math.inf or cards <= max(MAX_HANDS, MANY * composition.cards)

    def nodes(self, composition: Composition, pair: int | None = None) -> Layout:
        """Return the nodes in a shoe; `pair` is the only value of which a pair may be split, None if all may."""
        most = []
        for value in range(VALUES):
            limit, pairs = self.limit(value, composition), int(composition.values[value]) - 2
            split = limit > 1 and pair in (None, value)
            most.append(most_gone(pairs, composition.cards - 3, limit) if split else -1)
        if self.rules.free_splits != "none":
            most += [gone if self.rules.splits_free(value) else -1 for value, gone in enumerate(most)]
        return layout(tuple(most), self.rules.hit_split_aces, self.doubles)

    @property
    def doubles(self) -> int:
        """The number of doubles after which a hand may have a choice."""
        return self.rules.max_doubles * self.states.plays_doubled

    @cached_property
    def _found(self) -> KindTables:
        """All kinds; those of hands as dealt, split and free by how often they have doubled, (1 + doubles, 3, H), of
        split hands of two cards (20, 10), of pairs.

        In the first, split hands of two cards have the kind of the hand as dealt; pairs are as dealt, (10,).
        """
        hands, states = all_hands(), self.states
        kinds: dict[Kind, int] = {}

        def number(state: HandState, may_split: bool = False, fixed: bool = False) -> int:
            state = state if may_split else state._replace(rank=-1)
            risks = float(state.risk), float(states.doubling(state).risk)
            kind = Kind(state, states.legal(state), states.rows_of(state, may_split)[0], fixed, *risks)
            return kinds.setdefault(kind, len(kinds))

        cards = [np.repeat(range(VALUES), counts).tolist() for counts in hands.counts.astype(np.intp)]
        bets = (False, True) if self.rules.free_splits != "none" else (False,)
        which = [(False, False), *((True, free) for free in bets)]
        by_hand = [
            [
                [number(self._hand(hand, split and len(hand) > 2, free and len(hand) > 2, times)) for hand in cards]
                for split, free in which
            ]
            for times in range(1 + self.doubles)
        ]
        split_hands = np.zeros((len(bets), VALUES, VALUES), np.int64)
        for pair, second in np.ndindex(VALUES if self.rules.split_by != "never" else 0, VALUES):
            for free in bets:
                hand = states.hand((pair, second), True, free)
                split_hands[int(free), pair, second] = number(hand, fixed=pair == second == 0 and not free)
        pairs = [number(states.hand((pair, pair)), may_split=True) for pair in range(VALUES)]
        return list(kinds), np.array(by_hand), split_hands.reshape(-1, VALUES), np.array(pairs)

    def _hand(self, cards: list[int], split: bool, free: bool, times: int) -> HandState:
        """The state of cards after so many doubles; after fewer where they are too few, as no hand is then reached."""
        return self.states.hand(cards, split, free, min(times, len(cards) - 2))

    def against(self, column: str) -> Game:
        """Return the game with what is legal against a column: the same kinds of hands, with other letters."""
        return self._with_letters(self.states.against(column))

    @cached_property
    def _with_letters(self) -> Callable[[States], Game]:
        return cache(partial(_AgainstGame, self.rules, self))

    @property
    def kinds(self) -> list[Kind]:
        return self._found[0]

    def kinds_of_hands(self, split: bool, free: bool = False, doubled: int = 0) -> Ints:
        """Return the kind of every hand after so many doubles, as dealt, or in a split if it has three cards."""
        kinds: Ints = self._found[1][doubled, split + free]
        return kinds

    def find_kind(self, values: list[int], split: bool, free: bool = False, doubled: int = 0) -> int:
        """Return the kind of one hand. values: of its cards; in a split hand, the pair card first."""
        if split and len(values) == 2:
            return int(self._found[2][values[0] + VALUES * free, values[1]])
        return int(self.kinds_of_hands(split, free, doubled)[self.hands.find(values)])

    def find_kinds(self, nodes: Layout) -> Ints:
        """Return the kind of each node, shape (N,)."""
        _, by_hand, split_hands, pairs = self._found
        node, dealt = np.arange(len(nodes.hand)), by_hand.shape[2]
        doubled, number = np.divmod(np.where(node < nodes.pairs, node, 0), nodes.block)
        which = (number >= dealt).astype(int) + (number >= nodes.free)
        kind: Ints = by_hand[doubled, which, nodes.hand]
        for value, tree in enumerate(nodes.trees):
            if tree is not None:
                for gone in range(len(tree.starts)):
                    kind[tree.second(gone)] = split_hands[value]
        kind[nodes.pairs :] = pairs
        return kind

    @cached_property
    def legal(self) -> Ints:
        """Legal actions by kind, as bits 1 << action; 0 if the hand stands automatically."""
        return np.array([sum(1 << CODES[letter] for letter in kind.legal) for kind in self.kinds])

    @cached_property
    def rows(self) -> tuple[str, ...]:
        return tuple(sorted({kind.row for kind in self.kinds if kind.legal}, key=row_order))

    @cached_property
    def options(self) -> Options:
        """All distinct codes of each chart row."""
        names: list[tuple[str, str]] = []
        members: list[Ints] = []
        acts: list[Acts] = []
        for row in self.rows:
            kinds = [n for n, kind in enumerate(self.kinds) if kind.row == row and kind.legal and not kind.fixed]
            letters = {letter for number in kinds for letter in self.kinds[number].legal}
            codes = [letter for letter in "SHP" if letter in letters]
            for code in codes + [letter + other for letter in ELSE if letter in letters for other in "hs"]:
                names.append((row, code))
                members.append(np.array(kinds))
                acts.append(np.array([self.kinds[number].act(code) for number in kinds], np.int8))
        return Options(names, members, acts)

    # --- payoffs

    @cached_property
    def results(self) -> list[Result]:
        """Result of standing, by kind."""
        return [self.states.result(kind.state) for kind in self.kinds]

    def paid(self, result: Result, outcome: int, tie_value: float, stake: int = 1) -> float:
        """Return the profit of `stake` initial bets; a tied bet pays `tie_value`."""
        net, tied = self.states.settle(result, stake, outcome)
        return float(net) + tied * tie_value

    @cached_property
    def pay(self) -> Callable[..., Floats]:
        """See `_make_pay`; every table is made once."""
        return cache(self._make_pay)

    def _make_pay(self, tie_value: float, doubled: float | None = None, naturals: bool = True) -> Floats:
        """Return the profit by kind and outcome; 0 if a dealer's natural has ended the round.

        doubled: If the hand has doubled without a choice, the share of its two bets that it can lose; the profit is for
            one of them.
        naturals: Whether any natural of the dealer counts.
        """
        bets, ends = 1, [(result, kind.bets) for result, kind in zip(self.results, self.kinds, strict=True)]
        if doubled is not None:
            bets, ends = 2, [(self.states.doubled(end)._replace(risk=Fraction(doubled)), 2) for end, _ in ends]
        table = {
            (end, stake): [
                0.0
                if self.states.ends_round(outcome) or (outcome == DEALER_NATURAL and not naturals)
                else self.paid(end, outcome, tie_value, stake) / bets
                for outcome in self.dealer.outcomes
            ]
            for end, stake in set(ends)
        }
        return np.array([table[end] for end in ends])

    @cached_property
    def risks(self) -> Floats:
        """The share of its bets that a hand of each kind can lose, and once it has doubled, (2, kinds)."""
        return np.array([(kind.risk, kind.risk_doubled) for kind in self.kinds]).T

    def show(
        self,
        nodes: Nodes,
        legal: Ints,
        left: Floats,
        start: int,
        dealer: Floats,
        tie_value: float,
        power: int = 1,
        naturals: bool = True,
    ) -> Shown:
        """Return the nodes against a start, with mean profits, or with mean squares for a `power` of 2.

        `left` is the rest of the shoe by value, (10,), and `dealer` the distribution of the outcome, (outcomes, G).
        Without `naturals`, profits are 0 if the dealer has a natural, peeked at or not.
        """
        cards = self.dealer.starts[start]
        shown = Shown(nodes, legal, left, self.ends(cards) if naturals else self.course(cards).natural)
        risks, risks_doubled = self.risks
        risk, doubled = risks[nodes.kind], risks_doubled[nodes.kind]
        pay = self.pay(tie_value, None, naturals) ** power
        shown.prepare(dealer, pay, (-risk) ** power, power)
        for share in np.unique(risks_doubled) if nodes.doubled is None else ():
            other_pay, at = self.pay(tie_value, share, naturals) ** power, np.flatnonzero(doubled == share)
            of = np.isin(risks, np.unique(risk[at]))
            if (pay[of] != other_pay[of]).any():
                other = Shown(nodes, legal, left, shown.ends)
                other.prepare(dealer, other_pay, np.full_like(risk, (-share) ** power), power)
                shown.double[at] = other.double[at]
        for letter, action in ENDINGS.items():
            paid = np.append(self.endings[action][nodes.kind], -0.5) ** power  # the last is a bust
            early = naturals and letter in self.course(cards).before  # then it saves half a bet from a natural
            saved = ((-0.5) ** power - (-1.0) ** power) * early
            shown.endings[action] = paid * shown.plays + saved * (1 - shown.plays)
        return shown

    @cached_property
    def bets(self) -> Ints:
        """The bets on a hand of each kind."""
        return np.array([kind.bets for kind in self.kinds])

    @cached_property
    def endings(self) -> dict[int, Floats]:
        """What a hand of each kind wins with all its bets if an action ends it at once, by action."""
        ends = self.states.ends
        return {
            code: np.array([self.paid(ends(kind.state, letter), 0, 0.0, kind.bets) for kind in self.kinds])
            for letter, code in ENDINGS.items()
        }

    def against_natural(self, tie_value: float) -> Floats:
        """Return the profit by kind if a dealer's natural has ended the round."""
        return np.array([self.paid(result, DEALER_NATURAL, tie_value) for result in self.results])

    @property
    def hands(self) -> Hands:
        return all_hands()


@dataclass(frozen=True, eq=False)
class _AgainstGame(Game):
    """A game with the letters that are legal against some cards of the dealer."""

    whole: Game
    letters: States

    @cached_property
    def _found(self) -> KindTables:
        kinds, by_hand, split_hands, pairs = self.whole._found
        return [kind._replace(legal=self.letters.legal(kind.state)) for kind in kinds], by_hand, split_hands, pairs


@lru_cache(maxsize=16)
def _game(rules: Rules) -> Game:
    return Game(rules)


def make_game(rules: Rules) -> Game:
    """Return the game of these rules, shared by all numbers of decks. Raises: InputError: It cannot be solved."""
    need(rules, "shoe")
    decks = rules.decks if rules.scheme.suited else 1  # suited sevens depend on it
    return _game(as_peeked(rules.replace(decks=decks, cut=1, raises=False)))

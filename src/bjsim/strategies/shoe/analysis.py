"""The values of all nodes and of complete strategies, for one game, one shoe and one value of a tie."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from bjsim.arrays import Acts, Floats, Ints
from bjsim.errors import InputError
from bjsim.sim.game.actions import ENDINGS
from bjsim.sim.game.cards import TEN
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.shoe.dealer import dealer_chances
from bjsim.strategies.shoe.game import Game
from bjsim.strategies.shoe.hands import VALUES, Composition, Layout, Tree
from bjsim.strategies.shoe.passes import SPLIT, STAND, Base, Nodes, Shown, best, double, follow, hit, keep
from bjsim.strategies.shoe.passes import Play as Play
from bjsim.strategies.shoe.splits import SplitForm, split_weights
from bjsim.sums import add_up

# --- Insurance in a finite shoe: half a bet that pays 2:1 if the card under an ace is ten-valued.


ROUNDING = 1e-15


def chance_of_natural(nodes: Nodes, shown: Shown, start: int) -> Floats:
    """Return the probability of a ten-valued hole card, given the cards of each node, shape (N,)."""
    cards = np.maximum(shown.total[start] - nodes.sizes, 1)
    chance: Floats = np.clip((shown.left[start, TEN] - nodes.counts[TEN]) / cards, 0, 1)
    return chance


def profits(nodes: Nodes, shown: Shown, start: int) -> Floats:
    """Return the expected profit of an insurance bet at each node, in initial bets, shape (N,)."""
    return (3 * chance_of_natural(nodes, shown, start) - 1) / 2


def takes_insurance(strategy: str | Chart, profits: Floats, nodes: Ints, weights: Floats) -> NDArray[np.bool_]:
    """Return the nodes where a strategy takes insurance, as a mask (N,).

    A chart takes it with every hand or with none; td does what is better. The others decide by their cards.
    `profits` is the expected profit of insurance at each node, `nodes` those that are dealt, `weights` their
    probabilities.
    """
    if isinstance(strategy, Chart):
        return np.full(len(profits), strategy.insurance == "I")
    if strategy == "td":
        return np.full(len(profits), weights @ profits[nodes] > ROUNDING)
    better: NDArray[np.bool_] = profits > ROUNDING
    return better


class ShoeStates:
    """The parts that do not depend on the value of a tie: cards, nodes and the dealer's distributions."""

    def __init__(self, game: Game, composition: Composition) -> None:
        self.game = game
        self.composition = composition
        self.layout = game.nodes(composition)
        self.starts = game.dealer.starts
        known = game.dealer.known
        left = composition.values - known
        self.shown = Shown(left, left.sum(axis=1), np.array([game.ends(start) for start in self.starts]))
        self.by_rank = game.rules.split_by == "rank"
        self._tens_left: float | None = None
        self._forms: dict[tuple[int, int], tuple[SplitForm, ...]] = {}
        self._dealt: dict[int, tuple[NDArray[np.int64], Floats]] = {}
        self._check()

    def _check(self) -> None:
        """Reject a shoe that one hand and the dealer could exhaust."""
        points = float(self.composition.values @ np.arange(1, VALUES + 1))
        if points < 21 + 21 + 2 * TEN:
            raise InputError(
                f"the shoe may run out during a round: its {self.composition.cards} cards total {points:.0f} points, "
                "and a round can need 62"
            )

    @cached_property
    def dealer(self) -> Floats:
        """Distribution of the dealer's outcome, shape (starts, outcomes, multisets removed); not to be changed."""
        return dealer_chances(self.game.dealer, tuple(self.composition.values.tolist()), self.layout.removed)

    @cached_property
    def chance(self) -> Floats:
        """Probability of each start, shape (starts,)."""
        values, known = self.composition.values, self.game.dealer.known
        total = values.sum()
        chances = []
        for start, counts in zip(self.starts, known, strict=True):
            p = values[start[0]] / total
            if len(start) == 2:
                p *= max(values[start[1]] - (counts[start[1]] - 1), 0) / (total - 1) * (2 - (start[0] == start[1]))
            chances.append(p)
        return np.array(chances)

    @cached_property
    def live(self) -> tuple[int, ...]:
        """The starts that can be dealt and do not end the round at once."""
        return tuple(i for i, start in enumerate(self.starts) if self.chance[i] > 0 and not self.game.ended(start))

    @cached_property
    def nodes(self) -> Nodes:
        return make_nodes(self.game, self.layout)

    @property
    def kind(self) -> NDArray[np.int64]:
        return self.nodes.kind

    def of_tens(self, left: float) -> ShoeStates:
        """Return this shoe with the splits of tens of one known rank, of which so many cards are left."""
        found = copy(self)
        found._tens_left, found._forms, found._dealt = left, {}, {}
        return found

    def pair_cases(self, start: int, value: int) -> list[tuple[float, float]]:
        """See `Composition.pair_cases`."""
        if value == TEN and self._tens_left is not None:
            return [(1.0, self._tens_left)]
        return self.composition.pair_cases(value, self.starts[start], self.by_rank)

    def dealt(self, start: int) -> tuple[NDArray[np.int64], Floats]:
        """Return the nodes of the player's first two cards and their probabilities given the start."""
        if start not in self._dealt:
            left, total = self.shown.left[start], self.shown.total[start]
            one, other = np.triu_indices(VALUES)
            chance = np.where(one == other, left[one] * (left[one] - 1), 2 * left[one] * left[other])
            chance = np.maximum(chance, 0) / (total * (total - 1))
            pairs = np.flatnonzero(one == other)
            share = np.array([self.share(start, value) for value in range(VALUES)])
            nodes = np.concatenate([self.game.hands.two[one, other], self.layout.pairs + np.arange(VALUES)])
            weights = np.concatenate([chance, chance[pairs] * share])
            weights[pairs] *= 1 - share
            self._dealt[start] = nodes[weights > 0], weights[weights > 0]
        return self._dealt[start]

    def share(self, start: int, value: int) -> float:
        """Return the share of two-card hands of this value that may be split."""
        if self.layout.trees[value] is None:
            return 0.0
        return add_up(share for share, _ in self.pair_cases(start, value))

    def forms(self, start: int, value: int) -> tuple[SplitForm, ...]:
        """Return the value of splitting a pair as linear forms; none if it cannot be dealt or split.

        Where the house pays for the split, the first is of the hand with the player's bet, the second of all others.
        """
        key = start, value
        if key not in self._forms:
            self._forms[key] = tuple(self._make_forms(start, value))
        return self._forms[key]

    def _make_forms(self, start: int, value: int) -> Iterator[SplitForm]:
        tree, free = self.layout.trees[value], self.game.rules.splits_free(value)
        if tree is None or not self.pair_cases(start, value):
            return
        weight = self._weight(tree, start, value)
        if free:
            first, others = self._weight(tree, start, value, True), self.layout.trees[VALUES + value]
            assert others is not None
            yield SplitForm(tree, first)
            yield SplitForm(others, weight - first)
        else:
            yield SplitForm(tree, weight)

    def _weight(self, tree: Tree, start: int, value: int, first_hand: bool = False) -> Floats:
        cases = self.pair_cases(start, value)
        limit = self.game.limit(value, self.composition)
        left = self.shown.left[start] - 2 * (np.arange(VALUES) == value)
        cards = float(left.sum())
        weight = np.zeros((limit - 1, len(tree.starts), VALUES))
        for share, pairs in cases:
            whole, other = split_weights(pairs, cards, limit, first_hand)
            for gone in range(min(whole.shape[1], len(tree.starts))):
                second = left - gone * (np.arange(VALUES) == value)
                if cards - gone > 0:
                    weight[:, gone] += share * np.outer(whole[:, gone], second / (cards - gone))
                if cards > pairs:
                    second[value] = left[value] - pairs
                    weight[:, gone] += share * np.outer(other[:, gone], second / (cards - pairs))
        scaled: Floats = weight / add_up(share for share, _ in cases)
        return scaled


@lru_cache(maxsize=4)  # shoes that differ by few cards share them
def make_nodes(game: Game, layout: Layout) -> Nodes:
    """Return the nodes of a layout under the rules of a game."""
    counts, kind = layout.removed.counts.T[:, layout.gone].astype(np.float64), game.find_kinds(layout)
    legal = np.array([game.against(column).legal[kind] for column in game.columns])
    return Nodes(layout.child, layout.gone, kind, legal, counts, counts.sum(axis=0), layout.doubled, game.bets[kind])


class Analysis:
    """The values of a shoe if a tied bet pays `tie_value` times the bet."""

    def __init__(self, shoe: ShoeStates, tie_value: float = 0.0) -> None:
        self.shoe = shoe
        self.tie_value = tie_value
        shape = len(shoe.starts), len(shoe.layout.hand) + 1
        self.base = Base(*(np.zeros(shape) for _ in range(4)))
        shoe.game.prepare(shoe.nodes, shoe.shown, shoe.dealer, tie_value, self.base)
        self.endings = self.find_endings()
        self._by_cards: dict[tuple[int, str], Play] = {}

    def of_tens(self, left: float) -> Analysis:
        """See `ShoeStates.of_tens`."""
        found = copy(self)
        found.shoe, found._by_cards = self.shoe.of_tens(left), {}
        return found

    def find_endings(self, power: int = 1) -> dict[int, Floats]:
        """Return the value of each action that ends a hand (S, N + 1), or of a power of it.

        A surrender before the look for a natural has it also where that takes the bet.
        """
        shoe, plays, found = self.shoe, self.base.plays, {}
        saved = (-0.5) ** power - (-1.0) ** power
        for letter, action in ENDINGS.items():
            early = [letter in shoe.game.course(start).before for start in shoe.starts]
            paid = np.append(shoe.game.endings[action][shoe.kind], -0.5) ** power  # the last is a bust
            found[action] = paid * plays + np.array(early)[:, None] * saved * (1 - plays)
        return found

    # --- strategies

    def empty(self) -> Play:
        size = len(self.shoe.layout.hand)
        return Play(np.full(size, STAND, np.int8), np.zeros(size + 1), np.full(VALUES, np.nan))

    def follow(self, start: int, act: Acts) -> Play:
        play = self.empty()
        play.act[:] = act
        self._follow(start, play, 0, self.shoe.layout.block)
        self.set_splits(start, play)
        at = self.shoe.layout.pairs
        self._follow_nodes(start, play, at, len(act))
        split = play.act[at:] == SPLIT
        play.value[at:-1][split] = play.split[split]
        return play

    def _follow(self, start: int, play: Play, low: int, high: int) -> None:
        """Evaluate the nodes low..high of the first block and those of the same hands that have doubled."""
        for block in self.shoe.layout.blocks:
            self._follow_nodes(start, play, block + low, block + high)

    def _follow_nodes(self, start: int, play: Play, low: int, high: int) -> None:
        shoe = self.shoe
        follow(shoe.nodes, shoe.shown, self.base, start, low, high, play.act, self.endings, play.value)

    def hit(self, start: int, play: Play, nodes: NDArray[np.int64]) -> Floats:
        return hit(self.shoe.nodes, self.shoe.shown, self.base, start, nodes, play.value)

    def double(self, start: int, play: Play, nodes: NDArray[np.int64]) -> Floats:
        return double(self.shoe.nodes, self.shoe.shown, self.base, start, nodes, play.value)

    def set_splits(self, start: int, play: Play) -> None:
        for value in range(VALUES):
            if forms := self.shoe.forms(start, value):
                play.split[value] = add_up(form.value(form.weight.sum(axis=0), play.value) for form in forms)

    def by_cards(self, start: int, after: str = "cdz-") -> Play:
        """Return the best play that uses all cards of the hand; `start` indexes the dealer's known cards.

        Split hands are played by `after`: `cdz-`, `cdp1` or `cdp`, defined in the docstring of the package.
        """
        if (start, after) not in self._by_cards:
            self._by_cards[start, after] = self._best_by_cards(start, after)
        return self._by_cards[start, after]

    def _best_by_cards(self, start: int, after: str) -> Play:
        shoe, play = self.shoe, self.empty()
        count, at, end = len(shoe.game.hands.key), shoe.layout.pairs, shoe.layout.block
        for block in shoe.layout.blocks:
            self._best(start, play, block, block + count)
            if block and after == "cdz-":
                play.act[block + count : block + end] = play.act[block + shoe.layout.hand[count:end]]
                self._follow_nodes(start, play, block + count, block + end)
            elif block:
                self._best(start, play, block + count, block + end)
        if after == "cdz-":
            keep(shoe.nodes, shoe.shown, self.base, start, shoe.layout.hand, count, end, play.value, play.act)
            self._best(start, play, shoe.layout.free, end)  # nothing is kept of hands with bets of the house
            for tree in filter(None, shoe.layout.trees[VALUES:]):
                for gone in range(len(tree.starts)):
                    play.act[slice(*tree.span(gone))] = play.act[slice(*tree.span(0))]
            self._follow_nodes(start, play, count, end)
            self.set_splits(start, play)
        else:
            self._replan(start, play, count, after == "cdp")
        self._best(start, play, at, len(play.act))
        better = np.nan_to_num(play.split, nan=-np.inf) > play.value[at:-1]
        play.act[at:][better], play.value[at:-1][better] = SPLIT, play.split[better]
        return play

    def _best(self, start: int, play: Play, low: int, high: int) -> None:
        shoe = self.shoe
        best(shoe.nodes, shoe.shown, self.base, start, low, high, self.endings, play.value, play.act)

    def _replan(self, start: int, play: Play, count: int, by_gone: bool) -> None:
        """Set the splits, whose hands take the removed pair cards into account; they are the nodes from `count`."""
        shoe, end = self.shoe, self.shoe.layout.block
        self._best(start, play, count, end)
        plans, found = play.act.copy(), [(n, form) for n in range(VALUES) for form in shoe.forms(start, n)]
        play.split[[value for value, _ in found]] = 0.0
        for plan in range(max((len(form.weight) for _, form in found), default=0) if by_gone else 1):
            weighted = [(form.weight[plan : plan + 1] if by_gone else form.weight).sum(axis=0) for _, form in found]
            for (_, form), weight in zip(found, weighted, strict=True):
                if weight.any():
                    low, high = form.tree.span(plan)
                    for block in shoe.layout.blocks:
                        for gone in range(len(weight)):
                            one, other = form.tree.span(gone)
                            play.act[block + one : block + other] = plans[block + low : block + high]
            self._follow(start, play, count, end)
            for (value, form), weight in zip(found, weighted, strict=True):
                play.split[value] += form.value(weight, play.value)

    # --- complete rounds

    def round_value(self, start: int, play: Play) -> float:
        """Return the expected profit of a round against a start, including peeked naturals."""
        nodes, weights = self.shoe.dealt(start)
        return float(weights @ self.profits(start, nodes, play))

    def profits(self, start: int, nodes: NDArray[np.int64], play: Play) -> Floats:
        """Return the expected profit of a round by node as dealt, including peeked naturals."""
        natural = (1 - self.base.plays[start, nodes]) * self.against_natural[nodes]
        if play.insured is not None:
            natural += (profits(self.shoe.nodes, self.shoe.shown, start) * play.insured)[nodes]
        value: Floats = play.bets * (play.value[nodes] + natural)
        return value

    @cached_property
    def against_natural(self) -> Floats:
        """Profit at each node if a dealer's natural has ended the round."""
        profit: Floats = self.shoe.game.against_natural(self.tie_value)[self.shoe.kind]
        return profit

    def ended(self) -> Iterator[tuple[int, float]]:
        """Yield the starts that end the round, with their expected profit."""
        for number, start in enumerate(self.shoe.starts):
            if self.shoe.game.ended(start) and self.shoe.chance[number] > 0:
                nodes, weights = self.shoe.dealt(number)
                yield number, float(weights @ self.against_natural[nodes])

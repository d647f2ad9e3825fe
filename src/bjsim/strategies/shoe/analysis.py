"""The values of all nodes and of complete strategies, for one game, one shoe and one value of a tie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from bjsim.arrays import Acts, Floats, Ints
from bjsim.errors import InputError
from bjsim.sim.game.cards import TEN
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.shoe.dealer import dealer_chances
from bjsim.strategies.shoe.game import Game
from bjsim.strategies.shoe.hands import VALUES, Composition, Layout, Tree
from bjsim.strategies.shoe.passes import SPLIT, Nodes, Play, Shown
from bjsim.strategies.shoe.splits import SplitForm, split_weights
from bjsim.sums import add_up

# --- Insurance in a finite shoe: half a bet that pays 2:1 if the card under an ace is ten-valued.


ROUNDING = 1e-15


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
    """The parts that do not depend on the value of a tie: cards, nodes and the dealer's distributions.

    `pair` is the only value of which a pair may be split; None if all may.
    """

    def __init__(self, game: Game, composition: Composition, pair: int | None = None) -> None:
        self.game = game
        self.composition = composition
        self.layout = game.nodes(composition, pair)
        self.starts = game.dealer.starts
        self.left = composition.values - game.dealer.known  # the rest of the shoe for each start, (starts, 10)
        self.by_rank = game.rules.split_by == "rank"
        self._tens_left: float | None = None
        self._forms: dict[tuple[int, int], tuple[SplitForm, ...]] = {}
        self._dealt: dict[int, tuple[Ints, Floats]] = {}
        self._check()

    def _check(self) -> None:
        """Reject a shoe that one hand and the dealer could exhaust."""
        points = float(self.composition.values @ np.arange(1, VALUES + 1))
        if points < 21 + 21 + 2 * TEN:
            raise InputError(
                f"the shoe may run out during a round: its {self.composition.cards} cards total {points:.0f} points, "
                "and a round without splits can need 62"
            )

    @cached_property
    def dealer(self) -> Callable[[int], Floats]:
        """Distribution of the dealer's outcome by start, (outcomes, multisets removed); not to be changed."""
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
    def kind(self) -> Ints:
        return self.nodes.kind

    def chance_of_natural(self, start: int) -> Floats:
        """Return the probability of a ten-valued hole card, given the cards of each node, shape (N,)."""
        cards = np.maximum(self.left[start].sum() - self.nodes.sizes, 1)
        chance: Floats = np.clip((self.left[start, TEN] - self.nodes.counts[TEN]) / cards, 0, 1)
        return chance

    def insurance(self, start: int) -> Floats:
        """Return the expected profit of an insurance bet at each node, in initial bets, shape (N,)."""
        return (3 * self.chance_of_natural(start) - 1) / 2

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

    def dealt(self, start: int) -> tuple[Ints, Floats]:
        """Return the nodes of the player's first two cards and their probabilities given the start."""
        if start not in self._dealt:
            left, total = self.left[start], self.left[start].sum()
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
        left = self.left[start] - 2 * (np.arange(VALUES) == value)
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
    return Nodes(layout.child, layout.gone, kind, counts, counts.sum(axis=0), layout.doubled, game.bets[kind])


class Analysis:
    """The values of a shoe if a tied bet pays `tie_value` times the bet; `power` and `naturals` as in `Game.show`."""

    def __init__(self, shoe: ShoeStates, tie_value: float = 0.0, power: int = 1, naturals: bool = True) -> None:
        self.shoe = shoe
        self.tie_value, self.power, self.naturals = tie_value, power, naturals
        self._shown: dict[int, Shown] = {}
        self._by_cards: dict[tuple[int, str], Play] = {}

    def of_tens(self, left: float) -> Analysis:
        """See `ShoeStates.of_tens`."""
        found = copy(self)
        found.shoe, found._by_cards = self.shoe.of_tens(left), {}
        return found

    def shown(self, start: int) -> Shown:
        """Return the values of the nodes against a start."""
        if start not in self._shown:
            shoe, game = self.shoe, self.shoe.game
            legal = game.against(game.columns[start]).legal[shoe.kind]
            dealer, left = shoe.dealer(start), shoe.left[start]
            self._shown[start] = game.show(
                shoe.nodes, legal, left, start, dealer, self.tie_value, self.power, self.naturals
            )
        return self._shown[start]

    # --- strategies

    def follow(self, start: int, act: Acts) -> Play:
        shown, layout, play = self.shown(start), self.shoe.layout, Play.of_stands(len(act))
        play.act[:] = act
        for block in layout.blocks:
            shown.follow(play, block, block + layout.block)
        self.set_splits(start, play)
        at = layout.pairs
        shown.follow(play, at, len(act))
        split = play.act[at:] == SPLIT
        play.value[at:-1][split] = play.split[split]
        return play

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
        shoe, shown, layout = self.shoe, self.shown(start), self.shoe.layout
        play, count, at, end = Play.of_stands(len(layout.hand)), len(shoe.game.hands.key), layout.pairs, layout.block
        for block in layout.blocks:
            shown.best(play, block, block + count)
            if block and after == "cdz-":
                play.act[block + count : block + end] = play.act[block + layout.hand[count:end]]
                shown.follow(play, block + count, block + end)
            elif block:
                shown.best(play, block + count, block + end)
        if after == "cdz-":
            shown.keep(play, layout.hand, count, end)
            shown.best(play, layout.free, end)  # nothing is kept of hands with bets of the house
            for tree in filter(None, layout.trees[VALUES:]):
                for gone in range(len(tree.starts)):
                    play.act[slice(*tree.span(gone))] = play.act[slice(*tree.span(0))]
            shown.follow(play, count, end)
            self.set_splits(start, play)
        else:
            self._replan(start, play, count, after == "cdp")
        shown.best(play, at, len(play.act))
        better = np.nan_to_num(play.split, nan=-np.inf) > play.value[at:-1]
        play.act[at:][better], play.value[at:-1][better] = SPLIT, play.split[better]
        return play

    def _replan(self, start: int, play: Play, count: int, by_gone: bool) -> None:
        """Set the splits, whose hands take the removed pair cards into account; they are the nodes from `count`."""
        shoe, shown, end = self.shoe, self.shown(start), self.shoe.layout.block
        shown.best(play, count, end)
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
            for block in shoe.layout.blocks:
                shown.follow(play, block + count, block + end)
            for (value, form), weight in zip(found, weighted, strict=True):
                play.split[value] += form.value(weight, play.value)

    # --- complete rounds

    def value(self, plays: Mapping[int, Play]) -> float:
        """Return the expected profit of a round; `plays` is the strategy by start."""
        ev = add_up(self.shoe.chance[start] * value for start, value in self.ended())
        for start, play in plays.items():
            ev += self.shoe.chance[start] * self.round_value(start, play)
        return float(ev)

    def round_value(self, start: int, play: Play) -> float:
        """Return the expected profit of a round against a start, including peeked naturals."""
        nodes, weights = self.shoe.dealt(start)
        return float(weights @ self.profits(start, nodes, play))

    def profits(self, start: int, nodes: Ints, play: Play) -> Floats:
        """Return the expected profit of a round by node as dealt, including peeked naturals."""
        natural = (1 - self.shown(start).plays[nodes]) * self.against_natural[nodes]
        if play.insured is not None:
            natural += (self.shoe.insurance(start) * play.insured)[nodes]
        value: Floats = play.bets * (play.value[nodes] + natural)
        return value

    @cached_property
    def against_natural(self) -> Floats:
        """Profit at each node if a dealer's natural has ended the round."""
        profit: Floats = self.shoe.game.against_natural(self.tie_value)[self.shoe.kind]
        return profit**self.power

    def ended(self) -> Iterator[tuple[int, float]]:
        """Yield the starts that end the round, with their expected profit."""
        for number, start in enumerate(self.shoe.starts):
            if self.shoe.game.ended(start) and self.shoe.chance[number] > 0:
                nodes, weights = self.shoe.dealt(number)
                yield number, float(weights @ self.against_natural[nodes])

"""The values of all nodes and of complete strategies, for one game, one shoe and one value of a tie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bjsim.errors import InputError
from bjsim.sim.engine.kernels.layout import SPLIT, STAND, SURRENDER
from bjsim.sim.game.cards import TEN
from bjsim.strategies.shoe import kernel
from bjsim.strategies.shoe.composition import VALUES, Composition
from bjsim.strategies.shoe.game import Game
from bjsim.strategies.shoe.hands import Tree
from bjsim.strategies.shoe.insurance import profits
from bjsim.strategies.shoe.kernel import Base, Nodes, Shown
from bjsim.strategies.shoe.splits import split_weights

Floats = NDArray[np.float64]
Acts = NDArray[np.int8]


@dataclass
class Play:
    """A strategy against one start, by node: its action, the value of that action and the value of hitting.

    act, hit: shape (N,). value: shape (N + 1,); the last entry is a bust. insured: whether insurance is taken, shape
    (N,); None if it is not offered. split: value of splitting each pair as dealt, shape (10,); NaN if it cannot be.
    """

    act: Acts
    value: Floats
    hit: Floats
    split: Floats
    insured: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class SplitForm:
    """The value of a split as a linear form: the sum of weight x value over nodes.

    weight: shape (limit - 1, A, 10), by number of hands (n - 2), further pair cards removed, and second card.
    """

    tree: Tree
    weight: Floats


class ShoeStates:
    """The parts that do not depend on the value of a tie: cards, nodes and the dealer's distributions."""

    def __init__(self, game: Game, composition: Composition) -> None:
        self.game = game
        self.composition = composition
        self.layout = game.nodes(composition)
        self.kind = game.find_kinds(self.layout)
        self.starts = game.dealer.starts
        known = game.dealer.hands.known
        left = composition.values - known
        self.shown = Shown(left, left.sum(axis=1), np.array([game.ends(start) for start in self.starts]))
        self.by_rank = game.rules.split_by == "rank"
        self._forms: dict[tuple[int, int], SplitForm | None] = {}
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
        """Distribution of the dealer's outcome, shape (starts, multisets removed, outcomes)."""
        gone = self.layout.gone_counts
        out = np.empty((len(self.starts), len(gone), len(self.game.dealer.outcomes)))
        kernel.outcomes(self.game.dealer.hands, self.composition.values, gone, out)
        return out

    @cached_property
    def chance(self) -> Floats:
        """Probability of each start, shape (starts,)."""
        values, known = self.composition.values, self.game.dealer.hands.known
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
        """The nodes in the form that the kernels take."""
        at = self.layout
        counts = at.gone_counts.astype(np.float64)
        return Nodes(at.child, at.gone, self.kind, self.game.legal[self.kind], counts, counts.sum(axis=1))

    @cached_property
    def may_surrender(self) -> NDArray[np.int64]:
        """The nodes where surrender is legal."""
        return np.flatnonzero(self.nodes.legal >> SURRENDER & 1)

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
        return sum(share for share, _ in self.composition.pair_cases(value, self.starts[start], self.by_rank))

    def form(self, start: int, value: int) -> SplitForm | None:
        """Return the value of splitting a pair as a linear form, or None if it cannot be dealt or split."""
        key = start, value
        if key not in self._forms:
            self._forms[key] = self._form(start, value)
        return self._forms[key]

    def _form(self, start: int, value: int) -> SplitForm | None:
        tree = self.layout.trees[value]
        cases = self.composition.pair_cases(value, self.starts[start], self.by_rank)
        if tree is None or not cases:
            return None
        limit = self.game.limit(value, self.composition)
        left = self.shown.left[start] - 2 * (np.arange(VALUES) == value)
        cards = float(left.sum())
        weight = np.zeros((limit - 1, len(tree.starts), VALUES))
        for share, pairs in cases:
            whole, other = split_weights(pairs, cards, limit)
            for gone in range(min(whole.shape[1], len(tree.starts))):
                second = left - gone * (np.arange(VALUES) == value)
                if cards - gone > 0:
                    weight[:, gone] += share * np.outer(whole[:, gone], second / (cards - gone))
                if cards > pairs:
                    second[value] = left[value] - pairs
                    weight[:, gone] += share * np.outer(other[:, gone], second / (cards - pairs))
        return SplitForm(tree, weight / sum(share for share, _ in cases))


class Analysis:
    """The values of a shoe if a tied bet pays `tie_value` times the bet."""

    def __init__(self, shoe: ShoeStates, tie_value: float = 0.0) -> None:
        self.shoe = shoe
        self.tie_value = tie_value
        shape = len(shoe.starts), len(shoe.layout.hand) + 1
        self.base = Base(*(np.zeros(shape) for _ in range(4)))
        shoe.game.prepare(shoe.nodes, shoe.shown, shoe.dealer, tie_value, self.base)
        self.surrender = self.surrendered(-0.5, -1.0)
        self._by_cards: dict[tuple[int, str], Play] = {}

    def surrendered(self, paid: float, lost: float) -> Floats:
        """Return the value of surrender (S, N + 1): it pays `paid`, early also where a natural pays others `lost`."""
        plays, early = self.base.plays, ["R" in self.shoe.game.course(start).before for start in self.shoe.starts]
        value: Floats = paid * plays + np.array(early)[:, None] * (paid - lost) * (1 - plays)
        return value

    # --- strategies

    def empty(self) -> Play:
        """Return a play whose actions and values are not yet set."""
        size = len(self.shoe.layout.hand)
        return Play(np.full(size, STAND, np.int8), np.zeros(size + 1), np.full(size, np.nan), np.full(VALUES, np.nan))

    def follow(self, start: int, act: Acts) -> Play:
        """Evaluate a strategy given by its action at each node."""
        play = self.empty()
        play.act[:] = act
        self._follow(start, play, 0, self.shoe.layout.pairs)
        self.set_splits(start, play)
        self._follow(start, play, self.shoe.layout.pairs, len(act))
        at = self.shoe.layout.pairs
        split = play.act[at:] == SPLIT
        play.value[at:-1][split] = play.split[split]
        return play

    def _follow(self, start: int, play: Play, low: int, high: int) -> None:
        shoe = self.shoe
        kernel.follow(
            shoe.nodes, shoe.shown, self.base, start, low, high, play.act, self.surrender, play.value, play.hit
        )

    def set_splits(self, start: int, play: Play) -> None:
        """Set the value of every split from the values of the split hands."""
        for value in range(VALUES):
            form = self.shoe.form(start, value)
            if form is not None:
                weight = form.weight.sum(axis=0)
                seconds = [play.value[form.tree.second(gone)] for gone in range(len(weight))]
                play.split[value] = float((weight * np.array(seconds)).sum())

    def by_cards(self, start: int, after: str = "cdz-") -> Play:
        """Return the best play that uses all cards of the hand.

        Args:
            start: Index of the dealer's known cards.
            after: How split hands are played: `cdz-`, `cdp1` or `cdp`, defined in the docstring of the package.
        """
        if (start, after) not in self._by_cards:
            self._by_cards[start, after] = self._best_by_cards(start, after)
        return self._by_cards[start, after]

    def _best_by_cards(self, start: int, after: str) -> Play:
        shoe, play = self.shoe, self.empty()
        count = len(shoe.game.hands.key)
        kernel.best(shoe.nodes, shoe.shown, self.base, start, 0, count, play.value, play.hit, play.act)
        at = shoe.layout.pairs
        self._surrender(start, play, 0, count)
        if after == "cdz-":
            kernel.keep(shoe.nodes, self.base, start, shoe.layout.hand, play.hit, count, at, play.act)
            self._follow(start, play, count, at)
            self.set_splits(start, play)
        else:
            for value in range(VALUES):
                form = shoe.form(start, value)
                if form is not None:
                    play.split[value] = self._replanned(start, play, form, after == "cdp")
        kernel.best(shoe.nodes, shoe.shown, self.base, start, at, len(play.act), play.value, play.hit, play.act)
        better = np.nan_to_num(play.split, nan=-np.inf) > play.value[at:-1]
        play.act[at:][better], play.value[at:-1][better] = SPLIT, play.split[better]
        self._surrender(start, play, at, len(play.act))
        return play

    def _replanned(self, start: int, play: Play, form: SplitForm, by_gone: bool) -> float:
        """Return the value of a split whose hands take the removed pair cards into account."""
        shoe, tree = self.shoe, form.tree
        ev = 0.0
        plans = range(len(form.weight)) if by_gone else range(1)
        for plan in plans:
            weight = form.weight[plan] if by_gone else form.weight.sum(axis=0)
            if not weight.any():
                continue
            low, high = tree.span(plan)
            kernel.best(shoe.nodes, shoe.shown, self.base, start, low, high, play.value, play.hit, play.act)
            self._surrender(start, play, low, high)
            for gone in range(len(weight)):
                if weight[gone].any():
                    first, last = tree.span(gone)
                    play.act[first:last] = play.act[low:high]
                    self._follow(start, play, first, last)
                    ev += float(weight[gone] @ play.value[tree.second(gone)])
        return ev

    def _surrender(self, start: int, play: Play, low: int, high: int) -> None:
        """Surrender at the nodes low..high where that is better than the current action, beyond rounding."""
        nodes = self.shoe.may_surrender
        nodes = nodes[(nodes >= low) & (nodes < high)]
        ev = self.surrender[start, nodes]
        better = ev > play.value[nodes] + kernel.TIE
        play.act[nodes[better]], play.value[nodes[better]] = SURRENDER, ev[better]

    # --- complete rounds

    def round_value(self, start: int, play: Play) -> float:
        """Return the expected profit of a round against a start, including peeked naturals."""
        nodes, weights = self.shoe.dealt(start)
        natural = (1 - self.base.plays[start, nodes]) * self.against_natural[nodes]
        if play.insured is not None:
            natural += (profits(self.shoe.nodes, self.shoe.shown, start) * play.insured)[nodes]
        return float(weights @ (play.value[nodes] + natural))

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

"""The player's hands as multisets of card values, and the nodes that are evaluated.

A hand is evaluated several times: as dealt, and after a split for each number of removed pair cards. Each is a node:

    [0, H)           every hand of two or more cards, as dealt
    trees (x, a)     the split hands of a pair of x, with `a` further x's removed besides the pair
    [block, pairs)   a block of all of these again for each number of doubles after which a hand may have a choice
    [pairs, N)       the ten pairs as dealt, if they may be split

Within each tree, and within the hands as dealt, every hand comes after its successors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np

from bjsim.arrays import Acts, Floats, Ints
from bjsim.errors import InputError
from bjsim.sim.game.actions import CODES
from bjsim.sim.game.cards import RANKS, TEN, parse_rank
from bjsim.sim.game.rules import Rules
from bjsim.sums import add_up

# --- The cards in a shoe, and the probabilities of pairs when only equal ranks may be split.


VALUES = TEN + 1  # distinct card values: ace, 2..9 and ten
MAX_RANK_COUNT = 1_000_000  # maximum count of one rank; keeps products of counts far below overflow


@dataclass(frozen=True)
class Composition:
    """The cards of a shoe: the count of each of the 13 ranks.

    Counts may be fractions, such as those expected at some count of the cards. The probabilities of sequences of cards
    are products of falling factorials, which add up to 1 for fractions too (Vandermonde's identity).
    """

    ranks: tuple[float, ...]

    @staticmethod
    def of(rules: Rules, shoe: Mapping[str, int] | Sequence[int] | Composition | None = None) -> Composition:
        """Return the composition of a shoe, by default the whole decks of `rules`.

        `shoe` is counts by letter (`{"A": 4, "T": 16}`; omitted letters are not in the shoe, and `T` alone means
        all ten-valued cards), or ten counts for A, 2..9, T, or a composition as it is. The shoe must be finite.
        """
        if shoe is None:
            if rules.infinite:
                raise InputError("decks = inf: a finite shoe needs decks from 1 to 8, or a composition")
            return Composition(rules.shoe_counts)
        if isinstance(shoe, Composition):
            return shoe
        if not isinstance(shoe, Mapping):
            if len(shoe) != VALUES:
                raise InputError(f"a shoe takes {VALUES} counts, for A, 2..9 and T, not {len(shoe)}")
            shoe = dict(zip(RANKS, shoe, strict=False))
        counts, given = [0] * len(RANKS), set[int]()
        for card, count in shoe.items():
            try:
                rank = parse_rank(card)
            except ValueError as error:
                raise InputError(f"shoe: {error}") from None
            if isinstance(count, bool) or int(count) != count or not 0 <= count <= MAX_RANK_COUNT:
                raise InputError(f"shoe: {card}={count} is not accepted; use a whole number from 0 to {MAX_RANK_COUNT}")
            if rank in given:
                raise InputError(f"shoe: {card} is given twice")
            given.add(rank)
            counts[rank] = int(count)
        if rules.split_by == "rank" and counts[TEN] and not any(counts[TEN + 1 :]):
            raise InputError("split_by = rank needs separate counts of T, J, Q and K: give T=, J=, Q= and K=")
        return Composition(tuple(counts))

    @property
    def values(self) -> Floats:
        """Count of each value, shape (10,): A, 2..9 and all ten-valued cards."""
        return np.array([*self.ranks[:TEN], add_up(self.ranks[TEN:])], np.float64)

    @property
    def cards(self) -> float:
        return add_up(self.ranks)

    def removals(self, by_rank: bool) -> dict[str, list[tuple[float, Composition]]]:
        """Return this shoe with one card removed, for each value it contains: letter -> [(probability, shoe)].

        by_rank: Distinguish ten-valued cards, with a case for each of their ranks.
        """
        removals: dict[str, list[tuple[float, Composition]]] = {}
        for rank, count in enumerate(self.ranks):
            letter = RANKS[min(rank, TEN)]
            if count and (by_rank or letter not in removals):
                left = Composition(tuple(held - (index == rank) for index, held in enumerate(self.ranks)))
                share = count / self.values[min(rank, TEN)] if by_rank else 1.0
                removals.setdefault(letter, []).append((float(share), left))
        return removals

    def pair_cases(self, value: int, known: Sequence[int], by_rank: bool) -> list[tuple[float, float]]:
        """Return the ways that two cards of one value, 0..9, can be a pair that may be split.

        `known` has the values of the dealer's known cards, which are also out of the shoe. Each way is (share,
        left): its share of the probability of being dealt two cards of this value, and the number of pair cards
        left afterwards. The shares sum to 1 unless only equal ranks are pairs (`by_rank`).
        """
        left = float(self.values[value]) - sum(card == value for card in known)
        if left < 2:
            return []
        if not by_rank or value < TEN:
            return [(1.0, left - 2)]
        cases: dict[float, float] = {}
        taken = sum(card == value for card in known)
        tens = range(TEN, len(RANKS))
        for dealers in product(tens, repeat=taken):
            counts = list(self.ranks)
            chance = 1.0
            for rank in dealers:
                chance *= counts[rank] / add_up(counts[TEN:])
                counts[rank] -= 1
            for rank in tens:
                share = chance * counts[rank] * (counts[rank] - 1) / (left * (left - 1))
                if share > 0:
                    cases[counts[rank] - 2] = cases.get(counts[rank] - 2, 0.0) + share
        return [(share, count) for count, share in cases.items()]


BITS = 6  # per card value in a key; a hand and its split partners hold fewer than 64 cards of one value
LOW = 2  # the dealer's cards of these values, aces and twos, are summed over last, by matrices
HIGH = range(VALUES - 1, LOW - 1, -1)
ROWS = 8  # of a matrix: such small ones are multiplied without starting threads


@dataclass(frozen=True)
class Hands:
    """All hands of two or more cards that total at most 21 with aces as 1, successors first.

    counts: cards by value, shape (H, 10). child: the hand after drawing each value, shape (H, 10); -1 for a bust.
    key: the counts packed into one integer. two: index of each two-card hand, shape (10, 10).
    """

    counts: Ints
    child: Ints
    key: Ints
    two: Ints

    @property
    def size(self) -> Ints:
        """Number of cards in each hand, shape (H,)."""
        total: Ints = self.counts.sum(axis=1)
        return total

    def find(self, values: Iterable[int]) -> int:
        """Return the index of the hand of cards with these values."""
        return self._numbers[tuple(sorted(values))]

    @cached_property
    def _numbers(self) -> dict[tuple[int, ...], int]:
        counts = self.counts.tolist()
        return {tuple(v for v in range(VALUES) for _ in range(hand[v])): n for n, hand in enumerate(counts)}


def encode_counts(counts: Ints) -> Ints:
    """Pack multisets of card values into one integer each."""
    packed: Ints = (counts << (BITS * np.arange(VALUES, dtype=np.int64))).sum(axis=-1)
    return packed


def decode_counts(keys: Ints) -> Ints:
    """Unpack the integers of `encode_counts`; shape (..., 10)."""
    return (keys[..., None] >> (BITS * np.arange(VALUES, dtype=np.int64))) & ((1 << BITS) - 1)


@lru_cache(maxsize=1)
def all_hands() -> Hands:
    """Return the 3,072 hands of two or more cards."""
    found: list[tuple[int, ...]] = []

    def extend(counts: tuple[int, ...], first: int, points: int) -> None:
        if sum(counts) >= 2:
            found.append(counts)
        for value in range(first, VALUES):
            if points + value + 1 <= 21:
                extend((*counts[:value], counts[value] + 1, *counts[value + 1 :]), value, points + value + 1)

    extend((0,) * VALUES, 0, 0)
    counts = np.array(found, np.int64)
    counts = counts[np.argsort(-counts @ np.arange(1, VALUES + 1), kind="stable")]
    key = encode_counts(counts)
    order = np.argsort(key)
    child = np.full(counts.shape, -1, np.int64)
    two = np.full((VALUES, VALUES), -1, np.int64)
    for value in range(VALUES):
        child[:, value] = _find(key, order, key + (1 << (BITS * value)))
        two[value] = _find(key, order, (1 << (BITS * value)) + (1 << (BITS * np.arange(VALUES, dtype=np.int64))))
    return Hands(counts, child, key, two)


def _find(key: Ints, order: Ints, wanted: Ints) -> Ints:
    """Return the index of each of `wanted` in `key`, or -1."""
    index = order[np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)]
    return np.where(key[index] == wanted, index, -1)


class Removed:
    """Multisets of removed cards; `keys` are packed by `encode_counts`, sorted and distinct, (G,).

    `counts` are cards by value, (G, 10), and `sizes` the number of cards, (G,).
    """

    def __init__(self, keys: Ints) -> None:
        self.keys = keys
        self.counts = decode_counts(keys)
        self.sizes = self.counts.sum(axis=1)

    @cached_property
    def steps(self) -> list[tuple[Ints, Ints]]:
        """By value from ten to LOW: for the distinct cards of this value and higher, the index of those of higher
        values in the step before, and the number of cards of this value."""
        steps, higher = [], np.zeros(1, np.int64)
        for value in HIGH:
            cards = _distinct(self.keys >> BITS * value)
            steps.append((np.searchsorted(higher, cards >> BITS), cards & ((1 << BITS) - 1)))
            higher = cards
        return steps

    @cached_property
    def groups(self) -> list[tuple[Ints, Ints, Ints, Ints, Ints]]:
        """Return the multisets by the number of cards above LOW.

        Each group has the indices of the high cards in the last step, in rows of ROWS; the distinct low cards by
        value and in total, (LOW, n) and (n,); the multisets; and their index in a table of high by low cards.
        """
        higher = _distinct(self.keys >> BITS * LOW)
        sizes, high = decode_counts(higher).sum(axis=1), np.searchsorted(higher, self.keys >> BITS * LOW)
        groups = []
        for size in np.unique(sizes):
            rows, members = np.flatnonzero(sizes == size), np.flatnonzero(sizes[high] == size)
            low, column = np.unique(self.keys[members] & ((1 << BITS * LOW) - 1), return_inverse=True)
            counts = decode_counts(low)[:, :LOW].T
            at = np.searchsorted(rows, high[members]) * len(low) + column
            groups.append(
                (np.resize(rows, (-(-len(rows) // ROWS), ROWS)), counts, size + counts.sum(axis=0), members, at)
            )
        return groups


def _distinct(keys: Ints) -> Ints:
    return keys[np.flatnonzero(np.diff(keys, prepend=-1))]


@dataclass(frozen=True)
class Tree:
    """The split hands of one pair.

    hands: their indices, successors first. two: position in the tree of the two-card hand with each second card, (10,).
    starts: first node of the tree for each number of further pair cards removed.
    """

    hands: Ints
    two: Ints
    starts: tuple[int, ...]

    def second(self, gone: int) -> Ints:
        """Return the nodes of the split hand with each second card, `gone` further pair cards removed; shape (10,)."""
        return self.starts[gone] + self.two

    def span(self, gone: int) -> tuple[int, int]:
        """Return the half-open range of nodes with `gone` further pair cards removed."""
        return self.starts[gone], self.starts[gone] + len(self.hands)


@dataclass(frozen=True, eq=False)
class Layout:
    """All nodes; each is equal to itself only.

    hand: the hand of each node, shape (N,). child: its successors, shape (10, N); N for a bust.
    gone: index into `removed` of the removed cards, including those of the hand, shape (N,).
    trees: by value of the pair, then those with bets of the house; None if never split.
    pairs: the first of the ten nodes of pairs as dealt. block: the number of nodes before those of hands that have
    doubled.
    """

    hand: Ints
    child: Ints
    gone: Ints
    removed: Removed
    trees: tuple[Tree | None, ...]
    pairs: int
    block: int

    @cached_property
    def doubled(self) -> Ints | None:
        """The successors of hands that double, (10, N), N for a bust; None if no hand has a choice after it."""
        if self.block == self.pairs:
            return None
        bust = len(self.hand)
        after = np.full_like(self.child, bust)
        plain = self.child[:, : self.block]
        for low in range(self.block, self.pairs, self.block):
            after[:, low - self.block : low] = np.where(plain == bust, bust, plain + low)
        pairs = self.child[:, self.pairs :]
        after[:, self.pairs :] = np.where(pairs == bust, bust, pairs + self.block)
        return after

    @property
    def blocks(self) -> range:
        """The first node of each block, successors first: those of hands that have not doubled are the last."""
        return range(self.pairs - self.block, -1, -self.block)

    @cached_property
    def free(self) -> int:
        """The first node of a split hand with a bet of the house."""
        starts = [tree.starts[0] for tree in self.trees[VALUES:] if tree is not None]
        return min(starts, default=self.block)


@lru_cache(maxsize=16)
def layout(most_gone: tuple[int, ...], aces_draw: bool, doubles: int = 0) -> Layout:
    """Return the nodes of a game.

    `most_gone` has, for each pair, the largest number of further pair cards removed after a split, -1 if never
    split, and ten more numbers for the split hands with bets of the house. `aces_draw` is whether split aces may
    draw more than one card, `doubles` the number of doubles after which a hand may have a choice.
    """
    hands = all_hands()
    hand, child, key = [np.arange(len(hands.key), dtype=np.int64)], [hands.child], [hands.key]
    trees: list[Tree | None] = []
    at = len(hands.key)
    for number, most in enumerate(most_gone):
        value = number % VALUES
        if most < 0:
            trees.append(None)
            continue
        only_two = value == 0 and not aces_draw
        held = np.flatnonzero((hands.counts[:, value] > 0) & ((hands.size == 2) | (not only_two)))
        index = np.full(len(hands.key) + 1, -1, np.int64)
        index[held] = np.arange(len(held))
        local = index[hands.child[held]]
        starts = tuple(at + gone * len(held) for gone in range(most + 1))
        for gone, start in enumerate(starts):
            hand.append(held)
            child.append(np.where(local < 0, -1, local + start))
            key.append(hands.key[held] + ((1 + gone) << (BITS * value)))
        trees.append(Tree(held, index[hands.two[value]], starts))
        at += len(starts) * len(held)
    pairs = np.diagonal(hands.two)
    keys = np.concatenate([*key, hands.key[pairs], np.zeros(1, np.int64)])
    distinct, gone_index = np.unique(keys, return_inverse=True)
    first = at * (1 + doubles)
    child += [np.full((first - at, VALUES), -1, np.int64), hands.child[pairs]]
    children = np.concatenate(child).T.copy()
    return Layout(
        np.concatenate([*hand * (1 + doubles), pairs]),
        np.where(children < 0, first + len(pairs), children),
        np.concatenate([np.tile(gone_index[:at], 1 + doubles), gone_index[at:-1]]).astype(np.int64),
        Removed(distinct),
        tuple(trees),
        first,
        at,
    )


def moved(acts: Acts, old: Layout, new: Layout) -> Acts:
    """Transfer actions to the nodes of another shoe, if play after a split ignores the removed cards."""
    result = np.full(len(new.hand), CODES["S"], np.int8)
    dealt = len(all_hands().key)
    result[new.pairs :] = acts[old.pairs :]
    for one, other in zip(old.blocks, new.blocks, strict=True):
        taken, given = acts[one : one + old.block], result[other : other + new.block]
        given[:dealt] = taken[:dealt]
        for before, after in zip(old.trees, new.trees, strict=True):
            if before is not None and after is not None:
                for gone in range(len(after.starts)):
                    given[slice(*after.span(gone))] = taken[slice(*before.span(0))]
    return result

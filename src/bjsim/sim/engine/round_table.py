"""The round table: the rounds of one seat as rows, where every card takes one lookup.

The states of `transitions.py` are followed over all possible cards, and equal ones are merged, which leaves about a
thousand rows, or ten times as many with splits. Whatever plays rounds walks these rows and knows no blackjack.

The end of each hand and of each round is logged, and the payoffs are computed from this log. A round without splits
logs one entry. Each split hand logs one for its payoffs by the dealer's outcome, and the last one has that outcome. A
round that needs more hands than the table has room for, which is very unlikely, leaves it.

Where a chart has choices, the rows ask for the action: their entries are those of actions instead of cards.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.kernels.layout import CHOICE, INSURE, CompiledRules
from bjsim.sim.engine.transitions import DEALER, LEAVES, OVER, UNLIKELY, Moves, Transitions, rank_probabilities
from bjsim.sim.game.cards import RANKS, TEN

ACTIONS = 1 + INSURE  # codes of actions
ASKS = 2  # the kind of a row that asks for an action
LEFT = 1  # the row of rounds that have left the table; rounds begin in row 0


class LeftTable(Exception):
    """A round left the table."""


class RoundTable(NamedTuple):
    """The table of the rounds of one seat; int64 arrays."""

    after: Array  # the row after a card of each rank, (rows, 13). Row 0 is the start of a round, which follows its end.
    # what the card logs, (rows, 13): 0 if nothing ends, 1 + e if a round ends with end e, 1 + E + h if split hand h
    # ends and others follow
    log: Array
    forced: Array  # whether the seat decides nothing before its next card, bool (rows, 13)
    kind: Array  # 1 for rows where the dealer draws after the player, 2 for rows that ask for an action, (rows,)
    choice: Array  # the number of the choice in a row that asks, (rows,). The entries of such a row are those of codes.
    height: Array  # the most cards to the end of the round, or to a row that it may return to, (rows,)
    # payoff code and dealer's outcome of each end, (E, 2). The last, (0, 0), is of rounds that left the table.
    ends: Array
    hands: Array  # payoff code of a split hand by the dealer's outcome, (H, O)


class _States(NamedTuple):
    """All states that a round can reach: (n,) arrays, and (n, W) arrays by rank or code."""

    kind: Array
    choice: Array
    repeats: Array
    after: Array  # their indices, OVER or LEAVES
    label: Array
    decided: Array
    start: int


def make_round_tables(compiled: CompiledRules, unlikely: float = UNLIKELY) -> tuple[list[RoundTable], Array]:
    """The tables of the different charts, which number ends alike, and each seat's table, (seats,)."""
    _, first, chart = np.unique(compiled.act, axis=0, return_index=True, return_inverse=True)
    reached = []
    for seat in first.tolist():
        transitions = Transitions(compiled, seat, unlikely)
        reached.append(_explore(transitions, count_ranks(compiled.add, compiled.dealer_add)))
    used = np.unique(np.concatenate([states.label.ravel() for states in reached]))
    vectors, probabilities = transitions.vectors.codes, rank_probabilities(compiled)
    ends = np.append(transitions.ends(used[used >= len(vectors)]), [[0, 0]], axis=0)
    tables = [_tabulate(states, used, ends, vectors, probabilities) for states in reached]
    return tables, chart.ravel()


def _tabulate(states: _States, used: Array, ends: Array, hands: Array, probabilities: Array) -> RoundTable:
    label, ending = states.label, used[used >= len(hands)]
    log = np.where(label >= len(hands), 1 + np.searchsorted(ending, label), np.where(label, 1 + len(ends) + label, 0))
    first, number, height = _merge(states)
    after = np.where(states.after[first] < 0, states.after[first], number[states.after[first]])
    row = _place(after, height[first], int(number[states.start]), probabilities)
    columns = np.minimum(np.arange(len(RANKS)), after.shape[1] - 1)
    classes = np.argsort(row)  # in the order of their rows
    classes = np.insert(classes, LEFT, classes[0])

    def arrange(array: Array, left: int) -> Array:
        """By row, from an array by state."""
        arranged: Array = array[first][classes]
        arranged[LEFT] = left
        return arranged

    to = np.where(after == OVER, 0, np.where(after == LEAVES, LEFT, row[after]))[classes][:, columns]
    to[LEFT] = LEFT
    return RoundTable(
        after=to,
        log=arrange(log, 0)[:, columns],
        forced=~arrange(states.decided, 1)[:, columns],
        kind=arrange(states.kind, 0),
        choice=arrange(states.choice, 0),
        height=arrange(height, 0),
        ends=ends,
        hands=hands,
    )


def explore(fresh: Array, follow: Callable[[Array], Array]) -> Array:
    """Follow states, ascending, and all that they lead to. Returns: all of them, ascending.

    `follow` gives what states lead to, negative where that is no state. It gets each state once.
    """
    known = fresh
    while len(fresh):
        after = np.sort(follow(fresh), axis=None)  # `unique` is slower
        after = after[(after >= 0) & np.append(after[1:] != after[:-1], True)]
        fresh = after[known[np.searchsorted(known, after).clip(max=len(known) - 1)] != after]
        known = np.sort(np.concatenate([known, fresh]), kind="stable")  # merges two runs, in a third of the time
    return known


def _explore(transitions: Transitions, ranks: int) -> _States:
    found: list[tuple[Array, ...]] = []

    def follow(fresh: Array) -> Array:
        asks, before = transitions.asks(fresh), len(found)
        for words, width in ((fresh[~asks], ranks), (fresh[asks], ACTIONS)):
            if len(words):
                found.append(_follow_all(transitions, words, width, max(ranks, ACTIONS)))
        return np.concatenate([parts[4] for parts in found[before:]])

    explore(transitions.start, follow)
    word, kind, choice, repeats, after, label, decided = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(word)
    index = order[np.searchsorted(word, np.maximum(after, 0), sorter=order).clip(max=len(word) - 1)]
    start = int(np.flatnonzero(word == transitions.start[0])[0])
    return _States(kind, choice, repeats, np.where(after < 0, after, index), label, decided, start)


def _follow_all(transitions: Transitions, words: Array, width: int, most: int) -> tuple[Array, ...]:
    """The fields of `_States` before `start` for states that take as many ranks or codes, and first their numbers."""
    moves = transitions.follow(np.repeat(words, width), np.tile(np.arange(width), len(words)))
    moves = Moves(*[np.pad(field.reshape(len(words), width), ((0, 0), (0, most - width)), "edge") for field in moves])
    if width != ACTIONS or not transitions.asks(words)[0]:
        kind, no = (transitions.unpack(words).what == DEALER).astype(np.int64), np.zeros_like(words)
        return words, kind, no, transitions.repeats(words), *moves
    cell = transitions.choices(words)
    taken = np.arange(most) < ACTIONS
    taken = taken & (cell[:, None] >> np.arange(most) & 1 > 0)
    return (
        words, np.full(len(words), ASKS, np.int64), cell // CHOICE - 1, np.zeros(len(words), np.bool_),
        np.where(taken, moves.word, OVER), np.where(taken, moves.label, 0), moves.decided & taken,
    )  # fmt: skip


def _merge(states: _States) -> tuple[Array, Array, Array]:
    """Merge states with the same future, those nearest to the end of the round first.

    Return a state of each class; the class of each state; and its height, see `_heights`.
    """
    height = _heights(states)
    again = np.flatnonzero(states.repeats)  # each is a class of its own, as others of the same level may lead to it
    number, first, count = np.zeros(len(height), np.int64), [again], len(again)
    number[again] = np.arange(count)
    own = [states.label, states.kind[:, None], states.choice[:, None], states.decided]
    labels = np.concatenate(own, axis=1)
    for level in range(1, height.max() + 1):
        at = np.flatnonzero((height == level) & ~states.repeats)
        after = np.where(states.after[at] < 0, states.after[at], number[states.after[at]])
        one, classes = distinct_rows(np.concatenate([labels[at], after], axis=1))
        number[at] = count + classes
        first.append(at[one])
        count += len(one)
    return np.concatenate(first), number, height


def _heights(states: _States) -> Array:
    """The most cards from each state to the end of the round, or to a state that it may return to."""
    ends = (states.after < 0) | states.repeats[states.after]
    after = np.where(ends, len(ends), states.after).astype(np.int32)
    height = np.append(np.ones(len(ends), np.int64), 0)
    higher, level = np.arange(len(ends)), 1
    while len(higher):
        higher = higher[(height[after[higher]] == level).any(axis=1)]
        level += 1
        height[higher] = level
    return height[:-1]


def distinct_rows(rows: Array) -> tuple[Array, Array]:
    """One row of each kind, and the kind of each row."""
    mixed = np.random.default_rng(0).integers(1, 1 << 62, rows.shape[1], dtype=np.int64) | 1
    _, first, kind = np.unique((rows * mixed).sum(axis=1), return_index=True, return_inverse=True)  # modulo 2**64
    if (rows[first][kind] == rows).all():
        return first, kind
    _, first, kind = np.unique(rows, axis=0, return_index=True, return_inverse=True)  # two kinds had the same sum
    return first, kind.ravel()


def _place(after: Array, height: Array, start: int, probabilities: Array) -> Array:
    """The row of each class: the start is 0, LEFT has none, and the most frequent of the others come first."""
    weights = np.zeros(len(after))
    weights[start] = 1.0
    share = np.append(probabilities[: after.shape[1] - 1], probabilities[after.shape[1] - 1 :].sum())
    for level in range(height.max(), 0, -1):
        at = np.flatnonzero(height == level)
        to, flow = after[at], weights[at, None] * share
        weights += np.bincount(to[to >= 0].astype(np.intp), flow[to >= 0], len(after))
    weights[start] = 2.0  # no other row is visited more than once in a round
    row = np.empty(len(after), np.int64)
    row[np.argsort(-weights, kind="stable")] = np.arange(len(after))
    return np.where(row > 0, row + 1, 0)


def count_ranks(*arrays: Array) -> int:
    """How many ranks arrays by rank, (.., 13), distinguish: all, unless cards of value ten are alike."""
    alike = all((array[:, TEN:] == array[:, [TEN]]).all() for array in arrays)
    return TEN + 1 if alike else len(RANKS)

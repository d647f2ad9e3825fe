"""Writing the rows of the lookup table (`lookup_table.py`): follows compiled rules over all possible cards.

A hash table has the states that were visited. A row is finished before the rows that lead to it, so that rows with
equal successors are recognized as equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.undecided import DEAL, DRAW, LEAVES, Undecided, follow, pack, unpack

CARDS = 13
TOO_LARGE = -1


@compiled(_nrt=False, forceinline=True)
def find_slot(words: Any, word: Any) -> Any:
    """The slot of the hash table that has a word, or the empty slot for it; empty slots have 0."""
    mask = np.uint64(len(words) - 1)
    slot = (np.uint64(word) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
    while words[slot] != 0 and words[slot] != word:
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled(_nrt=False, forceinline=True)
def number_of_row(table: Any, rows: Any, numbers: Any) -> Any:
    """The number of the row last written, or of an equal earlier one; `numbers` is the hash table of rows."""
    hashed = np.uint64(0)
    for rank in range(CARDS + 1):
        hashed = (hashed ^ np.uint64(table[rows, rank])) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(29)
    mask = np.uint64(len(numbers) - 1)
    slot = hashed & mask
    while numbers[slot] >= 0:
        same = True
        for rank in range(CARDS + 1):
            same = same and table[numbers[slot], rank] == table[rows, rank]
        if same:
            return np.int64(numbers[slot])
        slot = (slot + np.uint64(1)) & mask
    numbers[slot] = rows
    return rows


@compiled(_nrt=False)
def compile_rows(compiled: Any, logs: Any, distinct_ranks: Any, table: Any, work: Any) -> Any:
    """Write the rows of all states that a round can reach, from row 2 on; the start of a round is the last row.

    Args:
        compiled: The compiled rules, see `CompiledRules`.
        logs: The bytes to log, see `Logs`.
        distinct_ranks: The number of distinct ranks; later ranks equal the last of these.
        table: Output, uint32 (n, 14). An entry is the number of the next row, shifted left by 8, plus the logged byte.
            Row 0 means that the round ends, and row 1 that it leaves the table. The last column is 1 in the rows in
            which the dealer draws after the player, and 2 in those that ask for an action.
        work: Working memory, see `Work`.

    Returns:
        The number of rows, or TOO_LARGE if the arrays are too small.
    """
    words, row_of, path, slots, ranks, entries = (
        work.words,
        work.row_of,
        work.path,
        work.places,
        work.ranks,
        work.entries,
    )
    rows, depth, most = 2, 1, len(words) // 2
    path[0] = pack(Undecided(DEAL, 0, 0, 0, 0, 1, 0, 0, 0, 0))
    slots[0] = find_slot(words, path[0])
    words[slots[0]] = path[0]
    visited = 1
    while depth:
        top = depth - 1
        state = unpack(path[top])
        while depth == top + 1 and ranks[top] < distinct_ranks:
            rank = ranks[top]
            byte, word = follow(compiled, logs, state, rank)
            row = 1 if word == LEAVES else 0
            if word >= 0:
                slot = find_slot(words, word)
                if words[slot] == 0:
                    if visited == most or depth == len(path):
                        return TOO_LARGE
                    words[slot] = path[depth] = word
                    slots[depth], ranks[depth] = slot, 0
                    visited += 1
                    depth += 1
                    continue
                row = row_of[slot]
            entries[top, rank] = np.uint32(row << 8 | byte)
            ranks[top] += 1
        if depth == top + 1:
            if rows == len(table):
                return TOO_LARGE
            for rank in range(CARDS):
                table[rows, rank] = entries[top, min(rank, distinct_ranks - 1)]
            table[rows, CARDS] = max(state.what - DRAW, 0)
            number = number_of_row(table, rows, work.numbers)
            rows += number == rows
            row_of[slots[top]] = number
            depth -= 1
    return rows


@compiled(_nrt=False)
def weigh(table: Any, weights: Any) -> None:
    """Compute how often play visits each row per visit to the last row, for ranks of equal probability.

    weights: output, initially zeros.
    """
    weights[len(table) - 1] = 1.0
    for i in range(len(table) - 2):
        row = len(table) - 1 - i
        for rank in range(CARDS):
            weights[table[row, rank] >> 8] += weights[row] / CARDS

"""Writes the rows of the table of rounds (`fold.py`): follows a plan over all cards that can come.

A hash table knows what was met already. A row is finished before those that lead to it, so that two that lead to the
same are seen to be one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.undecided import DEAL, LEAVES, Undecided, follow, pack, unpack

CARDS = 13
TOO_LARGE = -1


@compiled(_nrt=False, forceinline=True)
def place_of(words: Any, word: Any) -> Any:
    """Where the hash table has a word, or has room for it; empty places hold 0."""
    mask = np.uint64(len(words) - 1)
    place = (np.uint64(word) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
    while words[place] != 0 and words[place] != word:
        place = (place + np.uint64(1)) & mask
    return place


@compiled(_nrt=False, forceinline=True)
def number_of_row(table: Any, rows: Any, numbers: Any) -> Any:
    """The number of the row last written, or of an equal one before it; `numbers` is the hash table of rows."""
    hashed = np.uint64(0)
    for rank in range(CARDS):
        hashed = (hashed ^ np.uint64(table[rows, rank])) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(29)
    mask = np.uint64(len(numbers) - 1)
    place = hashed & mask
    while numbers[place] >= 0:
        same = True
        for rank in range(CARDS):
            same = same and table[numbers[place], rank] == table[rows, rank]
        if same:
            return np.int64(numbers[place])
        place = (place + np.uint64(1)) & mask
    numbers[place] = rows
    return rows


@compiled(_nrt=False)
def fold_rows(plan: Any, logs: Any, different: Any, table: Any, work: Any) -> Any:
    """Write the rows of all that the start of a round may lead to, from row 2 on; the start is the last of them.

    different: ranks from the last of these on are alike. table (n, 13), uint32: an entry is the number of the row that
    follows, 0 where the round ends and 1 where it leaves, shifted by 8, and the byte that is logged. work: see `Work`.
    Returns: how many rows there are, or TOO_LARGE if the arrays are too small.
    """
    words, row_of, path, places, ranks, entries = (
        work.words,
        work.row_of,
        work.path,
        work.places,
        work.ranks,
        work.entries,
    )
    rows, depth, most = 2, 1, len(words) // 2
    path[0] = pack(Undecided(DEAL, 0, 0, 0, 0, 1, 0, 0, 0, 0))
    places[0] = place_of(words, path[0])
    words[places[0]] = path[0]
    met = 1
    while depth:
        top = depth - 1
        it = unpack(path[top])
        while depth == top + 1 and ranks[top] < different:
            rank = ranks[top]
            byte, word = follow(plan, logs, it, rank)
            row = 1 if word == LEAVES else 0
            if word >= 0:
                place = place_of(words, word)
                if words[place] == 0:
                    if met == most or depth == len(path):
                        return TOO_LARGE
                    words[place] = path[depth] = word
                    places[depth], ranks[depth] = place, 0
                    met += 1
                    depth += 1
                    continue
                row = row_of[place]
            entries[top, rank] = np.uint32(row << 8 | byte)
            ranks[top] += 1
        if depth == top + 1:
            if rows == len(table):
                return TOO_LARGE
            for rank in range(CARDS):
                table[rows, rank] = entries[top, min(rank, different - 1)]
            number = number_of_row(table, rows, work.numbers)
            rows += number == rows
            row_of[places[top]] = number
            depth -= 1
    return rows


@compiled(_nrt=False)
def weigh(table: Any, weights: Any) -> None:
    """How often play comes to each row, from zeros, for each time that it comes to the last; every rank as likely."""
    weights[len(table) - 1] = 1.0
    for i in range(len(table) - 2):
        row = len(table) - 1 - i
        for rank in range(CARDS):
            weights[table[row, rank] >> 8] += weights[row] / CARDS

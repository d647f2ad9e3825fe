"""Pairings: which bots share a table in each match. Pure functions that pair all bots as equally often as possible.

Properties of the numbers of times that two bots have been paired (tested for 2 to 40 bots):

| bots | largest difference after any match | all equal after |
|---|---|---|
| 2, 3, 4 | 0 | every match |
| 9, 15, 16, 27, 28, 39, 40 | 1 | 4, 5, 5, 9, 9, 13, 13 matches |
| 5, 7, 8, 10, 11 | 2 | 10, 7, 7, 15, 11 matches |
| 6, 12 | 3 (after few of them, else 2) | 10, 11 matches |
| others to 40 | 2; 1 again within 12 matches | |

A difference of 1 after every match is not always possible. With fewer than k tables of k seats (5 to 8 and 10 to 12
bots), some table of the second match must hold two bots from one table of the first, while other bots have not been
paired yet. For 6 bots not even a difference of 2 is possible: an exhaustive search ends in the fifth match. For 20
bots six matches without a repeated pair would be a resolvable design that is known not to exist (a 4-RGDD of type
2^10). For the other numbers we know neither a schedule nor a proof that there is none.

Sources: for 3 q + 1 bots with q = 5, 9, 13 R. C. Bose's resolvable designs (Handbook of Combinatorial Designs, 2nd ed.,
II.7: resolvable (v, 4, 1) designs); for 9 bots the affine plane of order 3; the others of `TABLES` were found by
search. With one bot fewer the last seat stays empty, at one table of each match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, cycle

from bjsim.bots.contest.config import LARGEST_TABLE
from bjsim.sim.game.shoe import mix
from bjsim.sums import add_up

Tables = list[list[int]]  # the bots at each table of one match

# For each number of bots a cycle of matches: the bots (as digits, A = 10, B = 11) at each table.
TABLES = {
    6: """012 345  023 145  234 015  123 045  134 025  013 245  024 135  034 125  124 035  014 235""",
    8: """0136 2457  0345 1267  0157 2346  0467 1235  0256 1347  0237 1456  0124 3567""",
    9: """012 345 678  036 147 258  048 156 237  057 138 246""",
    10: """0589 346 127  1348 029 567  1569 047 238  0168 379 245  0135 246 789  3469 157 028  0237 148 569
        3678 129 045  4789 235 016  1246 037 589  2358 069 147  0249 135 678  2567 018 349  0457 268 139
        1279 458 036""",
    12: """0237 146B 589A  1578 069B 234A  048A 139B 2567  126A 035B 4789  2459 368B 017A  2689 17AB 0345
        1348 257B 069A  379A 028B 1456  356A 479B 0128  0467 58AB 1239  0159 24AB 3678""",
}
_NINE = (1, 4, 6, 7, 2, 8, 3, 5)  # powers of 1 + i in the field of nine elements a + b i, encoded as a + 3 b
MOST_SEARCHED = 200  # bots
_STARTS = 6  # searches per match
_SLACK = 1e-6  # minimum gain of a swap, so that rounding errors cannot cause a cycle
_EMPTY_PAIR = 10**3  # cost of two empty seats at one table, in pairings


def seatings(bots: int) -> Iterator[Tables]:
    """Yield each match's tables, endlessly: the fewest of up to four seats, in sizes that differ by at most 1."""
    if bots <= LARGEST_TABLE:
        yield from cycle([[list(range(bots))]])
    design = _design(bots) or _design(bots + 1)
    if design:
        yield from cycle([[[bot for bot in table if bot < bots] for table in match] for match in design])
    yield from _searched(bots)


# --- designs: after a cycle of matches all pairs have been paired equally often


def _design(bots: int) -> list[Tables] | None:
    """A cycle of matches for this number of bots, if a design is known."""
    if bots in TABLES:
        words = TABLES[bots].split()
        tables = [[int(digit, 16) for digit in word] for word in words]
        per_match = -(-bots // LARGEST_TABLE)
        return [tables[first : first + per_match] for first in range(0, len(tables), per_match)]
    return _bose((bots - 1) // 3) if bots in (16, 28, 40) else None


def _bose(q: int) -> list[Tables]:
    """Pair all of 3 q + 1 bots exactly once in q matches; q = 5, 9 or 13.

    Bot j q + x is element x of the field of q elements in layer j of three; the last bot is the point at infinity. With
    t = (q - 1) / 4 and a primitive element r, the first match has a table of infinity and the zeros of all layers, and
    tables of r^i, r^(i + 2t) in layer j with r^(i + t), r^(i + 3t) in the next, for i < t. Adding s gives match s.
    """
    powers = _NINE if q == 9 else _powers(q)
    t = (q - 1) // 4
    infinity = 3 * q
    first = [[infinity, 0, q, 2 * q]]
    for i in range(t):
        for j in range(3):
            layer, above = j * q, (j + 1) % 3 * q
            first.append(
                [layer + powers[i], layer + powers[i + 2 * t], above + powers[i + t], above + powers[i + 3 * t]]
            )
    return [
        [[bot if bot == infinity else bot // q * q + _sum(q, bot % q, s) for bot in table] for table in first]
        for s in range(q)
    ]


def _powers(q: int) -> list[int]:
    """Powers of 2 modulo q; 2 is a primitive element for 5 and 13."""
    return [pow(2, i, q) for i in range(q - 1)]


def _sum(q: int, a: int, b: int) -> int:
    return (a + b) % q if q != 9 else (a + b) % 3 + 3 * ((a // 3 + b // 3) % 3)


# --- local search: swap bots between tables to avoid repeated pairs, from several starts


def _searched(bots: int) -> Iterator[Tables]:
    """Search each match; empty seats take part as extra bots that are never paired with each other.

    Many bots are shuffled: a search takes time that grows with the square of their number, and they rarely meet twice.
    """
    tables = -(-bots // LARGEST_TABLE)
    if bots > MOST_SEARCHED:
        for match in count():
            order = _shuffled(bots, mix(match + 1))
            yield [sorted(order[table::tables]) for table in range(tables)]
    seats = tables * LARGEST_TABLE
    paired = [[0.0] * seats for _ in range(seats)]
    for a in range(bots, seats):
        for b in range(bots, seats):
            paired[a][b] = _EMPTY_PAIR
    match = 0
    while True:
        groups = _fewest_repeats(paired, match)
        for group in groups:
            for a in group:
                for b in group:
                    paired[a][b] += a != b
        _average_empty_seats(paired, bots)
        yield [[bot for bot in group if bot < bots] for group in groups]
        match += 1


def _average_empty_seats(paired: list[list[float]], bots: int) -> None:
    """Spread each pairing with an empty seat over all empty seats, which are interchangeable."""
    empty = range(bots, len(paired))
    for bot in range(bots) if empty else ():
        share = add_up(paired[bot][seat] for seat in empty) / len(empty)
        for seat in empty:
            paired[bot][seat] = paired[seat][bot] = share


def _fewest_repeats(paired: Sequence[Sequence[float]], match: int) -> Tables:
    """Tables that keep the numbers of pairings level: the best of several searches."""
    count = len(paired)
    low = min(paired[a][b] for a in range(count) for b in range(a))
    cost = [[(n - low) * (n - low + 1) for n in row] for row in paired]
    return min(_search(cost, _shuffled(count, mix(match * _STARTS + start + 1))) for start in range(_STARTS))[1]


def _search(cost: list[list[float]], order: list[int]) -> tuple[float, Tables]:
    """Swap bots between tables while that lowers the total cost; returns (cost, tables)."""
    count = len(order)
    table_of = [0] * count
    groups = [order[first : first + LARGEST_TABLE] for first in range(0, count, LARGEST_TABLE)]
    for table, group in enumerate(groups):
        for bot in group:
            table_of[bot] = table
    cost_at = [[add_up(cost[bot][x] for x in group if x != bot) for group in groups] for bot in range(count)]
    improved = True
    while improved:
        improved = False
        for a in order:
            for b in order:
                s, t = table_of[a], table_of[b]
                if s == t or cost_at[a][t] + cost_at[b][s] - 2 * cost[a][b] > cost_at[a][s] + cost_at[b][t] - _SLACK:
                    continue
                for x in range(count):
                    change = (cost[x][b] if x != b else 0) - (cost[x][a] if x != a else 0)
                    cost_at[x][s] += change
                    cost_at[x][t] -= change
                table_of[a], table_of[b] = t, s
                improved = True
    groups = [[bot for bot in range(count) if table_of[bot] == table] for table in range(len(groups))]
    return add_up(cost_at[bot][table_of[bot]] for bot in range(count)), groups


def _shuffled(count: int, key: int) -> list[int]:
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        key = mix(key + i)
        j = key % (i + 1)
        order[i], order[j] = order[j], order[i]
    return order

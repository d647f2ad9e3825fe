"""Who meets whom: the tables of match after match, pure, so that all bots meet equally often, as nearly as can be.

What is promised of the numbers of times that any two bots have met (tested for 2 to 40 bots):

| bots | after every match they differ by at most | and are all equal after |
|---|---|---|
| 2, 3, 4 | 0 | every match |
| 9, 15, 16, 27, 28, 39, 40 | 1 | 4, 5, 5, 9, 9, 13, 13 matches |
| 5, 7, 8, 10, 11 | 2 | 10, 7, 7, 15, 11 matches |
| 6, 12 | 3 (after few of them, else 2) | 10, 11 matches |
| others to 40 | 2; 1 again within 12 matches | |

One at most after every match cannot be had everywhere. With tables of k and fewer than k tables (5 to 8 and 10 to 12
bots) a table of the second match must hold two of the same table of the first, while other bots have not met yet. 6
bots cannot even be kept within 2: a search of all ways to seat them ends in the fifth match. With 20 bots six matches
without a second meeting would be a resolvable design that is known not to exist (a 4-RGDD of type 2^10). For the rest
we know neither a way nor a proof that there is none.

Sources: for 3 q + 1 bots, q = 5, 9, 13, R. C. Bose's resolvable designs (Handbook of Combinatorial Designs, 2nd ed.,
II.7: resolvable (v, 4, 1) designs), for 9 the affine plane of order 3; the others of `TABLES` were found by search.
With one bot less the last place stays empty, at one table of each match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle

from bjsim.sim.game.random_stream import mix

LARGEST_TABLE = 4
Tables = list[list[int]]  # the bots at each table of one match

# A cycle of matches: in each the bots (as digits, A = 10, B = 11) at each table.
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
_NINE = (1, 4, 6, 7, 2, 8, 3, 5)  # the powers of 1 + i in the field of nine elements a + b i, written a + 3 b
_STARTS = 6
_SLACK = 1e-6  # what a swap must save, so that rounding never makes it go in circles
_APART = 10**3  # what two empty chairs at one table cost, in meetings


def seatings(bots: int) -> Iterator[Tables]:
    """The tables of each match, without end: as few of up to four as hold all bots, sizes differing by one at most."""
    if bots <= LARGEST_TABLE:
        yield from cycle([[list(range(bots))]])
    design = _design(bots) or _design(bots + 1)
    if design:
        yield from cycle([[[bot for bot in table if bot < bots] for table in match] for match in design])
    yield from _searched(bots)


# --- designs: after a cycle of matches all pairs have met equally often


def _design(bots: int) -> list[Tables] | None:
    """A cycle of matches for so many bots, where one is known here."""
    if bots in TABLES:
        words = TABLES[bots].split()
        tables = [[int(letter, 16) for letter in word] for word in words]
        each = -(-bots // LARGEST_TABLE)
        return [tables[first : first + each] for first in range(0, len(tables), each)]
    return _bose((bots - 1) // 3) if bots in (16, 28, 40) else None


def _bose(q: int) -> list[Tables]:
    """All pairs of 3 q + 1 bots once each in q matches; q = 5, 13, or 9.

    Bot j q + x stands for element x of the field of q elements in layer j of three, the last one for infinity. With
    t = (q - 1) / 4 and r a primitive element the first match has a table of infinity and the zeros of all layers, and
    tables of r^i, r^(i + 2t) in layer j with r^(i + t), r^(i + 3t) in the next, for i < t. Adding s gives match s.
    """
    powers = _NINE if q == 9 else _powers(q)
    t = (q - 1) // 4
    last = 3 * q
    first = [[last, 0, q, 2 * q]]
    for i in range(t):
        for j in range(3):
            here, there = j * q, (j + 1) % 3 * q
            first.append([here + powers[i], here + powers[i + 2 * t], there + powers[i + t], there + powers[i + 3 * t]])
    return [
        [[bot if bot == last else bot // q * q + _sum(q, bot % q, s) for bot in table] for table in first]
        for s in range(q)
    ]


def _powers(q: int) -> list[int]:
    """1, 2, 4, ... modulo q; 2 is a primitive element of 5 and of 13."""
    return [pow(2, i, q) for i in range(q - 1)]


def _sum(q: int, a: int, b: int) -> int:
    return (a + b) % q if q != 9 else (a + b) % 3 + 3 * ((a // 3 + b // 3) % 3)


# --- a search: tables with the fewest earlier meetings that swapping two bots can reach, from several starts


def _searched(bots: int) -> Iterator[Tables]:
    """Empty chairs are more bots, who meet nobody twice at a table, and move about like the others."""
    tables = -(-bots // LARGEST_TABLE)
    chairs = tables * LARGEST_TABLE
    met = [[0.0] * chairs for _ in range(chairs)]
    for a in range(bots, chairs):
        for b in range(bots, chairs):
            met[a][b] = _APART
    match = 0
    while True:
        groups = _fewest_meetings(met, match)
        for group in groups:
            for a in group:
                for b in group:
                    met[a][b] += a != b
        _share_nobody(met, bots)
        yield [[bot for bot in group if bot < bots] for group in groups]
        match += 1


def _share_nobody(met: list[list[float]], bots: int) -> None:
    """Count a meeting with one empty chair as a share of a meeting with each: they are all alike."""
    nobody = range(bots, len(met))
    for bot in range(bots) if nobody else ():
        share = sum(met[bot][chair] for chair in nobody) / len(nobody)
        for chair in nobody:
            met[bot][chair] = met[chair][bot] = share


def _fewest_meetings(met: Sequence[Sequence[float]], match: int) -> Tables:
    """Tables that keep the numbers of meetings level; the best of several searches."""
    everybody = len(met)
    low = min(met[a][b] for a in range(everybody) for b in range(a))
    cost = [[(n - low) * (n - low + 1) for n in row] for row in met]
    return min(_search(cost, _shuffled(everybody, mix(match * _STARTS + start + 1))) for start in range(_STARTS))[1]


def _search(cost: list[list[float]], order: list[int]) -> tuple[float, Tables]:
    """Swap bots between tables while that lowers the cost. Returns: (cost of all pairs, tables)."""
    count = len(order)
    table_of = [0] * count
    groups = [order[first : first + LARGEST_TABLE] for first in range(0, count, LARGEST_TABLE)]
    for table, group in enumerate(groups):
        for bot in group:
            table_of[bot] = table
    ties = [[sum(cost[bot][x] for x in group if x != bot) for group in groups] for bot in range(count)]
    better = True
    while better:
        better = False
        for a in order:
            for b in order:
                s, t = table_of[a], table_of[b]
                if s == t or ties[a][t] + ties[b][s] - 2 * cost[a][b] > ties[a][s] + ties[b][t] - _SLACK:
                    continue
                for x in range(count):
                    change = (cost[x][b] if x != b else 0) - (cost[x][a] if x != a else 0)
                    ties[x][s] += change
                    ties[x][t] -= change
                table_of[a], table_of[b] = t, s
                better = True
    groups = [[bot for bot in range(count) if table_of[bot] == table] for table in range(len(groups))]
    return sum(ties[bot][table_of[bot]] for bot in range(count)), groups


def _shuffled(count: int, key: int) -> list[int]:
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        key = mix(key + i)
        j = key % (i + 1)
        order[i], order[j] = order[j], order[i]
    return order

"""The schedule: who sits where in each match. Pure: the same numbers give the same schedule, for ever.

Every bot plays at one table in each match, so all are dealt the same number of hands. With n bots there are
T = ceil(n / 4) tables of k = ceil(n / T) chairs; k T - n chairs, at most one to a table, stay empty. An empty chair is
treated as one more bot ("nobody"), who moves about like the others, so that short tables are shared out as well.

Chairs. In each run of k matches everybody sits once in every chair. That this is always possible is Kőnig's theorem:
bots and tables, joined where a bot sits at a table, are a bipartite graph in which all have k edges, and the edges of
such a graph can be coloured with k colours (the chairs) so that no two alike meet. So at every moment, for every bot,
the numbers of matches in its chairs differ by one at most.

Meetings. Each match takes, from several starts, the tables with the fewest earlier meetings that swapping two bots
can reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bjsim.bots.contest.config import HOUSE
from bjsim.sim.stream import mix

LARGEST_TABLE = 4
_STARTS = 6
_SLACK = 1e-6  # what a swap must save, so that rounding never makes it go in circles
_APART = 10**3  # what two empty chairs at one table cost, in meetings


class TablePlan(NamedTuple):
    """One table of one match: bot numbers in the order they are dealt; `shoe` is the block of its random stream."""

    match: int
    table: int
    shoe: int
    bots: tuple[int, ...]


def schedule(bots: int, duplicate: bool = False, house: bool = False) -> Iterator[list[TablePlan]]:
    """The tables of each match, match after match without end.

    bots: how many, from 2. duplicate: every match is played again, with the same shoes and the chairs rotated, until
    all have sat in every chair. house: empty chairs are filled by house players (number HOUSE), all tables being of
    four then.
    """
    tables, chairs = table_shape(bots, house)
    match = 0
    for shoe, seating in enumerate(_seatings(bots, tables, chairs)):
        for turn in range(chairs if duplicate else 1):
            yield [
                TablePlan(match, table, shoe, _present(seats[turn:] + seats[:turn], bots, house))
                for table, seats in enumerate(seating)
            ]
            match += 1


def table_shape(bots: int, house: bool = False) -> tuple[int, int]:
    """How many tables there are in a match, and how many chairs each has."""
    tables = -(-bots // LARGEST_TABLE)
    return tables, LARGEST_TABLE if house else -(-bots // tables)


def whole_matches(matches: int, bots: int, duplicate: bool = False, house: bool = False) -> int:
    """The number of matches, rounded up so that no shoe of a duplicate contest is left half played."""
    group = table_shape(bots, house)[1] if duplicate else 1
    return -(-matches // group) * group


def _present(seats: list[int], bots: int, house: bool) -> tuple[int, ...]:
    if house:
        return tuple(bot if bot < bots else HOUSE for bot in seats)
    return tuple(bot for bot in seats if bot < bots)


def _seatings(bots: int, tables: int, chairs: int) -> Iterator[list[list[int]]]:
    """For each match the tables, each a list of bots by chair; numbers from `bots` on are nobody."""
    everybody = tables * chairs
    met = [[0.0] * everybody for _ in range(everybody)]
    for a in range(bots, everybody):
        for b in range(bots, everybody):
            met[a][b] = _APART
    match = 0
    while True:
        run = []
        for _ in range(chairs):
            groups = _fewest_meetings(met, tables, chairs, match) if tables > 1 else [list(range(chairs))]
            for group in groups:
                for a in group:
                    for b in group:
                        met[a][b] += a != b
            _share_nobody(met, bots)
            run.append(groups)
            match += 1
        yield from _take_chairs(run, everybody, chairs)


# --- who meets whom


def _share_nobody(met: list[list[float]], bots: int) -> None:
    """Count a meeting with one empty chair as a share of a meeting with each: they are all alike."""
    nobody = range(bots, len(met))
    for bot in range(bots) if nobody else ():
        share = sum(met[bot][chair] for chair in nobody) / len(nobody)
        for chair in nobody:
            met[bot][chair] = met[chair][bot] = share


def _fewest_meetings(met: list[list[float]], tables: int, chairs: int, match: int) -> list[list[int]]:
    """Tables that keep the numbers of meetings level; the best of several searches."""
    everybody = tables * chairs
    low = min(met[a][b] for a in range(everybody) for b in range(a))
    cost = [[(n - low) * (n - low + 1) for n in row] for row in met]
    best: tuple[float, list[list[int]]] | None = None
    for start in range(_STARTS):
        found = _search(cost, _shuffled(everybody, mix(match * _STARTS + start + 1)), chairs)
        if best is None or found < best:
            best = found
    assert best is not None
    return best[1]


def _search(cost: list[list[float]], order: list[int], chairs: int) -> tuple[float, list[list[int]]]:
    """Swap bots between tables while that lowers the cost. Returns: (cost of all pairs, tables)."""
    count = len(order)
    table_of = [0] * count
    groups = [order[first : first + chairs] for first in range(0, count, chairs)]
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


# --- who takes which chair


def _take_chairs(run: list[list[list[int]]], everybody: int, chairs: int) -> Iterator[list[list[int]]]:
    """Give everybody each chair once in a run of as many matches as there are chairs: an edge colouring."""
    tables = len(run[0])
    bot_at = [[-1] * chairs for _ in range(len(run) * tables)]  # [table of the run][chair] -> bot
    table_at = [[-1] * chairs for _ in range(everybody)]  # [bot][chair] -> table of the run
    for match, groups in enumerate(run):
        for number, group in enumerate(groups):
            for turn, bot in enumerate(group):
                table = match * tables + number
                wanted = (turn + match) % chairs
                mine = _free(table_at[bot], wanted)
                free = _free(bot_at[table], wanted)
                if mine != free:
                    _flip(bot_at, table_at, table, mine, free)
                bot_at[table][mine], table_at[bot][mine] = bot, table
    for match in range(len(run)):
        yield bot_at[match * tables : (match + 1) * tables]


def _free(row: list[int], wanted: int) -> int:
    """The first chair from `wanted` on that is still free."""
    return next(chair % len(row) for chair in range(wanted, wanted + len(row)) if row[chair % len(row)] < 0)


def _flip(bot_at: list[list[int]], table_at: list[list[int]], table: int, one: int, other: int) -> None:
    """Exchange chairs `one` and `other` along the path that starts at `table`, which frees `one` there."""
    path = []
    chair = one
    while (bot := bot_at[table][chair]) >= 0:
        path.append((table, bot, chair))
        chair = one + other - chair
        if (following := table_at[bot][chair]) < 0:
            break
        path.append((following, bot, chair))
        table, chair = following, one + other - chair
    for at, who, was in path:
        if bot_at[at][was] == who:
            bot_at[at][was] = -1
        if table_at[who][was] == at:
            table_at[who][was] = -1
    for at, who, was in path:
        bot_at[at][one + other - was], table_at[who][one + other - was] = who, at

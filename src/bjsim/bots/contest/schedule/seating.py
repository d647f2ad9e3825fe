"""The schedule: who sits where in each match. Pure: the same numbers give the same schedule, for ever.

Every bot plays at one table in each match, so all are dealt the same number of hands. With n bots there are
T = ceil(n / 4) tables of k = ceil(n / T) chairs; k T - n chairs, at most one to a table, stay empty. Who meets whom is
worked out in `meetings.py`, which says how equal that can be.

Chairs. Where all chairs are taken, everybody sits once in every chair in each run of k matches. That this is always
possible is Kőnig's theorem: bots and tables, joined where a bot sits at a table, are a bipartite graph in which all
have k edges, and the edges of such a graph can be coloured with k colours (the chairs) so that no two alike meet. So at
every moment, for every bot, the numbers of matches in its chairs differ by one at most.

With an empty chair the place in the deal is not the chair, and tables differ in size. There the bots of a table are put
into the order of places that they have had least often at tables of that size: the numbers of matches in the places of
a size then differ by two at most (tested for up to 40 bots and 100 matches).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count, islice, permutations
from typing import NamedTuple

from bjsim.bots.contest.config import HOUSE
from bjsim.bots.contest.schedule.pairings import LARGEST_TABLE, seatings

SPARE = 10**9  # numbers of shoes from here on are for tables that would repeat themselves


class TablePlan(NamedTuple):
    """One table of one match: bot numbers in the order they are dealt; `shoe` is the block of its random stream."""

    match: int
    table: int
    shoe: int
    bots: tuple[int, ...]


def schedule(bots: int, duplicate: bool = False, house: bool = False) -> Iterator[list[TablePlan]]:
    """The tables of each match, match after match without end.

    bots: how many, from 2. duplicate: every match is played again, with the same shoes and the chairs rotated, until
    all have sat in every chair. Three bots at a table with an empty chair would be dealt twice in the same order in
    four turns, and mostly repeat themselves: the second time they get a shoe of their own. house: empty chairs are
    filled by house players (number HOUSE), all tables being of four then.
    """
    tables, chairs = table_shape(bots, house)
    turns = chairs if duplicate else 1
    ordered = tables * chairs != bots and not house
    had: Counter[tuple[int, int, int]] = Counter()  # matches of (bot, size of its table, place)
    match = 0
    for shoe, seating in enumerate(_seatings(bots, tables, chairs)):
        if ordered:
            seating = [_rarest(seats, turns, bots, had) for seats in seating]
        dealt: set[tuple[int, tuple[int, ...]]] = set()  # tables and orders on this shoe
        for turn in range(turns):
            plans = []
            for table, seats in enumerate(seating):
                order = _present(_turned(seats, turn), bots, house)
                plans.append(TablePlan(match, table, SPARE + shoe if (table, order) in dealt else shoe, order))
                dealt.add((table, order))
            yield plans
            match += 1


def table_shape(bots: int, house: bool = False) -> tuple[int, int]:
    """How many tables there are in a match, and how many chairs each has."""
    tables = -(-bots // LARGEST_TABLE)
    return tables, LARGEST_TABLE if house else -(-bots // tables)


def matches_a_unit(bots: int, duplicate: bool, house: bool = False) -> int:
    """Matches that share their shoes: in a duplicate contest as many as a table has chairs, else one."""
    return table_shape(bots, house)[1] if duplicate else 1


def whole_matches(matches: int, bots: int, duplicate: bool = False, house: bool = False) -> int:
    """The number of matches, rounded up so that no shoe of a duplicate contest is left half played."""
    group = matches_a_unit(bots, duplicate, house)
    return -(-matches // group) * group


def _present(seats: list[int], bots: int, house: bool) -> tuple[int, ...]:
    if house:
        return tuple(bot if bot < bots else HOUSE for bot in seats)
    return tuple(bot for bot in seats if bot < bots)


def _turned(seats: list[int], turn: int) -> list[int]:
    return seats[turn:] + seats[:turn]


def _rarest(seats: list[int], turns: int, bots: int, had: Counter[tuple[int, int, int]]) -> list[int]:
    """The table with its bots in those of the taken chairs that give them, over so many turns, the places that they
    have had least often; counts them there."""

    def exchanged(order: tuple[int, ...]) -> list[int]:
        following = iter(order)
        return [next(following) if bot < bots else bot for bot in seats]

    def places(chairs: list[int]) -> list[tuple[int, int, int]]:
        orders = [_present(_turned(chairs, turn), bots, house=False) for turn in range(turns)]
        return [(bot, len(order), place) for order in orders for place, bot in enumerate(order)]

    there = [bot for bot in seats if bot < bots]
    rarest = min(map(exchanged, permutations(there)), key=lambda chairs: sum(had[key] for key in places(chairs)))
    had.update(places(rarest))
    return rarest


def _seatings(bots: int, tables: int, chairs: int) -> Iterator[list[list[int]]]:
    """For each match the tables, each a list of bots by chair; numbers from `bots` on are nobody."""
    everybody = tables * chairs
    following = seatings(bots)
    while True:
        run = [_with_nobody(groups, bots, chairs) for groups in islice(following, chairs)]
        yield from _take_chairs(run, everybody, chairs)


def _with_nobody(groups: list[list[int]], bots: int, chairs: int) -> list[list[int]]:
    """The tables with somebody in every chair."""
    nobody = count(bots)
    return [[*group, *islice(nobody, chairs - len(group))] for group in groups]


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

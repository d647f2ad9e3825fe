"""Seating: who sits where in each match. Pure functions: the same arguments always give the same schedule.

Every bot plays at one table in each match, so all are dealt the same number of hands. n bots sit at T = ceil(n / 4)
tables of k = ceil(n / T) seats; k T - n seats, at most one per table, stay empty. `pairings.py` decides which bots
share a table.

Seats. If all seats are taken, every bot sits once in every seat in each run of k matches. This is always possible by
Kőnig's theorem: bots and tables, joined where a bot sits at a table, form a k-regular bipartite graph, whose edges can
be coloured with k colours (the seats) so that no two edges of the same colour share a vertex. For every bot the numbers
of matches in its seats therefore differ by at most one at any time.

With an empty seat, the position in the deal is not the seat, and tables differ in size. There the bots of a table are
ordered by the positions that they have had least often at tables of that size: the numbers of matches in the positions
of one size then differ by at most two (tested for up to 40 bots and 100 matches).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count, islice, permutations
from typing import NamedTuple

from bjsim.bots.contest.config import HOUSE, LARGEST_TABLE
from bjsim.bots.contest.schedule.pairings import seatings

SPARE = 10**9  # shoe numbers from here on replace shoes that a table would see twice in the same order


class TablePlan(NamedTuple):
    """One table of one match, with the bots in the order they are dealt (HOUSE or less for a house player).

    `shoe` is the block of the table's random stream. `own` is the bot whose own match it is; None if the bots
    share it.
    """

    match: int
    table: int
    shoe: int
    bots: tuple[int, ...]
    own: int | None = None


def schedule(bots: int, duplicate: bool = False, house: bool = False) -> Iterator[list[TablePlan]]:
    """Yield the plans of all tables of each match, endlessly; `house` fills empty seats, up to four, with HOUSE.

    `duplicate` repeats every match with the same shoes and the seats rotated, until every bot has had every seat.
    Three bots at a table with an empty seat would be dealt in the same order in two of the four turns, and mostly
    repeat themselves; the second time they get a shoe of their own.
    """
    tables, size = table_shape(bots, house)
    turns = size if duplicate else 1
    balance_positions = tables * size != bots and not house
    counts: Counter[tuple[int, int, int]] = Counter()  # matches by bot, size of its table, position
    match = 0
    for shoe, seating in enumerate(_seatings(bots, tables, size)):
        if balance_positions:
            seating = [_rarest_order(seats, turns, bots, counts) for seats in seating]
        dealt: set[tuple[int, tuple[int, ...]]] = set()  # tables and orders on this shoe
        for turn in range(turns):
            plans = []
            for table, seats in enumerate(seating):
                order = _present(_rotated(seats, turn), bots, house)
                plans.append(TablePlan(match, table, SPARE + shoe if (table, order) in dealt else shoe, order))
                dealt.add((table, order))
            yield plans
            match += 1


def own_table(bot: int, match: int, tables: int, size: int, field: int, duplicate: bool) -> TablePlan:
    """The table of a bot that plays against house players only, from a shoe of the other bots.

    It is dealt in turn the shoes of the `tables` of a match of the others, and has each seat once in `size`
    matches, which share a shoe if `duplicate`. The `field` house players HOUSE, HOUSE - 1, ... take turns if they
    exceed the seats.
    """
    turn, seat = divmod(match, size)
    beside = turn if duplicate else match
    bots = [HOUSE - (beside * (size - 1) + number) % field for number in range(size - 1)]
    bots.insert(seat, bot)
    return TablePlan(match, turn % tables, turn if duplicate else match, tuple(bots), bot)


def table_shape(bots: int, house: bool = False) -> tuple[int, int]:
    """Number of tables in a match, and of seats at each table."""
    tables = -(-bots // LARGEST_TABLE)
    return tables, LARGEST_TABLE if house else -(-bots // tables)


def _present(seats: list[int], bots: int, house: bool) -> tuple[int, ...]:
    """The players at a table: empty seats are filled with house players or left out."""
    if house:
        return tuple(bot if bot < bots else HOUSE for bot in seats)
    return tuple(bot for bot in seats if bot < bots)


def _rotated(seats: list[int], turn: int) -> list[int]:
    return seats[turn:] + seats[:turn]


def _rarest_order(seats: list[int], turns: int, bots: int, counts: Counter[tuple[int, int, int]]) -> list[int]:
    """Reorder the bots of a table so that they get the positions they have had least often; updates the counts."""

    def reordered(order: tuple[int, ...]) -> list[int]:
        remaining = iter(order)
        return [next(remaining) if bot < bots else bot for bot in seats]

    def positions(candidate: list[int]) -> list[tuple[int, int, int]]:
        orders = [_present(_rotated(candidate, turn), bots, house=False) for turn in range(turns)]
        return [(bot, len(order), position) for order in orders for position, bot in enumerate(order)]

    present = [bot for bot in seats if bot < bots]
    candidates = map(reordered, permutations(present))
    rarest = min(candidates, key=lambda candidate: sum(counts[key] for key in positions(candidate)))
    counts.update(positions(rarest))
    return rarest


def _seatings(bots: int, tables: int, size: int) -> Iterator[list[list[int]]]:
    """For each match the tables, each a list of bots by seat; numbers from `bots` on are empty seats."""
    groups_of_matches = seatings(bots)
    while True:
        run = [_with_empty_seats(groups, bots, size) for groups in islice(groups_of_matches, size)]
        yield from _assign_seats(run, tables * size, size)


def _with_empty_seats(groups: list[list[int]], bots: int, size: int) -> list[list[int]]:
    """The tables with every empty seat as an extra bot."""
    empty = count(bots)
    return [[*group, *islice(empty, size - len(group))] for group in groups]


def _assign_seats(run: list[list[list[int]]], bots: int, size: int) -> Iterator[list[list[int]]]:
    """Give every bot each seat once in a run of `size` matches, by edge colouring. bots: including empty seats."""
    tables = len(run[0])
    bot_at = [[-1] * size for _ in range(len(run) * tables)]  # [table of the run][seat] -> bot
    table_at = [[-1] * size for _ in range(bots)]  # [bot][seat] -> table of the run
    for match, groups in enumerate(run):
        for number, group in enumerate(groups):
            for turn, bot in enumerate(group):
                table = match * tables + number
                wanted = (turn + match) % size
                bot_seat = _free(table_at[bot], wanted)
                table_seat = _free(bot_at[table], wanted)
                if bot_seat != table_seat:
                    _swap_along_path(bot_at, table_at, table, bot_seat, table_seat)
                bot_at[table][bot_seat], table_at[bot][bot_seat] = bot, table
    for match in range(len(run)):
        yield bot_at[match * tables : (match + 1) * tables]


def _free(row: list[int], wanted: int) -> int:
    """The first free seat from `wanted` on, cyclically."""
    return next(seat % len(row) for seat in range(wanted, wanted + len(row)) if row[seat % len(row)] < 0)


def _swap_along_path(bot_at: list[list[int]], table_at: list[list[int]], table: int, one: int, other: int) -> None:
    """Swap seats `one` and `other` along the alternating path that starts at `table`, which frees `one` there."""
    path = []
    seat = one
    while (bot := bot_at[table][seat]) >= 0:
        path.append((table, bot, seat))
        seat = one + other - seat
        if (following := table_at[bot][seat]) < 0:
            break
        path.append((following, bot, seat))
        table, seat = following, one + other - seat
    for at, mover, old in path:
        if bot_at[at][old] == mover:
            bot_at[at][old] = -1
        if table_at[mover][old] == at:
            table_at[mover][old] = -1
    for at, mover, old in path:
        bot_at[at][one + other - old], table_at[mover][one + other - old] = mover, at

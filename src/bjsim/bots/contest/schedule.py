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

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, cycle, islice, permutations
from typing import Any, NamedTuple

from bjsim.bots.contest.config import HOUSE, LARGEST_TABLE, Contest
from bjsim.errors import InputError
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
    powers = _NINE if q == 9 else [pow(2, i, q) for i in range(q - 1)]  # 2 is a primitive element for 5 and 13
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
    paired = [[_EMPTY_PAIR if a >= bots <= b else 0.0 for b in range(seats)] for a in range(seats)]
    for match in count():
        groups = _fewest_repeats(paired, match)
        for group in groups:
            for a in group:
                for b in group:
                    paired[a][b] += a != b
        _average_empty_seats(paired, bots)
        yield [[bot for bot in group if bot < bots] for group in groups]


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


# --- Seating: who sits where in each match. Pure functions: the same arguments always give the same schedule.
#
# Every bot plays at one table in each match, so all are dealt the same number of hands. n bots sit at T = ceil(n / 4)
# tables of k = ceil(n / T) seats; k T - n seats, at most one per table, stay empty.
#
# Seats. If all seats are taken, every bot sits once in every seat in each run of k matches. This is always possible by
# Kőnig's theorem: bots and tables, joined where a bot sits at a table, form a k-regular bipartite graph, whose edges
# can be coloured with k colours (the seats) so that no two edges of the same colour share a vertex. For every bot the
# numbers of matches in its seats therefore differ by at most one at any time.
#
# With an empty seat, the position in the deal is not the seat, and tables differ in size. There the bots of a table are
# ordered by the positions that they have had least often at tables of that size: the numbers of matches in the
# positions of one size then differ by at most two (tested for up to 40 bots and 100 matches).


SPARE = 10**9  # shoe numbers from here on replace shoes that a table would see twice in the same order


class TablePlan(NamedTuple):
    match: int
    table: int
    shoe: int  # the block of the table's random stream
    bots: tuple[int, ...]  # in the order they are dealt, HOUSE or less for a house player
    own: int | None = None  # the bot whose own match it is; None if the bots share it


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
    matches = count()
    for shoe, seating in enumerate(_seatings(bots, tables, size)):
        if balance_positions:
            seating = [_rarest_order(seats, turns, bots, counts) for seats in seating]
        dealt: set[tuple[int, tuple[int, ...]]] = set()  # tables and orders on this shoe
        for turn in range(turns):
            match, plans = next(matches), []
            for table, seats in enumerate(seating):
                order = _dealt(seats, turn, bots, house)
                plans.append(TablePlan(match, table, SPARE + shoe if (table, order) in dealt else shoe, order))
                dealt.add((table, order))
            yield plans


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


def _dealt(seats: list[int], turn: int, bots: int, house: bool) -> tuple[int, ...]:
    """The players at a table that is rotated by `turn` seats: empty ones are filled with house players or left out."""
    rotated = seats[turn:] + seats[:turn]
    return tuple(bot if bot < bots else HOUSE for bot in rotated if house or bot < bots)


def _rarest_order(seats: list[int], turns: int, bots: int, counts: Counter[tuple[int, int, int]]) -> list[int]:
    """Reorder the bots of a table so that they get the positions they have had least often; updates the counts."""

    def reordered(order: tuple[int, ...]) -> list[int]:
        remaining = iter(order)
        return [next(remaining) if bot < bots else bot for bot in seats]

    def positions(candidate: list[int]) -> list[tuple[int, int, int]]:
        orders = [_dealt(candidate, turn, bots, house=False) for turn in range(turns)]
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
        run = []
        for groups in islice(groups_of_matches, size):
            empty = count(bots)  # seats, as extra bots
            run.append([[*group, *islice(empty, size - len(group))] for group in groups])
        yield from _assign_seats(run, tables * size, size)


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


# --- The roster of a contest: who takes part at a point of its journal, and how far each series of matches is.
#
# Bots that begin together play one series of matches. Those of the header share tables. A bot that joins later begins
# alone: in match k it is dealt the shoe of a table of the first bots' match k, in a seat that rotates, beside house
# players. A series depends on the settings, on its own bots and on the house players only. So an addition changes
# nothing for the others, and the results of a bot do not depend on when it joined. In a contest `against` house bots
# every bot begins alone.
#
# A bot leaves between two matches, and a house player takes its seat at shared tables. A new version of a bot is a new
# bot, with the same name.


DROPPED, REPLACED = "dropped", "replaced"


@dataclass
class Series:
    """The matches of bots that begin together."""

    own: int | None  # the bot that begins alone; None if the bots share tables
    bots: list[int] = field(default_factory=list)
    played: int = 0  # complete matches


class Roster:
    """Who takes part in a contest. Pass every record of the journal to `add`, after the header."""

    def __init__(self, header: Mapping[str, Any]) -> None:
        self.contest = Contest.from_dict(header["contest"])
        self.series: dict[int | None, Series] = {}  # by `own`
        # Of each bot, with those that have left:
        self.bots: list[Mapping[str, Any]] = []  # what the journal says of it
        self.series_of: list[Series] = []
        self.versions: list[int] = []
        self.joined: list[int] = []  # matches that the contest had played when it joined
        # By bot:
        self.left: dict[int, str] = {}  # why it has left, DROPPED or REPLACED
        self.left_at: dict[int, int] = {}  # matches that the contest had played then
        self.retired: dict[int, int] = {}  # matches of its series before it retired: it is not asked in the others
        alone = bool(self.contest.against)
        self.fewest = 1 if alone else 2  # bots that must take part
        if alone:
            self.tables, self.size = 1, min(LARGEST_TABLE, 1 + len(self.contest.against))
        else:  # the tables of a match of the bots that share them
            self.tables, self.size = table_shape(len(header["bots"]), bool(self.contest.house))
        self.batch_size = self.size if self.contest.duplicate else 1  # matches that share their shoes
        self._shared: tuple[int, list[TablePlan]] = -1, []  # the shared tables that were asked for last, and the match
        self._coming: Iterator[list[TablePlan]] = iter(())  # those after them
        for bot in header["bots"]:
            self._join(bot, alone)

    def _join(self, bot: Mapping[str, Any], alone: bool = True) -> None:
        own = len(self.bots) if alone else None
        self.joined.append(self.matches)
        self.series_of.append(self.series.setdefault(own, Series(own)))
        self.series_of[-1].bots.append(len(self.bots))
        self.bots.append(bot)
        self.versions.append(int(bot.get("version", 1)))

    @property
    def matches(self) -> int:
        """Complete matches of the series that is ahead."""
        return max((series.played for series in self.series.values()), default=0)

    @property
    def present(self) -> list[int]:
        return [bot for bot in range(len(self.bots)) if bot not in self.left]

    def age(self, bot: int) -> int:
        """Matches that the contest has played since a bot joined, until it left."""
        return self.left_at.get(bot, self.matches) - self.joined[bot]

    def find(self, name: str) -> int | None:
        return next((bot for bot in self.present if self.bots[bot]["name"] == name), None)

    @property
    def total(self) -> int:
        """Matches of each series at the end: in a duplicate contest every match of the settings is one per seat."""
        return self.contest.matches * self.batch_size

    @property
    def playing(self) -> list[Series]:
        """The series with bots that take part, the oldest first."""
        return [series for series in self.series.values() if not self.left.keys() >= {*series.bots}]

    @property
    def finished(self) -> bool:
        return all(series.played >= self.total for series in self.playing)

    def add(self, record: Mapping[str, Any]) -> None:
        if record["record"] == "match":
            self.series[record.get("own")].played += 1
        elif record["record"] == "retire":
            self.retired[record["bot"]] = self.series_of[record["bot"]].played
        elif record["record"] == "change":
            joining = {bot["name"] for bot in record["join"]}
            for bot in record["leave"]:
                self.left_at[bot] = self.matches
                self.left[bot] = REPLACED if self.bots[bot]["name"] in joining else DROPPED
            for newcomer in record["join"]:
                self._join(newcomer)
            if "matches" in record:
                self.contest = replace(self.contest, matches=record["matches"])

    def change(self, leave: Sequence[int], join: Sequence[Mapping[str, Any]], matches: int | None) -> dict[str, Any]:
        """The record of a change. matches: their new number, if it changes. Raises: InputError: It is not possible."""
        if not {*leave} <= {*self.present} or len({*leave}) < len(leave):
            raise InputError(f"leave: {leave} is not accepted; give numbers of bots that take part, each once")
        if len(self.present) - len(leave) + len(join) < self.fewest:
            raise InputError("too few bots would remain in the contest; add others first")
        staying = [self.bots[bot]["name"] for bot in self.present if bot not in leave]
        names = Counter([*staying, *(bot["name"] for bot in join)])
        if taken := [name for name, times in names.items() if times > 1]:
            hint = "use `bjsim koth replace` for a new version, or NAME=BOT"
            raise InputError(f"the contest has a bot {taken[0]}; {hint}")
        if matches is not None and matches < self.contest.matches:
            raise InputError(f"matches: {matches} is not accepted; the contest has {self.contest.matches} already")
        record = {
            "record": "change",
            "leave": sorted(leave),
            "join": [{**bot, "version": self.version_of(bot["name"])} for bot in join],
        }
        return record if matches is None else {**record, "matches": replace(self.contest, matches=matches).matches}

    def version_of(self, name: str) -> int:
        return 1 + max((self.versions[n] for n, bot in enumerate(self.bots) if bot["name"] == name), default=0)

    # --- tables

    def tables_of(self, series: Series, match: int) -> list[TablePlan]:
        """The tables of a match, with house players in the seats of those who have left."""
        contest = self.contest
        if series.own is not None:
            return [own_table(series.own, match, self.tables, self.size, len(contest.field), contest.duplicate)]
        last, plans = self._shared
        if match != last:
            if match < last or last < 0:
                last, self._coming = -1, schedule(len(series.bots), contest.duplicate, bool(contest.house))
            plans = next(islice(self._coming, match - last - 1, None))
            self._shared = match, plans
        return [plan._replace(bots=tuple(HOUSE if bot in self.left else bot for bot in plan.bots)) for plan in plans]

    def upcoming(self) -> Iterator[tuple[Series, int]]:
        """The matches from now on, if no bot joins or leaves: the series that is behind comes first."""
        counts = {series.own: series.played for series in self.playing}
        while behind := [own for own, count in counts.items() if count < self.total]:
            own = min(behind, key=counts.__getitem__)  # of equals the oldest
            yield self.series[own], counts[own]
            counts[own] += 1

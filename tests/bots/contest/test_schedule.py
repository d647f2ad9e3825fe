"""The schedule's properties, for any number of bots."""

from collections import Counter
from itertools import combinations, islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bjsim.bots.contest.config import HOUSE
from bjsim.bots.contest.schedule import MOST_SEARCHED, SPARE, own_table, schedule, seatings, table_shape

BOTS = st.integers(2, 40)
few = st.integers(1, 12)


@settings(max_examples=20)
@given(BOTS, few, st.booleans(), st.booleans())
def test_each_bot_plays_once_in_each_match_at_tables_of_up_to_four(bots, matches, duplicate, house):
    for number, tables in enumerate(islice(schedule(bots, duplicate, house), matches)):
        assert [plan.table for plan in tables] == list(range(len(tables)))
        assert {plan.match for plan in tables} == {number}
        assert sorted(bot for plan in tables for bot in plan.bots if bot != HOUSE) == list(range(bots))
        sizes = [len(plan.bots) for plan in tables]
        assert max(sizes) <= 4 and max(sizes) - min(sizes) <= 1 and len(sizes) == -(-bots // 4)
        if house:
            assert set(sizes) == {4}


FULL = st.sampled_from([n for n in range(2, 41) if table_shape(n)[0] * table_shape(n)[1] == n])


@settings(max_examples=40)
@given(st.tuples(BOTS, st.just(True)) | st.tuples(FULL, st.just(False)), few)
def test_at_any_time_every_bot_has_had_each_seat_equally_often_within_one(bots_and_house, matches):
    """At full tables, and with house players, the position in the deal is the seat."""
    bots, house = bots_and_house
    size = table_shape(bots, house)[1]
    seats: list[Counter[int]] = [Counter() for _ in range(bots)]
    for tables in islice(schedule(bots, house=house), matches):
        for plan in tables:
            for seat, bot in enumerate(plan.bots):
                if bot != HOUSE:
                    seats[bot][seat] += 1
        for counts in seats:
            times = [counts[seat] for seat in range(size)]
            assert max(times) - min(times) <= 1


@pytest.mark.parametrize("duplicate", [False, True])
@pytest.mark.parametrize("bots", [n for n in range(2, 30) if table_shape(n)[0] * table_shape(n)[1] != n])
def test_at_tables_of_two_sizes_the_positions_of_each_are_equal_within_two(bots, duplicate):
    """Within one is not always possible, as bots reach tables of a size at different times."""
    had: Counter[tuple[int, int, int]] = Counter()
    for match, tables in enumerate(islice(schedule(bots, duplicate), 100), 1):
        for plan in tables:
            had.update((bot, len(plan.bots), place) for place, bot in enumerate(plan.bots))
        if duplicate and match % table_shape(bots)[1]:  # in a duplicate contest only after each shoe
            continue
        for bot, size in {(bot, size) for bot, size, _ in had}:
            times = [had[bot, size, place] for place in range(size)]
            assert max(times) - min(times) <= 2


@settings(max_examples=20)
@given(BOTS, st.integers(1, 40))
def test_smaller_tables_are_distributed_evenly(bots, matches):
    short: Counter[int] = Counter()
    largest = table_shape(bots)[1]
    for tables in islice(schedule(bots), matches):
        short.update(bot for plan in tables if len(plan.bots) < largest for bot in plan.bots)
    times = [short[bot] for bot in range(bots)]
    assert max(times) - min(times) <= 4


# Documented in bots/contest/schedule.py: bots -> (spread at any time, matches after which all are equal)
DOCUMENTED = {
    2: (0, 1), 3: (0, 1), 4: (0, 1), 5: (2, 10), 6: (3, 10), 7: (2, 7), 8: (2, 7), 9: (1, 4), 10: (2, 15),
    11: (2, 11), 12: (3, 11), 15: (1, 5), 16: (1, 5), 27: (1, 9), 28: (1, 9), 39: (1, 13), 40: (1, 13),
}  # fmt: skip


def spreads(bots: int, matches: int) -> list[int]:
    """After each match the difference between the most and the fewest pairings of two bots."""
    met = dict.fromkeys(combinations(range(bots), 2), 0)
    spread = []
    for tables in islice(schedule(bots), matches):
        for plan in tables:
            for pair in combinations(sorted(plan.bots), 2):
                met[pair] += 1
        spread.append(max(met.values()) - min(met.values()))
    return spread


@pytest.mark.parametrize("bots", range(2, 41))
def test_pairings_are_as_equal_as_documented(bots):
    most, cycle = DOCUMENTED.get(bots, (2, None))
    found = spreads(bots, 2 * cycle if cycle else 30)
    assert max(found) == most
    if cycle:
        assert found[cycle - 1 :: cycle] == [0, 0] and 0 not in found[: cycle - 1]
    else:
        level = [0, *(match for match, spread in enumerate(found, 1) if spread <= 1)]
        assert all(later - match <= 12 for match, later in pairwise([*level, 31]))


@settings(max_examples=20)
@given(BOTS, st.integers(1, 6))
def test_duplicate_replays_each_shoe_until_all_have_had_every_seat(bots, shoes):
    table_size = table_shape(bots)[1]
    at: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for tables in islice(schedule(bots, duplicate=True), shoes * table_size):
        for plan in tables:
            at.setdefault((plan.table, plan.shoe), []).append(plan.bots)
    for (table, shoe), deals in at.items():
        size = len(deals[0])
        assert len({frozenset(deal) for deal in deals}) == 1
        assert len(deals) == (1 if shoe >= SPARE else size)
        assert all(len(set(place)) == len(deals) for place in zip(*deals, strict=True))
        assert len(at.get((table, SPARE + shoe), ())) == (table_size - size if shoe < SPARE else 0)


@pytest.mark.parametrize("duplicate", [False, True])
def test_a_bot_with_a_table_of_its_own_is_dealt_the_shoes_of_the_others_in_each_seat_once(duplicate):
    tables, size = table_shape(9)
    plans = [own_table(9, match, tables, size, 2, duplicate) for match in range(12)]
    others = {(plan.table, plan.shoe) for match in islice(schedule(9, duplicate), 12) for plan in match}
    assert {(plan.table, plan.shoe) for plan in plans} <= others
    for number in range(0, 12, size):
        turns = plans[number : number + size]
        assert sorted(plan.bots.index(9) for plan in turns) == list(range(size))
        assert len({plan.table for plan in turns}) == 1 and len({plan.shoe for plan in turns}) == (
            1 if duplicate else 3
        )


def test_many_bots_are_shuffled_into_full_tables() -> None:
    """Each plays once in a match, at a table of three or four, and with others in the next match."""
    first, second = islice(seatings(MOST_SEARCHED + 3), 2)
    for tables in (first, second):
        assert sorted(bot for table in tables for bot in table) == list(range(MOST_SEARCHED + 3))
        assert {len(table) for table in tables} <= {3, 4}
    assert first != second

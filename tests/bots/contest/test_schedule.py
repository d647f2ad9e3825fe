"""The schedule's properties, for any number of bots."""

from collections import Counter
from itertools import combinations, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bjsim.bots.contest.config import HOUSE
from bjsim.bots.contest.schedule import schedule, table_shape, whole_matches

FIELDS = st.integers(2, 40)
few = st.integers(1, 12)


@settings(deadline=None, max_examples=20)
@given(FIELDS, few, st.booleans(), st.booleans())
def test_each_bot_plays_once_in_each_match_at_tables_of_up_to_four(bots, matches, duplicate, house):
    for number, tables in enumerate(islice(schedule(bots, duplicate, house), matches)):
        assert [plan.table for plan in tables] == list(range(len(tables)))
        assert {plan.match for plan in tables} == {number}
        assert sorted(bot for plan in tables for bot in plan.bots if bot != HOUSE) == list(range(bots))
        sizes = [len(plan.bots) for plan in tables]
        assert max(sizes) <= 4 and max(sizes) - min(sizes) <= 1 and len(sizes) == -(-bots // 4)
        if house:
            assert set(sizes) == {4}


@settings(deadline=None, max_examples=20)
@given(FIELDS, few, st.booleans())
def test_it_is_the_same_every_time(bots, matches, duplicate):
    once = list(islice(schedule(bots, duplicate), matches))
    assert once == list(islice(schedule(bots, duplicate), matches))


@settings(deadline=None, max_examples=20)
@given(FIELDS, few)
def test_at_every_moment_every_bot_has_had_its_chairs_equally_often_within_one(bots, matches):
    """With house players every chair is taken, so the place in the deal is the chair."""
    seats: list[Counter[int]] = [Counter() for _ in range(bots)]
    for tables in islice(schedule(bots, house=True), matches):
        for plan in tables:
            for chair, bot in enumerate(plan.bots):
                if bot != HOUSE:
                    seats[bot][chair] += 1
        for counts in seats:
            times = [counts[chair] for chair in range(4)]
            assert max(times) - min(times) <= 1


@settings(deadline=None, max_examples=20)
@given(st.sampled_from([n for n in range(2, 41) if table_shape(n)[0] * table_shape(n)[1] == n]), few)
def test_where_all_tables_are_full_the_places_are_equal_within_one(bots, matches):
    chairs = table_shape(bots)[1]
    seats: list[Counter[int]] = [Counter() for _ in range(bots)]
    for tables in islice(schedule(bots), matches):
        for plan in tables:
            for chair, bot in enumerate(plan.bots):
                seats[bot][chair] += 1
        for counts in seats:
            assert max(counts[chair] for chair in range(chairs)) - min(counts[chair] for chair in range(chairs)) <= 1


@settings(deadline=None, max_examples=20)
@given(FIELDS, st.integers(1, 40))
def test_short_tables_are_shared_out(bots, matches):
    short: Counter[int] = Counter()
    largest = table_shape(bots)[1]
    for tables in islice(schedule(bots), matches):
        short.update(bot for plan in tables if len(plan.bots) < largest for bot in plan.bots)
    times = [short[bot] for bot in range(bots)]
    assert max(times) - min(times) <= 4


def meetings(bots: int, matches: int) -> list[int]:
    met: Counter[tuple[int, int]] = Counter()
    for tables in islice(schedule(bots), matches):
        for plan in tables:
            met.update(combinations(sorted(plan.bots), 2))
    return [met[pair] for pair in combinations(range(bots), 2)]


@settings(deadline=None, max_examples=20)
@given(FIELDS, st.integers(1, 40))
def test_meetings_are_level(bots, matches):
    """Within one where that is possible is the aim; swapping gets within four of it at every moment measured."""
    times = meetings(bots, matches)
    assert max(times) - min(times) <= 4


@pytest.mark.parametrize("bots", [2, 3, 4, 5, 9])
def test_meetings_are_exactly_equal_after_a_whole_cycle(bots):
    times = meetings(bots, 60)
    assert max(times) == min(times)


@settings(deadline=None, max_examples=20)
@given(FIELDS, st.integers(1, 6))
def test_duplicate_plays_each_shoe_until_all_have_sat_everywhere(bots, shoes):
    chairs = table_shape(bots)[1]
    matches = whole_matches((shoes - 1) * chairs + 1, bots, duplicate=True)
    assert matches == shoes * chairs
    at: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for tables in islice(schedule(bots, duplicate=True), matches):
        for plan in tables:
            at.setdefault((plan.table, plan.shoe), []).append(plan.bots)
    for deals in at.values():
        assert len(deals) == chairs
        assert len({frozenset(deal) for deal in deals}) == 1
        if len(deals[0]) == chairs:
            assert all(len(set(place)) == chairs for place in zip(*deals, strict=True))

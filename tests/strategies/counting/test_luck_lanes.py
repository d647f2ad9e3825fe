"""The luck of a counter's cards: its mean is 0 for every kind of draw, and results do not depend on workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from support.counters import simulate_count
from support.games import slow
from support.watched import Watched

from bjsim.arrays import Array
from bjsim.sim.engine.array_cards import Segments
from bjsim.sim.engine.counting import play_units, walk_counter
from bjsim.sim.engine.counts import empty_tally
from bjsim.sim.engine.kernels.arrays import ROUNDS, CountTally, Luck
from bjsim.sim.engine.lanes import Shoes
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.ramp import Ramp
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.counting.tables import CountingGame, ready_table
from bjsim.strategies.exact.solver import Solver

TWO = named_rules("vegas-s17").replace(decks=2, max_hands=3)
SHOES = 3000


def watch(rules: Rules, spots: str, change: Callable[[Luck], Luck] = lambda luck: luck) -> dict[str, float]:
    """The mean luck of each kind of draw in standard errors; draws are uncorrelated."""
    chart = Solver(rules.replace(seats=1)).chart
    game = CountingGame(rules, find_system("hilo"), Departures.parse("i18", chart), None, Ramp.parse(spots).spots)
    table = ready_table(game).table
    assert table.layout.luck is not None
    cards = Segments(table.compiled, 0).cards(np.array([stream_key(4, 0, 0)], np.uint64), 0, SHOES + 2)
    shoes = Shoes(cards, table.compiled.numbers.cut, table.count)
    lanes = Watched(table.layout._replace(luck=change(table.layout.luck)), shoes, SHOES)
    found = lanes.check()
    assert all(number > 500 for number, _, _ in lanes.kinds.values())
    return found


@pytest.mark.parametrize(
    ("rules", "spots"),
    [
        (TWO, "1"),
        (TWO.replace(seats=3), "0:1 1:1x2"),
        (named_rules("single-deck").replace(cut=1, max_hands=3), "1"),  # to the last card
        (named_rules("european").replace(decks=1, cut=1, max_hands=3), "1"),
    ],
    ids=["alone", "company", "last card", "no hole card"],
)
def test_the_mean_luck_of_every_kind_of_draw_is_nothing(rules: Rules, spots: str) -> None:
    """Below 4 standard errors, which fails by chance in one of 1,500 runs."""
    found = watch(rules, spots)
    kinds = {"first card", "later card", "may end a split hand", "after a split hand"}
    kinds |= {"hole card"} if rules.peek else set()
    assert set(found) == kinds | ({"others' card"} if rules.seats > 1 else set())
    assert max(map(abs, found.values())) < 4


def test_luck_of_a_shoe_with_more_aces_is_noticed() -> None:
    """Negative control."""

    def more_aces(luck: Luck) -> Luck:
        full = luck.full.copy()
        full[0] += 16
        return luck._replace(full=full)

    found = watch(TWO, "1", more_aces)
    assert abs(found["first card"]) > 6


@pytest.mark.parametrize(("rounds", "adjusted"), [(1e5, True), slow(1e6, False)])
def test_a_run_is_the_same_with_any_number_of_workers(rounds: float, adjusted: bool) -> None:
    departures = Departures.parse("i18", Solver(TWO).chart)
    one, two = (
        simulate_count(TWO, find_system("hilo"), departures, rounds, seed=2, workers=workers, adjusted=adjusted)
        for workers in (1, 2)
    )
    assert all(np.array_equal(a, b) for a, b in zip(one.sums, two.sums, strict=True))


KERNEL = {  # rules, system, spots, whether the counter decides by the count before the round
    "six decks": (named_rules("vegas-s17"), "hilo", "1", False),
    "left": (named_rules("vegas-s17").replace(max_hands=2), "hilo", "1", False),
    "dealt to the last card": (named_rules("single-deck").replace(cut=1, max_hands=2), "ko", "1", False),
    "count before the round": (TWO, "hiopt2-aces", "1", True),
    "no hole card": (named_rules("european").replace(decks=2), "zen", "1", False),
    "pairs of one rank": (TWO.replace(split_by="rank", max_hands=2), "hilo", "1", False),  # ten-valued cards differ
    "a tenth of a deck": (named_rules("single-deck").replace(cut="1/10", max_hands=2), "hilo", "1", False),
    "early surrender": (TWO.replace(surrender="early", max_hands=2), "omega2", "1", False),
    "a full table": (TWO.replace(seats=6), "hilo", "0:1 1:1x2", False),
    "one deck among seven": (named_rules("single-deck").replace(cut=1, seats=5), "hilo", "1x3", False),
    "spots without a hole card": (named_rules("european").replace(decks=2, seats=2), "hilo", "0:1x3 1:1x2", False),
    "turns are decisions": (TWO.replace(turns="round-robin", seats=3), "hilo", "0:1 1:1x2", False),
    "few cards noted": (TWO.replace(max_hands=2), "hilo", "1", False),
}
KERNEL_SLOW = {
    "dealt to the last card, four hands": (named_rules("single-deck").replace(cut=1), "ko", "1", False),
    "count before the round, four hands": (TWO.replace(max_hands=4), "hiopt2-aces", "1", True),
}


@pytest.mark.parametrize("adjusted", [True, False])
@pytest.mark.parametrize("name", [*KERNEL, *map(slow, KERNEL_SLOW)])
def test_the_kernel_counts_the_same_to_the_bit(name: str, adjusted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums, units and luck of three streams, and of a counter who leaves, equal those of the arrays; others differ."""
    rules, system, spots, early = (KERNEL | KERNEL_SLOW)[name]
    counting = find_system(system)
    if early:
        counting = replace(counting, timing="round")
    departures = Departures.parse("i18", Solver(rules.replace(seats=1)).chart)
    if name == "few cards noted":
        monkeypatch.setattr("bjsim.sim.engine.rounds.NOTED", 2)
    leave = -2 if name == "left" else None
    game = CountingGame(rules, counting, departures, None, Ramp.parse(spots).spots, adjusted, leave=leave)
    table, keys = ready_table(game).table, np.array([stream_key(5, 0, block) for block in range(3)], np.uint64)
    one, other = (play_units(table, keys, 60, 8, kernel) for kernel in (False, True))
    again = play_units(table, keys[::-1], 60, 8, kernel=True)
    for sums, same in zip(one, other, strict=True):
        for part, as_part in zip((*sums[0], *sums[1]), (*same[0], *same[1]), strict=True):
            np.testing.assert_array_equal(part, as_part)
    assert (one[0][0].raw != again[0][0].raw).any()


def test_streams_with_room_for_fewer_shoes_stop_earlier() -> None:
    """Side by side they are the same as alone."""
    rules = TWO.replace(max_hands=2)
    game = CountingGame(rules, find_system("hilo"), Departures.parse("none", Solver(rules).chart))
    table, keys = ready_table(game).table, np.array([stream_key(6, 0, block) for block in range(3)], np.uint64)

    def play(keys: Array, rooms: Sequence[int]) -> list[CountTally]:
        tallies = [empty_tally(table.count, room) for room in rooms]
        deque(walk_counter(table, keys, tallies), maxlen=0)
        return tallies

    rooms = [5, 40, 1]
    for number, together in enumerate(play(keys, rooms)):
        (alone,) = play(keys[[number]], rooms[number : number + 1])
        assert (together.raw == alone.raw).all() and (together.now == alone.now).all()
        assert (together.now[:, ROUNDS].sum(axis=1) > 0).all()

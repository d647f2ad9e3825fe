"""The luck of a counter's cards: its mean is 0 for every kind of draw, and results do not depend on workers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.games import slow

from bjsim.sim.engine.array_cards import Segments
from bjsim.sim.engine.count_lanes import plays_alone
from bjsim.sim.engine.counted_shoes import CountedShoes
from bjsim.sim.engine.counting import play_units
from bjsim.sim.engine.kernels.count_layout import CountLuck
from bjsim.sim.engine.luck_lanes import LuckLanes
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.ramp import Ramp
from bjsim.strategies.counting.simulate import simulate_count
from bjsim.strategies.counting.systems import find_system
from bjsim.strategies.counting.tables import CountingGame, ready_table
from bjsim.strategies.exact.solver import Solver

TWO = named_rules("vegas-s17").replace(decks=2, max_hands=3)
SHOES = 3000


class Watched(LuckLanes):
    """Keeps the luck of each kind of draw: number, sum and sum of squares."""

    def __init__(self, *arguments: Any) -> None:
        self.kinds: dict[str, np.ndarray[Any, Any]] = defaultdict(lambda: np.zeros(3))
        super().__init__(*arguments)

    def _watch(self, kind: str, count: Any, *arguments: Any) -> None:
        before = self.luck.copy()
        count(*arguments)
        found = (self.luck - before)[self.luck != before]
        self.kinds[kind] += [len(found), found.sum(), (found**2).sum()]

    def _count_own(self, *arguments: Any) -> None:
        self._watch("own card", super()._count_own, *arguments)

    def _count_others(self, *arguments: Any) -> None:
        self._watch("others' card", super()._count_others, *arguments)

    def _judge(self, *arguments: Any) -> None:
        self._watch("hole card", super()._judge, *arguments)


def watch(rules: Rules, spots: str, change: Any = lambda luck: luck) -> dict[str, float]:
    """The mean luck of each kind of draw in standard errors; draws are uncorrelated."""
    chart = Solver(rules.replace(seats=1)).chart
    game = CountingGame(rules, find_system("hilo"), Departures.parse("i18", chart), None, Ramp.parse(spots).spots)
    table = ready_table(game).table
    assert table.luck is not None
    cards = Segments(table.compiled, 0).cards(np.array([stream_key(4, 0, 0)], np.uint64), 0, SHOES + 2, 104)
    shoes = CountedShoes(table.compiled, table.counter, cards)
    nothing = np.zeros(SHOES, np.int64)
    lanes = Watched(
        table.compiled, table.rows, table.counter, shoes, np.arange(SHOES), nothing, change(table.luck)
    )  # fmt: skip
    lanes.walk()
    assert all(number > 500 for number, _, _ in lanes.kinds.values())
    return {kind: float(total / np.sqrt(squares)) for kind, (_, total, squares) in lanes.kinds.items()}


@pytest.mark.parametrize(("seats", "spots"), [(1, "1"), (3, "0:1 1:1x2")])
def test_the_mean_luck_of_every_kind_of_draw_is_nothing(seats: int, spots: str) -> None:
    """Below 4 standard errors, which fails by chance in one of 3,000 runs."""
    found = watch(TWO.replace(seats=seats), spots)
    assert set(found) == ({"own card", "hole card"} if seats == 1 else {"own card", "others' card", "hole card"})
    assert max(map(abs, found.values())) < 4


def test_luck_of_a_shoe_with_more_aces_is_noticed() -> None:
    """Negative control."""

    def more_aces(luck: CountLuck) -> CountLuck:
        full = luck.full.copy()
        full[0] += 16
        return luck._replace(full=full)

    found = watch(TWO, "1", more_aces)
    assert abs(found["own card"]) > 6


def test_a_luck_adjusted_run_is_the_same_with_any_number_of_workers() -> None:
    departures = Departures.parse("i18", Solver(TWO).chart)
    one, two = (simulate_count(TWO, find_system("hilo"), departures, 1e5, seed=2, workers=n) for n in (1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one.sums, two.sums, strict=True))


KERNEL = {  # rules, system, whether the counter decides by the count before the round
    "six decks": (named_rules("vegas-s17"), "hilo", False),
    "left": (named_rules("vegas-s17").replace(max_hands=2), "hilo", False),
    "dealt to the last card": (named_rules("single-deck").replace(cut=1, max_hands=2), "ko", False),
    "count before the round": (TWO, "hiopt2-aces", True),
    "no hole card": (named_rules("european").replace(decks=2), "zen", False),
    "pairs of one rank": (TWO.replace(split_by="rank", max_hands=2), "hilo", False),  # ten-valued cards differ
    "a tenth of a deck": (named_rules("single-deck").replace(cut="1/10", max_hands=2), "hilo", False),
    "early surrender": (TWO.replace(surrender="early", max_hands=2), "omega2", False),
}
KERNEL_SLOW = {
    "dealt to the last card, four hands": (named_rules("single-deck").replace(cut=1), "ko", False),
    "count before the round, four hands": (TWO.replace(max_hands=4), "hiopt2-aces", True),
}


@pytest.mark.xdist_group("count kernel")  # which one worker compiles
@pytest.mark.parametrize("adjusted", [True, False])
@pytest.mark.parametrize("name", [*KERNEL, *map(slow, KERNEL_SLOW)])
@pytest.mark.slow_but("a tenth of a deck-False", "left-False")
def test_the_kernel_counts_the_same_to_the_bit(name: str, adjusted: bool) -> None:
    """Sums, units and luck of three streams, and of a counter who leaves, equal those of the arrays; others differ."""
    rules, system, early = (KERNEL | KERNEL_SLOW)[name]
    counting = find_system(system)
    if early:
        counting = replace(counting, timing="round")
    plays = "16vT S>=0, 12v3 S>=2" if name == "no hole card" else "i18"  # else insurance would leave it to the arrays
    departures = Departures.parse(plays, Solver(rules).chart)
    game = CountingGame(rules, counting, departures, adjusted=adjusted, leave=-2 if name == "left" else None)
    table, keys = ready_table(game).table, np.array([stream_key(5, 0, block) for block in range(3)], np.uint64)
    assert plays_alone(table.counter, len(table.rows.rows.start))  # else arrays would be compared with arrays
    one, other = (play_units(table, keys, 60, 8, kernel) for kernel in (False, True))
    again = play_units(table, keys[::-1], 60, 8, kernel=True)
    for sums, same in zip(one, other, strict=True):
        for part, as_part in zip((*sums[0], *sums[1]), (*same[0], *same[1]), strict=True):
            np.testing.assert_array_equal(part, as_part)
    assert (one[0][0].raw != again[0][0].raw).any()

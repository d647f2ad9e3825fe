"""Counters in Python, whose rounds the readable round plays: what the compiled engine's counters must do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.compiled_rules import payoff_code
from bjsim.sim.engine.counting import walk_counter
from bjsim.sim.engine.counts import CountingTable, CountSums, add_up, empty_tally
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.game.actions import INSURANCE, Action, View
from bjsim.sim.game.events import Dealt, Event, Revealed, Shuffled
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import DeckShoe, Stream
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.ramp import spots_at
from bjsim.strategies.counting.simulate import count_blocks
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.tables import CountingGame


class Counter:
    """Any system, with insurance, in any game of one seat."""

    name = "counter"

    def __init__(self, system: CountingSystem, departures: Departures) -> None:
        self.system, self.departures = system, departures
        self.decks = int(departures.base.rules.decks)
        self.reset()

    def reset(self) -> None:
        self.running, self.seen, self.hidden = self.system.initial_count(self.decks), 0, False
        self.aces = 4 * self.decks

    def observe(self, event: Event) -> None:
        match event:
            case Shuffled():
                self.reset()
            case Dealt(card, face_down=True):
                assert card == "#"
                self.hidden = True
            case Dealt(card) | Revealed(card) if isinstance(event, Dealt) or self.hidden:
                self.running += self.system.tags["A23456789TJQK".index(card) if card in "A23456789" else 9]
                self.seen += 1
                self.aces -= card == "A"

    def count(self) -> Fraction:
        return self.system.count(self.running, 52 * self.decks - self.seen, self.decks)

    def count_for_bets(self) -> Fraction:
        unseen = 52 * self.decks - self.seen
        adjusted = self.running + self.system.side_aces * (self.aces - Fraction(unseen, 13))
        return self.system.count(adjusted, unseen, self.decks)

    def bet(self, view: View) -> int:
        self.before = self.count()
        return max(int(self.count_for_bets()), 0)

    def decide(self, view: View) -> Action:
        count = self.before if self.system.timing == "round" else self.count()
        if view.legal == INSURANCE:
            return Action("I" if self.departures.insured_at(count) else "S")
        return self.departures.chart_at(count).decide(view)


class Spot:
    """A further spot of a counter, who observes at the first one."""

    name = "spot"

    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def decide(self, view: View) -> Action:
        return self.counter.decide(view)


def at_a_table(game: CountingGame, key: tuple[int, int, int], rounds: int) -> np.ndarray:
    """By round: the count for bets, payoff codes of the counter's spots (0 where not played), cards dealt and spots."""
    rules, shoe = game.rules, DeckShoe(game.rules, Stream(*key))
    counter, most = Counter(game.system, game.departures), max(spots for _, spots in game.spots)
    rows, dealt = [], 0
    for _ in range(rounds):
        if shoe.dealt >= shoe.cut:
            counter.reset()
        count = floor(counter.count_for_bets())
        spots = spots_at(game.spots, count)
        players = [game.departures.base] * game.others + [counter] + [Spot(counter) for _ in range(spots - 1)]
        result = Round(rules, shoe, len(players)).play(players)
        dealt += sum(isinstance(event, Dealt) for event in result.events)
        payoffs = list(zip(result.net, result.tied, strict=True))[game.others :]
        codes = [payoff_code(*one, rules.unit) for one in payoffs]
        rows.append([count, *codes, *[0] * (most - spots), dealt, spots])
    return np.array(rows)


def play_shoes(table: CountingTable, key: tuple[int, int], shoes: int, traced: int = 0) -> tuple[CountSums, Array]:
    """Play whole shoes from the beginning of the key's random stream in arrays; return the sums and a trace.

    The trace, (n, 2 + spots), has of the first `traced` rounds the bucket, the cards dealt so far, and the payoffs of
    the spots in quanta.
    """
    tally, trace = empty_tally(table.count, shoes), [np.zeros((0, 2 + int(table.count.spots.max())), np.int64)]
    for rounds, dealt in walk_counter(table, np.array([key], np.uint64), [tally]):
        units, _ = payoff_parts(rounds.codes[:, table.count.seat :])
        trace.append(np.column_stack([rounds.bucket, dealt, units]))
    return add_up(table, tally, shoes)[0], np.concatenate(trace)[:traced]


def simulate_count(
    rules: Rules,
    system: CountingSystem,
    departures: Departures,
    rounds: float = 1e6,
    seed: int = 1,
    workers: int = 1,
    *,
    enough: Callable[[CountRun], bool] | None = None,
    keep_units: bool = False,
    **how: Any,
) -> CountRun:
    """Play a counter to the end, as `count_blocks`; `how` is of the `CountingGame`."""
    game = CountingGame(rules, system, departures, **how)
    return deque(count_blocks(game, rounds, seed, workers, enough, keep_units), maxlen=1).pop()

"""Tables played in the readable round, by any players."""

import copy
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol, runtime_checkable

import numpy as np

from bjsim.arrays import Array
from bjsim.sim.engine.compiled_rules import payoff_code
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.game.actions import Player
from bjsim.sim.game.events import Dealt, RoundResult
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import CardStream, Stream, open_shoe
from bjsim.sim.running.blocks import Span, block_number, block_start
from bjsim.sim.stats.tally import Tally


@runtime_checkable
class Guest(Protocol):
    """A player that takes a new seat for every block of rounds."""

    def take_seat(self, rules: Rules, seat: int, seats: int) -> AbstractContextManager[Player]: ...


@dataclass(frozen=True)
class ReadableTable:
    """A table played in the readable round, by any players, at up to thousands of rounds a second."""

    rules: Rules
    players: Sequence[Player]
    blocks_at_once = 1  # some seconds
    # by thread: table, block and trace so far of the block that it played last
    _at: dict[int, tuple[int, int, Array]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def seats(self) -> int:
        return len(self.players)

    def results(self, seed: int, table: int, block: int) -> Iterator[RoundResult]:
        """Play the rounds of a block one after another, without end.

        Players are copied for each block, so the memory of a player never carries over from one block to another.
        """
        shoe = open_shoe(self.rules, Stream(seed, table, block))
        with ExitStack() as stack:
            players = [
                stack.enter_context(player.take_seat(self.rules, seat, self.seats))
                if isinstance(player, Guest)
                else copy.deepcopy(player)
                for seat, player in enumerate(self.players)
            ]
            while True:
                yield Round(self.rules, shoe, self.seats).play(players)

    def play_round(self, cards: Iterator[int]) -> tuple[list[int], int]:
        """Play a round of players without memories on rank indices; return payoff codes and cards dealt."""
        *codes, dealt = self._row(Round(self.rules, CardStream(cards), self.seats).play(self.players))
        return codes, dealt

    def _row(self, played: RoundResult) -> list[int]:
        """The payoff code of each seat, and the number of cards dealt."""
        payoffs = zip(played.net, played.tied, played.bets or (1,) * self.seats, strict=True)
        unit = self.rules.unit * self.rules.bets  # a payoff is that of one of a seat's equal bets
        codes = [payoff_code(net * bet, tied * bet, unit) for net, tied, bet in payoffs]
        return [*codes, sum(isinstance(event, Dealt) for event in played.events)]

    def replay(self, seed: int, table: int, number: int) -> RoundResult:
        """Replay round `number` (from 0) of a table, after the earlier rounds of its block."""
        block = block_number(number)
        return next(islice(self.results(seed, table, block), number - block_start(block), None))

    def play(self, seed: int, table: int, spans: Sequence[Span]) -> list[Tally]:
        played = [self.play_traced(seed, table, span)[0] for span in spans]
        return [sum(tallies, start=Tally()) for tallies in zip(*played, strict=True)]

    def play_traced(self, seed: int, table: int, span: Span) -> tuple[list[Tally], Array]:
        trace = np.empty((span.rounds, self.seats + 1), np.int64)
        dealt, thread = 0, threading.get_ident()
        for number, played in enumerate(islice(self.results(seed, table, span.block), span.rounds)):
            *codes, cards = self._row(played)
            dealt += cards
            trace[number] = [*codes, dealt]
            self._at[thread] = table, span.block, trace[: number + 1]
        return self._tallies(trace), trace

    def partial_tallies(self, table: int, block: int) -> list[Tally]:
        """The rounds of an unfinished block that any thread of this process has played; a tally for each seat."""
        traces = [trace for *position, trace in list(self._at.values()) if position == [table, block]]
        return self._tallies(traces[0]) if traces else [Tally()] * self.seats

    def _tallies(self, trace: Array) -> list[Tally]:
        return [Tally.of(self.rules.unit, map(payoff_parts, codes)) for codes in trace.T[:-1].tolist()]

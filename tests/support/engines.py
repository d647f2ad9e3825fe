"""Comparing the readable round, the compiled round and the round table, round by round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from bjsim.sim.engine import transitions
from bjsim.sim.engine.compiled_rules import compile_rules, payoff_code
from bjsim.sim.engine.kernels.arrays import PlainTable, SeatRows, WalkedTable
from bjsim.sim.engine.kernels.layout import TIED, CompiledRules
from bjsim.sim.engine.pack import for_kernel, make_deal, pack_moves, pack_plain
from bjsim.sim.engine.play import Walkers, play_blocks
from bjsim.sim.engine.round_table import make_round_tables
from bjsim.sim.engine.rounds import play_plain, play_seats
from bjsim.sim.game.actions import Player
from bjsim.sim.game.events import RoundResult, Settled
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import Shoe, Stream, open_shoe, stream_key
from bjsim.sim.running.compiled_table import find_walkers
from bjsim.sim.running.table import ReadableTable, Span
from bjsim.strategies.charts.chart import Chart, StatePlayer
from support.table import line

UNLIKELY = 1e-2  # at which rounds leave a small round table; larger ones take long to make
SEED = 5
Key = tuple[int, int, int]  # seed, table, block
Traces = list[np.ndarray]


class CountingShoe:
    """A shoe that counts the cards that it has dealt, and the rounds in which it ran out."""

    def __init__(self, shoe: Shoe) -> None:
        self.shoe = shoe
        self.dealt = 0
        self.ran_out = 0

    def begin_round(self) -> bool:
        return self.shoe.begin_round()

    def replenish(self) -> bool:
        shuffled = self.shoe.replenish()
        self.ran_out += shuffled
        return shuffled

    def draw(self) -> int:
        self.dealt += 1
        return self.shoe.draw()


def never(cards: Iterator[int]) -> tuple[list[int], int]:
    """Plays the rounds that leave a table in tests in which none does."""
    raise AssertionError("a round left the table")


def sights(result: RoundResult) -> set[str]:
    """The kinds and details of events in a round, for the test that random games cover all of them."""
    words = {word for event in result.events for word in line(event).split()}
    hands = max(event.hand for event in result.events if isinstance(event, Settled)) + 1
    return words | {f"{n} hands" for n in (2, 5, 9) if hands >= n}


def play_rounds(
    compiled: CompiledRules, key: tuple[int, int], rounds: int, traced: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rounds of a block that stay in the round table: counts and outside as in `Played`, and a trace of the first."""
    walkers = find_walkers(compiled, never)
    if traced:
        played = play_blocks(compiled, walkers.layout, never, [key], [rounds], traced=True)
    else:
        played = walkers.play([key], [rounds])
    return played.counts, played.outside, played.traces[0][:traced] if traced else np.zeros((0, 0), np.int64)


def readable_trace(
    game: Rules, seats: Sequence[Player], key: Key, rounds: int, seen: Counter[str] | None = None
) -> np.ndarray:
    """The trace of `play_rounds`, computed with the readable round."""
    shoe = CountingShoe(open_shoe(game, Stream(*key)))
    rows = []
    for _ in range(rounds):
        result = Round(game, shoe, len(seats)).play(seats)
        codes = [payoff_code(net, tied, game.unit) for net, tied in zip(result.net, result.tied, strict=True)]
        rows.append([*codes, shoe.dealt])
        if seen is not None:
            seen.update(sights(result))
    if seen is not None:
        seen["shoe ran out"] += shoe.ran_out
    return np.array(rows)


def differences(
    game: Rules, seats: Sequence[StatePlayer], key: Key, rounds: int, compiled: CompiledRules | None = None,
    seen: Counter[str] | None = None, unlikely: float | None = None,
) -> list[str]:  # fmt: skip
    """Describe where the two engines differ; empty if traces and counts agree. `unlikely` is of a table for arrays."""
    compiled = compiled or compile_rules(game, [player.policy for player in seats])
    readable = readable_trace(game, seats, key, rounds, seen)
    play_round = ReadableTable(game, seats).play_round
    if unlikely:
        layout = WalkedTable(pack_moves(*make_round_tables(compiled, unlikely)), make_deal(compiled, len(seats)))
    else:
        layout = Walkers(compiled, play_round).layout
    played = play_blocks(compiled, layout, play_round, [stream_key(*key)], [rounds], traced=True)
    (trace,) = played.traces
    found = [
        f"round {number}: walked {one}, readable {other}"
        for number, (one, other) in enumerate(zip(trace.tolist(), readable.tolist(), strict=True))
        if one != other
    ]
    paid = sorted((seat, code) for row in trace.tolist() for seat, code in enumerate(row[:-1]))
    if counted(compiled, played.counts, played.outside) != paid:
        found.append("the counts of payoffs are not those of the trace")
    return found


def counted(compiled: CompiledRules, counts: np.ndarray, outside: np.ndarray) -> list[tuple[int, int]]:
    """All counted payoffs as (seat, code), sorted."""
    width = compiled.numbers.width
    table = [
        (int(seat), int(place) - width + int(tied) * TIED)
        for seat, tied, place in np.argwhere(counts)
        for _ in range(counts[seat, tied, place])
    ]
    return sorted(table + [(int(seat), int(code)) for seat, code in outside])


class Game:
    """A game with charts, its tables, and the payoffs of its rounds in the readable round."""

    def __init__(self, game: Rules, seated: list[Chart], unlikely: float = transitions.UNLIKELY) -> None:
        self.compiled = compile_rules(game, [chart.policy for chart in seated])
        self.readable = ReadableTable(game, seated)
        self.tables, self.chart = make_round_tables(self.compiled, unlikely)
        self.moves, self.deal = pack_moves(self.tables, self.chart), make_deal(self.compiled, len(seated))
        self.replayed: list[int] = []  # the number of cards of each round that was replayed

    def play_round(self, cards: Iterator[int]) -> tuple[list[int], int]:
        codes, dealt = self.readable.play_round(cards)
        self.replayed.append(dealt)
        return codes, dealt

    def expected(self, lengths: list[int]) -> Traces:
        spans = [Span(block, rounds) for block, rounds in enumerate(lengths)]
        return [self.readable.play_traced(SEED, 0, span)[1] for span in spans]

    def plain(self, lengths: list[int], table: PlainTable | None = None) -> tuple[np.ndarray, list[list[int]]]:
        """The counts of payoffs by the kernel of plain rounds, and the payoffs outside their window."""
        keys = [stream_key(SEED, 0, block) for block in range(len(lengths))]
        counts, outside = play_plain(self.compiled, table or pack_plain(self.tables[0]), keys, lengths)
        return counts, sorted(outside.tolist())

    def by_arrays(self, lengths: list[int], moves: SeatRows | None) -> tuple[Traces, np.ndarray, list[list[int]]]:
        keys = [stream_key(SEED, 0, block) for block in range(len(lengths))]
        game = self.compiled, WalkedTable(moves or self.moves, self.deal), self.play_round
        traced, untraced = play_blocks(*game, keys, lengths, traced=True), play_blocks(*game, keys, lengths)
        assert (traced.counts == untraced.counts).all()
        outside = sorted(traced.outside.tolist())
        assert outside == sorted(untraced.outside.tolist())
        return traced.traces, traced.counts, outside

    def wrong(self, lengths: list[int], moves: SeatRows | None = None) -> str:
        """The walkers that pay a round differently."""
        expected = self.expected(lengths)
        traces, counts, outside = self.by_arrays(lengths, moves)
        failed = ["arrays"] if any((a != b).any() for a, b in zip(expected, traces, strict=True)) else []
        keys = [stream_key(SEED, 0, block) for block in range(len(lengths))]
        if (packed := for_kernel(WalkedTable(self.moves, self.deal))) and moves is None:
            played = play_seats(self.compiled, packed, keys, lengths, traced=True)
            if any((a != b).any() for a, b in zip(expected, played.traces, strict=True)):
                failed.append("seats")
            if (played.counts != counts).any() or sorted(played.outside.tolist()) != outside:
                failed.append("counts of seats")
        if len(self.chart) == 1 and moves is None:
            plain, others = self.plain(lengths)
            if (plain != counts).any() or others != outside:
                failed.append("plain")
        return ", ".join(failed)

"""Plays a counter: blocks of shoes on any number of workers, merged in order."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future

from bjsim.errors import InputError
from bjsim.sim.engine.counting_table import CountSums
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.backend import Need
from bjsim.sim.running.executors import find_backend
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.ramp import ONE_SPOT, SpotSteps
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.tables import CountingGame, ready_table

CARDS_IN_BLOCK = 1 << 18  # about 50,000 rounds
MIN_SHOES = 64
COUNTING_TABLE = 0  # number of the table in the random streams


def block_shoes(rules: Rules) -> int:
    """The number of shoes in a block."""
    return max(CARDS_IN_BLOCK // max(rules.cut_cards, 5), MIN_SHOES)


def play_block(game: CountingGame, seed: int, block: int) -> CountSums:
    """Play a block of whole shoes."""
    from bjsim.sim.engine.counting import play_shoes  # imports numba

    key = stream_key(seed, COUNTING_TABLE, block)
    return play_shoes(ready_table(game).table, key, block_shoes(game.rules), adjusted=game.adjusted)[0]


def simulate_count(
    rules: Rules,
    system: CountingSystem,
    departures: Departures,
    rounds: float = 1e6,
    seed: int = 1,
    workers: int | None = 1,
    counts: tuple[int, int] | None = None,
    enough: Callable[[CountRun], bool] = lambda run: False,
    spots: SpotSteps = ONE_SPOT,
    adjusted: bool = True,
) -> CountRun:
    """Play a counter who bets one unit on every spot; every bet ramp on these spots is computed from the result.

    Args:
        rules: The game, with a finite shoe. The players of all seats but one play the chart, and act first.
        system: The counting system.
        departures: The chart, and index plays.
        rounds: The number of rounds; the last block is played to its end.
        seed: The same seed gives the same result on any number of workers.
        workers: Processes; None is one for each core.
        counts: The lowest and the highest count with a bucket of its own; None: nearly all that occur.
        enough: Called with the result so far after every block, in order; whether to stop.
        spots: The spots that are played, such as `Ramp.parse("0:1 2:4x2").spots`.
        adjusted: Whether profits are luck-adjusted and depth-controlled. The cards are the same either way.

    Returns:
        The result.

    Raises:
        InputError: The rules are not supported.
        EndlessSplitting: A seat reached the limit on hands.
    """
    if not 1 <= rounds < 1e15:
        raise InputError(f"rounds = {rounds} is not accepted; use 1 to 1e15")
    game = CountingGame(rules, system, departures, counts, spots, adjusted)
    ready = ready_table(game)  # before workers are forked, which share it
    began = time.perf_counter()
    run: CountRun | None = None
    with find_backend("local", workers, Need.LUCK).open(None) as backend:
        pool, block = backend.open_pool(), 0
        jobs: list[Future[CountSums]] = []
        try:
            while run is None or (run.rounds < rounds and not enough(run)):
                while len(jobs) < backend.in_flight():
                    jobs.append(pool.submit(play_block, game, seed, block))
                    block += 1
                played = jobs.pop(0).result()
                sums = played if run is None else run.sums.plus(played)
                run = CountRun(game, ready.first, ready.expected, sums, seed, time.perf_counter() - began)
        finally:
            pool.shutdown(cancel_futures=True)  # a worker killed while it sends a result would block this process
    return run

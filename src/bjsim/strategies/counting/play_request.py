"""Plays a requested game, to the precision that is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace

from bjsim.sim.running.checkpoint import check_checkpoints
from bjsim.strategies.counting.count_returns import ramp_returns
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.placed_bets import place_bets
from bjsim.strategies.counting.request import CountRequest
from bjsim.strategies.counting.simulate import count_blocks
from bjsim.strategies.counting.tables import CountingGame

OnProgress = Callable[[int, float], object]
Kept = str | os.PathLike[str] | None


def play_request(
    request: CountRequest,
    keep_units: bool = False,
    on_progress: OnProgress = lambda rounds, expected: None,
    checkpoint: Kept = None,
    resume: Kept = None,
) -> CountRun:
    """Play a request to its end; `keep_units` if differences to other games will be asked for.

    `on_progress` is called after every block with the rounds so far and about how many there will be. An interrupt
    leaves what is known so far, unless it is for differences. `checkpoint` and `resume`: see `bjsim.count`.
    """
    check_checkpoints(checkpoint, resume)

    def expected(run: CountRun) -> float:
        times = (_half(run, request) / request.precision) ** 2 if request.precision else 0.0
        return min(request.most_rounds, run.rounds * times) if times else request.most_rounds

    run = None
    try:
        with closing(counted_blocks(request, keep_units, checkpoint or resume, bool(resume))) as blocks:
            for run in blocks:
                on_progress(run.rounds, expected(run))
    except KeyboardInterrupt:
        if run is None or keep_units:
            raise
        return replace(run, stopped=True)
    assert run is not None
    return run


def counted_blocks(
    request: CountRequest, keep_units: bool = False, checkpoint: Kept = None, resume: bool = False
) -> Generator[CountRun, None, None]:
    game = CountingGame(
        request.game, request.counting, request.departures(), None, request.spots, request.adjust_luck,
        request.whole_span, request.leaves,
    )  # fmt: skip
    enough = (lambda run: _half(run, request) <= request.precision) if request.precision else None
    length = request.most_rounds, request.seed, request.workers, enough
    return count_blocks(game, *length, keep_units, checkpoint, resume)


def _half(run: CountRun, request: CountRequest) -> float:
    ramp = ramp_returns(run.returns, place_bets(run, request), run.spots)
    return ramp.half_width(lambda ev, sd: ev)


def play_apart(request: CountRequest, label: str) -> CountRun:
    """Play one of several games that will be compared. Raises: InputError."""
    return play_request(request, keep_units=True)

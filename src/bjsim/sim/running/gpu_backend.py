"""An executor for the driver that plays the blocks of many jobs in one launch on the GPU.

A job is some dozens of blocks, a GPU plays thousands at a time. So jobs are gathered: a launch begins when no further
job has come for a moment. What a job comes to does not depend on those it was launched with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

from bjsim.sim.engine.gpu import need_gpu, play_on_gpu
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.running.table import CompiledTable, Span, check_rounds, log, play_blocks, spans_of, tallies_of
from bjsim.sim.stats.tally import Tally

Array = np.ndarray[Any, Any]

IN_FLIGHT = 1024  # jobs that the driver hands in: up to 32 blocks each, so 32768 threads
MOMENT = 0.02  # seconds without a further job after which a launch begins


@dataclass(frozen=True)
class _Job:
    table: CompiledTable
    seed: int
    number: int
    spans: Sequence[Span]
    future: Future[list[Tally]]

    def finish(self, counts: Array, outside: Sequence[Array]) -> None:
        """Make the tallies from what was counted in each of the job's blocks."""
        tallies = tallies_of(self.table.unit, counts.sum(axis=0), np.concatenate(outside))
        check_rounds(tallies, self.spans)
        self.future.set_result(tallies)


class GpuExecutor(Executor):
    """Plays blocks on the GPU, in a thread of its own. Raises: InputError where there is no GPU."""

    def __init__(self) -> None:
        need_gpu()
        self._handed_in: SimpleQueue[_Job | None] = SimpleQueue()  # None: no more will come
        self._thread = Thread(target=self._serve, daemon=True)  # which may be in a launch when the process ends
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Take a job. Raises: TypeError for anything but `table.play_blocks` of a compiled table."""
        if fn is not play_blocks or not isinstance(args[0], CompiledTable):
            raise TypeError(f"a GPU plays blocks of compiled tables only, not {fn.__name__} of {args[0]!r}")
        table, seed, number, first, last, until = args
        future: Future[list[Tally]] = Future()
        self._handed_in.put(_Job(table, seed, number, spans_of(first, last, until), future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._handed_in.put(None)
        if wait:
            self._thread.join()

    def _serve(self) -> None:
        more = True
        while more:
            gathered = self._gather()
            more = None not in gathered
            jobs = [job for job in gathered if job and job.future.set_running_or_notify_cancel()]
            for table in {id(job.table): job.table for job in jobs}.values():
                _play([job for job in jobs if job.table is table])

    def _gather(self) -> list[_Job | None]:
        """The jobs handed in, from the first one on until no other comes for a moment."""
        gathered = [self._handed_in.get()]
        while gathered[-1]:
            try:
                gathered.append(self._handed_in.get(timeout=MOMENT))
            except Empty:
                break
        return gathered


def _play(jobs: Sequence[_Job]) -> None:
    """Play jobs of one table in one launch, or few if memory is short."""
    table = jobs[0].table
    blocks = [(stream_key(job.seed, job.number, span.block), span.rounds) for job in jobs for span in job.spans]
    began = time.perf_counter()
    try:
        counts, outside = play_on_gpu(table.plan, [key for key, _ in blocks], [rounds for _, rounds in blocks])
        log.info("launch of %d blocks: %.3f s", len(blocks), time.perf_counter() - began)
        first = 0
        for job in jobs:
            last = first + len(job.spans)
            job.finish(counts[first:last], outside[first:last])
            first = last
    except Exception as error:
        for job in jobs:
            if not job.future.done():
                job.future.set_exception(error)

"""An executor that plays the blocks of many jobs in one launch on the GPU.

A job has some dozens of blocks, and a GPU plays thousands at a time. Jobs are therefore collected, and a launch begins
when no further job has arrived for a moment. A job's result does not depend on the other jobs of its launch.
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
from bjsim.sim.running.blocks import Span, make_spans
from bjsim.sim.running.compiled_table import CompiledTable, make_tallies
from bjsim.sim.running.table import check_rounds, log, play_blocks
from bjsim.sim.stats.tally import Tally

Array = np.ndarray[Any, Any]

IN_FLIGHT = 1024  # jobs submitted at a time, of up to 32 blocks each: 32768 threads
MOMENT = 0.02  # seconds without a further job after which a launch begins


@dataclass(frozen=True)
class _Job:
    table: CompiledTable
    seed: int
    number: int
    spans: Sequence[Span]
    future: Future[list[Tally]]

    def finish(self, counts: Array, outside: Sequence[Array]) -> None:
        """Compute the tallies from the counts of the job's blocks."""
        tallies = make_tallies(self.table.unit, counts.sum(axis=0), np.concatenate(outside))
        check_rounds(tallies, self.spans)
        self.future.set_result(tallies)


class GpuExecutor(Executor):
    """Plays blocks on the GPU from a separate thread. Raises: InputError if there is no GPU."""

    def __init__(self) -> None:
        need_gpu()
        self._submitted: SimpleQueue[_Job | None] = SimpleQueue()  # None: no more will follow
        self._thread = Thread(target=self._serve, daemon=True)  # daemon: a launch may be running when the process exits
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a job. Raises: TypeError for anything but `table.play_blocks` of a compiled table."""
        if fn is not play_blocks or not isinstance(args[0], CompiledTable):
            raise TypeError(f"a GPU plays blocks of compiled tables only, not {fn.__name__} of {args[0]!r}")
        table, seed, number, first, last, until = args
        future: Future[list[Tally]] = Future()
        self._submitted.put(_Job(table, seed, number, make_spans(first, last, until), future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._submitted.put(None)
        if wait:
            self._thread.join()

    def _serve(self) -> None:
        more = True
        while more:
            batch = self._collect()
            more = None not in batch
            jobs = [job for job in batch if job and job.future.set_running_or_notify_cancel()]
            for table in {id(job.table): job.table for job in jobs}.values():
                _play([job for job in jobs if job.table is table])

    def _collect(self) -> list[_Job | None]:
        """Wait for a job, and collect further ones until none arrives for MOMENT seconds."""
        batch = [self._submitted.get()]
        while batch[-1]:
            try:
                batch.append(self._submitted.get(timeout=MOMENT))
            except Empty:
                break
        return batch


def _play(jobs: Sequence[_Job]) -> None:
    """Play jobs of one table in one launch, or in a few if memory is short."""
    table = jobs[0].table
    blocks = [(stream_key(job.seed, job.number, span.block), span.rounds) for job in jobs for span in job.spans]
    began = time.perf_counter()
    try:
        counts, outside = play_on_gpu(table.compiled, [key for key, _ in blocks], [rounds for _, rounds in blocks])
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

"""An executor that plays many jobs side by side on one device, such as a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from functools import lru_cache, partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

from bjsim.sim.engine.device_play import DevicePlayer
from bjsim.sim.engine.walkers import Walkers
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.running.blocks import LARGEST_BLOCK, make_spans
from bjsim.sim.running.compiled_table import MOST_WALKERS, CompiledTable, find_walkers, make_tallies
from bjsim.sim.running.table import check_rounds, play_blocks


class _Task(NamedTuple):
    future: Future[Any]
    call: partial[Any]
    walkers: Walkers | None  # of jobs that the device plays


class DeviceExecutor(Executor):
    """Plays plain rounds of one seat's chart on a device, such as a GPU; the results are those of any executor.

    Whatever else is played, such as luck-adjusted rounds and several seats, a thread of this process plays.

    Args:
        xp: The module of the device's arrays, such as cupy.
        cells: The most cards that are dealt side by side, each of which takes about 20 bytes of the device's memory.
    """

    def __init__(self, xp: Any, cells: int = 1 << 28) -> None:
        self._cells = cells
        self._queue: SimpleQueue[_Task | None] = SimpleQueue()
        self._player = lru_cache(MOST_WALKERS)(lambda walkers: DevicePlayer(xp, walkers.compiled, walkers.rows))
        self._thread = Thread(target=self._work, name="device", daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Play a job soon; jobs of one game that wait are played side by side.

        Args:
            fn: A function.
            args: Its arguments.
            kwargs: Its arguments by name.

        Returns:
            The future of its result.
        """
        table, walkers = args[0] if args else None, None
        if fn is play_blocks and type(table) is CompiledTable and table.seats == 1:
            walkers = find_walkers(table.compiled, table.readable.play_round)
        task = _Task(Future(), partial(fn, *args, **kwargs), walkers)
        self._queue.put(task)
        return task.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more jobs.

        Args:
            wait: Whether to wait for those that were submitted.
            cancel_futures: Ignored.
        """
        self._queue.put(None)
        if wait:
            self._thread.join()

    def _work(self) -> None:
        waiting: list[_Task | None] = []
        while True:
            while not waiting or not self._queue.empty():
                waiting.append(self._queue.get())
            if waiting[0] is None:
                break
            batch = [waiting[0]]
            try:
                batch = self._next_batch(waiting)
                running = [task for task in batch if task.future.set_running_or_notify_cancel()]
                for task, result in zip(running, self._play(running), strict=True):
                    task.future.set_result(result)
            except Exception as error:
                for task in batch:
                    if not task.future.done():
                        task.future.set_exception(error)
            waiting = [task for task in waiting if task not in batch]

    def _next_batch(self, waiting: Sequence[_Task | None]) -> list[_Task]:
        """The first task, and those of the same game that there is room for."""
        first = waiting[0]
        assert first
        if not first.walkers:
            return [first]
        each = CompiledTable.blocks_at_once * self._player(first.walkers).cells(LARGEST_BLOCK)
        alike = [task for task in waiting if task and task.walkers is first.walkers]
        return alike[: max(self._cells // each, 1)]

    def _play(self, batch: Sequence[_Task]) -> list[Any]:
        if not batch or not (walkers := batch[0].walkers):
            return [task.call() for task in batch]
        spans = [make_spans(*task.call.args[3:]) for task in batch]
        jobs = [
            (
                [stream_key(task.call.args[1], task.call.args[2], span.block) for span in own],
                [span.rounds for span in own],
            )
            for task, own in zip(batch, spans, strict=True)
        ]
        results = []
        for task, own, played in zip(batch, spans, self._player(walkers).play(jobs), strict=True):
            tallies = make_tallies(task.call.args[0].unit, played.counts, played.outside) if played else task.call()
            check_rounds(tallies, own)
            results.append(tallies)
        return results

"""Where blocks are played: in this process, or in others, forked where that is safe, with one log for all of them.

`multiprocessing-logging` gathers the workers' records, but only under the fork start method, and it must be installed
before the pool is made, and the pool before any other thread starts. Elsewhere the standard library's queue does it.
"""

from __future__ import annotations

import logging
import logging.handlers
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext, SpawnContext

log = logging.getLogger("bjsim")
T = TypeVar("T")
PARENT_LOOKED_AT_S = 1.0


class InlineExecutor(Executor):
    """Does the work at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def stop_workers(pool: Executor) -> None:
    """End the worker processes of a pool at once, whatever they are doing."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.kill()


def can_fork() -> bool:
    """Whether workers are forked; where not, they are spawned, and know only what can be pickled."""
    return hasattr(os, "fork") and sys.platform != "darwin"  # its libraries do not survive it


def start_context() -> ForkContext | SpawnContext:
    """How worker processes start."""
    return multiprocessing.get_context("fork") if can_fork() else multiprocessing.get_context("spawn")


def end_with_parent() -> None:
    """From now on, end this worker process when the process that started it is gone, however that ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        while parent.is_alive() and os.getppid() == parent.pid:  # the second where a stranger keeps the first open
            parent.join(PARENT_LOOKED_AT_S)
        os._exit(1)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


class ForkedResult(Generic[T]):
    """What another core works out while this process goes on. Where that fails, it is worked out when it is asked for.

    It is a fork of this process, so start it before any thread.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._answer, answer = multiprocessing.Pipe(duplex=False)
        if can_fork() and usable_cores() > 1:
            with suppress(OSError):
                multiprocessing.get_context("fork").Process(target=self._run, args=(answer,), daemon=True).start()
        answer.close()

    def _run(self, answer: Connection) -> None:
        end_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the main process's to handle
        with suppress(Exception):  # it will be raised where the result is asked for
            answer.send(self._work())

    def result(self) -> T:
        """The result of the work. Raises: what the work raises."""
        try:
            result: T = self._answer.recv()
        except (EOFError, OSError):  # nothing came, or not the whole of it
            result = self._work()
        return result


def _start_worker(records: Any) -> None:
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the main process's to handle
    if records is not None:
        log.addHandler(logging.handlers.QueueHandler(records))
        log.setLevel(logging.INFO)


def open_executor(workers: int, records: Any = None) -> Executor:
    """An executor with this many workers; they have started when this returns, so threads may start after it."""
    if workers == 1:
        return InlineExecutor()
    pool = ProcessPoolExecutor(workers, start_context(), _start_worker, (records,))
    pool.submit(os.getpid).result()
    return pool


@contextmanager
def collect_logs(path: str | None) -> Iterator[Any]:
    """Write the log records of this process and of all workers to the file `path`, if one is given.

    Yields what `open_executor` needs as `records`. Raises: OSError if the file cannot be written.
    """
    if path is None:
        yield None
        return
    handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    records: Any = None
    listener = None
    if can_fork():
        from multiprocessing_logging import install_mp_handler, uninstall_mp_handler

        install_mp_handler(log)
    else:
        records = start_context().Queue()
        listener = logging.handlers.QueueListener(records, handler)
        listener.start()
    try:
        yield records
    finally:
        if listener is None:
            for gatherer in log.handlers:
                if getattr(gatherer, "sub_handler", None) is handler:
                    gatherer.close()  # waits for the records still on their way; uninstalling does not
            uninstall_mp_handler(log)
        else:
            listener.stop()
        log.removeHandler(handler)
        handler.close()

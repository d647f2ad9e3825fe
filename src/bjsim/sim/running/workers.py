"""Executors on this machine: this process or worker processes, forked where that is safe, with a common log.

`multiprocessing-logging` collects the workers' records, but only under the fork start method. It must be installed
before the pool is created, and the pool must be created before any other thread starts. With the spawn start method a
queue of the standard library collects them.
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
from concurrent import futures
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from bjsim.arguments import a_type, argument
from bjsim.errors import InputError
from bjsim.sim.engine.compile_notice import ONE_THREAD, in_notebook
from bjsim.sim.running.table import Backend, Need

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext, SpawnContext
    from multiprocessing.process import BaseProcess


# --- Where jobs are played: on this machine or by any executor, what the place offers, and how it is opened.


OTHER_PROCESSES = Need.DECISIONS
FORKS = OTHER_PROCESSES | Need.MODULES


def threads(workers: int) -> Backend:
    """Threads of this process, for players that wait for other processes.

    Where there are several, and a core for each, each keeps to one with all processes that it starts: to wake a process
    on another core takes longer than a quick bot's move.
    """
    return Backend(lambda: own_pool(_threads(workers)), 2 * workers)


def _threads(workers: int) -> Executor:
    if not 1 < workers <= usable_cores() or not hasattr(os, "sched_setaffinity"):
        return ThreadPoolExecutor(workers)
    cores = iter(sorted(os.sched_getaffinity(0)))
    return ThreadPoolExecutor(workers, initializer=lambda: os.sched_setaffinity(0, {next(cores)}))


def borrowed(executor: Executor, workers: int) -> Backend:
    """Someone else's executor that plays `workers` jobs at once."""
    offers = Need.ANYTHING if isinstance(executor, ThreadPoolExecutor) else OTHER_PROCESSES
    return Backend(lambda: nullcontext(executor), 2 * workers, offers)


def local(workers: int) -> Backend:
    """Processes of this machine, forked if possible; one worker is this process itself."""
    if workers == 1:
        return Backend(lambda: nullcontext(InlineExecutor()), 1)
    offers = FORKS if can_fork() else OTHER_PROCESSES
    return Backend(lambda: own_processes(workers, start_context(), _start_worker, _collected), 2 * workers, offers)


def find_backend(executor: Executor | None = None, workers: int | None = None, needs: Need = Need.NOTHING) -> Backend:
    """The place where jobs are played; an `executor` is left open, None is this machine.

    These are processes on this machine, or threads where players or other threads of this process rule
    processes out. The compiled round lets other threads run, so that charts are played as fast by threads;
    players in Python are not. `workers` are processes, None for one per core; so many jobs the executor plays
    at once, one per core unless there are more than one.
    """
    cores = workers or usable_cores()
    if cores > 1 and ONE_THREAD:
        raise InputError(f"{argument('workers')}: {cores} is not accepted; Python has one process here, so give 1")
    if isinstance(executor, Executor):
        return borrowed(executor, cores if cores > 1 else usable_cores())
    if executor is not None:
        other = "; of a Dask client, give client.get_executor()" if hasattr(executor, "get_executor") else ""
        wrong = f"{argument('executor')}: {a_type(executor)} is not accepted"
        raise InputError(f"{wrong}; give a concurrent.futures.Executor, or None for this machine{other}")
    if Need.PROGRAMS in needs:
        return threads(cores)
    if can_fork() and not is_fork_safe() and cores > 1:
        return Backend(lambda: own_pool(ThreadPoolExecutor(cores)), 2 * cores)
    processes = local(cores)
    return local(1) if workers is None and needs & ~processes.offers else processes


log = logging.getLogger("bjsim")
PARENT_POLL_S = 1.0
STOPS = (signal.SIGINT, signal.SIGTERM)
OPEN_ENDS = [("_result_queue", "_writer"), *[("_call_queue", "_reader")] * (sys.version_info < (3, 11, 5))]
_collected: Any = None  # the queue for the log records of spawned workers


class InlineExecutor(Executor):
    """Runs each call in this process when it is submitted."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def usable_cores() -> int:
    if ONE_THREAD:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def own_pool(pool: Executor) -> Iterator[Executor]:
    """Close a pool when the context ends. An error kills its processes; threads end when their work is done."""
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        for process in _processes(pool):
            process.kill()
        # A worker that died while it sent a result leaves half of it, and a thread of the pool that waits for the rest.
        # One that died while it was sent a job leaves, before Python 3.11.5 (gh-94777), a thread that waits until that
        # is read. Each waits until all other ends of its pipe are closed, of which this process holds one.
        for queue, end in OPEN_ENDS:
            with suppress(AttributeError, OSError):
                getattr(getattr(pool, queue), end).close()
        # At exit, Python writes to a pipe that a pool's thread may be closing: join the thread before.
        pool.shutdown(wait=isinstance(pool, futures.ProcessPoolExecutor))
        raise


@contextmanager
def own_processes(
    workers: int, context: ForkContext | SpawnContext, begin: Callable[..., object], *given: Any
) -> Iterator[Executor]:
    """An own pool of processes that call `begin(*given)` first. If forked, all have started: threads may start then."""
    most = min(workers, 61) if sys.platform == "win32" else workers  # Windows waits for no more
    with own_pool(futures.ProcessPoolExecutor(most, context, begin, given)) as pool:
        with stops_held():
            pool.submit(os.getpid)
        yield pool


def has_dead_worker(pool: Executor) -> bool:
    """Whether a worker process of a pool has died, which the pool may not notice; see `own_pool`."""
    return any(not process.is_alive() for process in _processes(pool))


def _processes(pool: Executor) -> list[BaseProcess]:
    return list((getattr(pool, "_processes", None) or {}).values())


def can_fork() -> bool:
    """Whether workers are forked; otherwise they are spawned, and receive only what can be pickled."""
    # Apple's libraries do not survive a fork.
    return hasattr(os, "fork") and not ONE_THREAD and sys.platform != "darwin"


def is_fork_safe() -> bool:
    """Whether this process can be forked now. Another thread may hold a lock that its copy would wait for, for ever.

    A thread with the attribute `ends_before_fork` ends itself before.
    """
    others = [each for each in threading.enumerate() if not getattr(each, "ends_before_fork", False)]
    return can_fork() and len(others) == 1 and not in_notebook()


def start_context(fork: bool = True) -> ForkContext | SpawnContext:
    """The multiprocessing context in which worker processes start: forked if possible and if `fork` allows it."""
    return multiprocessing.get_context("fork") if fork and can_fork() else multiprocessing.get_context("spawn")


@contextmanager
def stops_held() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back while workers start: they have this process's handlers until `end_with_parent`."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """Start a thread that ends this worker process once its parent has gone, however the parent ended.

    Ctrl-C is the main process's to handle, and SIGTERM ends this one.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        while (
            parent.is_alive() and os.getppid() == parent.pid
        ):  # getppid() for when another process holds the pipe open
            parent.join(PARENT_POLL_S)
        os._exit(1)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


def _start_worker(records: Any) -> None:
    end_with_parent()
    if records is not None:
        log.addHandler(logging.handlers.QueueHandler(records))
        log.setLevel(logging.INFO)


@contextmanager
def collect_logs(path: str | os.PathLike[str] | None) -> Iterator[None]:
    """Write the log records of this process, and of all workers that it starts, to `path` if given.

    Raises: InputError: It cannot be written.
    """
    global _collected
    if path is None:
        yield
        return
    try:
        handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"cannot write the log {path}: {why}") from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(message)s"))
    collector, listener, before = handler, None, (log.level, log.propagate)
    if can_fork():
        from multiprocessing_logging import MultiProcessingHandler

        collector = MultiProcessingHandler("bjsim-log", sub_handler=handler)
    else:
        _collected = start_context().Queue()
        listener = logging.handlers.QueueListener(_collected, handler)
        listener.start()
    log.addHandler(collector)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(collector)
        if listener:
            listener.stop()
            _collected = None
        collector.close()  # waits for records in transit
        log.setLevel(before[0])
        log.propagate = before[1]

"""Where jobs are played: on this machine or by any executor, what the place offers, and how it is opened."""

import os
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext

from bjsim.arguments import a_type, argument
from bjsim.errors import InputError
from bjsim.sim.running.backend import Backend, Need
from bjsim.sim.running.workers import InlineExecutor, can_fork, fork_workers, is_fork_safe, own_pool, usable_cores

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
    offers = FORKS if isinstance(executor, ProcessPoolExecutor) else Need.ANYTHING
    return Backend(lambda: nullcontext(executor), 2 * workers, offers)


def local(workers: int) -> Backend:
    """Processes of this machine, forked if possible; one worker is this process itself."""
    if workers == 1:
        return Backend(lambda: nullcontext(InlineExecutor()), 1)
    return Backend(lambda: own_pool(fork_workers(workers)), 2 * workers, FORKS if can_fork() else OTHER_PROCESSES)


def find_backend(executor: Executor | None = None, workers: int | None = None, needs: Need = Need.NOTHING) -> Backend:
    """The place where jobs are played; an `executor` is left open, None is this machine.

    These are processes on this machine, or threads where players or other threads of this process rule
    processes out. The compiled round lets other threads run, so that charts are played as fast by threads;
    players in Python are not. `workers` are processes, or how many jobs the executor plays at once, None
    for one per core.
    """
    cores = workers or usable_cores()
    if isinstance(executor, Executor):
        return borrowed(executor, cores)
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

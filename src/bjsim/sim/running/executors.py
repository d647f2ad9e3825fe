"""Where blocks are played: what the argument `executor` names, what it offers, and how it is opened.

A new backend is one more line in `BACKENDS`: a name, or the scheme of a URL, and a function that finds it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from bjsim.arguments import a_type, argument
from bjsim.errors import InputError
from bjsim.sim.running.backend import Backend, BackendSpec, BorrowedExecutor, Need
from bjsim.sim.running.workers import can_fork, is_fork_safe, open_executor, usable_cores

FORKS = Need.DECISIONS | Need.MODULES
OTHER_PROCESSES = Need.DECISIONS


def threads(workers: int) -> Backend:
    """Threads of this process, for players that wait for other processes.

    Where there are several, and a core for each, each keeps to one with all processes that it starts: to wake a process
    on another core takes longer than a quick bot's move.
    """
    return Backend(lambda: _threads(workers), lambda: 2 * workers)


def _threads(workers: int) -> Executor:
    if not 1 < workers <= usable_cores() or not hasattr(os, "sched_setaffinity"):
        return ThreadPoolExecutor(workers)
    cores = iter(sorted(os.sched_getaffinity(0)))
    return ThreadPoolExecutor(workers, initializer=lambda: os.sched_setaffinity(0, {next(cores)}))


def borrowed(executor: Executor, workers: int) -> Backend:
    """Someone else's executor that plays `workers` blocks at once."""
    return Backend(lambda: BorrowedExecutor(executor), lambda: 2 * workers)


def local(workers: int, records: Any = None) -> Backend:
    """Forked processes; one worker is this process itself. records: see `workers.collect_logs`."""
    return Backend(lambda: open_executor(workers, records), lambda: 2 * workers if workers > 1 else 1)


def _local(address: str, workers: int | None, needs: Need) -> BackendSpec:
    """Processes of this machine, or threads where players or other threads of this process rule them out.

    The compiled round lets other threads run, so that charts are played as fast by threads; players in Python are not.
    """
    if address:
        raise InputError(f"{argument('executor', 'local')} takes no address (got {address!r})")
    cores = workers or usable_cores()
    if Need.PROGRAMS in needs:
        return BackendSpec(Need.ANYTHING, lambda records: nullcontext(threads(cores)))
    if can_fork() and not is_fork_safe() and cores > 1:
        pool = Backend(lambda: ThreadPoolExecutor(cores), lambda: 2 * cores)
        return BackendSpec(Need.ANYTHING, lambda records: nullcontext(pool))
    offers = FORKS if can_fork() else OTHER_PROCESSES
    if cores == 1 or (workers is None and needs & ~offers):
        return BackendSpec(Need.ANYTHING, lambda records: nullcontext(local(1, records)))
    return BackendSpec(offers, lambda records: nullcontext(local(cores, records)))


def _dask(address: str, workers: int | None, needs: Need) -> BackendSpec:
    if address and workers:
        asked = f"{argument('workers', workers)} with {argument('executor', f'dask://{address}')}"
        raise InputError(f"{asked} is not accepted: the cluster sets its own number of workers")

    def open_cluster(records: Any) -> AbstractContextManager[Backend]:
        from bjsim.sim.running.dask_backend import local_cluster, remote_cluster

        return remote_cluster(address) if address else local_cluster(workers or usable_cores())

    return BackendSpec(OTHER_PROCESSES, open_cluster)


BACKENDS: dict[str, Callable[[str, int | None, Need], BackendSpec]] = {"local": _local, "dask": _dask}


def find_backend(executor: str | Executor, workers: int | None = None, needs: Need = Need.NOTHING) -> BackendSpec:
    """The backend that an argument names, not open yet.

    Args:
        executor: `local` (processes or threads of this machine), `dask` (a Dask cluster on this machine),
            `dask://HOST:PORT` (its scheduler), or any executor, which is left open.
        workers: Processes, where the place does not know them itself; None is one for each core of this machine.
        needs: Everything that the players need. `local` chooses between processes and threads by it.

    Raises:
        InputError: For another text, and for an address or workers where the place takes none.
    """
    if isinstance(executor, Executor):
        pool = borrowed(executor, workers or usable_cores())
        processes = isinstance(executor, ProcessPoolExecutor)
        return BackendSpec(FORKS if processes else Need.ANYTHING, lambda records: nullcontext(pool))
    name, _, address = executor.partition("://") if isinstance(executor, str) else ("", "", "")
    if name not in BACKENDS or executor.endswith("://"):
        wrong = f"{argument('executor')}: {a_type(executor)}"
        asked = argument("executor", executor) if isinstance(executor, str) else wrong
        other = "; of a Dask client, give client.get_executor()" if hasattr(executor, "get_executor") else ""
        raise InputError(f"{asked} is not accepted; write local, dask or dask://HOST:PORT{other}")
    return BACKENDS[name](address, workers, needs)

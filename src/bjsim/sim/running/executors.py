"""Opening the backend that an executor's name stands for.

To add a backend, add to `BACKENDS` its name, or the scheme of its URL, and a function that opens it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from bjsim.errors import InputError
from bjsim.sim.running.backend import Backend, BorrowedExecutor
from bjsim.sim.running.workers import open_executor, usable_cores


def threads(workers: int) -> Backend:
    """Threads of this process, for players that wait for other processes.

    If there are several threads and a core for each, each thread is pinned to a core together with the processes that
    it starts: waking a process on another core takes longer than a fast bot's move.
    """
    return Backend(lambda: _threads(workers), lambda: 2 * workers)


def _threads(workers: int) -> Executor:
    if not 1 < workers <= usable_cores() or not hasattr(os, "sched_setaffinity"):
        return ThreadPoolExecutor(workers)
    cores = iter(sorted(os.sched_getaffinity(0)))
    return ThreadPoolExecutor(workers, initializer=lambda: os.sched_setaffinity(0, {next(cores)}))


def borrowed(executor: Executor, workers: int) -> Backend:
    """A caller's executor that runs `workers` jobs at once."""
    return Backend(lambda: BorrowedExecutor(executor), lambda: 2 * workers)


def local(workers: int, records: Any = None) -> Backend:
    """Worker processes; a single worker is this process itself. records: as yielded by `workers.collect_logs`."""
    return Backend(lambda: open_executor(workers, records), lambda: 2 * workers if workers > 1 else 1)


@contextmanager
def _local(address: str, workers: int | None, records: Any) -> Iterator[Backend]:
    if address:
        raise InputError(f"executor local takes no address, but was given {address!r}")
    yield local(workers or usable_cores(), records)


def _dask(address: str, workers: int | None, records: Any) -> AbstractContextManager[Backend]:
    from bjsim.sim.running.dask_backend import local_cluster, remote_cluster

    if not address:
        return local_cluster(workers or usable_cores())
    if workers:
        raise InputError(f"workers cannot be set for executor dask://{address}: the cluster determines them")
    return remote_cluster(address)


@contextmanager
def _cuda(address: str, workers: int | None, records: Any) -> Iterator[Backend]:
    from bjsim.sim.engine.gpu import need_gpu
    from bjsim.sim.running.gpu_backend import IN_FLIGHT, GpuExecutor

    if address:
        raise InputError(f"executor cuda takes no address, but was given {address!r}")
    if workers:
        raise InputError("workers cannot be set for executor cuda: one process submits the blocks to the GPU")
    need_gpu()
    yield Backend(GpuExecutor, lambda: IN_FLIGHT)


BACKENDS: dict[str, Callable[[str, int | None, Any], AbstractContextManager[Backend]]] = {
    "local": _local,
    "dask": _dask,
    "cuda": _cuda,
}


def open_backend(text: str, workers: int | None = None, records: Any = None) -> AbstractContextManager[Backend]:
    """Open the backend of an executor's name; leaving the context closes it.

    Args:
        text: `local` (worker processes), `dask` (a Dask cluster on this machine), `dask://HOST:PORT` (the cluster of
            that scheduler), or `cuda` (this machine's GPU).
        workers: The number of processes for `local` and `dask`; None means one for each core of this machine.
        records: As yielded by `workers.collect_logs`.

    Returns:
        A context manager that yields the backend.

    Raises:
        InputError: The name is unknown, the backend cannot be reached, or a package that it needs is missing.
    """
    name, _, address = text.partition("://")
    if name not in BACKENDS or text.endswith("://"):
        raise InputError(f"executor {text} is not accepted; write local, dask, dask://HOST:PORT or cuda")
    return BACKENDS[name](address, workers, records)

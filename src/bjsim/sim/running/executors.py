"""Where blocks are played: what `--executor` names, and how it is opened.

A new place is one more line in `PLACES`: a name, or the scheme of a URL, and a function that opens it.
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
    """Forked processes; one worker is this process itself. records: see `workers.gathered_log`."""
    return Backend(lambda: open_executor(workers, records), lambda: 2 * workers if workers > 1 else 1)


@contextmanager
def _local(address: str, workers: int | None, records: Any) -> Iterator[Backend]:
    if address:
        raise InputError(f"--executor local takes no address, and {address!r} is one")
    yield local(workers or usable_cores(), records)


def _dask(address: str, workers: int | None, records: Any) -> AbstractContextManager[Backend]:
    from bjsim.sim.running.dask_backend import local_cluster, remote_cluster

    if not address:
        return local_cluster(workers or usable_cores())
    if workers:
        raise InputError(f"--workers {workers} with --executor dask://{address}: that cluster has the workers it has")
    return remote_cluster(address)


@contextmanager
def _cuda(address: str, workers: int | None, records: Any) -> Iterator[Backend]:
    from bjsim.sim.engine.gpu import need_gpu
    from bjsim.sim.running.gpu_backend import IN_FLIGHT, GpuExecutor

    if address:
        raise InputError(f"--executor cuda takes no address, and {address!r} is one")
    if workers:
        raise InputError(f"--workers {workers} with --executor cuda: one process hands the blocks to the GPU")
    need_gpu()
    yield Backend(GpuExecutor, lambda: IN_FLIGHT)


BACKENDS: dict[str, Callable[[str, int | None, Any], AbstractContextManager[Backend]]] = {
    "local": _local,
    "dask": _dask,
    "cuda": _cuda,
}


def open_backend(text: str, workers: int | None = None, records: Any = None) -> AbstractContextManager[Backend]:
    """The place that `text` names, closed when the context is left.

    text: `local` (forked processes), `dask` (a Dask cluster on this machine), `dask://HOST:PORT` (its scheduler), or
    `cuda` (this machine's GPU).
    workers: processes, where the place does not know them itself; None is one for each core of this machine.
    records: what `workers.gathered_log` yields.
    Raises: InputError for another text, for a place that cannot be reached or lacks a package.
    """
    name, _, address = text.partition("://")
    if name not in BACKENDS or text.endswith("://"):
        raise InputError(f"--executor {text} is not accepted; write local, dask, dask://HOST:PORT or cuda")
    return BACKENDS[name](address, workers, records)

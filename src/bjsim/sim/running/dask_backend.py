"""Dask clusters as workplaces: one on this machine, or the one at an address (extra `dask`).

Dask plays the blocks of a lost worker again by itself, and gives them up (`KilledWorker`) only after several workers
died of the same block; the driver then counts a loss and hands them out anew.
"""

from __future__ import annotations

import logging
import re
import signal
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from bjsim.errors import InputError, RunFailed
from bjsim.sim.running.backend import Backend

CONNECT = 10.0  # seconds in which a scheduler must answer
FIRST_WORKER = 30.0  # seconds in which a worker must be there
COUNT_EVERY = 5.0  # seconds after which the workers are counted again, for some may have joined


@contextmanager
def local_cluster(workers: int) -> Iterator[Backend]:
    """A cluster of `workers` processes on this machine, without a dashboard.

    Raises: InputError without Dask; RunFailed when the processes do not start, or are killed as they do.
    """
    distributed = _distributed()
    with ExitStack() as opened:
        folder = opened.enter_context(TemporaryDirectory(prefix="bjsim-dask-"))
        try:
            cluster = opened.enter_context(
                distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",  # Dask always answers HTTP; a taken port warns
                    scheduler_kwargs={"dashboard": False},
                    memory_limit=0,  # blocks need little, and Dask's watch over it pauses workers
                    silence_logs=logging.CRITICAL,
                    local_directory=folder,
                    preload="bjsim.sim.running.dask_backend",
                )
            )
            client = opened.enter_context(distributed.Client(cluster, set_as_default=False))
        except Exception as error:  # whatever Dask makes of a process that has gone
            why = str(error) or type(error).__name__
            raise RunFailed(f"the Dask cluster on this machine did not start: {why}") from None
        yield _backend(client, "on this machine")


@contextmanager
def remote_cluster(address: str) -> Iterator[Backend]:
    """The cluster whose scheduler is at `address`, HOST:PORT.

    Raises: InputError without Dask, when no scheduler answers, or when workers are missing or have another bjsim.
    """
    distributed = _distributed()
    if not re.fullmatch(r"[^\s/]+:\d+", address):
        raise InputError(
            f"--executor dask://{address} is not accepted; write dask://HOST:PORT, such as dask://node1:8786"
        )
    try:
        client = distributed.Client(f"tcp://{address}", timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError):
        raise InputError(f"no Dask scheduler answers at {address}; start one with `dask scheduler`") from None
    with client:
        _check_workers(client, address)
        yield _backend(client, f"at {address}")


def dask_setup(worker: Any) -> None:
    """Called by Dask in each worker of a local cluster as it starts: Ctrl-C is the main process's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError("--executor dask needs the package distributed: pip install 'bjsim[dask]'") from None
    return distributed


def _check_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER)
    except TimeoutError:
        raise InputError(f"the scheduler at {address} has no workers; start some: dask worker {address}") from None
    ours = version("bjsim")
    found = client.run(version, "bjsim", on_error="return")
    for worker, theirs in found.items():
        if theirs != ours:
            has = f"has bjsim {theirs}" if isinstance(theirs, str) else "has no bjsim"
            raise InputError(f"the Dask worker {worker} {has}; install bjsim {ours} there")


def _backend(client: Any, where: str) -> Backend:
    from distributed.scheduler import KilledWorker

    count, counted = 0, -COUNT_EVERY

    def open_pool() -> Executor:
        if client.status != "running":
            raise RunFailed(f"the connection to the Dask scheduler {where} is lost")
        pool: Executor = client.get_executor(pure=False)
        return pool

    def in_flight() -> int:
        nonlocal count, counted
        if monotonic() - counted > COUNT_EVERY and client.status == "running":
            count, counted = sum(client.nthreads().values()), monotonic()
        return 2 * max(count, 1)

    return Backend(open_pool, in_flight, (BrokenExecutor, KilledWorker, CancelledError))

"""Dask clusters as backends: one on this machine, or a remote one at an address (extra `dask`).

Dask reruns the jobs of a lost worker by itself. It gives a job up (`KilledWorker`) only after several workers have died
while running it; the driver then counts a loss and resubmits the job.
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

from bjsim.arguments import argument
from bjsim.errors import InputError, RunFailed
from bjsim.sim.running.backend import Backend

CONNECT = 10.0  # seconds to wait for a scheduler
FIRST_WORKER = 30.0  # seconds to wait for a worker
COUNT_EVERY = 5.0  # seconds between counts of the workers, as more may join


@contextmanager
def local_cluster(workers: int) -> Iterator[Backend]:
    """Start a cluster of `workers` processes on this machine, without a dashboard.

    Raises:
        InputError: Dask is not installed.
        RunFailed: The processes do not start, or are killed while starting.
    """
    distributed = _distributed()
    with ExitStack() as opened:
        folder = opened.enter_context(TemporaryDirectory(prefix="bjsim-dask-"))
        try:
            cluster = opened.enter_context(
                distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",  # Dask always serves HTTP, and warns if the port is taken
                    scheduler_kwargs={"dashboard": False},
                    memory_limit=0,  # blocks need little memory, and Dask's limit pauses workers
                    silence_logs=logging.CRITICAL,
                    local_directory=folder,
                    preload="bjsim.sim.running.dask_backend",
                )
            )
            client = opened.enter_context(distributed.Client(cluster, set_as_default=False))
        except Exception as error:  # Dask reports a dead process by various exceptions
            reason = str(error) or type(error).__name__
            raise RunFailed(f"the Dask cluster on this machine did not start: {reason}") from None
        yield _backend(client, "on this machine")


@contextmanager
def remote_cluster(address: str) -> Iterator[Backend]:
    """Connect to the cluster whose scheduler is at `address`, HOST:PORT.

    Raises:
        InputError: Dask is not installed, no scheduler answers, there are no workers, or their bjsim is missing or of
            another version.
    """
    distributed = _distributed()
    if not re.fullmatch(r"[^\s/]+:\d+", address):
        raise InputError(
            f"{argument('executor', f'dask://{address}')} is not accepted; write dask://HOST:PORT, such as dask://node1:8786"
        )
    try:
        client = distributed.Client(f"tcp://{address}", timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError):
        raise InputError(f"no Dask scheduler answers at {address}; start one with `dask scheduler`") from None
    with client:
        _check_workers(client, address)
        yield _backend(client, f"at {address}")


def dask_setup(worker: Any) -> None:
    """Ignore SIGINT, which the main process handles; Dask calls this in each worker of a local cluster."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError(
            f"{argument('executor', 'dask')} needs the package distributed; in a checkout: pip install '.[dask]'"
        ) from None
    return distributed


def _check_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER)
    except TimeoutError:
        raise InputError(f"the scheduler at {address} has no workers; start some: dask worker {address}") from None
    ours = version("bjsim")
    versions = client.run(version, "bjsim", on_error="return")
    for worker, theirs in versions.items():
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

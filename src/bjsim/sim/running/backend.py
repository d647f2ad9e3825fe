"""What a driver needs to know of the place where blocks are played."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass


@dataclass(frozen=True)
class Backend:
    """Executors for a driver.

    open_pool: makes an executor, and a new one when workers were lost. in_flight: how many jobs to have handed out
    now. lost: what a job's future raises when its worker died, so that the job can be played again.
    """

    open_pool: Callable[[], Executor]
    in_flight: Callable[[], int]
    lost: tuple[type[Exception], ...] = (BrokenExecutor,)


class BorrowedExecutor(Executor):
    """Someone else's executor: used, and left open."""

    def __init__(self, executor: Executor) -> None:
        self.submit = executor.submit  # type: ignore[method-assign]

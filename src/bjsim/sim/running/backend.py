"""The interface between a driver and the executors that play blocks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass


@dataclass(frozen=True)
class Backend:
    """A source of executors for a driver.

    Attributes:
        open_pool: Creates an executor; called again after workers were lost.
        in_flight: The number of jobs that should be submitted and unfinished at present.
        lost: Exceptions by which a job's future reports that its worker died; the job is then resubmitted.
    """

    open_pool: Callable[[], Executor]
    in_flight: Callable[[], int]
    lost: tuple[type[Exception], ...] = (BrokenExecutor,)


class BorrowedExecutor(Executor):
    """A caller's executor, which is used but not shut down."""

    def __init__(self, executor: Executor) -> None:
        self.submit = executor.submit  # type: ignore[method-assign]

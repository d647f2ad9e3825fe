"""Backends, which play blocks, and the features they support."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any, NamedTuple


class Need(Flag):
    """A feature that a player, or a way of playing, requires of a backend."""

    NOTHING = 0
    DECISIONS = auto()  # to run a player's code: it is not a chart
    MODULES = auto()  # modules that only this process and its forks have loaded
    OBJECTS = auto()  # objects of this process that cannot be pickled
    PROGRAMS = auto()  # programs that this process has started
    ANYTHING = DECISIONS | MODULES | OBJECTS | PROGRAMS


@dataclass(frozen=True)
class Backend:
    """A source of executors for a driver; `open_pool` is called again after workers were lost.

    `in_flight` is the number of jobs that should be submitted and unfinished at present. An exception in
    `lost` means that a job's worker died; the job is then resubmitted.
    """

    open_pool: Callable[[], Executor]
    in_flight: Callable[[], int]
    lost: tuple[type[Exception], ...] = (BrokenExecutor,)


class BackendSpec(NamedTuple):
    """A backend that is not open yet.

    offers: the needs that it meets. open: opens it, with what `workers.collect_logs` yields.
    """

    offers: Need
    open: Callable[[Any], AbstractContextManager[Backend]]

    @property
    def is_this_process(self) -> bool:
        return Need.OBJECTS in self.offers


class BorrowedExecutor(Executor):
    """A caller's executor, which is used but not shut down."""

    def __init__(self, executor: Executor) -> None:
        self.submit = executor.submit  # type: ignore[method-assign]

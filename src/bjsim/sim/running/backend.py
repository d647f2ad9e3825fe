"""Backends, which play jobs, and the features they support."""

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Flag, auto


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
    """A place where jobs are played.

    `open_pool` opens an executor, again after workers were lost (BrokenExecutor), and an error closes it at once.
    `in_flight` is the number of jobs that are submitted and unfinished at a time; `offers` are the needs that are met.
    """

    open_pool: Callable[[], AbstractContextManager[Executor]]
    in_flight: int
    offers: Need = Need.ANYTHING

    @property
    def is_this_process(self) -> bool:
        return Need.OBJECTS in self.offers

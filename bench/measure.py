"""Measures work alternately with the references of `reference.py`, as speeds, durations and ratios."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from reference import follow_chain, make_chain, play_reference

TURNS = 5


class Measured(NamedTuple):
    """One line of the table (more is better).

    Attributes:
        what: Its name.
        value: The value in words.
        ratio: The ratio to the plain kernel.
        by_memory: The ratio to the reference that feels memory; 0 if not measured.
    """

    what: str
    value: str
    ratio: float
    by_memory: float = 0.0


class Seconds(NamedTuple):
    """The shortest times of a piece of work, of a million rounds of the plain kernel, and of a million links."""

    work: float
    plain: float
    memory: float


def timed(work: Callable[[], object]) -> float:
    """Seconds that the work takes at the moment."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def reference_seconds() -> float:
    """Seconds that the plain kernel needs for a million rounds at the moment."""
    return timed(lambda: play_reference(1_000_000, 88172645463325252))


def in_turn(work: Callable[[], object], turns: int = TURNS) -> Seconds:
    """Measure the work and both references alternately."""
    work()
    chain = make_chain()
    memory, plain, mine = [], [], []
    for _ in range(turns):
        memory.append(timed(lambda: follow_chain(chain, 1_000_000)))
        plain.append(reference_seconds())
        mine.append(timed(work))
    return Seconds(min(mine), min(plain), min(memory))


def speed(what: str, rounds: int, work: Callable[[], object], turns: int = TURNS) -> Measured:
    """Rounds per second."""
    seconds = in_turn(work, turns)
    millions = rounds / seconds.work / 1e6
    return Measured(what, f"{1e6 * millions:,.0f} rounds/s", millions * seconds.plain, millions * seconds.memory)


def duration(what: str, work: Callable[[], object], turns: int = TURNS) -> Measured:
    """Seconds, or milliseconds."""
    seconds = in_turn(work, turns)
    value = f"{seconds.work:.2f} s" if seconds.work > 0.5 else f"{1000 * seconds.work:.0f} ms"
    return Measured(what, value, seconds.plain / seconds.work, seconds.memory / seconds.work)

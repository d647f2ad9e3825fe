"""Sums with the same last digits everywhere: `sum` of floats makes up for rounding from Python 3.12 on."""

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import TypeVar, cast

T = TypeVar("T")


def add_up(parts: Iterable[T], start: T | int = 0) -> T:
    """Add up numbers or arrays from left to right."""
    return cast(T, reduce(add, parts, start))

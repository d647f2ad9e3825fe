"""Calling functions that otherwise only kernels call."""

from collections.abc import Callable
from typing import Any

import numba


def from_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a kernel, compiled so that Python can call it."""

    @numba.njit
    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return call

"""Calling functions that otherwise only kernels call."""

from collections.abc import Callable
from typing import Any

import numba


def from_python(function: Any) -> Callable[..., Any]:
    """The function of a kernel, compiled so that Python can call it."""
    call: Callable[..., Any] = numba.njit(function.py_func)
    return call

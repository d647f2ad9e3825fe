"""Validation of arguments that commands and functions share."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from numbers import Real
from pathlib import Path
from typing import Any

from bjsim.errors import InputError, shorten

MAX_COUNT = 10**15  # largest accepted count of anything
MAX_HANDS = 10**10  # played to reach a precision if nothing else is given
MAX_TABLES = 10**6
MAX_WORKERS = 4096
EXPONENTS = {"k": "e3", "m": "e6", "b": "e9"}  # 10M is 10e6
_on_command_line: ContextVar[bool] = ContextVar("_on_command_line", default=False)


@contextmanager
def command_line() -> Iterator[None]:
    """Within this context, messages name arguments as options: `--hands` instead of `hands`."""
    token = _on_command_line.set(True)
    try:
        yield
    finally:
        _on_command_line.reset(token)


def argument(name: str, value: object = None) -> str:
    """An argument as the caller writes it, for a message: `seed=3`, or `--seed 3` on the command line."""
    value = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not _on_command_line.get():
        return name if value is None else f"{name}={value!r}"
    option = "--" + name.replace("_", "-")
    return option if value is None or value is True else f"{option} {value}"


def a_type(value: object) -> str:
    """The type of a value with its article, for a message: `an int`."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Within this context, errors name the argument; the command line keeps self-explanatory messages."""
    try:
        yield
    except InputError as error:
        if not _on_command_line.get() and not str(error).startswith(name):
            error.args = (f"{name}: {error}",)
        raise
    except (OSError, ValueError) as error:  # such as a path that is too long or contains a zero byte
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{argument(name)}: {reason}") from None


def whole_number(name: str, value: object, low: int = 1, most: int = MAX_COUNT, example: str = "1e7 or 10M") -> int:
    """Parse an integer from `low` to `most`: Python's, numpy's, an integral float, or text (`1e7`, `10M`).

    The InputError names the argument and the value, and gives `example` if numbers may be large.
    """
    try:
        number: Any = _parse(value) if isinstance(value, str) else value
        is_number = isinstance(number, Real) and not isinstance(number, bool)
        whole = int(number) if is_number else None
    except (ValueError, OverflowError):
        number = whole = None
    if whole is None or whole != number or not low <= whole <= most:
        shown = shorten(value) if isinstance(value, str | Real | None) else a_type(value)
        largest = f"{most:.0e}".replace("e+0", "e").replace("e+", "e")
        range_ = f"{low} to {most}" if most < 10**9 else f"{low} to {largest}"
        if most >= 10**9 and (whole is None or whole != number):  # which does not look like a number here
            range_ += f", such as {example}"
        raise InputError(f"{name}: {shown} is not accepted; use a whole number from {range_}")
    return whole


def flag(name: str, value: object) -> bool:
    """A switch. Raises: InputError if it is neither true nor false."""
    text = isinstance(value, str | Real)
    if str(value) in ("True", "False", "0", "1") and not isinstance(value, str):  # also those of numpy
        return bool(value)
    shown = argument(name, value) if text else f"{argument(name)}: {a_type(value)}"
    raise InputError(f"{shown} is not accepted; use True or False")


def a_name(name: str, value: object) -> str:
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{argument(name)}: {a_type(value)} is not accepted; use a name, or the path of a file")
    return os.fspath(value)


def share(name: str, value: object) -> float:
    """A share of the initial bet. Raises: InputError if it is not between 0 and 1."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    number = float(value) if is_number and 0 < value < 1 else math.nan  # type: ignore[operator,arg-type]
    if not 0 < number < 1:
        shown = value if isinstance(value, str | Real) else a_type(value)
        raise InputError(f"{argument(name)}: {shown} is not accepted; use a share of the bet, such as 0.0001")
    return number


def parse_fraction(value: object) -> Fraction:
    """Parse an exact number, such as 3/2, 1.5 or 1e6, without spending minutes on 1e99999999.

    A text has at most 100 characters, and two digits of exponent. ZeroDivisionError: the denominator is 0.
    """
    text = str(value)
    if len(text) > 100 or re.search(r"[eE][+-]?[\d_]{3}", text):
        raise ValueError("the number has too many digits")
    return Fraction(text)


def exact_number(name: str, value: object, most: int, use: str) -> Fraction:
    """Parse an exact number from 0 to `most`, or text such as 3/2; errors say that `use` is accepted."""
    try:
        number = Fraction(-1) if isinstance(value, bool) else parse_fraction(value)
    except (ValueError, ZeroDivisionError):
        number = Fraction(-1)
    if not 0 <= number <= most:
        raise InputError(f"{name}: {shorten(str(value))} is not accepted; use {use}")
    return number


def check_writable(path: str | os.PathLike[str] | None) -> None:
    """Raises: InputError, before anything is played, where a file could not be written at its end."""
    if path is None or path == "-":
        return
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {target.parent}")
    if target.is_dir() or not os.access(target if target.exists() else target.parent, os.W_OK):
        raise InputError(f"cannot write {path}: it is a folder or not writable")


def _parse(text: str) -> int | float:
    text = text.strip()
    if exponent := EXPONENTS.get(text[-1:].lower()):
        text = text[:-1] + exponent
    return int(text) if text.lstrip("+-").isdigit() else float(text)

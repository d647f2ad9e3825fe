"""The errors of bjsim. The command line prints each as one line, without a traceback.

BjsimError
├── InputError   also a ValueError: an invalid argument, file or option
└── RunFailed    also a RuntimeError: a run that could not continue
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class BjsimError(Exception):
    """Base class of the errors that bjsim raises on purpose."""


class InputError(BjsimError, ValueError):
    """Invalid input. The message names the input and what is accepted. Exit status 2."""


class RunFailed(BjsimError, RuntimeError):
    """A run that could not continue, although its input was accepted. Exit status 1."""


class EndlessSplitting(RunFailed):
    """A round in which one seat's splits exceeded the limit on hands."""


def shorten(value: object, most: int = 100) -> str:
    """A value as text for a message, with at most so many characters."""
    text = str(value)
    return text if len(text) <= most else f"{text[:most]}…"


@contextmanager
def file_errors(path: str | Path) -> Iterator[None]:
    """Add the path to an OSError from writing an open file, such as for a full disk, which does not carry one."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise

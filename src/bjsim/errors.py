"""The errors of bjsim. The command line prints each as one line, without a traceback.

BjsimError
├── InputError   also a ValueError: an argument, a file or an option that is not accepted
└── RunFailed    also a RuntimeError: a run that could not continue
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class BjsimError(Exception):
    """The root of all errors that bjsim raises on purpose."""


class InputError(BjsimError, ValueError):
    """Bad input: the message names it and what would be accepted. Exit status 2."""


class RunFailed(BjsimError, RuntimeError):
    """A run that could not continue, although its input was accepted. Exit status 1."""


class EndlessSplitting(RunFailed):
    """A round in which one seat's splits did not end within the hands that are played."""


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Have an OSError from writing an open file say which: the system's own, such as for a full disk, does not."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise

"""The errors of bjsim. The command line prints each as one line, without a traceback.

BjsimError
├── InputError   also a ValueError: an argument, a file or an option that is not accepted
└── RunFailed    also a RuntimeError: a run that could not continue
"""

from __future__ import annotations


class BjsimError(Exception):
    """The root of all errors that bjsim raises on purpose."""


class InputError(BjsimError, ValueError):
    """Bad input: the message names it and what would be accepted. Exit status 2."""


class RunFailed(BjsimError, RuntimeError):
    """A run that could not continue, although its input was accepted. Exit status 1."""

"""Errors a user can cause. The command line prints each as one line, without a traceback."""

from __future__ import annotations


class InputError(ValueError):
    """Bad input: the message names it and what would be accepted. Exit status 2."""


class RunFailed(RuntimeError):
    """A run that could not go on, through no fault of its input's form. Exit status 1."""

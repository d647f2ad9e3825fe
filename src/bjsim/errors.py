"""The errors of bjsim. The command line prints each as one line, without a traceback.

BjsimError
├── InputError   also a ValueError: an invalid argument, file or option
└── RunFailed    also a RuntimeError: a run that could not continue
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LONGEST_MESSAGE = 1500  # characters; an error may quote a file name or value of any length
LONGEST_WORD = 300


class BjsimError(Exception):
    """Base class of the errors that bjsim raises on purpose."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class InputError(BjsimError, ValueError):
    """Invalid input. The message names the input and what is accepted. Exit status 2."""


class RunFailed(BjsimError, RuntimeError):
    """A run that could not continue, although its input was accepted. Exit status 1."""


class NotSaved(RunFailed):
    """A checkpoint that could not be saved, so that a run ends with what is known."""


class EndlessSplitting(RunFailed):
    """A round in which one seat's splits exceeded the limit on hands."""


def printable(text: str) -> str:
    """The text with characters replaced that control a terminal or change the direction of writing."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def printable_lines(text: str) -> str:
    """As `printable`, for a text with line ends and tabs."""
    return "\n".join(map(printable, text.expandtabs().split("\n")))


def one_line(text: str) -> str:
    """A message that may quote anything, as one line that can be printed, of limited length."""
    words = (word if len(word) <= LONGEST_WORD else f"{word[:100]}…{word[-50:]}" for word in text.split(" "))
    line = printable(" ".join(words))
    return line if len(line) <= LONGEST_MESSAGE else f"{line[:1000]} … {line[-400:]}"


def shorten(value: object, most: int = 100, form: Callable[[Any], str] = str) -> str:
    """A value as text for a message, with at most this many characters."""
    try:
        text = form(value)
    except Exception:  # of the value's own code; and Python prints no integer of over 4,300 digits
        kind = type(value).__name__
        text = "a number of thousands of digits" if kind == "int" else f"a value of type {kind} that cannot be shown"
    return text if len(text) <= most else f"{text[:most]}…"


def suggest(typed: str, known: Iterable[str], otherwise: str = "") -> str:
    """`did you mean X?`, with the known name that is most like what was typed, or `otherwise` if none is like it.

    Letters in another order come first (`lim71`: `lim17`), then part of a name (`stands_on`: `dealer_stands_on`), then
    similar names with the same first letter, then abbreviations (`dbl`: `double_on`). Capitals do not matter.
    """
    typed = typed.lower()

    def likeness(name: str) -> tuple[bool, bool, float]:
        name = name.lower()
        ratio = difflib.SequenceMatcher(None, name, typed).ratio()
        return sorted(typed) == sorted(name), len(typed) > 2 and typed in name, ratio * (typed[:1] == name[:1])

    names = [*known]
    best = max(names, key=likeness)
    if not any(likeness(best)[:2]) and likeness(best)[2] < 0.6:
        pattern = ".*".join(map(re.escape, typed))
        best = next((name for name in names if len(typed) > 2 and re.match(pattern, name.lower())), "")
    return f"did you mean {best}?" if best else otherwise


@contextmanager
def file_errors(path: str | Path) -> Iterator[None]:
    """Add the path to an OSError from writing an open file, such as for a full disk, which does not carry one."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise

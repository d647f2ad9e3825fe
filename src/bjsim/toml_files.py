"""Reading untrusted TOML files, with one-line errors."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

MAX_BYTES = 1 << 16  # of a file; those of contests and rules have some hundred
LARGEST = 1 << 128  # above every setting; Python does not print integers of thousands of digits


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file in UTF-8 of at most MAX_BYTES.

    A ValueError's message is a predicate to follow the file's name: too large, no regular file, or as
    `parse_toml`.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("is not a regular file")
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"is larger than {MAX_BYTES >> 10} KiB")
    return parse_toml(content)


def parse_toml(content: bytes) -> dict[str, Any]:
    """Parse a TOML file's content, in UTF-8.

    A ValueError's message is a predicate to follow the file's name: not valid TOML, nested too deeply, or an
    integer of 2**128 or more.
    """
    try:
        values = tomllib.loads(content.decode())
        _check_numbers(values)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"is not valid TOML: {error}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError:  # also raised by Python for a decimal number of thousands of digits
        raise ValueError("contains a number beyond 2^128") from None
    return values


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for a writer, as a FIFO would."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _check_numbers(value: object) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            _check_numbers(item)
    elif isinstance(value, int) and abs(value) >= LARGEST:
        raise ValueError

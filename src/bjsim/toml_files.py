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
    """Read a TOML file.

    Args:
        path: The file, in UTF-8, of at most MAX_BYTES.

    Returns:
        The top-level table.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is no regular file, is too large, or `parse_toml` does not accept it. The message is a
            predicate to follow the file's name.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("is not a regular file")
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"is larger than {MAX_BYTES >> 10} KiB")
    return parse_toml(content)


def parse_toml(content: bytes) -> dict[str, Any]:
    """Parse the content of a TOML file.

    Args:
        content: The content, in UTF-8.

    Returns:
        The top-level table.

    Raises:
        ValueError: The content is not valid TOML, is nested too deeply, or contains an integer of 2**128 or more. The
            message is a predicate to follow the file's name.
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

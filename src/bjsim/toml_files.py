"""Reading untrusted TOML files, with one-line errors."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

LARGEST = 1 << 128  # above every setting; Python does not print integers of thousands of digits


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file.

    Args:
        path: The file, in UTF-8.

    Returns:
        The top-level table.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is not valid TOML, is nested too deeply, or contains an integer of 2**128 or more. The
            message is a predicate to follow the file's name.
    """
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        _check_numbers(values)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"is not valid TOML: {error}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError:  # also raised by Python for a decimal number of thousands of digits
        raise ValueError("contains a number beyond 2^128") from None
    return values


def _check_numbers(value: object) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            _check_numbers(item)
    elif isinstance(value, int) and abs(value) >= LARGEST:
        raise ValueError

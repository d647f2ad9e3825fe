"""Reading TOML files that strangers may have written: what cannot be used is refused in one line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

LARGEST = 1 << 128  # no setting is larger, and Python refuses to print numbers of thousands of digits


def read_toml(path: str | Path) -> dict[str, Any]:
    """The contents of a TOML file.

    Raises: OSError where it cannot be read; ValueError, whose message goes on after the file's name, where it is not
    TOML, is nested thousands deep, or holds a number that no setting can have.
    """
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        _check_numbers(values)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"is no TOML: {error}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError:  # also Python's own, for a decimal number of thousands of digits
        raise ValueError("holds a number beyond 2^128") from None
    return values


def _check_numbers(value: object) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            _check_numbers(item)
    elif isinstance(value, int) and abs(value) >= LARGEST:
        raise ValueError

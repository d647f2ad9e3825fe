"""JSON values with one value changed to another type, for what reads files back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

WRONG: list[Any] = [None, True, 0.5, math.nan, 1e400, "", "x", "\ud800", [], [None], {}, {"a": 1}, -1]


def kind(value: object) -> object:
    """The type of a JSON value: a float is no whole number, what is not finite or no character is of its own."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return "surrogate" if value == "\ud800" else type(value)


def paths(value: object, *above: str | int) -> Iterator[tuple[str | int, ...]]:
    """The paths of everything inside a value; of a list, only of its first item."""
    if above:
        yield above
    inner: dict[str | int, object] = {}
    if isinstance(value, dict):
        inner = {str(key): item for key, item in value.items()}
    elif isinstance(value, list):
        inner = dict(enumerate(value[:1]))
    for key, item in inner.items():
        yield from paths(item, *above, key)


def mutations(value: object) -> Iterator[tuple[tuple[str | int, ...], object, Any]]:
    """Copies of a value with one of its values changed to one of another type: (path, what it is now, the copy)."""
    for path in paths(value):
        for wrong in WRONG:
            changed = inner = json.loads(json.dumps(value))
            for key in path[:-1]:
                inner = inner[key]
            if kind(inner[path[-1]]) != kind(wrong) and not (isinstance(inner[path[-1]], list) and wrong == []):
                inner[path[-1]] = wrong
                yield path, wrong, changed

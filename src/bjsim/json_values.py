"""Conversion of data to values that JSON can represent, and the types of values that were read."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any


def json_values(data: object) -> object:
    """Convert nested dicts, lists, tuples and scalars to JSON values.

    Keys become strings, tuples lists, named ones dicts, nan None, and infinities (`inf`, `-inf`) and fractions text.
    """
    data = data._asdict() if hasattr(data, "_asdict") else data  # of a named tuple
    if isinstance(data, dict):
        return {str(key): json_values(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [json_values(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None if math.isnan(data) else str(data)
    return str(data) if isinstance(data, Fraction) else data


def json_object(data: Mapping[str, object]) -> dict[str, Any]:
    return {key: json_values(value) for key, value in data.items()}


def is_like(value: object, example: object) -> bool:
    """Whether what was read from JSON has the types of an example.

    A list has items like the one of its example, an object may have any other keys, and a number is finite; `true`
    is no number. What has None as its example is not looked at.
    """
    if example is None:
        return True
    if isinstance(example, list):
        return type(value) is list and all(is_like(item, example[0]) for item in value)
    if isinstance(example, dict):
        return type(value) is dict and all(is_like(value[key], example[key]) for key in example.keys() & value.keys())
    if isinstance(example, float):
        return type(value) in (int, float) and -math.inf < value < math.inf  # type: ignore[operator]
    return type(value) is type(example)

"""Conversion of data to values that JSON can represent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any


def json_values(data: object) -> object:
    """Convert nested dicts, lists, tuples and scalars to JSON values.

    Keys become strings, tuples lists, nan None, and infinities (`inf`, `-inf`) and fractions text.
    """
    if isinstance(data, dict):
        return {str(key): json_values(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [json_values(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None if math.isnan(data) else str(data)
    return str(data) if isinstance(data, Fraction) else data


def json_object(data: Mapping[str, object]) -> dict[str, Any]:
    return {key: json_values(value) for key, value in data.items()}

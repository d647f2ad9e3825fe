"""Values that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def json_values(data: object) -> object:
    """The same data with what JSON lacks replaced: inf by the text `inf`, nan by None; tuples become lists."""
    if isinstance(data, dict):
        return {str(key): json_values(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [json_values(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None if math.isnan(data) else str(data)
    return data


def json_object(data: Mapping[str, object]) -> dict[str, Any]:
    """`json_values` of an object."""
    return {key: json_values(value) for key, value in data.items()}

"""Values as text, as HTML tables for notebooks, and as pandas data frames where pandas is installed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from bjsim.errors import InputError

if TYPE_CHECKING:
    import pandas


def html_table(header: Sequence[object], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """An HTML table whose first column is a header. All text is escaped."""

    def cells(tag: str, values: Iterable[object]) -> str:
        return "".join(f"<{tag}>{escape(str(value))}</{tag}>" for value in values)

    body = "".join(f"<tr>{cells('th', row[:1])}{cells('td', row[1:])}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{cells('th', header)}</tr></thead><tbody>{body}</tbody></table>"


def data_frame(columns: Mapping[str, Sequence[Any]], index: Sequence[object] | None = None) -> pandas.DataFrame:
    """Return a data frame of these columns, or raise an InputError if pandas is not installed.

    An interval is two columns, `_low` and `_high`: neither a database nor a Parquet file takes pairs.
    """
    try:
        import pandas
    except ImportError:
        raise InputError("to_frame needs the package pandas: pip install pandas") from None
    flat: dict[str, Sequence[Any]] = {}
    for name, values in columns.items():
        if any(isinstance(value, tuple | list) for value in values):
            for end, suffix in enumerate(("_low", "_high")):
                flat[name + suffix] = [value and value[end] for value in values]
        else:
            flat[name] = values
    return pandas.DataFrame(flat, index=index)


def percent(value: float, digits: int = 4) -> str:
    """Format a return, in initial bets, as a signed percentage of the bet."""
    return f"{100 * value:+.{digits}f}%"


def interval(bounds: tuple[float, float], digits: int = 4) -> str:
    """Format an interval of returns in percent."""
    if math.isinf(bounds[1]):
        return "too few hands"
    return f"{percent(bounds[0], digits)} … {percent(bounds[1], digits)}"

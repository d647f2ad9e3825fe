"""Reports as JSON values, in notebooks, and as pandas data frames where pandas is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from bjsim.errors import InputError
from bjsim.json_values import json_object
from bjsim.report.parts import DataTable, Figures, Report

if TYPE_CHECKING:
    import pandas


class Described:
    """A result that describes itself: what it shows and writes follows from `describe`."""

    def describe(self) -> Report:
        """What was found.

        Returns:
            The report, whose parts a terminal, a page, a picture and JSON are made of.
        """
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """The result as its command writes it.

        Returns:
            JSON values; returns are in initial bets, and an interval without bounds is `-inf`, `inf`.
        """
        return to_json(self.describe())

    def to_frame(self) -> pandas.DataFrame:
        """The rows of the result as a data frame.

        Returns:
            A column for each value, two for an interval, one for each field of a record; returns are in initial bets.

        Raises:
            InputError: If pandas is not installed.
        """
        tables = (part for part in self.describe().parts_for("terminal") if isinstance(part, DataTable))
        table = next(table for table in tables if any(column.key for column in table.columns))
        columns = {column.key: [column.value(row) for row in table.rows] for column in table.columns if column.key}
        for key, values in [*columns.items()]:
            if names := next((one._fields for one in values if hasattr(one, "_fields")), ()):
                del columns[key]
            for name in names:
                columns[f"{key}_{name}"] = [one and getattr(one, name) for one in values]
        return data_frame({key: values for key, values in columns.items() if not any(map(is_nested, values))})

    def published(self) -> Described:
        """The result for people who do not know this machine: with file names in place of paths."""
        return self

    def _repr_html_(self) -> str:
        from bjsim.report.page import notebook_html  # slow to import

        return notebook_html(self.describe())


def is_nested(value: object) -> bool:
    """Whether a data frame has no column for a value; an interval is two numbers."""
    is_interval = isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], int | float)
    return isinstance(value, dict | list | tuple) and not is_interval


def to_json(report: Report) -> dict[str, Any]:
    """What a report has for programs only, then its figures and tables by key."""
    found = dict(report.data())
    for part in report.parts_for("terminal"):
        match part:
            case Figures(entries):
                for entry in entries:
                    found |= entry.data()
            case DataTable(key) if key:
                found[key] = part.data()
    return json_object(found)


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

"""`Record`: how well a player knows the cells of a chart, kept in a file between sessions."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

from bjsim.files import read_bytes
from bjsim.strategies.charts.chart import Chart

MORE, LESS = 4.0, 0.5  # how a wrong and a right answer change the factor of a cell
LEAST, MOST = LESS**4, MORE**3
MAX_CHARTS = 20  # in the file; those practised longest ago are dropped
MAX_BYTES = 1 << 20

Cell = tuple[str, str]  # row and column of a chart


class Record:
    """Every wrong answer raises the factor of its cell, every right one lowers it.

    The file is written after each answer, so that closing the terminal loses nothing; if `path` is None, the
    record is in memory. Games with the same chart share what is known of it. A file that cannot be read is set
    aside. `factors` say how much more often than at first each cell is asked, by its name such as `16 v T`;
    `problem` says in a sentence why the file could not be read or written, else it is empty.
    """

    def __init__(self, chart: Chart | None = None, path: Path | None = None) -> None:
        self.path = path
        self.problem = ""
        cells = sorted(chart.cells.items()) if chart else []
        self._key = hashlib.sha256(repr(cells).encode()).hexdigest()[:16]
        self._charts = self._read()
        self.factors = self._charts.pop(self._key, {})

    @property
    def due(self) -> list[str]:
        """The names of the cells that were missed and not yet answered right often enough; the weakest first."""
        return [name for name, factor in sorted(self.factors.items(), key=lambda item: -item[1]) if factor > 1]

    def factor(self, cell: Cell) -> float:
        """How much more often than at first to ask a cell."""
        return self.factors.get(cell_name(cell), 1.0)

    def note(self, cell: Cell, is_wrong: bool) -> None:
        """Take note of an answer, and write the file."""
        factor = self.factor(cell)
        self.factors[cell_name(cell)] = min(max(factor, 1.0) * MORE, MOST) if is_wrong else max(factor * LESS, LEAST)
        if self.path is None:
            return
        charts = {**self._charts, self._key: self.factors}
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(dict(list(charts.items())[-MAX_CHARTS:])), encoding="utf-8")
            os.replace(fresh, self.path)
        except OSError as error:
            self.problem = f"The record {self.path} cannot be written: {error.strerror}."

    def _read(self) -> dict[str, dict[str, float]]:
        if self.path is None or not self.path.exists():
            return {}
        try:
            return _parse(self.path)
        except PermissionError as error:
            self.problem = f"The record {self.path} cannot be read: {error.strerror}."
        except (OSError, ValueError, RecursionError):
            kept = self.path.with_suffix(".broken")
            with suppress(OSError):
                os.replace(self.path, kept)
            self.problem = f"{self.path} is not a record of bjsim: it is renamed {kept.name}, and a new one starts."
        return {}


def cell_name(cell: Cell) -> str:
    """A cell in words: `16 v T`."""
    return " v ".join(cell)


def _parse(path: Path) -> dict[str, dict[str, float]]:
    """The factors by cell and chart. Raises: OSError, ValueError, RecursionError."""
    charts = json.loads(read_bytes(path, MAX_BYTES))
    if not isinstance(charts, dict):
        raise ValueError
    for factors in charts.values():
        if not isinstance(factors, dict):
            raise ValueError
        for factor in factors.values():
            if not isinstance(factor, float) or not LEAST <= factor <= MOST:
                raise ValueError
    return charts

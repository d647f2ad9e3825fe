"""Counting runs as files: numpy archives of the sums, with the game as JSON."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from bjsim.arguments import parse_fraction
from bjsim.errors import InputError
from bjsim.sim.engine.counting_table import CountSums
from bjsim.sim.engine.kernels.count_layout import PRODUCTS, RAW
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import Departures, parse_departures
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.tables import CountingGame

FORMAT = "bjsim counting run 2"


def save_count_run(run: CountRun, path: str | os.PathLike[str]) -> None:
    """Write a run to a file, from which `load_count_run` restores the same bits.

    Args:
        run: The run.
        path: The file.

    Raises:
        InputError: The file cannot be written.
    """
    game = run.game
    chart = game.departures.base
    about = {
        "format": FORMAT,
        "rules": game.rules.to_dict(),
        "system": {field.name: _plain(getattr(game.system, field.name)) for field in fields(game.system)},
        "chart": {
            "name": chart.name,
            "source": chart.source,
            "cells": [[*at, code] for at, code in chart.cells.items()],
        },
        "departures": game.departures.text,
        "counts": game.counts,
        "spots": [[str(count), spots] for count, spots in game.spots],
        "adjusted": game.adjusted,
        "span": game.span,
        "first": run.first,
        "seed": str(run.seed),
        "seconds": run.seconds,
    }
    try:
        with Path(path).open("wb") as file:
            np.savez_compressed(file, about=json.dumps(about), expected=run.expected, **run.sums._asdict())
    except OSError as error:
        raise InputError(f"cannot write {os.fspath(path)}: {error.strerror}") from None


def load_count_run(path: str | os.PathLike[str]) -> CountRun:
    """Read a run from a file.

    Args:
        path: A file that `save_count_run` wrote.

    Returns:
        The run.

    Raises:
        InputError: The file cannot be read, or is no counting run.
    """
    name = os.fspath(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {key: archive[key] for key in archive.files}
        about = json.loads(str(found.pop("about")))
        if about["format"] != FORMAT:
            raise InputError(f"{name} has the format {about['format']!r}; this version reads {FORMAT!r}")
        expected = found.pop("expected")
        sums = CountSums(**found)
        game = _game(about)
        _check_shapes(game, sums, expected)
        return CountRun(game, int(about["first"]), expected, sums, int(about["seed"]), float(about["seconds"]))
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        raise InputError(f"{name} is not a counting run of bjsim, or is damaged") from None


def _game(about: Mapping[str, Any]) -> CountingGame:
    rules = Rules.from_dict(about["rules"])
    chart = about["chart"]
    cells = {(row, column): code for row, column, code in chart["cells"]}
    departures = Departures(Chart(chart["name"], rules, cells, chart["source"]), parse_departures(about["departures"]))
    counts = tuple(about["counts"]) if about["counts"] else None
    spots = tuple((parse_fraction(count), int(number)) for count, number in about["spots"])
    return CountingGame(
        rules,
        CountingSystem(**about["system"]),
        departures,
        counts,
        spots,
        about.get("adjusted", True),
        tuple(about.get("span", (0, 0))),
    )


def _check_shapes(game: CountingGame, sums: CountSums, expected: np.ndarray[Any, Any]) -> None:
    """Raises: ValueError: The arrays do not belong together."""
    buckets = len(sums.raw)
    size = (PRODUCTS + (game.most_spots > 1)) * buckets
    shapes = [(buckets, RAW), (2,), (2, size), (2, size, size)]
    if [array.shape for array in sums] != shapes or expected.shape != (2, buckets) or not np.isfinite(sums.sums).all():
        raise ValueError("the arrays have other shapes")


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [str(one) for one in value]
    return value if isinstance(value, str) else str(value)

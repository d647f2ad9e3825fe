"""Counting runs as files: numpy archives of the sums, with the game as JSON."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from bjsim.arguments import flag, parse_fraction, whole_number
from bjsim.errors import InputError, shorten
from bjsim.files import read_bytes
from bjsim.sim.engine.counting_table import CountSums
from bjsim.sim.engine.kernels.count_layout import PRODUCTS, RAW
from bjsim.sim.game.random_stream import MAX_SEED
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import Departures, parse_departures
from bjsim.strategies.counting.ramp import MAX_COUNT
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.tables import MOST_SPOTS, CountingGame
from bjsim.strategies.formats.cells import required_rows

Array = np.ndarray[Any, Any]

FORMAT = "bjsim counting run 3"
MOST_BYTES = 1 << 26  # of the file, and of its arrays; those of a run with 45 buckets have 1.2 MB


def save_count_run(run: CountRun, path: str | os.PathLike[str]) -> None:
    """Write a run to a file; `load_count_run` restores the same bits."""
    about = {**_describe_game(run.game, run.seed), "first": run.first}
    try:
        with Path(path).open("wb") as file:
            np.savez_compressed(file, about=json.dumps(about), expected=run.expected, **run.sums._asdict())
    except OSError as error:
        raise InputError(f"cannot write {os.fspath(path)}: {error.strerror}") from None


def _describe_game(game: CountingGame, seed: int) -> dict[str, Any]:
    """A game and its seed as JSON values, from which `_described_game` restores it."""
    chart = game.departures.base
    return {
        "format": FORMAT,
        "rules": game.rules.to_dict(),
        "system": {field.name: _plain(getattr(game.system, field.name)) for field in fields(game.system)},
        "chart": {
            "name": chart.name,
            "source": chart.source,
            "insurance": chart.insurance,
            "cells": [[*at, code] for at, code in chart.cells.items()],
        },
        "departures": game.departures.text,
        "counts": game.counts,
        "spots": [[str(count), spots] for count, spots in game.spots],
        "adjusted": game.adjusted,
        "span": game.span,
        "leave": game.leave,
        "seed": str(seed),
    }


def load_count_run(path: str | os.PathLike[str]) -> CountRun:
    with _reading(path):
        found = _read_arrays(Path(path))
        about = json.loads(str(found.pop("about")))
        expected = found.pop("expected")
        sums = CountSums(**found)
        game, seed = _described_game(about)
        if expected.shape != (2, len(sums.raw)) or expected.dtype != np.float64 or not np.isfinite(expected).all():
            raise ValueError("the expectations do not belong to the sums")
        _check_sums(game, sums)
        return CountRun(game, _count("first", about["first"]), expected, sums, seed, 0.0)


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn all errors of a stranger's file into one line that names it."""
    name = os.fspath(path)
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}") from None
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except Exception:  # zipfile, numpy and json raise a dozen kinds for the files of strangers
        raise InputError(f"{name} is not a counting run of bjsim, or is damaged") from None


def _read_arrays(path: Path) -> dict[str, Array]:
    """The arrays in a file of limited size, and with limited sizes in its directory."""
    content = read_bytes(path, MOST_BYTES)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) > MOST_BYTES:
            raise ValueError("its arrays are too large")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def _count(name: str, value: object) -> int:
    return whole_number(name, value, -MAX_COUNT, MAX_COUNT)


def _described_game(about: Mapping[str, Any]) -> tuple[CountingGame, int]:
    """The game and the seed of `_describe_game`. Raises: InputError and others for the files of strangers."""
    if about["format"] != FORMAT:
        raise InputError(f"the format {shorten(repr(about['format']))} is not accepted; use {FORMAT!r}")
    rules = Rules.from_dict(about["rules"])
    chart = about["chart"]
    cells = {(row, column): code for row, column, code in chart["cells"]}
    base = Chart(chart["name"], rules, cells, chart["source"], chart["insurance"])
    departures = Departures(base, parse_departures(about["departures"]))
    if departures.text != about["departures"]:
        raise ValueError("the index plays are not as they were written")
    states = States(rules)
    needed = {(row, column) for row in required_rows(states) for column in states.columns}
    if not (chart["name"] + chart["source"]).isprintable() or not needed <= cells.keys():
        raise ValueError("the chart is not one of this game")
    low, high = (0, 0) if about["counts"] is None else about["counts"]
    counts = None if about["counts"] is None else (_count("counts", low), _count("counts", high))
    first, last = about.get("span", (0, 0))
    spots = tuple((parse_fraction(at), whole_number("spots", number, 1, MOST_SPOTS)) for at, number in about["spots"])
    if any(abs(count) > MAX_COUNT for count, _ in spots):
        raise ValueError("there is no such count")
    game = CountingGame(
        rules,
        CountingSystem(**about["system"]),
        departures,
        counts,
        spots,
        flag("adjusted", about.get("adjusted", True)),
        (_count("span", first), _count("span", last)),
        None if about.get("leave") is None else _count("leave", about["leave"]),
    )
    return game, whole_number("seed", about["seed"], 0, MAX_SEED)


def _check_sums(game: CountingGame, sums: CountSums) -> None:
    """Raises: ValueError: The arrays do not belong together, or are not sums over shoes."""
    buckets = len(sums.raw)
    size = (PRODUCTS + (game.most_spots > 1)) * buckets
    shapes = [(buckets, RAW), (2,), (2, size), (2, size, size)]
    types = [np.int64, np.int64, np.float64, np.float64]
    if [array.shape for array in sums] != shapes or not buckets:
        raise ValueError("the arrays have other shapes")
    if [array.dtype for array in sums] != types:
        raise ValueError("the arrays have other types")
    if not all(np.isfinite(array).all() for array in sums):
        raise ValueError("a sum is not finite")
    if sums.raw[:, 0].min() < 0 or not sums.raw[:, 0].any() or sums.shoes.min() < 1:
        raise ValueError("no rounds were played")


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [str(one) for one in value]
    return value if isinstance(value, str) else str(value)

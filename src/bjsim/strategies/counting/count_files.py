"""Counting runs as files: checkpoints whose request is the game."""

import base64
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from bjsim import __version__
from bjsim.arguments import MAX_SEED, check_writable, flag, naming, parse_fraction, whole_number
from bjsim.arrays import Array
from bjsim.errors import InputError, NotSaved, shorten
from bjsim.json_values import is_like
from bjsim.sim.engine.counts import CountSums
from bjsim.sim.engine.kernels.arrays import PRODUCTS, RAW
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.sim.running.checkpoint import Checkpoint, reading
from bjsim.strategies.charts.chart import Chart, required_rows
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.departures import Departures, format_departures, parse_departures
from bjsim.strategies.counting.ramp import MAX_COUNT, MAX_SPOTS
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.tables import CountingGame

FORMAT = "bjsim counting run 7"
_KNOWN = {"merged": 0, "seconds": 0.0, "first": 0, "shoes": 0, "raw": "", "sums": "", "products": ""}


def save_count_run(run: CountRun, path: str | os.PathLike[str]) -> None:
    """Write a run to a file; `load_count_run` restores the same bits, and a count can go on from them."""
    with naming("path"):
        check_writable(path, replaced=True)
        try:
            Checkpoint(Path(path), describe_game(run.game, run.seed)).save(known_of(run))
        except NotSaved as error:
            raise InputError(str(error)) from None


def load_count_run(path: str | os.PathLike[str]) -> CountRun:
    checkpoint = Checkpoint(Path(path))
    return _restored(checkpoint, *checkpoint.read())


def resumed_count(checkpoint: Checkpoint) -> CountRun:
    """The run from which the checkpoint's count goes on. Raises: InputError: It is another count's."""
    return _restored(checkpoint, checkpoint.request, checkpoint.load())


def known_of(run: CountRun) -> dict[str, Any]:
    """What is known of a run, as JSON values: arrays are base64 of their little-endian bytes."""
    arrays = run.sums._asdict()
    known = {"merged": run.blocks, "seconds": run.seconds, "first": run.first, "shoes": int(arrays.pop("shoes"))}
    little = {name: array.astype(array.dtype.newbyteorder("<")).tobytes() for name, array in arrays.items()}
    return known | {name: base64.b64encode(content).decode() for name, content in little.items()}


def describe_game(game: CountingGame, seed: int) -> dict[str, Any]:
    """A game and its seed as JSON values, from which `_described_game` restores it; in the words of `bjsim count`."""
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
        "indices": format_departures(game.departures.plays),
        "counts": game.counts,
        "spots": [[str(count), spots] for count, spots in game.spots],
        "adjust_luck": game.adjusted,
        "ramp": game.span,
        "leave": game.leave,
        "seed": str(seed),
        "bjsim": __version__,
    }


def _restored(checkpoint: Checkpoint, request: Mapping[str, Any], known: Mapping[str, Any]) -> CountRun:
    with reading(checkpoint.path):
        game, seed = _described_game(request)
        if not is_like(known, _KNOWN):
            raise ValueError("a value of another type")
        raw = _array(known["raw"], np.int64, -1, RAW)
        size = (PRODUCTS + (game.most_spots > 1)) * len(raw)
        sums = _array(known["sums"], np.float64, size)
        products = _array(known["products"], np.float64, size, size)
        if not (np.isfinite(sums).all() and np.isfinite(products).all()):
            raise ValueError("a sum is not finite")
        if raw[:, 0].min() < 0 or not raw[:, 0].any() or min(known["shoes"], known["merged"]) < 1:
            raise ValueError("no rounds were played")
        whole = CountSums(raw, np.array(known["shoes"]), sums, products)
        run = CountRun(game, _count("first", known["first"]), whole, known["merged"], seed, known["seconds"])
        with np.errstate(all="ignore"):
            table = run.returns
        if not (np.isfinite(table.ev).all() and (table.shares > 0).all() and (table.var > 0).all()):
            raise ValueError("these are not sums of rounds")
        return run


def _array(text: str, dtype: type, *shape: int) -> Array:
    return np.frombuffer(base64.b64decode(text), np.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(shape)


def _count(name: str, value: object, most: int = 10**6) -> int:
    return whole_number(name, value, -most, most)


def _described_game(about: Mapping[str, Any]) -> tuple[CountingGame, int]:
    """The game and the seed of `describe_game`. Raises: InputError and others for the files of strangers."""
    if about["format"] != FORMAT:
        raise InputError(f"the format {shorten(repr(about['format']))} is not accepted; use {FORMAT!r}")
    rules = Rules.from_dict(about["rules"])
    chart = about["chart"]
    cells = {(row, column): code for row, column, code in chart["cells"]}
    base = Chart(chart["name"], rules, cells, chart["source"], chart["insurance"])
    departures = Departures(base, parse_departures(about["indices"]))
    if format_departures(departures.plays) != about["indices"]:
        raise ValueError("the index plays are not as they were written")
    states = States(rules)
    needed = {(row, column) for row in required_rows(states) for column in states.columns}
    if not (chart["name"] + chart["source"]).isprintable() or not needed <= cells.keys():
        raise ValueError("the chart is not one of this game")
    low, high = (0, 0) if about["counts"] is None else about["counts"]
    counts = None if about["counts"] is None else (_count("counts", low, MAX_COUNT), _count("counts", high, MAX_COUNT))
    first, last = about["ramp"]
    spots = tuple((parse_fraction(at), whole_number("spots", number, 1, MAX_SPOTS)) for at, number in about["spots"])
    if any(abs(count) > MAX_COUNT for count, _ in spots):
        raise ValueError("there is no such count")
    game = CountingGame(
        rules,
        CountingSystem(**about["system"]),
        departures,
        counts,
        spots,
        flag("adjust_luck", about["adjust_luck"]),
        (_count("ramp", first, MAX_COUNT + 1), _count("ramp", last, MAX_COUNT + 1)),
        None if about["leave"] is None else _count("leave", about["leave"]),
    )
    return game, whole_number("seed", about["seed"], 0, MAX_SEED)


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [str(one) for one in value]
    return value if isinstance(value, str) else str(value)

"""Blocks that are played in another array namespace are paid as in NumPy: array-api-strict's, and CuPy's on a GPU."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.games import random_chart

import bjsim
from bjsim.sim.engine.array_play import Played, play_blocks
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.device_play import DevicePlayer
from bjsim.sim.engine.kernels.table_layout import SeatRows
from bjsim.sim.engine.lockstep import seat_rows
from bjsim.sim.engine.round_table import make_round_tables
from bjsim.sim.engine.transitions import UNLIKELY
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.readable_table import ReadableTable
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.solver import Solver

Jobs = list[tuple[list[tuple[int, int]], list[int]]]
LENGTHS = [300, 0, 1, 500, 33, 500]


@pytest.fixture(params=["array_api_strict", "cupy"])
def xp(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A namespace. The standard cannot assign to places, so that array-api-strict borrows NumPy's assignment."""
    name = request.param
    module = pytest.importorskip(name, reason=f"needs {name}" + " and a GPU" * (name == "cupy"), exc_type=ImportError)
    if name == "cupy" and not module.is_available():
        pytest.skip("needs a GPU")
    if name == "array_api_strict":

        def put(array: Any, place: Any, values: Any) -> None:
            np.asarray(array)[np.asarray(place)] = np.asarray(values)

        monkeypatch.setattr("bjsim.sim.engine.array_cards.put", put)
    return module


class Game:
    def __init__(self, rules: Rules, chart: Chart | None = None, unlikely: float = UNLIKELY) -> None:
        chart = chart or Solver(rules.replace(decks="inf")).chart
        self.compiled = compile_rules(rules, [chart.policy])
        self.rows = seat_rows(*make_round_tables(self.compiled, unlikely))
        self.readable = ReadableTable(rules, [chart])

    def by_numpy(self, jobs: Jobs) -> list[Played]:
        return [play_blocks(self.compiled, self.rows, self.readable.play_round, *job) for job in jobs]

    def by_device(self, xp: Any, jobs: Jobs, rows: SeatRows | None = None) -> list[Played | None]:
        return DevicePlayer(xp, self.compiled, rows or self.rows).play(jobs)


def make_jobs(lengths: list[int], split: int) -> Jobs:
    keys = [stream_key(5, 0, block) for block in range(len(lengths))]
    return [(keys[:split], lengths[:split]), (keys[split:], lengths[split:])]


def same(one: Played, other: Played | None) -> bool:
    if other is None or (one.counts != other.counts).any():
        return False
    return sorted(one.outside.tolist()) == sorted(other.outside.tolist())


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("vegas-s17", {"decks": 6}),
        ("vegas-s17", {"decks": 1, "cut": 1}),
        ("vegas-s17", {"decks": 2, "cut": "1/25"}),
        ("easy", {"decks": "inf"}),
        ("spanish-21", {"decks": 2}),
        ("cardshark", {"decks": 1}),
        ("vegas-s17", {"decks": "inf", "ten_probability": "2/5"}),
    ],
)
def test_blocks_are_paid_as_in_numpy(xp: Any, name: str, fields: dict[str, object]) -> None:
    """Whole shoes, shoes that run out during a round, cards by word, and by alias."""
    game, jobs = Game(named_rules(name).replace(seats=1, **fields)), make_jobs(LENGTHS, 4)
    played = game.by_device(xp, jobs)
    assert all(map(same, game.by_numpy(jobs), played))
    assert [int(one.counts.sum()) + len(one.outside) for one in played if one] == [801, 533]


def test_payoffs_outside_the_window_are_listed(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    game, jobs = Game(named_rules("vegas-s17").replace(decks=1)), make_jobs([900, 40], 1)
    numbers = game.compiled.numbers._replace(width=2)
    game.compiled = game.compiled._replace(numbers=numbers)
    played = game.by_device(xp, jobs)
    assert all(map(same, game.by_numpy(jobs), played))
    assert played[0] and len(played[0].outside) > 10


@pytest.mark.parametrize("decks", [1, "inf"])
def test_a_wrong_table_is_caught(xp: Any, decks: object) -> None:
    """Negative control: two swapped cards, and the payoffs of others' split hands."""
    game, jobs = Game(named_rules("vegas-s17").replace(decks=decks)), make_jobs([3000], 1)[:1]
    (expected,) = game.by_numpy(jobs)
    mixed, hands = game.rows.entries.copy(), game.rows.hands.copy()
    mixed[[4, 9]] = mixed[[9, 4]]
    hands[:, 1:] = hands[:, :-1]
    for wrong in (game.rows._replace(entries=mixed), game.rows._replace(hands=hands)):
        assert not same(expected, *game.by_device(xp, jobs, wrong))
    assert same(expected, *game.by_device(xp, jobs))


def test_jobs_with_rounds_that_leave_the_table_are_returned(xp: Any) -> None:
    rules = named_rules("vegas-s17").replace(max_hands=9, decks=1)
    game, jobs = Game(rules, random_chart(rules, 1), unlikely=0.1), make_jobs([4000, 3], 1)
    assert game.by_device(xp, jobs)[0] is None
    assert game.by_numpy(jobs)[0].counts.sum() == 4000


def run(path: Path, rules: Rules, bots: list[str], **asked: Any) -> tuple[str, bytes]:
    result = bjsim.play(rules, bots, seed=3, checkpoint=path, **asked)
    data = {name: value for name, value in result.to_json().items() if name not in ("seconds", "rounds_per_second")}
    return json.dumps(data), path.read_bytes()


@pytest.fixture
def device(xp: Any) -> Iterator[bjsim.DeviceExecutor]:
    with bjsim.DeviceExecutor(xp) as executor:
        yield executor


def test_a_run_on_a_device_has_the_same_result_and_checkpoint(
    device: bjsim.DeviceExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where luck is adjusted for, or several sit at a table, which the device does not play."""
    played: list[int] = []
    play = DevicePlayer.play

    def watched(self: DevicePlayer, jobs: Jobs) -> list[Played | None]:
        played.append(len(jobs))
        return play(self, jobs)

    monkeypatch.setattr(DevicePlayer, "play", watched)
    rules = named_rules("vegas-s17")
    for number, (seats, asked) in enumerate([(1, {"adjust_luck": False}), (1, {}), (2, {"adjust_luck": False})]):
        game, before = rules.replace(seats=seats), sum(played)
        how = {"hands": 20_000 if number == 0 else 3000, **asked}
        there = run(tmp_path / f"there{number}", game, ["optimal", "lim17"], executor=device, workers=8, **how)
        here = run(tmp_path / f"here{number}", game, ["optimal", "lim17"], workers=1, **how)
        assert there == here
        assert (sum(played) > before) == (number == 0)
    assert max(played) > 1


def test_a_device_that_fails_fails_the_run() -> None:
    with bjsim.DeviceExecutor(SimpleNamespace()) as executor, pytest.raises(AttributeError, match="asarray"):
        bjsim.play("vegas-s17", ["optimal"], hands=2000, adjust_luck=False, executor=executor)

"""Files of counting runs from strangers: finding 11. What is odd is refused in one line, without much memory."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.counters import simulate_count
from support.mutations import mutations

import bjsim
from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules
from bjsim.sim.running.checkpoint import Checkpoint
from bjsim.strategies.counting.count_files import _restored, load_count_run, save_count_run
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.request import CountRequest, play_request
from bjsim.strategies.counting.result import CountComparison, CountResult
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.players.catalogue import CATALOGUE

Values = dict[str, Any]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a short run."""
    path = tmp_path_factory.mktemp("run") / "run"
    rules = load_rules("vegas-s17").replace(decks=2, max_hands=2)
    departures = Departures(CATALOGUE["optimal"].chart(rules))
    save_count_run(simulate_count(rules, find_system("hilo"), departures, 20_000, seed=1), path)
    return path


def changed(saved: Path, tmp_path: Path, change: Callable[[Values, Values], object]) -> Path:
    """A copy of the file whose game and sums were changed, with a new checksum."""
    game, known = Checkpoint(saved).read()
    change(game, known)
    path = tmp_path / "changed"
    Checkpoint(path, game).save(known)
    return path


def test_an_unchanged_copy_is_accepted(saved: Path, tmp_path: Path) -> None:
    assert load_count_run(changed(saved, tmp_path, lambda game, known: None)).rounds == load_count_run(saved).rounds


@pytest.mark.parametrize(
    "values",
    [
        {"spots": [["1e99999999", 5]]},
        {"spots": [["1/0", 5]]},
        {"spots": [["0", 10**9]]},
        {"spots": [["100000", 1]]},
        {"spots": []},
        {"seed": "-5"},
        {"seed": str(1 << 200)},
        {"counts": [10**400, 10**400]},
        {"counts": ["a", "b"]},
        {"ramp": [0, 10**30]},
        {"format": "\x1b[2J" * 1000},
        {"chart": {"name": "\x1b[2J", "source": "", "cells": []}},
        {"chart": {"name": "x", "source": "", "cells": [["17", "2", "S"]]}},
        {"indices": "16 v T S >= 0\n" * 10**5},
    ],
    ids=lambda values: next(iter(values)),
)
def test_a_value_out_of_range_is_refused(saved: Path, tmp_path: Path, values: Values) -> None:
    with pytest.raises(InputError) as error:
        load_count_run(changed(saved, tmp_path, lambda game, known: game.update(values)))
    assert "changed" in str(error.value) and len(str(error.value)) < 400 and str(error.value).isprintable()


@pytest.mark.parametrize("field", ["rules", "system"])
def test_a_name_with_escapes_is_refused(saved: Path, tmp_path: Path, field: str) -> None:
    with pytest.raises(InputError, match=r"name = '.*' is not accepted"):
        load_count_run(changed(saved, tmp_path, lambda game, known: game[field].update(name="\x1b]0;evil\x07")))


def encoded(array: Any) -> str:
    return base64.b64encode(array.tobytes()).decode()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("raw", encoded(np.zeros((41, 7), np.int64))),
        ("raw", encoded(np.ones((40, 7), np.int64))),
        ("raw", encoded(-np.ones((41, 7), np.int64))),
        ("raw", ""),
        ("raw", "AAAA"),
        ("raw", "é"),
        ("shoes", 0),
        ("shoes", "AAAA"),
        ("products", encoded(np.zeros((122, 122)))),
        ("products", encoded(np.full((123, 123), np.inf))),
        ("sums", encoded(np.zeros(122))),
        ("sums", encoded(np.full(123, np.nan))),
        ("sums", encoded(np.zeros(123))),
        ("sums", encoded(np.repeat([1.0, 1.0, 0.0], 41))),  # no variance
        ("merged", 0),
        ("first", 10**30),
    ],
)
def test_other_sums_are_refused(saved: Path, tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(InputError, match=r"changed(: first| is not a checkpoint of bjsim, or is damaged)"):
        load_count_run(changed(saved, tmp_path, lambda game, known: known.update({name: value})))


def test_a_checkpoint_of_a_run_is_no_count(tmp_path: Path) -> None:
    bjsim.play("easy", "lim17", hands=100, workers=1, checkpoint=tmp_path / "kept")
    with pytest.raises(InputError, match="kept is not a checkpoint of bjsim, or is damaged"):
        load_count_run(tmp_path / "kept")


def test_a_value_of_another_type_is_refused_unless_it_is_a_number_that_is_meant(saved: Path) -> None:
    checkpoint, refused = Checkpoint(saved), 0
    request, known = checkpoint.read()
    cases = [(path, wrong, (other, known)) for path, wrong, other in mutations(request) if path != ("bjsim",)]
    cases += [
        (path, wrong, (request, known | other))
        for path, wrong, other in mutations({key: value for key, value in known.items() if len(str(value)) < 999})
    ]
    for path, wrong, changed in cases:
        try:
            _restored(checkpoint, *changed)
        except InputError:
            refused += 1
        else:
            assert type(wrong) in (int, float, bool), (path, wrong)
    assert refused > 600


# --- checkpoints of `bjsim.count`


def stop(rounds: int, expected: float) -> None:
    raise KeyboardInterrupt


def figures(result: CountResult) -> dict[str, Any]:
    return {key: value for key, value in result.to_json().items() if key != "seconds"}


LENGTHS = [{"rounds": 150_000}, {"until": 0.00015}]


@pytest.mark.parametrize("length", LENGTHS, ids=lambda length: next(iter(length)))
def test_a_stopped_count_goes_on_from_its_checkpoint_to_the_bit(tmp_path: Path, length: dict[str, float]) -> None:
    kept = tmp_path / "kept"
    asked: Values = {"rules": "vegas-s17", "indices": "none", **length}
    whole = bjsim.count(**asked)
    part = bjsim.count(**asked, checkpoint=kept, on_progress=stop)
    assert part.run.stopped and part.to_json()["stopped"] and part.run.rounds < whole.run.rounds
    assert figures(CountResult.load(kept))["by_count"] == figures(part)["by_count"]
    with pytest.raises(InputError, match="kept exists; resume it with resume="):
        bjsim.count(**asked, checkpoint=kept)
    for field, value in (("seed", 2), ("system", "ko"), ("rules", "vegas-h17"), ("leave", -1), ("ramp", "1-4x2")):
        with pytest.raises(InputError, match=r"belongs to another run \(different: "):
            bjsim.count(**{**asked, field: value}, resume=kept)
    again = bjsim.count(**asked, resume=kept, workers=2)
    assert figures(again) == figures(whole) and not again.run.stopped
    assert figures(bjsim.count(**asked, resume=kept)) == figures(whole)  # nothing is left to play


def test_a_count_goes_on_from_a_shorter_one(tmp_path: Path) -> None:
    """With another bankroll, too: on neither do the cards depend."""
    bjsim.count("vegas-s17", indices="none", rounds=50_000, bankroll=500).save(tmp_path / "kept")
    longer = bjsim.count("vegas-s17", indices="none", rounds=100_000, resume=tmp_path / "kept")
    assert figures(longer) == figures(bjsim.count("vegas-s17", indices="none", rounds=100_000))


def test_an_interrupted_comparison_has_no_result() -> None:
    request = CountRequest("vegas-s17", indices="none", rounds=10**5)
    with pytest.raises(KeyboardInterrupt):
        play_request(request, keep_units=True, on_progress=stop)


def test_a_comparison_does_not_go_on_from_a_checkpoint(saved: Path) -> None:
    """The shoes of its blocks are not known, so they were taken for others."""
    request = CountRequest(load_count_run(saved).game.rules, indices="none", resume=saved)
    with pytest.raises(InputError, match="resume: a comparison plays its games from the beginning"):
        CountComparison.of([("one", request)])


def test_extreme_counts_and_numbers_of_rounds_are_read(saved: Path, tmp_path: Path) -> None:
    """A ramp's first step at -1000, running counts that begin at 2000, and the last block of the most rounds."""
    far = tmp_path / "far.count"
    system = find_system("ko").replace(initial=2000)
    asked: Values = {"system": system, "indices": "none", "chart": "hoyle", "rounds": 1}
    bjsim.count("single-deck", ramp="-1000:0 1:2 2:4", **asked).save(far)
    assert load_count_run(far).game.span[0] == -1001 and load_count_run(far).first > 1000
    run = load_count_run(saved)
    raw = run.sums.raw.copy()
    raw[:, 0] *= 10**6
    save_count_run(replace(run, sums=run.sums._replace(raw=raw)), tmp_path / "long.count")
    assert CountResult.load(tmp_path / "long.count").run.rounds > 10**10

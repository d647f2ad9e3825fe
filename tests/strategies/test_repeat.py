"""Repetitions of learning, whole and in shards."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from small_mdps import CHAIN
from support.command import bjsim, refusal

from bjsim.errors import InputError
from bjsim.sim.running.shards import Shard
from bjsim.strategies.learning.learn import Schedule
from bjsim.strategies.learning.repeat import LearnPart, Repetitions, merge_repetitions, repeat, summarise
from bjsim.strategies.learning.study import study
from bjsim.strategies.mdp.build import read_mdp


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    file = tmp_path / "chain.json"
    file.write_text(json.dumps(CHAIN))
    return file


@pytest.fixture
def repetitions(chain: Path) -> Repetitions:
    return Repetitions(read_mdp(str(chain)), {"mdp": "x"}, 60, [Schedule(), Schedule("mc")], 5, 1, 7)


def shards(repetitions: Repetitions, folder: Path, of: int) -> list[Path]:
    paths = [folder / f"part{number}.json" for number in range(1, of + 1)]
    for number, path in enumerate(paths, 1):
        repeat(repetitions, LearnPart(path, repetitions.description(), Shard(number, of)))
    return paths


def test_repetitions_are_single_studies_with_the_next_seeds(repetitions: Repetitions) -> None:
    found = repeat(repetitions)
    assert len(found) == 7
    alone = [study(repetitions.mdp, 60, Schedule("mc"), 5 + number).to_json() for number in range(7)]
    for (_, mc), one in zip(found, alone, strict=True):
        assert mc == {key: value for key, value in one.items() if key not in ("seconds", "curve")}
    q, mc = summarise(found)
    regrets: list[Any] = [one["regret"] for one in alone]
    assert mc["regret"] == statistics.mean(regrets) and mc["sd"] == statistics.stdev(regrets)
    assert (mc["least"], mc["greatest"], mc["repetitions"]) == (min(regrets), max(regrets), 7)
    assert (q["algorithm"], mc["algorithm"]) == ("q", "mc")


def test_merged_parts_are_all_repetitions(repetitions: Repetitions, tmp_path: Path) -> None:
    """Ten shards of seven repetitions, so that three are empty, and one that was stopped."""
    whole = json.dumps(repeat(repetitions))
    parts = shards(repetitions, tmp_path, 10)
    assert json.dumps(merge_repetitions(parts[::-1])) == whole
    cut = LearnPart.read(parts[2])
    cut.jobs.clear()
    cut.save()
    with pytest.raises(InputError, match=r"part3.json was stopped before its end"):
        merge_repetitions(parts)
    repeat(repetitions, LearnPart(parts[2], repetitions.description(), Shard(3, 10)), resume=True)
    assert json.dumps(merge_repetitions(parts)) == whole
    parts[3].write_text("{}")
    for given, message in (
        (parts[:9], "part4.json is not a part of bjsim learn"),
        (parts[:3], "7 of 10 parts are missing"),
    ):
        with pytest.raises(InputError, match=message):
            merge_repetitions(given)


def test_on_the_command_line(chain: Path, tmp_path: Path) -> None:
    learn = ("learn", "--mdp", chain, "--episodes", 50, "--repeat", 4, "--algorithm", "q,mc")
    for number in (1, 2):
        done = bjsim(*learn, "--shard", f"{number}/2", "--checkpoint", tmp_path / f"{number}.json")
        assert "2 repetitions in" in done.out, done.err
    whole, merged = tmp_path / "whole.json", tmp_path / "merged.json"
    assert "regret, mean" in bjsim(*learn, "--json", whole).out
    assert "regret, mean" in bjsim("merge", tmp_path / "2.json", tmp_path / "1.json", "--json", merged).out
    assert whole.read_bytes() == merged.read_bytes()
    for wrong, message in (
        ([*learn[:5], "--shard", "1/2", "--checkpoint", tmp_path / "x"], "give --repeat N"),
        ([*learn, "--shard", "1/2"], "belong together"),
        ([*learn, "--plot", "x.svg"], "--plot draws one result"),
        ([*learn, "--shard", "1/2", "--checkpoint", tmp_path / "1.json"], "exists"),
        ([*learn, "--seed", 2, "--shard", "1/2", "--resume", tmp_path / "1.json"], "a part of another run"),
        (["merge", tmp_path / "1.json", tmp_path / "1.json"], "both shard 1/2"),
    ):
        assert message in refusal(*wrong)

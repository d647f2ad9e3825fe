"""Counting runs in shards: the merged parts have the bytes of the whole run."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import bjsim, refusal

from bjsim.errors import InputError
from bjsim.sim.engine.counting_table import CountSums
from bjsim.sim.game.presets import load_rules
from bjsim.sim.running.shards import Shard
from bjsim.strategies.counting import simulate
from bjsim.strategies.counting.count_files import save_count_run
from bjsim.strategies.counting.count_shards import CountPart, merge_counts, play_shard
from bjsim.strategies.counting.play_request import play_request
from bjsim.strategies.counting.request import CountRequest

GAME = load_rules("vegas-s17").replace(decks=1, max_hands=2)
REQUEST = CountRequest(GAME, indices="none", rounds=2_000, seed=3, workers=1)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of some dozens of rounds, two in a group, so that a short run has many."""
    monkeypatch.setattr(simulate, "CARDS_IN_BLOCK", 200)
    monkeypatch.setattr(simulate, "MIN_SHOES", 4)
    monkeypatch.setattr(simulate, "GROUP", 2)


def shards(folder: Path, of: int, request: CountRequest = REQUEST) -> list[Path]:
    """Play all shards in some order. Returns: their parts."""
    parts = [folder / f"part{number}.npz" for number in range(1, of + 1)]
    for number in random.Random(4).sample(range(of), of):
        play_shard(request, Shard(number + 1, of), parts[number])
    return parts


def whole(folder: Path, request: CountRequest = REQUEST) -> bytes:
    """The file of the whole run."""
    save_count_run(play_request(request), folder / "whole.npz")
    return (folder / "whole.npz").read_bytes()


def merged(folder: Path, parts: list[Path]) -> bytes:
    save_count_run(merge_counts(parts), folder / "merged.npz")
    return (folder / "merged.npz").read_bytes()


@pytest.mark.parametrize(
    ("of", "changes"),
    [(64, {}), (5, {"adjust_luck": False}), (3, {"rounds": 1_610}), (2, {"ramp": "0:1 2:4x2", "rounds": 3_000})],
    ids=["64", "not adjusted", "another end", "two spots"],
)
@pytest.mark.slow_cases("64", "two spots")
def test_merged_parts_have_the_bytes_of_the_whole_run(tmp_path: Path, of: int, changes: dict[str, object]) -> None:
    request = dataclasses.replace(REQUEST, **changes)  # type: ignore[arg-type]
    parts = shards(tmp_path, of, request)
    assert sum(bool(CountPart.read(part).jobs) for part in parts) >= min(of, 8)
    assert merged(tmp_path, parts[::-1]) == whole(tmp_path, request)
    other = dataclasses.replace(request, seed=4)
    assert merged(tmp_path, parts) != whole(tmp_path, other)  # negative control


def test_sums_are_added_up_by_group(tmp_path: Path) -> None:
    """Computed here from single blocks; adding them up one by one gives other bits, so the order is tested."""
    run = play_request(REQUEST)
    blocks: list[CountSums] = []
    count = 0
    while count < 2_000:
        ((sums, _),) = simulate.play_blocks(run.game, 3, len(blocks))
        blocks.append(sums)
        count += int(sums.raw[:, 0].sum())
    groups = [blocks[n : n + 2] for n in range(0, len(blocks), 2)]
    total = np.zeros_like(blocks[0].products)
    for group in groups:
        total = total + sum((one.products for one in group[1:]), group[0].products)
    assert np.array_equal(run.sums.products, total)
    plain = sum((one.products for one in blocks[1:]), blocks[0].products)
    assert not np.array_equal(plain, total) and np.allclose(plain, total)


def test_a_part_that_was_killed_goes_on(tmp_path: Path) -> None:
    parts = shards(tmp_path, 2)
    cut = CountPart.read(parts[0])
    for group in list(cut.jobs)[1::2]:
        del cut.jobs[group]
    cut.save()
    with pytest.raises(InputError, match=r"part1.npz was stopped before its end"):
        merge_counts(parts)
    play_shard(REQUEST, Shard(1, 2), parts[0], resume=True)
    assert merged(tmp_path, parts) == whole(tmp_path)
    with pytest.raises(InputError, match="another run, or another shard"):
        play_shard(dataclasses.replace(REQUEST, seed=4), Shard(1, 2), parts[0], resume=True)


def test_wrong_parts_are_refused_by_name(tmp_path: Path) -> None:
    parts = shards(tmp_path, 3)
    changes: dict[str, dict[str, Any]] = {"seed": {"seed": 4}, "rounds": {"rounds": 1500}, "system": {"system": "ko"}}
    foreign = {name: tmp_path / f"{name}.npz" for name in changes}
    for name, change in changes.items():
        play_shard(dataclasses.replace(REQUEST, **change), Shard(2, 3), foreign[name])
    damaged, other_n = tmp_path / "damaged.npz", tmp_path / "quarter.npz"
    damaged.write_bytes(parts[1].read_bytes()[:-1000])
    play_shard(REQUEST, Shard(2, 4), other_n)
    whole(tmp_path)
    for given, message in (
        (parts[:2], "1 of 3 parts are missing: shard 3"),
        ([*parts, parts[0]], "part1.npz are both shard 1/3"),
        ([parts[0], damaged, parts[2]], "damaged.npz is not a part of a counting run of bjsim, or is damaged"),
        ([parts[0], other_n, parts[2]], "quarter.npz is a part of another run than .*different: shards"),
        ([*parts[:2], tmp_path / "absent.npz"], "cannot read .*absent.npz: no such file"),
        ([*parts[:2], tmp_path / "whole.npz"], "whole.npz is not a part of a counting run"),
        *(([parts[0], path, parts[2]], f"another run .*different: .*{name}") for name, path in foreign.items()),
    ):
        with pytest.raises(InputError, match=message):
            merge_counts(given)


def test_on_the_command_line(tmp_path: Path) -> None:
    command = [
        "count",
        "--rules",
        "vegas-s17",
        "--decks",
        "1",
        "--set",
        "max_hands=2",
        "--indices",
        "none",
        "--rounds",
        "2000",
        "--seed",
        "3",
        "--workers",
        "1",
    ]
    one, two = tmp_path / "1.npz", tmp_path / "2.npz"
    assert "bjsim merge joins the parts" in bjsim(*command, "--shard", "1/2", "--checkpoint", one).out
    bjsim(*command, "--shard", "2/2", "--checkpoint", two)
    bjsim(*command, "--shard", "2/2", "--resume", two)
    assert bjsim("merge", one, two, "--save", tmp_path / "merged.npz", "--workers", 1).status == 0
    bjsim(*command, "--save", tmp_path / "whole.npz")
    assert (tmp_path / "merged.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()
    new = tmp_path / "new.npz"
    for wrong, message in (
        ([*command, "--shard", "1/2"], "needs --checkpoint FILE"),
        ([*command, "--shard", "1/2", "--checkpoint", one], "exists"),
        ([*command, "--shard", "3/2", "--checkpoint", new], "use K/N"),
        ([*command, "--shard", "1/2", "--until", "1%", "--checkpoint", new], "cannot be combined"),
        ([*command, "--checkpoint", new], "give --shard K/N"),
        (["merge", one, two], "give --save FILE alone"),
        (["merge", __file__, "--save", new], "is not one"),
    ):
        assert message in refusal(*wrong)

"""Files of counting runs from strangers: finding 11. What is odd is refused in one line, without much memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.mutations import mutations

from bjsim.errors import InputError
from bjsim.sim.game.presets import load_rules
from bjsim.strategies.counting.count_files import _described_game, _reading, load_count_run, save_count_run
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.simulate import simulate_count
from bjsim.strategies.counting.systems import find_system
from bjsim.strategies.players.catalogue import CATALOGUE

Arrays = dict[str, Any]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a short run."""
    path = tmp_path_factory.mktemp("run") / "run.npz"
    rules = load_rules("vegas-s17").replace(decks=2, max_hands=2)
    departures = Departures(CATALOGUE["optimal"].chart(rules))
    save_count_run(simulate_count(rules, find_system("hilo"), departures, 20_000, seed=1), path)
    return path


def changed(saved: Path, tmp_path: Path, change: Callable[[Arrays, Arrays], object]) -> Path:
    """A copy of the file, whose arrays and description were changed, and compressed again."""
    with np.load(saved) as archive:
        arrays = {key: archive[key] for key in archive.files}
    about = json.loads(str(arrays.pop("about")))
    change(about, arrays)
    path = tmp_path / "changed.npz"
    np.savez_compressed(path, **{"about": np.array(json.dumps(about)), **arrays})
    return path


def test_an_unchanged_copy_is_accepted(saved: Path, tmp_path: Path) -> None:
    assert load_count_run(changed(saved, tmp_path, lambda about, arrays: None)).rounds == load_count_run(saved).rounds


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
        {"span": [0, 10**30]},
        {"first": 10**30},
        {"format": "\x1b[2J" * 1000},
        {"chart": {"name": "\x1b[2J", "source": "", "cells": []}},
        {"chart": {"name": "x", "source": "", "cells": [["17", "2", "S"]]}},
        {"departures": "16 v T S >= 0\n" * 10**5},
    ],
    ids=lambda values: next(iter(values)),
)
def test_a_value_out_of_range_is_refused(saved: Path, tmp_path: Path, values: Arrays) -> None:
    with pytest.raises(InputError) as error:
        load_count_run(changed(saved, tmp_path, lambda about, arrays: about.update(values)))
    assert "changed.npz" in str(error.value) and len(str(error.value)) < 400 and str(error.value).isprintable()


@pytest.mark.parametrize("field", ["rules", "system"])
def test_a_name_with_escapes_is_refused(saved: Path, tmp_path: Path, field: str) -> None:
    with pytest.raises(InputError, match=r"name = '.*' is not accepted"):
        load_count_run(changed(saved, tmp_path, lambda about, arrays: about[field].update(name="\x1b]0;evil\x07")))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("raw", np.zeros((41, 7))),
        ("raw", np.zeros((41, 7), np.int64)),
        ("raw", np.array([[{}] * 7] * 41, object)),
        ("shoes", np.zeros(2, np.int64)),
        ("expected", np.full((2, 41), np.nan)),
        ("expected", np.zeros((2, 40))),
        ("expected", np.zeros((3, 41))),
        ("shoes", np.ones(3, np.int64)),
        ("raw", np.ones((40, 7), np.int64)),
        ("raw", np.ones((0, 7), np.int64)),
        ("products", np.zeros((2, 245, 245))),
        ("products", np.full((2, 246, 246), np.inf)),
        ("more", np.zeros(1)),
    ],
)
def test_other_arrays_are_refused(saved: Path, tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(InputError, match="is not a counting run of bjsim, or is damaged"):
        load_count_run(changed(saved, tmp_path, lambda about, arrays: arrays.update({name: value})))


def test_a_small_file_of_huge_arrays_takes_no_memory(tmp_path: Path) -> None:
    """4 MB of zip held 4 GiB of zeros. The limit of memory stops a version that reads them."""
    path = tmp_path / "bomb.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("raw.npy", "w", force_zip64=True) as member,
    ):
        np.lib.format.write_array_header_1_0(member, {"descr": "<i8", "fortran_order": False, "shape": (1 << 26,)})
        for _ in range(512):
            member.write(bytes(1 << 20))
    code = (
        "import sys; from bjsim.errors import InputError\n"
        "from bjsim.strategies.counting.count_files import load_count_run\n"
        "import resource\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: load_count_run(sys.argv[1])\n"
        "except InputError as error: print(error)\n"
        "assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "is not a counting run" in done.stdout, done.stderr


def test_a_header_of_many_terabytes_is_refused(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "header.npz"
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        with new.open("more.npy", "w") as member:
            np.lib.format.write_array_header_1_0(member, {"descr": "<i8", "fortran_order": False, "shape": (1 << 40,)})
    with pytest.raises(InputError, match="is not a counting run"):
        load_count_run(path)


@pytest.mark.parametrize("how", ["nested", "method", "encrypted", "deflate"])
def test_a_damaged_archive_is_refused(saved: Path, tmp_path: Path, how: str) -> None:
    path, content = tmp_path / "damaged.npz", bytearray(saved.read_bytes())
    if how == "nested":
        np.savez(path, about=np.array("[" * 100_000))
    else:
        start = content.find(b"PK\x01\x02")  # the directory
        for place, local in ((start, False), (0, True)):
            flags, method = (6, 8) if local else (8, 10)
            if how == "encrypted":
                content[place + flags] |= 1
            elif how == "method":
                content[place + method] = 99
        if how == "deflate":
            content[60:2000] = b"\xff" * 1940
        path.write_bytes(content)
    with pytest.raises(InputError, match="is not a counting run"):
        load_count_run(path)


def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.npz")
    with pytest.raises(InputError, match="cannot read"):
        load_count_run(tmp_path / "run.npz")


def test_a_value_of_another_type_is_refused_unless_it_is_a_number_that_is_meant(saved: Path) -> None:
    with np.load(saved) as archive:
        about = json.loads(str(archive["about"]))
    del about["first"]  # is read by another
    refused = 0
    for path, wrong, other in mutations(about):
        try:
            with _reading("x.npz"):
                _described_game(other)
        except InputError:
            refused += 1
        else:
            assert type(wrong) in (int, float, bool), (path, wrong)
    assert refused > 600

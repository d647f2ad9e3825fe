"""Checkpoints: what was saved comes back to the bit, and anything else is refused by the name of its file."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bjsim.errors import EndlessSplitting, InputError, NotSaved
from bjsim.json_values import is_like
from bjsim.sim.running import checkpoint as module
from bjsim.sim.running.checkpoint import Checkpoint, keeping

floats = st.floats(allow_nan=False)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), values, max_size=4)
REFUSED = r"run\.json is not a checkpoint of bjsim, or is damaged"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file that is written a thousand times, and so not synced to the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda number: None)
        yield tmp_path_factory.mktemp("kept") / "run.json"


def saved(file: Path) -> bytes:
    Checkpoint(file, {"seed": 3, "rules": {"decks": 6}}).save({"merged": 12, "sums": [0.1, math.inf, "1/3"]})
    return file.read_bytes()


@given(request=objects, known=objects)
def test_what_was_saved_comes_back(file: Path, request: dict[str, object], known: dict[str, object]) -> None:
    known = {key: value for key, value in known.items() if key not in ("request", "sha256")}
    Checkpoint(file, request).save(known)
    assert repr(Checkpoint(file, request).load()) == repr(known)  # to the sign of a zero
    assert Checkpoint(file).read() == (request, known)
    assert [each.name for each in file.parent.iterdir()] == ["run.json"], "it is replaced whole"


@given(st.integers(0, 300), st.integers(0, 255))
def test_a_changed_byte_changes_nothing_or_is_refused(file: Path, place: int, byte: int) -> None:
    content = bytearray(saved(file))
    before = Checkpoint(file).read()
    content[place % len(content)] = byte
    file.write_bytes(content)
    try:
        assert Checkpoint(file).read() == before  # another blank, say
    except InputError as error:
        assert str(error).endswith("run.json is not a checkpoint of bjsim, or is damaged")


@given(st.integers(0, 300))
def test_a_truncated_file_is_refused(file: Path, length: int) -> None:
    content = saved(file)
    file.write_bytes(content[: length % len(content)])
    with pytest.raises(InputError, match=REFUSED):
        Checkpoint(file).read()


@given(values)
def test_other_json_is_refused(file: Path, value: object) -> None:
    for content in (value, {"request": value, "sha256": "0"}, {"sha256": value}):
        file.write_text(json.dumps(content))
        with pytest.raises(InputError, match=REFUSED):
            Checkpoint(file).read()


@pytest.mark.parametrize("content", [b"", b"\x00\x01", b"PK\x03\x04", b"[" * 100_000, b"\xff", b"1" * 10_000])
def test_other_files_are_refused(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match=REFUSED):
        Checkpoint(file).read()


def test_a_file_that_is_none_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, why in (("fifo", "not a regular file"), ("none", "No such file"), ("", "[Dd]irectory|regular")):
        with pytest.raises(InputError, match=rf"cannot read the checkpoint .*{name}: .*({why})"):
            Checkpoint(tmp_path / name).read()


requests = st.fixed_dictionaries({name: values for name in ("rules", "seed", "bjsim")})


@given(request=requests, other=requests)
def test_another_request_is_refused_with_what_differs(
    file: Path, request: dict[str, object], other: dict[str, object]
) -> None:
    Checkpoint(file, request).save({})
    different = [key for key in other if request[key] != other[key]]
    if not different:
        assert Checkpoint(file, other).load() == {}
        return
    with pytest.raises(InputError, match=r"belongs to another run \(different: (.*)\)") as error:
        Checkpoint(file, other).load()
    assert str(error.value).endswith(f"(different: {', '.join(different)})")
    with pytest.raises(InputError, match=r"belongs to another run \(different: more fields\)"):
        Checkpoint(file).load()


def test_it_is_saved_when_due_and_at_the_end_however_that_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, checkpoint, known = [100.0], Checkpoint(tmp_path / "kept"), {"merged": 0}
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with pytest.raises(KeyboardInterrupt), keeping(checkpoint, lambda: known) as save:
        for now[0], expected in ((100.0, 1), (100.5, 1), (101.1, 3), (101.2, 3)):
            known["merged"] += 1
            save()
            assert checkpoint.read()[1]["merged"] == expected
        raise KeyboardInterrupt
    assert checkpoint.read()[1]["merged"] == 4


def test_nothing_is_saved_before_anything_is_known(tmp_path: Path) -> None:
    with keeping(Checkpoint(tmp_path / "kept"), lambda: None) as save:
        save()
    with keeping(None, lambda: {"merged": 1}) as save:
        save()
    assert not list(tmp_path.iterdir())


def test_what_ends_a_run_is_not_hidden_by_a_full_disk() -> None:
    class Full:
        def save(self, known: object) -> None:
            raise NotSaved("the disk is full")

    full: Any = Full()
    with pytest.raises(EndlessSplitting), keeping(full, lambda: {"rounds": 1}):
        raise EndlessSplitting("it does not end")
    with pytest.raises(NotSaved), keeping(full, lambda: {"rounds": 1}):
        pass


@pytest.mark.parametrize(
    ("value", "example", "alike"),
    [
        ([], [0], True), ([1, 2], [0], True), (["x"], [0], False), (7, [0], False), ([[1.5]], [[0.0]], True),
        ({"a": 1, "b": "x"}, {"a": 0}, True), ({"a": "x"}, {"a": 0}, False), (True, 0, False), (3, 0.0, True),
        (float("nan"), 0.0, False), ("x", None, True), (1.5, 0, False),
    ],
)  # fmt: skip
def test_what_was_read_has_the_types_of_an_example(value: object, example: object, alike: bool) -> None:
    assert is_like(value, example) == alike

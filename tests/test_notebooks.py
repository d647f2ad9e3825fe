"""The notebooks run, and print what is stored in them; `make snapshots` stores new outputs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.documents import ROOT
from support.notebooks import execute, store, stored, texts

FOLDER = ROOT / "docs" / "notebooks"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["analyst.ipynb", "learning.ipynb"])
def test_a_notebook_prints_what_is_stored_in_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gymnasium")
    monkeypatch.chdir(tmp_path)
    outputs = execute(FOLDER / name)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        store(FOLDER / name, outputs)
    assert texts(outputs) == texts(stored(FOLDER / name))
    assert any(texts(outputs))


def test_every_notebook_has_outputs_and_is_tested() -> None:
    assert {path.name for path in FOLDER.glob("*.ipynb")} == {"analyst.ipynb", "learning.ipynb"}
    for path in FOLDER.glob("*.ipynb"):
        assert sum(map(bool, stored(path))) >= 4

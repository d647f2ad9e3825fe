"""docs/gallery.md: its commands draw every picture that it shows."""

import importlib.util
import itertools
import re
from pathlib import Path

import pytest
from support.documents import ROOT

PAGE = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
SPEC = importlib.util.spec_from_file_location("gallery", ROOT / ".ci" / "gallery.py")
assert SPEC and SPEC.loader
gallery = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(gallery)
COMMANDS = gallery.commands(PAGE)


def test_the_commands_draw_what_is_shown() -> None:
    pairs = [pair for words in COMMANDS for pair in itertools.pairwise(words)]
    written = [name for option, name in pairs if option in ("--plot", "--fan")]
    shown = re.findall(r"\]\((gallery/[^)]+)\)", PAGE)
    assert sorted(written) == sorted(f"docs/{name}" for name in shown) and len(set(shown)) == len(shown) > 6


@pytest.mark.slow
def test_the_pictures_are_drawn_and_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gallery.draw(every=False)
    sizes = {f"gallery/{path.name}": path.stat().st_size for path in (tmp_path / "docs" / "gallery").iterdir()}
    assert sorted(sizes) == sorted(re.findall(r"\]\((gallery/[^)]+)\)", PAGE))
    assert all(1_000 < size < 100_000 for size in sizes.values()), sizes


def test_pictures_have_a_description() -> None:
    assert all(len(text) > 20 for text in re.findall(r"!\[([^\]]*)\]", PAGE))

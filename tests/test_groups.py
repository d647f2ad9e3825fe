"""Which tests run where: the groups of pytest-xdist, the shards of the nightly run, and what these install."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NIGHTLY = (ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8")


def test_tests_of_a_file_share_a_worker(request: pytest.FixtureRequest) -> None:
    """Without groups every worker compiles every kernel, and runs browsers and bots.

    They are ignored without a word where pytest-xdist reads them too early, or does not fit this pytest.
    """
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("not run with --dist loadgroup")
    assert request.node.nodeid.endswith("@test_groups.py")


def test_a_file_of_tests_is_in_one_shard_of_the_nightly_run() -> None:
    shards = re.findall(r"^ +- (tests/.*)$", NIGHTLY, re.M)
    found: Counter[Path] = Counter()
    for shard in shards:
        files, ignored = set[Path](), set[Path]()
        for word in shard.split():
            (ignored if word.startswith("--ignore=") else files).update(
                file
                for path in ROOT.glob(word.removeprefix("--ignore="))
                for file in ([path] if path.is_file() else path.rglob("test_*.py"))
            )
        found.update(files - ignored)
    assert found == Counter((ROOT / "tests").rglob("test_*.py"))


def test_the_nightly_run_installs_what_tests_are_skipped_without() -> None:
    """A test that is skipped everywhere fails nowhere."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    installed = [name for extra in re.findall(r"\.installed-(\w+)", NIGHTLY) for name in extras[extra]]
    skipped = re.compile(r"(?:importorskip|find_spec)\(\s*\"(\w+)")
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    needed = {name for text in texts for name in skipped.findall(text)} - {"bjsim"}
    assert "gymnasium" in needed and not {name for name in needed if not any(one.startswith(name) for one in installed)}
    assert "build/axe/package/axe.min.js" in NIGHTLY

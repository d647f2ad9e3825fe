"""Which tests run where: the groups of pytest-xdist and the shards of the nightly run."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_tests_of_a_file_share_a_worker(request: pytest.FixtureRequest) -> None:
    """Without groups every worker compiles every kernel, and runs browsers and bots.

    They are ignored without a word where pytest-xdist reads them too early, or does not fit this pytest.
    """
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("not run with --dist loadgroup")
    assert request.node.nodeid.endswith("@test_groups.py")


def test_a_file_of_tests_is_in_one_shard_of_the_nightly_run() -> None:
    workflow = (ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8")
    shards = re.findall(r"^ +- (tests/.*)$", workflow, re.M)
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

"""The groups of pytest-xdist. Without them every worker compiles every kernel, and runs browsers and bots."""

from __future__ import annotations

import pytest


def test_tests_of_a_file_share_a_worker(request: pytest.FixtureRequest) -> None:
    """Groups are ignored without a word where pytest-xdist reads them too early, or does not fit this pytest."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("not run with --dist loadgroup")
    assert request.node.nodeid.endswith("@test_groups.py")

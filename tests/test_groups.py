"""The groups of pytest-xdist. Without them every worker compiles every kernel, and runs browsers and bots."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("alone")
def test_tests_of_a_group_share_a_worker(request: pytest.FixtureRequest) -> None:
    """Where a version of pytest and one of pytest-xdist do not fit together, groups are ignored without a word."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("not run with --dist loadgroup")
    assert request.node.nodeid.endswith("@alone")

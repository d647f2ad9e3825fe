"""Fixtures of the tests of contests."""

import pytest


@pytest.fixture(autouse=True)
def seed_one(monkeypatch):
    """Use seed 1 for contests without a seed: many of these tests depend on particular cards."""
    monkeypatch.setattr("secrets.randbits", lambda bits: 1)

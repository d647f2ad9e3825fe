"""Fixtures of the tests of contests."""

import pytest


@pytest.fixture(autouse=True)
def seed_one(monkeypatch):
    """A contest without a seed deals the cards of seed 1 here: many of these tests are about particular cards."""
    monkeypatch.setattr("secrets.randbits", lambda bits: 1)

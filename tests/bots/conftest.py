"""Fixtures for the tests of bots. Shared functions are in `bot_helpers.py`."""

import pytest

from bjsim.bots.player import open_bot


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """A new cache of compiled bots for this test session, so that bots are compiled by this tree's code."""
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


@pytest.fixture
def bot(tmp_path):
    """Make a bot from its source: `bot("x.py", "print('H')", timeout=1.0)`. All bots are closed at the end."""
    players = []

    def make(name, source, **options):
        path = tmp_path / name
        path.write_text(source)
        if not path.suffix:
            path.chmod(0o755)
        options = {"sandbox": "required", "timeout": 0.5, **options}
        players.append(open_bot(path, **options))
        return players[-1]

    yield make
    for player in players:
        player.close()

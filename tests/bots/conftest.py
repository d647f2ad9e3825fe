"""Fixtures for the tests of bots. Shared functions are in `bot_helpers.py`."""

import ctypes
import os

import pytest
from bot_helpers import left_of, processes, use_box

from bjsim.bots.player import open_bot
from bjsim.bots.sandbox.languages import find_tool

PR_SET_CHILD_SUBREAPER = 36


@pytest.fixture(autouse=True)
def nothing_stays(request):
    """No process that a test started outlives it, also not one whose parents have ended: it is this process's then."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = processes()
    yield
    left = left_of(lambda: processes() - before, 3)
    for pid in left:
        os.kill(pid, 9)
    assert not left, "processes are left"


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """A new cache of compiled bots for this test session, so that bots are compiled by this tree's code."""
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()


@pytest.fixture
def nothing_installed(monkeypatch):
    """No compiler or interpreter is on the PATH."""
    find_tool.cache_clear()
    monkeypatch.setattr("shutil.which", lambda name, path=None: None)
    yield
    find_tool.cache_clear()


@pytest.fixture
def bot(tmp_path, monkeypatch):
    """Make a bot from its source: `bot("x.py", "print('H')", timeout=1.0)`. All bots are closed at the end.

    `box` is the kind of its box; without it the machine's best is used.
    """
    players = []

    def make(name, source, *, box=None, **options):
        if box:
            use_box(box, monkeypatch)
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

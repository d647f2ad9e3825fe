"""What all tests share."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from pathlib import PurePath

import pytest
from chromium import PROGRAM, Chromium
from hypothesis import HealthCheck, settings
from nightly import NETS, find_nightly

# Files that share a worker of pytest-xdist: bots have timeouts and take memory, and kernels take long to compile.
GROUPS = {
    "bots": ("bots/*.py", "bots/contest/*.py"),
    "kernels": (
        "test_crossings.py",
        "sim/test_engines.py",
        "sim/test_luck.py",
        "sim/test_walkers.py",
        "strategies/counting/test_luck_lanes.py",
    ),
    "counting": ("strategies/counting/*.py", "cli/test_count.py"),
    "step": ("test_vector_env.py",),
    "check": ("cli/test_check.py",),
}

# The same examples everywhere, however slow the machine, so that failures elsewhere are reproduced here.
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fixed")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups, and pytest the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is nightly; put tests without a group into that of their file, to share what it caches.

    The nets take longest, and are begun first, so that no worker waits for another at the end.
    """
    items.sort(key=lambda item: not item.nodeid.startswith(NETS))
    whole = not any("::" in arg for arg in config.args)  # files; a case that is named is run, nightly or not
    nightly = find_nightly(item.nodeid for item in items) if whole else set()
    for item in items:
        if item.nodeid in nightly:
            item.add_marker(pytest.mark.slow)
        if not item.get_closest_marker("xdist_group"):
            path = PurePath(item.path)
            groups = [group for group, files in GROUPS.items() if any(map(path.match, files))]
            item.add_marker(pytest.mark.xdist_group(groups[0] if groups else path.name))


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case of a long text by its beginning and length: a megabyte would be printed, and sent to every worker."""
    return f"{val[:40]!a} and so on, {len(val)}" if isinstance(val, str | bytes) and len(val) > 300 else None


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Spare the garbage collector what was imported and collected: it would walk all of it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    """A browser for the tests of one file, which are skipped where there is none."""
    if PROGRAM is None:
        pytest.skip("Chromium is not installed")
    with Chromium() as chromium:
        yield chromium


@pytest.fixture(scope="module", autouse=True)
def forget(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a file caches is forgotten at its end: tables and solutions of all files would hold ten gigabytes."""
    yield
    for thing in vars(request.module).values():
        if hasattr(thing, "cache_clear"):
            thing.cache_clear()
    gc.collect()


def pytest_configure() -> None:
    """Heed Ctrl-C and hang-ups: background jobs ignore the one, and nohup the other, and so would tested commands."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

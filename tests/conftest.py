"""What all tests share."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from pathlib import PurePath

import pytest
from chromium import PROGRAM, Chromium

# Files that share a worker of pytest-xdist: bots have timeouts and take memory, and kernels take long to compile.
GROUPS = {
    "bots": ("bots/*.py", "bots/contest/*.py"),
    "counting": ("strategies/counting/*.py", "cli/test_count.py"),
    "step": ("test_vector_env.py",),
    "check": ("cli/test_check.py",),
}


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups, and pytest the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the slow cases of a family; put tests without a group into that of their file, to share what it caches."""
    if not any("::" in arg for arg in config.args):
        check_named_cases(items)
    for item in items:
        mark_slow_cases(item)
        if not item.get_closest_marker("xdist_group"):
            path = PurePath(item.path)
            groups = [group for group, files in GROUPS.items() if any(map(path.match, files))]
            item.add_marker(pytest.mark.xdist_group(groups[0] if groups else path.name))


def named_cases(item: pytest.Item) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """Whether a mark names the slow cases or the fast ones, and their ids."""
    for mark in item.iter_markers():
        if mark.name in ("slow_cases", "slow_but"):
            yield mark.name == "slow_cases", mark.args


def case_id(item: pytest.Item) -> str:
    """The id of a case of a parametrized test."""
    assert isinstance(item, pytest.Function) and hasattr(item, "callspec"), f"{item.nodeid} has no parameters"
    return item.callspec.id


def mark_slow_cases(item: pytest.Item) -> None:
    """Heed `slow_cases(*ids)` and `slow_but(*ids)`: these cases, or all others, are for the nightly tests."""
    for are_slow, ids in named_cases(item):
        if (case_id(item) in ids) == are_slow:
            item.add_marker(pytest.mark.slow)


def check_named_cases(items: list[pytest.Item]) -> None:
    """Raises: UsageError where a mark names a case that its test does not have; its files are collected whole."""
    names = {item.nodeid for item in items}
    for item in items:
        for _, ids in named_cases(item):
            family = item.nodeid.removesuffix(f"[{case_id(item)}]")
            if missing := [each for each in ids if f"{family}[{each}]" not in names]:
                raise pytest.UsageError(f"{family} has no case {missing[0]!r}, which its mark names")


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

"""A plugin of pytest, for `make dearest`: the cases that take most processor time, their own and their children's."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import pytest

MOST = 100  # cases that are listed
KEY = "processor time"
SPENT: Counter[str] = Counter()  # seconds by case
STARTED: dict[str, float] = {}


def used() -> float:
    """Seconds of processor time of this process and of the children that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Put the time of a whole case, with its fixtures, into its last report, which pytest-xdist hands on."""
    if call.when == "teardown":
        item.user_properties.append((KEY, used() - STARTED.pop(item.nodeid)))
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    STARTED[item.nodeid] = used()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        SPENT[report.nodeid] = dict(report.user_properties).get(KEY, 0.0)  # type: ignore[assignment]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the dearest cases, then the sums of folders."""
    folders: Counter[str] = Counter()
    for name, seconds in SPENT.items():
        folders[os.path.dirname(name.partition("::")[0])] += seconds  # type: ignore[assignment]
    for title, rows in ((f"the {MOST} dearest cases", SPENT.most_common(MOST)), ("folders", folders.most_common())):
        terminalreporter.section(f"{title}, seconds of processor time")
        for name, seconds in rows:
            terminalreporter.write_line(f"{seconds:8.2f}  {name}")
    terminalreporter.write_line(f"{sum(SPENT.values()):8.2f}  in all, without collection and imports")

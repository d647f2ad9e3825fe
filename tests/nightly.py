"""Which cases only `make test-all` runs: those of `nightly.toml`, to which `make dearest` adds as a plugin of pytest.

A test lists the cases that are nightly as `only`, or those that are not as `but`: then new cases are nightly at first.
The two cheapest cases of a test stay fast, as do all below FAMILY; above ALONE every case is nightly. What is fast
stays so in NETS, which look for unknown faults, alone notice some, or have figures that are published or found by brute
force, and where a case alone reaches a line of the package, by what `make coverage` left.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("nightly.toml")
COVERAGE = LIST.parents[1] / ".coverage"
FAMILY, ALONE = 0.15, 0.3  # seconds of processor time
STAY = 2  # cases of a family
NETS = (
    "tests/test_crossings.py",
    "tests/test_one_answer.py",
    "tests/strategies/test_both_shoes.py",
    "tests/sim/test_fresh_shoes.py",
    "tests/sim/test_luck.py",
    "tests/sim/test_walkers.py",
    "tests/strategies/counting/test_luck_lanes.py",
    "tests/test_brute_force.py",
    "tests/strategies/sidebets",
    "tests/strategies/shoe/test_shoe_brute.py",
    "tests/strategies/shoe/test_agreement.py",
    "tests/strategies/test_effects_of_rules.py",
    "tests/strategies/test_exact.py",
    "tests/strategies/test_seed_figures.py",
    "tests/strategies/test_values.py",
    "tests/test_architecture.py",
    "tests/test_names.py",
    "tests/sim/test_driver.py::test_workers_do_not_change_the_result",
    "tests/strategies/test_moments.py::test_the_spread_of_endless_splits_is_that_of_many",
    "tests/app/test_table_work.py::test_split_hands_have_numbers",
    "tests/cli/test_run.py::test_python_players_play",
    "tests/bots/contest/test_hill.py::test_versions_and_ages",
    "tests/bots/contest/test_line_contest.py::test_a_process_may_live_for_the_contest",
    "tests/bots/contest/test_line_contest.py::test_every_turn_of_a_duplicate_contest_has_a_process_of_its_own",
    "tests/bots/contest/test_resume.py::test_a_match_counts_only_when_it_is_on_disk",
    "tests/bots/contest/test_resume.py::test_cut_at_any_byte_it_ends_with_the_same_journal_and_standings",
    "tests/bots/contest/test_resume.py::test_two_house_players_at_a_table_have_separate_strikes",
    "tests/bots/contest/test_resume.py::test_verify_finds_journals_that_were_not_played",
    "tests/cli/test_koth_hill.py::test_a_published_journal_has_no_path_of_the_host",
)
MOST = 100  # cases that are printed
KEY = "processor time"
STARTED = pytest.StashKey[float]()
SPENT: dict[str, float] = {}  # seconds by case

Listed = dict[str, dict[str, dict[str, list[str]]]]  # by file, test, and `only` or `but`: cases


def read_list() -> Listed:
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def parts(item: str) -> tuple[str, str, str]:
    """The file, the test and the case of an item's id; the case is empty for a test without parameters."""
    file, _, name = re.sub("@[^]@]*$", "", item).partition("::")  # pytest-xdist adds the group
    test, _, case = name.partition("[")
    return file, test, case.removesuffix("]")


def find_nightly(items: Iterable[str]) -> set[str]:
    """Those of all items of some files that are nightly. Raises: UsageError: A file lacks a case that is listed."""
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for item in items:
        file, test, case = parts(item)
        found[file][test][case] = item
    nightly = set()
    for file, tests in read_list().items():
        if not (LIST.parents[1] / file).exists():
            raise pytest.UsageError(f"{LIST.name}: there is no {file}")
        for test, listed in tests.items() if file in found else ():
            cases, named = found[file][test], {*listed.get("only", ()), *listed.get("but", ())}
            if missing := sorted(named - cases.keys()) or [""] * (not cases):
                raise pytest.UsageError(f"{LIST.name}: {file}::{test} has no case {missing[0]!r}")
            nightly |= {cases[case] for case in cases if (case in named) == ("only" in listed)}
    return nightly


def choose_nightly(spent: dict[str, float]) -> set[str]:
    """The items that take too long for `make test`."""
    families: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item in sorted(spent, key=lambda item: (spent[item], item)):
        file, test, _ = parts(item)
        if not f"{file}::{test}".startswith(NETS):
            families[file, test].append(item)
    cheap, witnesses = {item for items in families.values() for item in items[:STAY]}, find_witnesses()
    judged = (item for items in families.values() for item in items if parts(item) not in witnesses)
    return {item for item in judged if spent[item] > (ALONE if item in cheap else FAMILY)}


def find_witnesses() -> set[tuple[str, str, str]]:
    """The cases that alone reach a line of the package, if `make coverage` left what it measured."""
    if not COVERAGE.exists():
        return set()
    from coverage import CoverageData

    data, found = CoverageData(str(COVERAGE)), set()
    data.read()
    for file in data.measured_files():
        for contexts in data.contexts_by_lineno(file).values():
            cases = {context.partition("|")[0] for context in contexts}  # without the phase, such as `|run`
            found |= cases if len(cases) == 1 else set()
    return {parts(case) for case in found if case}  # empty where a module is imported


def write_list(listed: Listed) -> None:
    lines = []
    for file, tests in sorted(listed.items()):
        lines.append(f'["{file}"]')
        for test, ((kind, cases),) in ((test, kinds.items()) for test, kinds in sorted(tests.items())):
            strings = ", ".join(json.dumps(case, ensure_ascii=False) for case in sorted(cases))  # as TOML has them
            lines.append(f"{json.dumps(test)} = {{ {kind} = [{strings}] }}")
        lines.append("")
    LIST.write_text("\n".join(lines), encoding="utf-8")


def add_nightly(listed: Listed, new: Iterable[str]) -> None:
    """Add items to the list, if they are not in it."""
    for item in new:
        file, test, case = parts(item)
        kinds = listed.setdefault(file, {}).setdefault(test, {"only": []})
        if "but" in kinds:
            kinds["but"] = [other for other in kinds["but"] if other != case]
        elif case not in kinds["only"]:
            kinds["only"].append(case)


def processor_time() -> float:
    """Seconds of this process and of the children that it has waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Put the time of a whole case, with its fixtures, into its last report, which pytest-xdist hands on."""
    if call.when == "teardown":
        item.user_properties.append((KEY, processor_time() - item.stash[STARTED]))
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[STARTED] = processor_time()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        SPENT[report.nodeid] = dict(report.user_properties).get(KEY, 0.0)  # type: ignore[assignment]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the dearest cases and the sums of folders, and leave what takes too long to the night."""
    if hasattr(terminalreporter.config, "workerinput"):  # a worker of pytest-xdist, which ran a part
        return
    folders: dict[str, float] = defaultdict(float)
    for item, seconds in SPENT.items():
        folders[os.path.dirname(parts(item)[0])] += seconds
    for title, sums in ((f"the {MOST} dearest cases", SPENT), ("folders", folders)):
        terminalreporter.section(f"{title}, seconds of processor time")
        for name, seconds in sorted(sums.items(), key=lambda row: -row[1])[:MOST]:
            terminalreporter.write_line(f"{seconds:8.2f}  {name}")
    listed, nightly = read_list(), choose_nightly(SPENT)
    add_nightly(listed, nightly)
    write_list(listed)
    terminalreporter.write_line(
        f"{len(nightly)} cases more are nightly, {sum(SPENT[item] for item in nightly):.0f} s of all"
    )

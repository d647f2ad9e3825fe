"""No result depends on how Python's `sum` adds up floats, which it does more exactly from 3.12 on."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import bjsim
from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.counting import indices
from bjsim.strategies.evaluation.coach import Coach

PLAIN = builtins.sum


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The lines of the package at which `sum` adds up floats; two make the same sum in any version."""
    found = set()

    def watched(items: Iterable[Any], /, start: Any = 0) -> Any:
        parts, caller = [*items], sys._getframe(1)
        if len(parts) > 2 and any(type(part) is float for part in parts) and "bjsim" in caller.f_globals["__name__"]:
            found.add(f"{caller.f_code.co_filename}, line {caller.f_lineno}")
        return PLAIN(parts, start)

    monkeypatch.setattr(builtins, "sum", watched)
    return found


def solved(name: str) -> None:
    solution = bjsim.solve(name)
    assert solution.value and bjsim.evaluate("hoyle", name).cells and Coach(PRESETS[name].rules)


@pytest.mark.parametrize(
    "work",
    [
        lambda: solved("super-fun-21"),
        lambda: solved("neller-v2"),
        lambda: solved("easy"),
        lambda: bjsim.solve("single-deck").removal("td"),  # type: ignore[attr-defined]
        lambda: bjsim.solve("single-deck").sd,
        lambda: bjsim.known("vegas-s17", "hole"),
        lambda: bjsim.count("two-deck", rounds=20_000, bankroll=1000),
        lambda: bjsim.bank("vegas-s17", bankroll=100, rounds=500),
        lambda: bjsim.play("single-deck", "optimal", hands=2000),
        lambda: bjsim.learn("neller", episodes=5000),
    ],
    ids=["super-fun-21", "neller-v2", "easy", "removal", "sd", "hole", "count", "bank", "play", "learn"],
)
def test_python_adds_up_no_floats(work: Callable[[], object], places: set[str]) -> None:
    work()
    assert not places


def test_floats_that_python_adds_up_are_found(places: set[str]) -> None:
    """Negative control: as if a module of the package did it."""
    exec("sum([0.1, 0.2, 0.3])", {"__name__": indices.__name__})
    assert places

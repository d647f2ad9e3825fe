"""Rounds per second of the compiled and the readable round, and the solver's time; run by `make bench`."""

import pytest

from bjsim.sim.kernel import play_rounds
from bjsim.sim.plan import compile_plan
from bjsim.sim.presets import PRESETS, named_rules
from bjsim.sim.stream import stream_key
from bjsim.sim.table import ReadableTable, Span
from bjsim.strategies.exact import Solver

COMPILED, READABLE = 1_000_000, 1_000


@pytest.mark.parametrize("name", PRESETS)
def test_compiled_round(benchmark, name):
    rules = named_rules(name)
    plan = compile_plan(rules, [Solver(rules).chart.letter])
    play_rounds(plan, stream_key(1, 0, 0), 1)  # compiles
    benchmark.extra_info["rounds"] = COMPILED
    benchmark.pedantic(play_rounds, (plan, stream_key(1, 0, 0), COMPILED), rounds=3)


@pytest.mark.parametrize("name", PRESETS)
def test_readable_round(benchmark, name):
    rules = named_rules(name)
    table = ReadableTable(rules, [Solver(rules).chart])
    benchmark.extra_info["rounds"] = READABLE
    benchmark.pedantic(table.play, (1, 0, [Span(0, READABLE)]), rounds=3)


@pytest.mark.parametrize("name", PRESETS)
def test_solver(benchmark, name):
    benchmark.pedantic(lambda: Solver(named_rules(name)).value, rounds=3)

"""Tests that `test_gpu.py` runs with a simulated GPU (whose threads run slowly, as Python), or with a real one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from support.command import bjsim, refusal
from support.games import random_chart

from bjsim.sim.engine import gpu, rounds
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.engine.kernels.play import play
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.game.rules import Rules
from bjsim.sim.running import gpu_backend
from bjsim.sim.running.compiled_table import CompiledTable
from bjsim.sim.running.gpu_backend import GpuExecutor
from bjsim.sim.running.readable_table import ReadableTable
from bjsim.sim.running.table import play_blocks
from bjsim.strategies.charts.chart import make_chart

LENGTHS = [6, 3, 9]  # rounds of the blocks
SPLITS = 1  # index of the code weights of a random chart that splits most pairs


def make_compiled(game: Rules) -> CompiledRules:
    return compile_rules(game, [random_chart(game, seat, SPLITS).policy for seat in range(game.seats)])


def make_table(game: Rules) -> CompiledTable:
    return CompiledTable(make_compiled(game), game.unit)


def differ(compiled: CompiledRules, on_gpu: CompiledRules | None = None, tables: Sequence[int] = (0, 0, 0)) -> bool:
    """Whether the GPU's counts of any block differ from the CPU's; `on_gpu` and `tables` apply to the GPU."""
    keys = [stream_key(5, table, block) for block, table in enumerate(tables)]
    counts, outside = gpu.play_on_gpu(on_gpu or compiled, keys, LENGTHS)
    played = [rounds.play_rounds(compiled, stream_key(5, 0, block), length) for block, length in enumerate(LENGTHS)]
    assert sum(len(rare) + on_cpu.sum() for on_cpu, rare, _ in played) == sum(LENGTHS) * len(compiled.act)
    return not all(
        np.array_equal(counts[i], on_cpu) and np.array_equal(outside[i], rare)
        for i, (on_cpu, rare, _) in enumerate(played)
    )


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("decks", ["6", "inf"])
def test_every_preset_pays_the_same(name: str, decks: str) -> None:
    game = named_rules(name).replace(decks=decks)
    assert not differ(make_compiled(game.replace(seats=min(game.seats, 2))))


def test_a_full_table_pays_the_same_when_its_shoe_runs_out() -> None:
    game = named_rules("cardshark").replace(seats=7, decks=1, cut=1, turns="round-robin")
    assert not differ(make_compiled(game))


def test_payoffs_outside_the_dense_table_come_back() -> None:
    """With unlimited splits, payoffs can lie outside any dense table; a small one provokes this."""
    game = Rules(max_hands="inf", ties="replay", ten_probability=Fraction(45, 100), seats=2)  # type: ignore[arg-type]
    compiled = make_compiled(game)
    compiled = compiled._replace(numbers=compiled.numbers._replace(width=0, ties=0))
    assert not differ(compiled)
    assert len(rounds.play_rounds(compiled, stream_key(5, 0, 0), LENGTHS[0])[1]) > 0


def test_what_differs_is_seen() -> None:
    """Negative control: a changed payoff, a different chart, and the random stream of another table."""
    game = named_rules("vegas-s17").replace(seats=1)
    compiled = make_compiled(game)
    pay = compiled.pay.copy()
    pay[:, 0] = -pay[:, 0]
    assert not differ(compiled)
    assert differ(compiled, compiled._replace(pay=pay))
    assert differ(compiled, compile_rules(game, [make_chart("hits", game, lambda row, column: "H").policy]))
    assert differ(compiled, tables=(0, 0, 1))


def test_the_portable_product_is_exact() -> None:
    rng = random.Random(1)
    edges = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1]
    with np.errstate(over="ignore"):
        for word in edges + [rng.getrandbits(64) for _ in range(500)]:
            for number in (1, 2, 51, 52, 416, 2**32 - 1):
                high, low = gpu.high_and_low(np.uint64(word), np.uint64(number))
                assert (int(high) << 64) + int(low) == word * number


def test_few_threads_fit_in_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "MEMORY", 1)
    assert not differ(make_compiled(named_rules("easy")))


def test_jobs_of_a_table_are_one_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    launches: list[int] = []
    play_on_gpu = gpu.play_on_gpu

    def counted(compiled: CompiledRules, keys: Sequence[tuple[int, int]], rounds: Sequence[int]) -> object:
        launches.append(len(keys))
        return play_on_gpu(compiled, keys, rounds)

    monkeypatch.setattr(gpu_backend, "play_on_gpu", counted)
    monkeypatch.setattr(gpu_backend, "MOMENT", 1.0)
    one, other = make_table(named_rules("easy")), make_table(named_rules("vegas-s17"))
    jobs = [(table, 5, number, 0, 0, rounds) for table in (one, other) for number, rounds in ((0, 4), (1, 7))]
    with GpuExecutor() as executor:
        futures = [executor.submit(play_blocks, *job) for job in jobs]
        cancelled = executor.submit(play_blocks, *jobs[0])
        assert cancelled.cancel()
        assert [future.result() for future in futures] == [play_blocks(*job) for job in jobs]
    assert launches == [2, 2]


def test_an_executor_refuses_what_it_cannot_play() -> None:
    game = named_rules("easy")
    with GpuExecutor() as executor:
        with pytest.raises(TypeError, match="compiled tables only"):
            executor.submit(play_blocks, ReadableTable(game, [random_chart(game, 1)]), 5, 0, 0, 0, 10)
        with pytest.raises(TypeError, match="compiled tables only"):
            executor.submit(max, 1, 2)


@pytest.mark.skipif(not gpu.simulated(), reason="a compiled kernel does not notice a changed limit")
def test_splits_without_end_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(gpu.gpu_functions()[play.__module__], "RUNAWAY", 9)
    game = Rules(max_hands="inf", ten_probability="9/10")  # type: ignore[arg-type]
    compiled = compile_rules(game, [make_chart("splits", game, lambda row, column: "P" if row == "TT" else "S").policy])
    with GpuExecutor() as executor:
        future = executor.submit(play_blocks, CompiledTable(compiled, game.unit), 5, 0, 0, 0, 20)
        with pytest.raises(rounds.EndlessSplitting):  # type: ignore[attr-defined]
            future.result()


def test_a_run_on_a_gpu_is_the_same_run() -> None:
    game = ("--decks", "6", "--hands", 40, "--tables", 2, "--no-adjust-luck")
    args = ("run", "--bots", "optimal,lim17", *game, "--json", "-")
    on_cpu, on_gpu = bjsim(*args, "--workers", 1).json, bjsim(*args, "--executor", "cuda").json
    for timing in ("seconds", "rounds_per_second"):
        assert on_cpu.pop(timing) and on_gpu.pop(timing)
    assert on_gpu == on_cpu


@pytest.mark.parametrize(
    "args, words",
    [
        (["--adjust-luck"], "--adjust-luck with --executor cuda"),
        (["--bots", "lim17,lim16", "--common-cards"], "--common-cards with --executor cuda"),
        (["--workers", 2], "one process submits the blocks"),
        (["--executor", "cuda://0"], "takes no address"),
        (["--bots", "bjsim.sim.game.actions:Action"], "plays only charts"),
    ],
)
def test_what_a_gpu_does_not_play_is_refused(args: list[object], words: str) -> None:
    assert words in refusal("run", "--bots", "lim17", "--hands", 10, "--executor", "cuda", *args)

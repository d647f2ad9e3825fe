"""The kernel of plain rounds pays what the readable round pays, round by round, for the cards of the same streams."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from support.games import few, slow

from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.kernels.arrays import PlainTable
from bjsim.sim.engine.kernels.deal import LANES
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.engine.pack import pack_plain
from bjsim.sim.engine.round_table import LEFT, LeftTable, make_round_tables
from bjsim.sim.engine.rounds import play_plain
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.running.table import ReadableTable, Span
from bjsim.strategies.charts.chart import Chart, make_chart
from bjsim.strategies.exact.solver import Solver

SEED = 6


class Game:
    def __init__(self, rules: Rules, chart: Chart | None = None) -> None:
        chart = chart or Solver(rules.replace(decks="inf", seats=1)).chart
        self.compiled = compile_rules(rules, [chart.policy])
        self.readable = ReadableTable(rules, [chart])
        (self.table,), _ = make_round_tables(self.compiled)
        self.packed = pack_plain(self.table)

    def play(self, rounds: list[int], packed: PlainTable | None = None) -> tuple[np.ndarray, list[int]]:
        """The counts of payoffs of blocks 0, 1, .. and, sorted, the payoff codes outside the window."""
        keys = [stream_key(SEED, 0, block) for block in range(len(rounds))]
        counts, outside = play_plain(self.compiled, packed or self.packed, keys, rounds)
        return counts[0], sorted(outside[:, 1].tolist())

    def expected(self, rounds: list[int]) -> np.ndarray:
        """Payoff codes of all rounds in the readable round."""
        played = [self.readable.play_traced(SEED, 0, Span(block, n))[1][:, 0] for block, n in enumerate(rounds)]
        return np.concatenate([np.zeros(0, np.int64), *played])

    def count(self, codes: np.ndarray) -> tuple[np.ndarray, list[int]]:
        counts = np.zeros_like(self.play([])[0])
        units, tied = payoff_parts(codes)
        column = units + counts.shape[1] // 2
        fits = (column >= 0) & (column < counts.shape[1]) & (tied < len(counts))
        np.add.at(counts, (tied[fits], column[fits]), 1)
        return counts, sorted(codes[~fits].tolist())

    def wrong_rounds(self, rounds: int, packed: PlainTable | None = None) -> list[int]:
        """The rounds of block 0 that are paid differently: those by which the counts of n and n + 1 rounds differ."""
        before, found = self.play([0], packed)[0], []
        for number, code in enumerate(self.expected([rounds])):
            after = self.play([number + 1], packed)[0]
            if (after - before != self.count(np.array([code]))[0]).any():
                found.append(number)
            before = after
        return found

    def agrees(self, rounds: list[int]) -> bool:
        counts, outside = self.play(rounds)
        expected, others = self.count(self.expected(rounds))
        return bool((counts == expected).all()) and outside == others


def splitter(rules: Rules) -> Chart:
    """A chart that splits whenever it may, and hits up to 17."""
    return make_chart("splitter", rules, lambda row, column: "Ph" if row.startswith("P") else "H")


@pytest.mark.parametrize("decks", ["1", "inf", *map(slow, "268")])
@pytest.mark.parametrize("name", few(name for name, preset in PRESETS.items() if preset.rules.bets == 1))
def test_every_preset_is_paid_the_same_round_by_round(name: str, decks: str) -> None:
    game = Game(named_rules(name).replace(decks=decks, seats=1))
    assert game.wrong_rounds(250) == []


SHORT: list[dict[str, Any]] = [
    {"decks": 1, "cut": 1},
    {"decks": 1, "cut": "1/52"},
    {"decks": 2, "cut": "51/104"},
    {"decks": 5, "deck": "spanish", "cut": "1/2"},
    {"decks": "inf", "ten_probability": "2/5"},
    {"split_by": "rank", "decks": 6},
    {"ties": "replay", "decks": 1, "cut": 1},
]


@pytest.mark.parametrize("fields", SHORT)
def test_shoes_that_run_out_in_a_round_go_on_in_a_fresh_one(fields: dict[str, Any]) -> None:
    """A chart that splits whatever it may has long rounds, of which many outlast the shoe."""
    rules = named_rules("vegas-s17").replace(**{"max_hands": 3, **fields})
    game = Game(rules, splitter(rules))
    assert game.wrong_rounds(150) == []
    assert game.agrees([700, 0, 1, 320])


@pytest.mark.parametrize("number", [0, 1, LANES - 1, LANES, LANES + 1, slow(3 * LANES + 5)])
def test_blocks_may_be_of_any_length_and_number(number: int) -> None:
    game = Game(named_rules("easy").replace(decks=2))
    assert game.agrees([(37 * block) % 230 for block in range(number)])


def test_endless_splits_and_payoffs_outside_the_window() -> None:
    rules = named_rules("vegas-s17").replace(max_hands="inf", ten_probability="2/5", decks="inf")
    game = Game(rules, splitter(rules))
    assert game.agrees([2000, 500])


def test_a_wrong_entry_is_caught() -> None:
    """Negative control: one of the thousand likeliest entries leads elsewhere."""
    game = Game(named_rules("vegas-s17").replace(decks=6))
    after, rng = game.table.after.copy(), np.random.default_rng(2)
    row, rank = int(rng.integers(2, 12)), 4
    after[row, rank] = after[row, (rank + 4) % 13]
    assert (after != game.table.after).any()
    assert game.wrong_rounds(400, pack_plain(game.table._replace(after=after)))


def test_rounds_that_leave_the_table_are_noticed() -> None:
    game = Game(named_rules("vegas-s17"))
    splits = game.table.log > len(game.table.ends)
    after, log = np.where(splits, LEFT, game.table.after), np.where(splits, 0, game.table.log)
    with pytest.raises(LeftTable):
        game.play([2000], pack_plain(game.table._replace(after=after, log=log)))


def test_a_table_of_many_rows_is_played_by_wider_entries() -> None:
    """Above 65,536 rows: rows that no round reaches do not count, so that the type is forced."""
    game = Game(named_rules("vegas-s17").replace(decks=1))
    assert game.packed.entries.dtype == np.uint16
    wide = game.packed._replace(entries=game.packed.entries.astype(np.uint32))
    assert (game.play([3000], wide)[0] == game.play([3000])[0]).all()


SCRIPT = """
import hashlib, numpy as np
from test_plain import Game, named_rules
for decks in ("1", "6", "inf"):
    game = Game(named_rules("vegas-s17").replace(decks=decks))
    print(hashlib.sha256(game.play([5000] * 40)[0].tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "features"), [("haswell", "+avx2"), ("x86-64", "+sse2")])
def test_any_processor_plays_the_same(name: str, features: str, tmp_path: Any) -> None:
    """Vectors of older processors: numba is told that the processor is one."""
    if os.uname().machine != "x86_64":
        pytest.skip("the processors are of another kind")
    results = []
    for told in ({}, {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features}):
        path = os.pathsep.join([os.path.dirname(__file__), os.path.dirname(os.path.dirname(__file__))])
        env = {**os.environ, **told, "NUMBA_CACHE_DIR": str(tmp_path / name / str(len(told))), "PYTHONPATH": path}
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True)
        results.append(done.stdout)
    assert results[0] == results[1]
    assert len(results[0].split()) == 3

"""Every payoff is counted, also outside the dense table; games with too many different payoffs are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.command import bjsim, refusal
from support.engines import play_rounds
from support.games import slow

from bjsim.errors import InputError
from bjsim.sim.engine.compiled_rules import ENDLESS_WINDOW, compile_rules
from bjsim.sim.engine.kernels.arrays import WalkedTable
from bjsim.sim.engine.pack import make_deal, pack_moves, pack_plain
from bjsim.sim.engine.play import play_blocks
from bjsim.sim.engine.round_table import make_round_tables
from bjsim.sim.engine.rounds import play_plain
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import stream_key
from bjsim.sim.running.compiled_table import make_tallies
from bjsim.sim.running.table import ReadableTable
from bjsim.strategies.exact.solver import Solver

WIDE_PAY = [
    named_rules("blackjack-p").replace(blackjack_pays="60.01"),  # 6,001 units of 1/100
    named_rules("easy").replace(max_hands="inf", bonuses="win", blackjack_pays="1.001"),  # 2 and 3 bets, in thousandths
    named_rules("blackjack-p").replace(blackjack_pays="60.01", ties="replay"),
]


@pytest.mark.parametrize("game", [*WIDE_PAY[:2], slow(WIDE_PAY[2])])
def test_a_payoff_beyond_the_window_is_counted_where_splits_have_no_limit(game: Rules) -> None:
    compiled = compile_rules(game, [Solver(game).chart.policy])
    tables, keys, rounds = make_round_tables(compiled), [stream_key(1, 0, block) for block in range(5)], [20_000] * 5
    (tally,) = make_tallies(game.unit, *play_plain(compiled, pack_plain(tables[0][0]), keys, rounds))
    play_round = ReadableTable(game, [Solver(game).chart]).play_round
    layout = WalkedTable(pack_moves(*tables), make_deal(compiled, 1))
    assert make_tallies(game.unit, *play_blocks(compiled, layout, play_round, keys, rounds)[:2]) == [tally]
    one_by_one = [make_tallies(game.unit, *play_rounds(compiled, key, 20_000)[:2])[0] for key in keys]
    assert tally == sum(one_by_one[1:], start=one_by_one[0])
    assert tally.rounds == 100_000
    assert max(abs(net) for net, _ in tally.counts) > ENDLESS_WINDOW, "else this shows nothing"


def test_the_counts_and_the_others_make_one_tally() -> None:
    counts = np.zeros((2, 1, 5), np.int64)
    counts[0, 0, 3] = 7
    outside = np.array([[0, 5], [1, -9], [0, 5]])
    one, other = make_tallies(named_rules("easy").unit, counts, outside)
    assert one.counts == {(1, 0): 7, (5, 0): 2} and other.counts == {(-9, 0): 1}


def test_amounts_too_many_to_count_are_refused_before_memory_is_taken() -> None:
    game = ("--rules", "cardshark", "--set", "chips=1000000000000", "--set")
    bots = ("--bots", "lim17,lim16", "--hands", "1e4")
    said = refusal("run", *game, "buy_in=1000000000", *bots)
    assert said.startswith("buy_in = 1000000000, ") and "too many amounts to count" in said
    huge = Rules(max_hands=16, blackjack_pays="99.999", ties="replay")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="steps of 1/1000"):
        compile_rules(huge, [Solver(huge).chart.policy])
    large = named_rules("cardshark").replace(chips=10**12, buy_in=10**6)
    assert compile_rules(large, [Solver(large).chart.policy] * 4).numbers[-2] == 2 * 10**6


@pytest.mark.slow
def test_a_round_too_long_to_be_played_costs_no_other_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """If tens have a probability just below 1/2, splits end, but some rounds exceed the limit on hands."""
    monkeypatch.setattr("bjsim.sim.game.round.RUNAWAY", 3000)  # to be reached in a second
    game = ("--rules", "blackjack-p", "--set", "ten_probability=0.49", "--bots", "optimal", "--hands", "65000")
    status, out, err = bjsim("run", *game, "--workers", "1", "--seed", "5", "--json", "-")
    data = json.loads(out)
    assert status == 1 and data["stopped"] and data["rounds"] == data["bots"][0]["hands"] == 32_768
    assert "the results below are biased, since they leave out the longest rounds" in err
    assert err.splitlines()[-1].startswith("bjsim: a seat reached the limit of 100,000 hands in one round")
    assert "splits end very late, or never" in err

"""The fold: four blocks walked side by side pay what the plan pays, round by round."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import FIXED, charts, random_chart, rules

from bjsim.sim.fold import APART, MOST_CLASSES, WAITING, Fold, fold
from bjsim.sim.kernel import EndlessSplitting, count_log, play_blocks, play_rounds
from bjsim.sim.plan import Plan, compile_plan
from bjsim.sim.presets import PRESETS, named_rules
from bjsim.sim.rules import Rules
from bjsim.sim.stream import stream_key
from bjsim.strategies.chart import chart_of
from bjsim.strategies.exact import Solver

LENGTHS = [700, 0, 1, 1500, 33, 64]  # of blocks: more than there are lanes, and none alike


def plan_of(game: Rules) -> Plan:
    return compile_plan(game, [Solver(game.with_(decks="inf")).chart.letter])


def one_by_one(plan: Plan, lengths: list[int], seed: int = 5) -> tuple[list[np.ndarray], np.ndarray]:
    """The payoff codes of every block, and the counts of all, from the plan."""
    played = [play_rounds(plan, stream_key(seed, 0, b), rounds, rounds) for b, rounds in enumerate(lengths)]
    return [trace[:, 0] for _, _, trace in played], sum(counts for counts, _, _ in played)


def walked(plan: Plan, folded: Fold, lengths: list[int], seed: int = 5) -> tuple[list[np.ndarray], np.ndarray]:
    """The same from the fold."""
    keys = [stream_key(seed, 0, block) for block in range(len(lengths))]
    counts, _, traces = play_blocks(plan, folded, keys, lengths, traced=True)
    untraced, _, _ = play_blocks(plan, folded, keys, lengths)
    assert (counts == untraced).all()
    return traces, counts


def differ(plan: Plan, folded: Fold, lengths: list[int], seed: int = 5) -> bool:
    traces, counts = one_by_one(plan, lengths, seed)
    others, other_counts = walked(plan, folded, lengths, seed)
    return any((one != other).any() for one, other in zip(traces, others, strict=True)) or (
        (counts != other_counts).any()
    )


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("decks", ["2", "6", "inf", pytest.param("8", marks=pytest.mark.slow)])
def test_every_preset_pays_the_same_walked(name: str, decks: str) -> None:
    """Two decks are dealt to the last card, so that rounds begin in one shoe and end in the next."""
    game = named_rules(name).with_(seats=1, decks=decks)
    plan = plan_of(game.with_(cut=1) if decks == "2" else game)
    folded = fold(plan)
    assert folded
    assert not differ(plan, folded, LENGTHS)


@pytest.mark.parametrize("games", [100, pytest.param(3000, marks=pytest.mark.slow)])
def test_random_games_pay_the_same_walked(games: int) -> None:
    """Rules over all their fields with one seat, and a chart of random codes."""
    seen: Counter[str] = Counter()

    @settings(FIXED, max_examples=games)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        game = data.draw(rules(seats=1))
        plan = compile_plan(game, [data.draw(charts(game)).letter])
        folded = fold(plan)
        seen["folded" if folded else "not folded"] += 1
        if folded:
            assert not differ(plan, folded, [300, 90, 200], data.draw(st.integers(0, 2**32)))
            seen["finite"] += not game.infinite
            seen["replayed"] += game.ties == "replay"

    check()
    assert min(seen[what] for what in ("folded", "not folded", "finite", "replayed")) >= games // 20


@pytest.mark.parametrize("decks", ["6", "inf"])
def test_a_wrong_fold_is_caught(decks: str) -> None:
    """Negative control: two cards mixed up, a payoff mixed up, and 1 in 50 of the payoffs of single cards."""
    game = named_rules("vegas-s17").with_(decks=decks)
    plan = plan_of(game)
    folded = fold(plan)
    assert folded
    mixed, rare = folded.table.copy(), folded.table.copy()
    mixed[[4, 9]] = mixed[[9, 4]]
    ends = [i for i in np.flatnonzero(rare & 1).tolist() if i >= 2 * WAITING]
    rare[random.Random(1).sample(ends, len(ends) // 50)] ^= 2
    codes = folded.codes.copy()
    codes[:2] = codes[1::-1]
    for wrong in (folded._replace(table=mixed), folded._replace(table=rare), folded._replace(codes=codes)):
        assert differ(plan, wrong, [2000])
    assert not differ(plan, folded, [2000])


def test_what_cannot_be_walked_is_not_folded() -> None:
    game = named_rules("vegas-s17")
    chart = Solver(game.with_(decks="inf")).chart
    assert fold(compile_plan(game.with_(seats=2), [chart.letter] * 2)) is None
    assert fold(compile_plan(game.with_(decks=1), [chart.letter])) is None
    assert fold(compile_plan(game.with_(cut="1/20"), [chart.letter])) is None
    assert fold(compile_plan(game, [chart.letter])) is not None


def test_hands_that_come_to_the_same_are_one_row() -> None:
    """Of a chart that always stands only totals matter: the dealer's cards are some sixty, the hand's eight."""
    game = named_rules("cardshark").with_(seats=1, decks="inf")
    stand = fold(compile_plan(game, [chart_of("stand", game, lambda row, column: "S").letter]))
    other = fold(compile_plan(game, [random_chart(game, 1).letter]))
    assert stand and other
    assert len(stand.table) < len(other.table) / 3
    assert len(stand.codes) == 2  # it wins or loses


def test_splits_without_end_are_reported() -> None:
    game = Rules(max_hands="inf", ten_probability="9/10")
    plan = compile_plan(game, [chart_of("splits", game, lambda row, column: "P" if row == "TT" else "S").letter])
    folded = fold(plan)
    assert folded
    with pytest.raises(EndlessSplitting):
        play_blocks(plan, folded, [stream_key(1, 0, 0)], [100])


@pytest.mark.parametrize("length", [0, 1, 3, 4, 1003])
def test_the_log_is_counted(length: int) -> None:
    log = np.random.default_rng(length).integers(0, 256, length).astype(np.uint8)
    counts = np.zeros((4, 256), np.int64)
    count_log(log, counts)
    assert (counts.sum(axis=0) == np.bincount(log, minlength=256)).all()


def test_classes_of_payoffs_and_marks_are_apart() -> None:
    assert 1 + 2 * (MOST_CLASSES - 1) < APART

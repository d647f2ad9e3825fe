"""The lookup table: four parallel lanes give the payoffs of the compiled round, round by round."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import FIXED, charts, random_chart, rules

from bjsim.errors import EndlessSplitting
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.kernels.layout import CompiledRules
from bjsim.sim.engine.kernels.run_table import LOG
from bjsim.sim.engine.kernels.table_layout import LookupTable, TableSeats
from bjsim.sim.engine.lookup_table import MAX_CLASSES, MAX_ROWS, SKIPPED, WAITING, make_lookup_table, make_table_seats
from bjsim.sim.engine.rounds import play_blocks, play_by_table, play_rounds
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.random_stream import stream_key
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import make_chart
from bjsim.strategies.exact.solver import Solver

LENGTHS = [700, 0, 1, 1500, 33, 64]  # of blocks: more than there are lanes, and all different


def make_compiled(game: Rules) -> CompiledRules:
    return compile_rules(game, [Solver(game.replace(decks="inf")).chart.policy])


def one_by_one(compiled: CompiledRules, lengths: list[int], seed: int = 5) -> tuple[list[np.ndarray], np.ndarray]:
    """The payoff codes of every block, and the counts of all, from the compiled round."""
    played = [play_rounds(compiled, stream_key(seed, 0, b), rounds, rounds) for b, rounds in enumerate(lengths)]
    return [trace[:, 0] for _, _, trace in played], sum(counts for counts, _, _ in played)  # type: ignore[return-value]


def walked(
    compiled: CompiledRules, lookup: LookupTable, lengths: list[int], seed: int = 5
) -> tuple[list[np.ndarray], np.ndarray]:
    """The same from the lookup table."""
    keys = [stream_key(seed, 0, block) for block in range(len(lengths))]
    counts, _, traces = play_blocks(compiled, lookup, keys, lengths, traced=True)
    untraced, _, _ = play_blocks(compiled, lookup, keys, lengths)
    assert (counts == untraced).all()
    return traces, counts


def differ(compiled: CompiledRules, lookup: LookupTable, lengths: list[int], seed: int = 5) -> bool:
    traces, counts = one_by_one(compiled, lengths, seed)
    others, other_counts = walked(compiled, lookup, lengths, seed)
    return any((one != other).any() for one, other in zip(traces, others, strict=True)) or (
        (counts != other_counts).any()
    )


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("decks", ["1", "2", "6", "inf", pytest.param("8", marks=pytest.mark.slow)])
def test_every_preset_pays_the_same_by_the_lookup_table(name: str, decks: str) -> None:
    """One and two decks are dealt to the last card, so that some rounds begin in one shoe and end in the next."""
    game = named_rules(name).replace(seats=1, decks=decks)
    compiled = make_compiled(game.replace(cut=1) if decks in ("1", "2") else game)
    lookup = make_lookup_table(compiled)
    if lookup is None:  # its splits leave the table, which they may not where the shoe may run out
        two_decks = make_lookup_table(make_compiled(game.replace(decks=2)))
        assert decks == "1" and two_decks and not len(two_decks.hands)
        return
    assert not differ(compiled, lookup, LENGTHS)


@pytest.mark.parametrize("games", [60, pytest.param(3000, marks=pytest.mark.slow)])
def test_random_games_pay_the_same_by_the_lookup_table(games: int) -> None:
    """Random rules with one seat, and a chart of random codes."""
    seen: Counter[str] = Counter()

    @settings(FIXED, max_examples=games)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        game = data.draw(rules(seats=1))
        compiled = compile_rules(game, [data.draw(charts(game)).policy])
        lookup = make_lookup_table(compiled)
        seen["lookup" if lookup else "not lookup"] += 1
        if lookup:
            assert not differ(compiled, lookup, [300, 90, 200], data.draw(st.integers(0, 2**32)))
            seen["finite"] += not game.infinite
            seen["replayed"] += game.ties == "replay"

    check()
    assert min(seen[what] for what in ("lookup", "not lookup", "finite", "replayed")) >= games // 20


@pytest.mark.parametrize("decks", ["6", "inf"])
def test_a_wrong_lookup_table_is_caught(decks: str) -> None:
    """Negative control: two swapped cards, a changed payoff, and 1 in 50 of the entries of single cards."""
    game = named_rules("vegas-s17").replace(decks=decks)
    compiled = make_compiled(game)
    lookup = make_lookup_table(compiled)
    assert lookup
    mixed, rare = lookup.table.copy(), lookup.table.copy()
    mixed[[4, 9]] = mixed[[9, 4]]
    last = np.flatnonzero((rare & 1 == 1) & (rare & 255 < 2 * len(lookup.ends)))
    rare[random.Random(1).sample([i for i in last.tolist() if i >= 2 * WAITING], len(last) // 50)] ^= 2
    ends, hands = lookup.ends.copy(), lookup.hands.copy()
    ends[:2, 0] = ends[1::-1, 0]
    hands[:, 1:] = hands[:, :-1]
    for wrong in (
        lookup._replace(table=mixed), lookup._replace(table=rare), lookup._replace(ends=ends),
        lookup._replace(hands=hands),
    ):  # fmt: skip
        assert differ(compiled, wrong, [2000])
    assert not differ(compiled, lookup, [2000])


def test_unsupported_games_have_no_lookup_table() -> None:
    game = named_rules("vegas-s17")
    chart = Solver(game.replace(decks="inf")).chart
    assert make_lookup_table(compile_rules(game.replace(seats=2), [chart.policy] * 2)) is None
    assert make_lookup_table(compile_rules(game.replace(decks=1, max_hands="inf"), [chart.policy])) is None
    assert make_lookup_table(compile_rules(game.replace(cut="1/25"), [chart.policy])) is None
    assert make_lookup_table(compile_rules(game, [chart.policy])) is not None


def test_hands_that_come_to_the_same_are_one_row() -> None:
    """For a chart that always stands only totals matter, so the table has few rows."""
    game = named_rules("cardshark").replace(seats=1, decks="inf")
    stand = make_lookup_table(compile_rules(game, [make_chart("stand", game, lambda row, column: "S").policy]))
    other = make_lookup_table(compile_rules(game, [random_chart(game, 1).policy]))
    assert stand and other
    assert len(stand.table) < len(other.table) / 3
    logged = np.unique(stand.table[2 * WAITING :] & 255) >> 1
    assert len(np.unique(stand.ends[logged[1:], 0])) == 2  # it wins or loses


def test_splits_without_end_are_reported() -> None:
    game = Rules(max_hands="inf", ten_probability="9/10")  # type: ignore[arg-type]
    compiled = compile_rules(game, [make_chart("splits", game, lambda row, column: "P" if row == "TT" else "S").policy])
    lookup = make_lookup_table(compiled)
    assert lookup
    with pytest.raises(EndlessSplitting):
        play_blocks(compiled, lookup, [stream_key(1, 0, 0)], [100])


def splitter(game: Rules) -> CompiledRules:
    """Splits every pair, and hits below 15."""

    def code(row: str, column: str) -> str:
        pair = row == "AA" or (len(row) == 2 and row[0] == row[1] and row != "11")
        return "P" if pair else "H" if row.isdigit() and int(row) < 15 else "S"

    return compile_rules(game, [make_chart("splits", game, code).policy] * game.seats)


@pytest.mark.parametrize(
    "fields",
    [
        {"max_hands": 2},
        {"max_hands": 4, "resplit_aces": True, "hit_split_aces": True, "ten_probability": "3/5"},
        {"max_hands": 5, "ten_probability": "9/10", "dealer_shows": "both", "peek": True},
        {"max_hands": 7, "ties": "replay", "deal": "pdp", "peek": False, "split_tens_blackjack": True},
        {"max_hands": 4, "decks": 2, "cut": 1, "split_by": "rank", "bonuses": "none", "naturals": "player", "peek": 0},
    ],
)
def test_the_lookup_table_covers_splits_and_resplits(fields: dict[str, object]) -> None:
    """No round leaves the table; with fewer rows allowed every split does, with the same payoffs."""
    game = Rules(**fields)  # type: ignore[arg-type]
    compiled = splitter(game)
    lookup = make_lookup_table(compiled)
    assert lookup
    leaves = make_lookup_table(compiled, most_rows=len(lookup.table) // 13 - 1)
    assert leaves
    assert len(lookup.hands) and not (lookup.table[2 * WAITING :] >> 8 == WAITING).any()
    assert not len(leaves.hands) and (leaves.table[2 * WAITING :] >> 8 == WAITING).any()
    assert not differ(compiled, lookup, LENGTHS)
    assert not differ(compiled, leaves, LENGTHS)
    compiled = splitter(game.replace(seats=3))
    seats = make_table_seats(compiled)
    assert seats
    assert not seats_differ(compiled, seats, LENGTHS)


def test_a_table_has_the_rows_it_may_have() -> None:
    compiled = make_compiled(named_rules("easy"))
    lookup = make_lookup_table(compiled)
    assert lookup
    assert len(lookup.table) // 13 <= MAX_ROWS
    assert make_lookup_table(compiled, most_rows=100) is None


@pytest.mark.parametrize("lengths", [[], [0], [LOG + 7], [1, 2, 3, 4, 5, 6, 7, 8, 9], [3 * LOG, 0, 0, 5, LOG - 1]])
def test_blocks_may_be_of_any_length_and_number(lengths: list[int]) -> None:
    compiled = make_compiled(named_rules("easy"))
    lookup = make_lookup_table(compiled)
    assert lookup
    assert not differ(compiled, lookup, lengths)


def test_classes_of_payoffs_and_marks_are_apart() -> None:
    assert 1 + 2 * (MAX_CLASSES - 1) < SKIPPED


# --- several seats


def several(game: Rules) -> CompiledRules:
    """Seats with two charts: the best one in the infinite shoe, and one that hits below 15."""
    best = Solver(game.replace(decks="inf", seats=1)).chart
    other = make_chart("below 15", game, lambda row, column: "H" if row.isdigit() and int(row) < 15 else "S")
    return compile_rules(game, [(best, other)[s % 2].policy for s in range(game.seats)])


def seats_differ(compiled: CompiledRules, seats: TableSeats, lengths: list[int]) -> bool:
    keys = [stream_key(5, 0, block) for block in range(len(lengths))]
    played = [play_rounds(compiled, key, rounds, rounds) for key, rounds in zip(keys, lengths, strict=True)]
    counts, _ = play_by_table(compiled, seats, keys, lengths)
    traces = [play_by_table(compiled, seats, [key], [n], n)[1] for key, n in zip(keys, lengths, strict=True)]
    assert not any(len(outside) for _, outside, _ in played)
    return bool(
        any((one[2] != trace).any() for one, trace in zip(played, traces, strict=True))
        or (counts != sum(one[0] for one in played)).any()
    )


@pytest.mark.parametrize("name", ["easy", "vegas-h17", "european", "atlantic-city", "double-exposure"])
@pytest.mark.parametrize(("decks", "seats"), [("1", 4), ("6", 2), ("6", 7), ("inf", 3)])
def test_several_seats_by_the_table_are_paid_as_in_the_compiled_round(name: str, decks: str, seats: int) -> None:
    """Every seat's payoff and the number of cards of every round, and the counts of several blocks."""
    compiled = several(named_rules(name).replace(decks=decks, seats=seats, insurance=False))
    table_seats = make_table_seats(compiled)
    assert table_seats
    assert not seats_differ(compiled, table_seats, LENGTHS)


@pytest.mark.parametrize("games", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_random_games_pay_several_seats_the_same_by_the_table(games: int) -> None:
    """Random rules with two to seven seats, of which all split every pair."""
    seen: Counter[str] = Counter()

    @settings(FIXED, max_examples=games)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        game = data.draw(rules(seats=data.draw(st.integers(2, 7)), turns="in-turn", insurance=False))
        compiled = splitter(game)
        seats = make_table_seats(compiled)
        seen["table" if seats else "no table"] += 1
        if seats:
            assert not seats_differ(compiled, seats, [300, 90])
            seen["finite"] += not game.infinite
            seen["replayed"] += game.ties == "replay"

    check()
    assert min(seen[what] for what in ("table", "no table", "finite", "replayed")) >= games // 30


def test_a_wrong_table_of_several_seats_is_caught() -> None:
    """Negative control: split hands are paid by another outcome, or the seats have each other's charts."""
    compiled = several(named_rules("vegas-s17").replace(seats=3))
    seats = make_table_seats(compiled)
    assert seats
    hands = seats.hands.copy()
    hands[:, 1:] = hands[:, :-1]
    for wrong in (seats._replace(hands=hands), seats._replace(start=seats.start[[1, 0, 1]])):
        assert seats_differ(compiled, wrong, [3000])
    assert not seats_differ(compiled, seats, [3000])


def test_several_seats_without_a_table() -> None:
    """The compiled round plays round-robin order, endless splits and very short shoes."""
    game = named_rules("vegas-s17").replace(seats=2)
    for fields in ({"turns": "round-robin"}, {"max_hands": "inf"}, {"cut": "1/25"}):
        assert make_table_seats(several(game.replace(**fields))) is None
    assert make_table_seats(several(game)) is not None

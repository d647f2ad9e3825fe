"""Charts: looking up hands, fallbacks of codes, and agreement of views and states."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import charts, rules
from support.printed import printed

from bjsim.errors import InputError
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.game.actions import HIT, STAND, View
from bjsim.sim.game.hand_states import SPLIT_ACES, SPLIT_HAND, HandState
from bjsim.sim.game.presets import PRESETS, named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.sim.running.compiled_table import CompiledTable
from bjsim.sim.running.table import ReadableTable, Span
from bjsim.strategies.charts.chart import PAIR, Chart, chart_rows, make_chart, parse_row, row_order
from bjsim.strategies.evaluation.compare import evaluate_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.files import WRITERS, read_chart
from bjsim.strategies.formats.lines import ChartError

VEGAS = named_rules("vegas-s17")


def chart_with(game: Rules, **codes: str) -> Chart:
    """A chart that stands except for some rows (`_16` is the row 16)."""
    return make_chart("some", game, lambda row, column: codes.get(row, codes.get(f"_{row}", "S")))


def letter(chart: Chart, hand: str, column: str = "T", split: bool = False, legal: str | None = None) -> str:
    """The chart's action for a hand of cards, found through its state."""
    states = States(chart.rules)
    aces = hand[0] == "A"
    state = HandState(split=(SPLIT_ACES if aces else SPLIT_HAND) if split else 0)
    for card in hand:
        state = states.add(state, "A23456789TJQK".index(card))
    return chart.policy(state, column, states.legal(state) if legal is None else legal)


@pytest.mark.parametrize(
    ("hand", "double", "code", "legal", "expected"),  # double: whether split hands may
    [
        ("T6", True, "S", "SH", "S"), ("T6", True, "H", "SH", "H"), ("T6", True, "Dh", "SHD", "D"),
        ("T6", True, "Ds", "SHD", "D"), ("T6", True, "Dh", "SH", "H"), ("T6", True, "Ds", "SH", "S"),
        ("T6", True, "Rh", "SHDR", "R"), ("T6", True, "Rs", "SHDR", "R"), ("T6", True, "Rh", "SHD", "H"),
        ("T6", True, "Rs", "SH", "S"), ("88", True, "P", "SHDP", "P"), ("88", True, "Ph", "SHDP", "P"),
        ("88", True, "Pd", "SHDP", "P"), ("88", True, "Ps", "SHDP", "P"), ("88", True, "Rp", "SHDPR", "R"),
        ("88", True, "Rp", "SHDP", "P"), ("88", False, "Ph", "SHDP", "H"), ("88", False, "Pd", "SHDP", "D"),
        ("88", False, "Pd", "SHP", "H"), ("88", False, "Ps", "SHDP", "S"), ("88", False, "P", "SHDP", "P"),
        ("88", False, "Rp", "SHDP", "P"),
        ("AA", True, "P", "SHD", "H"), ("AA", True, "Ph", "SHD", "H"), ("AA", True, "Pd", "SHD", "D"),
        ("AA", True, "Ps", "SHD", "S"), ("AA", True, "Rp", "SHD", "H"),  # their total has the same name
    ],
)  # fmt: skip
def test_what_a_code_does_and_falls_back_to(hand: str, double: bool, code: str, legal: str, expected: str) -> None:
    row = "16" if hand == "T6" else hand
    chart = Chart("one", VEGAS.replace(double_after_split=double), {(row, "T"): code})
    assert letter(chart, hand, legal=legal) == expected


@pytest.mark.parametrize("double_after_split", [True, False])
@pytest.mark.parametrize("form", ["chart", "csv"])
def test_charts_from_elsewhere_are_read_judged_played_and_written(form: str, double_after_split: bool) -> None:
    """Ph, Pd, Ps and Rp have the value of the same chart in plain codes, for the solver and in both rounds."""
    game = named_rules("atlantic-city").replace(decks="inf", double_after_split=double_after_split)
    best = Solver(game).chart
    foreign = {"22": "Ph", "55": "Pd", "44": "Ph", "99": "Ps", "88": "Rp", "AA": "Ph"}
    plain = {"22": "P", "55": "P", "44": "P", "99": "P", "88": "Rp", "AA": "P"} if double_after_split else {
        "22": "H", "55": "Dh", "44": "H", "99": "S", "88": "Rp", "AA": "H"}  # fmt: skip
    charts = []
    for codes in (foreign, plain):
        cells = {(row, column): codes.get(row, code) for (row, column), code in best.cells.items()}
        charts.append(Chart("read", game, cells, "read"))
    text = WRITERS[form](charts[0])
    read = read_chart(text.lower(), "read", game)
    assert read.cells == charts[0].cells and WRITERS[form](read) == text
    values = [Solver(game).ev(chart.policy) for chart in (read, charts[1])]
    assert values[0] == values[1]
    compiled_rules = [compile_rules(game, [chart.policy]) for chart in (read, charts[1])]
    assert all(np.array_equal(one, other) for one, other in zip(*compiled_rules, strict=True))
    evaluation = evaluate_chart(read)
    assert evaluation.difference == pytest.approx(evaluation.costs, abs=1e-12) and evaluation.codes["88", "T"] == "Rp"
    readable = ReadableTable(game, [read])
    tables = CompiledTable(compiled_rules[0], readable), readable
    assert tables[0].play(1, 0, [Span(0, 3000)]) == tables[1].play(1, 0, [Span(0, 3000)])
    shown = " ".join(printed(evaluation.describe()).split())
    assert "or split (Rp)" in shown and "if a split hand may not double, hit (Ph)" in shown


def test_a_code_that_splits_is_refused_for_a_hand_that_is_no_pair() -> None:
    text = WRITERS["chart"](Solver(named_rules("atlantic-city")).chart)
    for code in ("Ph", "Pd", "Ps", "Rp"):
        with pytest.raises(ChartError, match=f"{code} splits, but 16 cannot be split"):
            read_chart(re.sub(r"^( *16)( +\w+)", rf"\1 {code}", text, flags=re.M), "mine", named_rules("atlantic-city"))


def test_the_instructors_chart_surrenders_and_else_splits() -> None:
    """Rp in the game of [Easy], in which only the first action may be a surrender."""
    chart = Chart("instructor", named_rules("easy"), {("88", "20"): "Rp", ("16", "20"): "Rh"})
    assert letter(chart, "88", "20") == "R"
    assert letter(chart, "88", "20", split=True) == "P"
    assert letter(chart, "88", "20", split=True, legal="SHD") == "H", "the limit of hands is reached"


def test_a_pair_that_may_not_be_split_is_looked_up_as_its_total() -> None:
    chart = chart_with(VEGAS, _88="P", _16="H", TT="P", _20="S", _22="P", _4="H")
    assert letter(chart, "88") == "P"
    assert letter(chart, "88", legal="SHD") == "H"
    assert letter(chart, "KT", legal="SHD") == "S"
    assert letter(chart, "22", legal="SH") == "H"
    assert letter(chart, "T6") == "H"


def test_a_pair_of_aces_that_may_not_be_split_is_hit() -> None:
    """Its total has the same name, AA."""
    chart = chart_with(VEGAS.replace(hit_split_aces=True), AA="P")
    assert letter(chart, "AA") == "P"
    assert letter(chart, "AA", split=True) == "H"
    assert letter(chart, "AA", legal="SH") == "H"


def test_split_aces_that_get_one_card_stand_whatever_the_chart_says() -> None:
    chart = chart_with(VEGAS.replace(resplit_aces=True), AA="Dh", A5="H")
    assert letter(chart, "AA", split=True) == "S"
    assert letter(chart, "A5", split=True, legal="S") == "S"


def test_21_stands_where_the_chart_has_no_row_for_it() -> None:
    game = VEGAS.replace(stand_on_21=False)
    chart = chart_with(game, _12="H")
    assert letter(chart, "876") == "S"
    assert letter(chart, "A64") == "S"
    both = Chart("with 21", game, {**chart.cells, ("21", "T"): "H", ("A10", "T"): "Dh"})
    assert letter(both, "876") == "H"
    assert letter(both, "A64") == "H", "no more doubling with three cards"


def test_the_most_specific_row_applies() -> None:
    game = named_rules("neller-v1")
    chart = Chart(
        "bonus", game,
        {("15", "T"): "S", ("15/4", "T"): "H", ("14", "T"): "S", ("14:77", "T"): "H", ("16", "T"): "S",
         ("15:78", "T"): "H"},
    )  # fmt: skip
    assert letter(chart, "96") == "S"
    assert letter(chart, "4443") == "H"
    assert letter(chart, "77") == "H"
    assert letter(chart, "68") == "S"
    assert letter(chart, "78") == letter(chart, "87") == "H"
    assert letter(chart, "T6") == "S"


def test_a_missing_cell_is_named() -> None:
    with pytest.raises(InputError, match="chart holes has no cell for 16 against T"):
        letter(Chart("holes", VEGAS, {}), "T6")


def test_rows_are_in_the_order_of_the_seed() -> None:
    states = States(named_rules("easy"))
    hard = [str(n) for n in range(4, 21)]
    pairs = [*(f"{n}{n}" for n in range(2, 10)), "TT", "AA"]
    soft = [f"A{n}" for n in range(2, 10)]
    assert list(chart_rows(states)) == [*hard, *pairs, *soft]
    assert sorted(reversed(chart_rows(states)), key=row_order) == [*hard, *pairs, *soft]
    assert sorted(["11", "22", "A2", "AA", "TT", "99", "15/4", "15", "14:77", "14"], key=row_order) == [
        "11", "14", "14:77", "15", "15/4", "22", "99", "TT", "AA", "A2",
    ]  # fmt: skip


@pytest.mark.parametrize("name", PRESETS)
def test_rows_are_read_as_they_are_named(name: str) -> None:
    """`parse_row` inverts `rows_of` for every hand of every game."""
    states = States(named_rules(name))
    for state in states.reachable():
        if states.legal(state):
            for label in states.rows_of(state):
                if label == "21" and state.soft:
                    continue  # the row for any 21, the last that is asked
                row = parse_row(label)
                assert (row.points, row.soft) == (state.points, state.soft)
                assert row.stake == 2**state.doubled
                assert row.stake > 1 or row.total in states.rows_of(state, may_split=False)
                assert (row.hand.points, row.hand.soft, row.hand.rank) == (state.points, state.soft, -1)
            first = parse_row(states.rows_of(state)[0])
            counts = states.rules.bonuses != "none" and "P" not in states.legal(state)  # a pair has a row of its own
            counted = counts and not state.doubled and (state.cards > 2 or state.meld != ())
            assert bool(first.counted) == (counted or (state.risk == 0 and "P" not in states.legal(state)))
            if first.kind == PAIR and first.rank:
                assert first.rank == min(state.rank, 9)
            if state.cards == 2 and not first.counted and state.points not in (4, 20, 21):
                dealt = states.add(states.add(HandState(), first.cards[0]), first.cards[1])
                assert (dealt.points, dealt.soft) == (state.points, state.soft)


@settings(max_examples=200)
@given(st.data())
def test_a_chart_reads_a_view_as_it_reads_the_state(data: st.DataObject) -> None:
    """Over all cards that a hand can have, in any order, split or not."""
    game = data.draw(rules())
    chart = data.draw(charts(game))
    states = States(game)
    ranks = data.draw(st.lists(st.integers(0, 12), min_size=2, max_size=5))
    split = data.draw(st.booleans())
    state = HandState(split=(SPLIT_HAND if ranks[0] else SPLIT_ACES) if split else 0)
    for rank in ranks:
        state = states.add(state, rank)
    legal = states.legal(state)
    up = data.draw(st.sampled_from("A23456789TJQK"))
    dealer = up if game.dealer_shows == "up" else up + data.draw(st.sampled_from("23456789"))
    if not legal or states.column(dealer) not in states.columns:
        return
    hand = "".join("A23456789TJQK"[rank] for rank in ranks)
    view = View(game, 0, hand, dealer, "", game.buy_in, 0, legal, split)
    assert chart.decide(view).letter == chart.policy(state, states.column(dealer), legal)


def test_chart_of_asks_for_every_cell_that_counts_no_cards() -> None:
    chart = make_chart("all", named_rules("neller-v1"), lambda row, column: "S")
    assert {row for row, _ in chart.cells} == {
        *(str(n) for n in range(4, 21)), "AA", *(f"A{n}" for n in range(2, 10)),
    }  # fmt: skip


def test_a_chart_remembers_hands_of_a_split_apart_from_others() -> None:
    """Aces that may only stand or be resplit stand where the chart would hit them; others are hit."""
    game = named_rules("vegas-s17")
    chart = make_chart("hits", game, lambda row, column: "H")
    view = View(game, 0, "AA", "6", "", game.buy_in, 0, "SP")
    for _ in range(2):
        assert chart.decide(view._replace(split=True)) == STAND
        assert chart.decide(view) == HIT

"""The protocol: the arguments of a bot, and the meaning of each reply."""

import pytest
from bot_helpers import a_view
from hypothesis import given
from hypothesis import strategies as st

from bjsim.bots.protocol import FAULTS, Fault, Reply, classify_reply, make_argv, parse_reply
from bjsim.sim.game.actions import Action, View
from bjsim.sim.game.presets import named_rules


def test_the_five_arguments_of_the_sample_call_in_cardshark():
    rules = named_rules("cardshark")
    view = View(rules, 0, "KJA", "K", "KQKJA3592A", 25, 145, "SHB")
    assert make_argv(view) == ["21", "KJA", "KQKJA3592A", "25", "145"]


@pytest.mark.parametrize(
    ("stdout", "action"),
    [
        (b"H", Action("H")),
        (b"S\n", Action("S")),
        (b"h\n", Action("H")),
        (b"  \t s \r\n", Action("S")),
        (b"D\n", Action("D")),
        (b"B 15", Action("B", 15)),
        (b"b\t15\n", Action("B", 15)),
        (b"B -5", Action("B", 5)),
        (b"B +5", Action("B", 5)),
        (b"B 0", Action("B", 0)),
        (b"B 190", Action("B", 190)),
        (b"B 107.14285714285714", Action("B", 107)),
        (b"B -107.9", Action("B", 107)),
        (b"B 190.99", Action("B", 190)),
        (b"B 0.5", Action("B", 0)),
        (b"B -.5", Action("B", 0)),
        (b"B 15.", Action("B", 15)),
        (b"H and here is why", Action("H")),
        (b"S\nH\n", Action("S")),
    ],
)
def test_moves(stdout, action):
    assert parse_reply(stdout, a_view()) == action


@pytest.mark.parametrize(
    ("stdout", "kind"),
    [
        (b"", "bad-reply"),
        (b"\n", "bad-reply"),
        (b"HIT", "bad-reply"),
        (b"'H'", "bad-reply"),
        (b"stand", "bad-reply"),
        (b"\xff\xfe\x00", "bad-reply"),
        (b"\x00H", "bad-reply"),
        ("Ｈ".encode(), "bad-reply"),
        (b"B", "bad-reply"),
        (b"B15", "bad-reply"),
        (b"B 107,1", "bad-reply"),
        (b"B 1.0.7", "bad-reply"),
        (b"B nan", "bad-reply"),
        (b"B inf", "bad-reply"),
        (b"B .", "bad-reply"),
        (b"B -.", "bad-reply"),
        (b"B 1e3", "bad-reply"),
        (b"B 191.0", "overbet"),
        (b"B 1e9", "bad-reply"),
        (b"B 1_0", "bad-reply"),
        ("B ٣".encode(), "bad-reply"),
        (b"B -", "bad-reply"),
        (b"B 191", "overbet"),
        (b"B -191", "overbet"),
        (b"B " + b"9" * 4000, "overbet"),
        (b"P", "bad-reply"),
        (b"R", "bad-reply"),
    ],
)
def test_bad_replies_have_names(stdout, kind):
    fault = parse_reply(stdout, a_view())
    assert isinstance(fault, Fault) and fault.kind == kind
    assert fault.stdout == stdout and fault.argv == tuple(make_argv(a_view()))


@pytest.mark.parametrize(
    ("view", "kind"),
    [
        (a_view("K23", "SHB"), "late-double"),
        (a_view("K2", "SHB", stake=15, chips=185), "late-double"),
        (a_view("K2", "SHB", stake=10, chips=9), "overbet"),
        (a_view("K2", "SH", rules=named_rules("neller")), "bad-reply"),
        (
            a_view("K23", "SHB", stake=10, chips=9, rules=named_rules("cardshark").replace(double_cards="any")),
            "overbet",
        ),
    ],
)
def test_a_double_that_is_refused(view, kind):
    assert parse_reply(b"D", view).kind == kind


def test_split_and_surrender_where_the_rules_have_them():
    view = a_view("88", "SHDPR", rules=named_rules("easy"))
    assert parse_reply(b"p", view) == Action("P")
    assert parse_reply(b"R", view) == Action("R")
    assert parse_reply(b"B 5", view).kind == "bad-reply"


@pytest.mark.parametrize(
    ("reply", "kind", "detail"),
    [
        (Reply("exit", 1, 10, b"H\n", b""), "crash", "exit status 1"),
        (Reply("exit", -11, 10, b"", b""), "crash", "SIGSEGV"),
        (Reply("exit", -63, 10, b"", b""), "crash", "signal 63"),
        (Reply("timeout", 0, 2_000_000_000, b"H\n", b""), "timeout", "used up its time"),
        (Reply("cpu", 0, 2_000_000_000, b"", b""), "timeout", "used up its time"),
        (Reply("memory", 0, 10, b"", b""), "crash", "memory"),
        (Reply("flood", 0, 10, b"H" * 4096, b""), "flood", "4096"),
        (Reply("start", 0, 0, b"", b"bad interpreter"), "start-failure", "bad interpreter"),
        (Reply("exit", 0, 10, b"", b"why"), "bad-reply", "nothing"),
    ],
)
def test_how_a_run_ended(reply, kind, detail):
    fault = classify_reply(reply, a_view())
    assert fault.kind == kind and detail in fault.detail and kind in FAULTS
    assert fault.stderr == reply.stderr and fault.argv


@given(st.binary(max_size=40), st.sampled_from(["SH", "SHB", "SHDB", "SHDPR"]), st.integers(0, 300))
def test_whatever_is_printed_gives_a_legal_action_or_a_fault(stdout, legal, chips):
    view = a_view(legal=legal, chips=chips)
    move = parse_reply(stdout, view)
    if isinstance(move, Fault):
        assert move.kind in FAULTS
    else:
        assert move.letter in legal and 0 <= move.amount <= chips

"""The policy format of [BlackJackP], and the policies of BlackJack(p)."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.states import States
from bjsim.strategies.evaluation.compare import best_chart, evaluate_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.files import read_chart
from bjsim.strategies.formats.policy import POLICY_HANDS, first_hand, format_policy
from bjsim.strategies.formats.words import COLUMNS

RULES = PRESETS["blackjack-p"].rules

SAMPLE = """\
5 H H H H H H H H H H
6 H H H H H H H H H H
7 H H H H H H H H H H
8 H H H H H H H H H H
9 H D D D D H H H H H
10 D D D D D D D D H H
11 D D D D D D D D H H
12 H H S S S H H H H H
13 S S S S S H H H H H
14 S S S S S H H H H H
15 S S S S S H H H H H
16 S S S S S H H H H H
17 S S S S S S S S S S
18 S S S S S S S S S S
19 S S S S S S S S S S
A2 H H H H D H H H H H
A3 H H H D D H H H H H
"""  # all rows that [BlackJackP] prints


def policy(p):
    """The policy of BlackJack(p): hand -> ten letters."""
    text = format_policy(Solver(RULES.replace(ten_probability=p)).chart)
    return {hand: letters.split(" ") for hand, letters in (line.split("\t") for line in text.splitlines())}


def test_the_sample_rows_of_the_seed():
    found = policy("4/13")
    for line in SAMPLE.splitlines():
        hand, *letters = line.split(" ")
        assert found[hand] == letters


def test_the_form():
    lines = format_policy(Solver(RULES).chart).splitlines()
    hands = [*map(str, range(5, 20)), *(f"A{n}" for n in range(2, 10)), *(f"{n}{n}" for n in range(2, 11)), "AA"]
    assert [line.split("\t")[0] for line in lines] == hands and len(hands) == 33
    for line in lines:
        letters = line.split("\t")[1].split(" ")
        assert len(letters) == 10 and set(letters) <= set("SHDP")


def test_tens_are_split_more_the_more_there_are():
    splits = [policy(p)["1010"].count("P") for p in ("0.2", "4/13", "0.33", "0.4", "0.49")]
    assert splits == sorted(splits) and splits[0] == 0 and splits[-1] >= 6


def test_a_losing_split_hand_may_be_split_without_end():
    """At p = 0.6 splitting tens against 8 gains with each further hand, though a split hand without a ten loses.

    So its value is the limit of the values with increasing limits of hands, which is infinite.
    """
    rules = RULES.replace(ten_probability="0.6")
    values = [
        Solver(rules.replace(max_hands=limit)).best["8"].act(first_hand(States(rules), "1010"), "P")
        for limit in (2, 4, 8, 16)
    ]
    assert values == sorted(values) and values[-1] > values[0] + 0.1
    assert Solver(rules).chart.cells["TT", "8"] == "P"


@pytest.mark.parametrize("name", ["blackjack-p", "neller", "neller-v2", "vegas-s17", "atlantic-city"])
def test_the_best_policy_read_as_a_chart_is_the_best_chart(name):
    """The gaps of a policy get the best play, at no loss."""
    rules = PRESETS[name].rules
    chart = read_chart(format_policy(best_chart(rules)), "policy", rules)
    assert evaluate_chart(chart).difference == pytest.approx(0, abs=1e-12)


@settings(max_examples=15)
@given(name=st.sampled_from(["blackjack-p", "vegas-s17"]), seed=st.integers(0, 2**32))
def test_any_policy_is_read_back(name, seed):
    rng, rules = random.Random(seed), PRESETS[name].rules
    states = States(rules)
    lines = []
    for hand in POLICY_HANDS:
        letters = [rng.choice(states.legal(first_hand(states, hand))) for _ in COLUMNS]
        lines.append(f"{hand}\t{' '.join(letters)}\n")
    text = "".join(lines)
    assert format_policy(read_chart(text, "any", rules)) == text

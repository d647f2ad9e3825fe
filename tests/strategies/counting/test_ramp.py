"""Bet ramps: what is accepted, the bet at each count, and a round trip."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bjsim.errors import InputError
from bjsim.strategies.counting.ramp import Bet, Ramp, spots_at


def units(ramp: Ramp, *counts: float) -> list[float]:
    return ramp.units(counts)


def test_a_spread() -> None:
    ramp = Ramp.parse("1-12")
    assert str(ramp) == "1:1 2:2 3:4 4:6 5:8 6:10 7:12"
    assert units(ramp, -30, 0, 1, 2, 3, 4, 5, 6, 7, 30) == [1, 1, 1, 2, 4, 6, 8, 10, 12, 12]
    assert str(Ramp.parse("1 - 15")) == "1:1 2:2 3:4 4:6 5:8 6:10 7:12 8:14 9:15"
    assert str(Ramp.parse("2-8")) == "1:2 2:4 3:8"
    assert Ramp.parse("5-5") == Ramp.parse("1:5")


def test_the_widest_spread_is_a_thousand() -> None:
    assert units(Ramp.parse("1-1000"), 1, 1000) == [1, 1000]
    with pytest.raises(InputError, match="a spread of 1-1001"):
        Ramp.parse("1-1001")


def test_a_table_with_spots_and_back_counting() -> None:
    ramp = Ramp.parse("4:8x2, -1:0 0:1 1:2 2:2.5")
    counts = (-9, -1, 0, 3, 4)
    assert units(ramp, *counts) == [0, 0, 1, 5 / 2, 8]
    assert [spots_at(ramp.spots, count) for count in counts] == [1, 1, 1, 1, 2]
    assert units(ramp, 1.5, 2.5) == [2, Fraction(5, 2)]
    assert ramp.span == (-2, 4)
    assert str(ramp) == "-1:0 0:1 1:2 2:5/2 4:8x2"


def test_tenths_are_counts_of_the_steps_that_they_start() -> None:
    """Counts are floats: that of 3/10 is a little less than the fraction."""
    tenths = [n / 10 for n in range(-20, 21)]
    for start in range(-20, 21):
        ramp = Ramp.parse(f"-3:1 {start / 10}:2")
        assert ramp.units(tenths) == [1 + (n >= start) for n in range(-20, 21)]


def test_a_flat_bet() -> None:
    assert units(Ramp.parse("3"), -5, 0, 5) == [3, 3, 3]
    assert Ramp.parse("3x2").spots == ((0, 2),)


def test_spots_change_with_the_count() -> None:
    assert str(Ramp.parse("1-4x3")) == "1:1x3 2:2x3 3:4x3"
    steps = Ramp.parse("0:1 1:1x2 3:4x2 5:9").spots
    assert steps == ((0, 1), (1, 2), (5, 1))
    assert [spots_at(steps, count) for count in (-8, 0, 1, 2.5, 4, 5, 20)] == [1, 1, 2, 2, 2, 1, 1]
    assert Ramp.parse("1-12").spots == ((0, 1),)  # wherever its first step begins


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("0:1 1", "'1' is not accepted; use a spread such as 1-12"),
        ("12-1", "a spread of 12-1"),
        ("0-12", "a spread of 0-12"),
        ("1-99999", "a spread of 1-99999"),
        ("0:1 0:2", "the count 0 is given twice"),
        ("0:0 2:0", "no count has a bet"),
        ("0:1 2:4x9", "9 spots"),
        ("0:1 2:4x0", "0 spots"),
        ("1-12x8", "8 spots"),
        ("0:9999999", "9999999 units"),
        ("5000:1", "the count 5000"),
        ("0:1/0", "divides by 0"),
        ("1-1/0", "divides by 0"),
        ("0:-1", "'0:-1' is not accepted"),
    ],
)
def test_errors_say_what_is_accepted(text: str, message: str) -> None:
    with pytest.raises(InputError, match=r"^ramp: ") as error:
        Ramp.parse(text)
    assert message in str(error.value)


@given(
    st.dictionaries(
        st.fractions(-99, 99, max_denominator=8),
        st.tuples(st.fractions(0, 100, max_denominator=8), st.integers(1, 7)),
        min_size=1,
    ).filter(lambda steps: any(units for units, _ in steps.values()))
)
def test_what_is_written_is_read(steps: dict[Fraction, tuple[Fraction, int]]) -> None:
    ramp = Ramp(tuple((count, Bet(*bet)) for count, bet in steps.items()))
    assert Ramp.parse(str(ramp)) == ramp


@given(st.text(alphabet="0123456789:x-–./, to", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        ramp = Ramp.parse(text)
    except InputError:
        return
    assert Ramp.parse(str(ramp)) == ramp

"""Validation of numeric arguments."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bjsim.arguments import MAX_COUNT, MAX_SEED, names_wrong_types, whole_number
from bjsim.errors import InputError


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1),
        (1e3, 1000),
        (np.int64(1000), 1000),
        (np.uint8(7), 7),
        (np.float32(8), 8),
        (Fraction(6, 2), 3),
        ("12", 12),
        ("+12", 12),
        (" 1e7 ", 10**7),
        ("10M", 10**7),
        ("2.3m", 2_300_000),
        ("5k", 5000),
        ("1B", 10**9),
        (MAX_COUNT, MAX_COUNT),
    ],
)
def test_a_whole_number_in_any_form(value: object, number: int) -> None:
    found = whole_number("hands", value)
    assert found == number and type(found) is int


@pytest.mark.parametrize(
    "value",
    [0, -5, 2.5, float("nan"), float("inf"), "", "many", "M", "1e3M", "nan", "1e30", "-1", "1e-400", "9" * 5000,
     10**400, None, True, [5], Decimal(5), np.array([1, 2]), np.bool_(True), b"5"],
)  # fmt: skip
def test_anything_else_is_refused_in_one_line_that_names_the_argument(value: object) -> None:
    with pytest.raises(InputError, match=r"^hands: .* is not accepted; use a whole number from 1 to 1e15") as caught:
        whole_number("hands", value)
    assert "\n" not in str(caught.value)


@given(st.integers(0, MAX_SEED))
def test_seeds_keep_every_digit(seed: int) -> None:
    assert whole_number("seed", seed, 0, MAX_SEED) == whole_number("seed", str(seed), 0, MAX_SEED) == seed


@names_wrong_types
def called(whole: int, number: float, back: Callable[[], object]) -> object:
    return whole + number if number is None else back()


FORMS = [10_000, 1e4, "1e4", "10k", " 10000 ", np.int64(10_000), np.float64(1e4), Fraction(10_000)]


@pytest.mark.parametrize("number", FORMS)
def test_what_a_callback_raises_comes_out_whatever_form_a_number_has(number: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        called(number, number, lambda: 1 // 0)
    with pytest.raises(InputError, match="number: a NoneType is not accepted; give float"):
        called(number, None, print)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["many", "", 1.5, float("nan"), float("inf"), True, None, [1], 1j, "1.5"])
def test_what_is_no_whole_number_is_named(value: Any) -> None:
    with pytest.raises(InputError, match=r"^whole: .* is not accepted; give int"):
        called(value, 1, lambda: 1 // 0)

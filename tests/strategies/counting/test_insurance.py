"""Insurance: the published thresholds exactly, and expectations by brute force."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb

import pytest

from bjsim.errors import InputError
from bjsim.strategies.counting.insurance import insurance_index, insurance_threshold, insurance_value
from bjsim.strategies.counting.systems import find_system
from bjsim.strategies.counting.typical import UnseenCards, expected_counts, remaining

HILO = find_system("hilo")


@pytest.mark.parametrize(
    ("decks", "hand", "thresholds"),
    [
        (6, "25", {1: 15, 2: 32, 3: 49, 5: 83, 10: 168, 15: 247, 20: 286}),
        (6, "27", {5: 88, 10: 177, 20: 288}),  # the value at 288 is exactly 0
        (6, "2T", {5: 81, 10: 163}),
        (6, "2A", {5: 94}),
        (2, "25", {1: 18, 2: 39, 3: 60, 4: 80, 5: 94}),
    ],
)
def test_the_published_thresholds(decks: int, hand: str, thresholds: dict[int, int]) -> None:
    """bjstrat.net: Hi-Lo, "running count at least RC with at most N cards unseen"; low 2-6, middle 7-9."""
    assert {running: insurance_threshold(HILO, decks, "A" + hand, running) for running in thresholds} == thresholds


def test_a_tie_is_exact() -> None:
    assert insurance_value(HILO, 6, "A27", 20, 288) == 0
    values = [insurance_value(HILO, 2, "A25", 5, unseen) or Fraction(0) for unseen in (94, 95, 96)]
    assert values[0] > 0 > values[1] and values[2] == 0  # 94 is published: a tie beyond a loss does not count


def test_the_published_thresholds_of_ko() -> None:
    """bjstrat.net, six decks, two low cards; their count of a full shoe is 0 at its end, ours ends at the pivot 4."""
    found = find_system("ko")
    assert insurance_threshold(found, 6, "A25", -3 + 4) == 288
    for running, least in ((-2, 115), (-1, 60)):  # insure from this many unseen on
        assert (insurance_value(found, 6, "A25", running + 4, least) or 0) >= 0
        assert (insurance_value(found, 6, "A25", running + 4, least - 1) or 0) < 0


def test_off_the_top() -> None:
    """Six decks, only the ace known: -23/311."""
    assert insurance_value(HILO, 6, "A", -1, 311) == Fraction(-23, 311)


def test_off_the_top_of_spanish_decks() -> None:
    """72 tens among 287 cards. With 36 tens and 12 other cards left, and all of them with one tag, -1: 3 x 3/4 - 1."""
    spanish = HILO.replace(deck="spanish", tags="-1 1 1 1 1 1 0 0 0 -1")
    assert insurance_value(spanish, 6, "A", -1, 287) == Fraction(-71, 287)
    assert insurance_value(spanish, 3, "", 12 - -48, 48) == Fraction(5, 4)
    assert insurance_value(spanish, 3, "", 12 - -47, 48) is not None


@pytest.mark.parametrize("name", ["hilo", "halves", "omega2", "uston-apc"])
def test_the_expected_tens_are_those_of_brute_force(name: str) -> None:
    """All draws from a small shoe, counted one value after the other."""
    system, counts, unseen = find_system(name), (2, 1, 1, 1, 2, 1, 1, 1, 1, 4), 6
    ways: dict[Fraction, int] = {}
    tens: dict[Fraction, int] = {}
    for drawn in itertools.product(*(range(count + 1) for count in counts)):
        if sum(drawn) == unseen:
            way = 1
            for count, taken in zip(counts, drawn, strict=True):
                way *= comb(count, taken)
            total = sum((tag * taken for tag, taken in zip(system.tags, drawn, strict=True)), Fraction(0))
            ways[total] = ways.get(total, 0) + way
            tens[total] = tens.get(total, 0) + way * drawn[-1]
    exact = UnseenCards(system, counts)
    assert {total: exact.tens(unseen, total) for total in ways} == {
        total: Fraction(tens[total], ways[total]) for total in ways
    }
    assert exact.tens(unseen, 100) is None


def test_the_line_is_close_to_the_exact_expectation() -> None:
    """Six decks, half unseen, true counts to +5: tens within 0.1%; without the count they would be 12% off."""
    counts = remaining(6)
    exact = UnseenCards(HILO, counts)
    for running in (0, 6, 15):
        line = expected_counts(HILO, counts, 156, -running / 156)
        assert line.sum() == pytest.approx(156)
        assert line[-1] == pytest.approx(float(exact.tens(156, -running) or 0), rel=1e-3)
    assert line[-1] > 48 * 1.12


def test_the_index_of_two_decks() -> None:
    """Griffin: the Hi-Lo true count at which insurance is fair is 2.4 in two decks, 3.0 in six."""
    two = insurance_index(HILO, 2, 60)
    six = insurance_index(HILO, 6, 156)
    assert two is not None and two == pytest.approx(2.4, abs=0.5)
    assert six is not None and six == pytest.approx(3.0, abs=0.34)


def test_errors() -> None:
    with pytest.raises(InputError, match="unseen = 400"):
        insurance_value(HILO, 6, "A", 0, 400)
    with pytest.raises(InputError, match="cannot all come"):
        insurance_value(HILO, 1, "AAAAA", 0, 20)


def test_the_threshold_may_be_all_unseen_cards() -> None:
    """Of the 47 unseen cards 16 are tens, more than a third."""
    assert insurance_threshold(HILO, 1, "A2222", 3) == 47


@pytest.mark.parametrize("name", ["hilo", "ko"])
def test_an_index_is_the_least_running_count_that_insures(name: str) -> None:
    """As a true count: also where the count of a shoe does not end at 0."""
    system = find_system(name)
    index = insurance_index(system, 6, 156)
    assert index is not None
    running = system.pivot(6) + (index - system.imbalance) * Fraction(156, 52)
    values = [insurance_value(system, 6, "A", running - less, 156) for less in (0, 1)]
    assert values[0] is not None and values[1] is not None and values[0] >= 0 > values[1]

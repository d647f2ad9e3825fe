"""Random streams: the words are those of the published generator and depend only on (seed, table, block)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.kernels import from_python

from bjsim.sim.engine.kernels import shoe as shoe_kernel
from bjsim.sim.game.shoe import Stream, mix, stream_key

word, half_word = from_python(shoe_kernel.word), from_python(shoe_kernel.half_word)
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
KEYS = st.tuples(st.integers(0, 2**100), st.integers(0, 2**31), st.integers(0, 2**50))


def test_the_words_are_those_of_splitmix64() -> None:
    """Published values of the generator for seed 1234567 (rosettacode.org, "Pseudo-random numbers/Splitmix64")."""
    published = [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip
    assert [mix((1234567 + i * GOLDEN) & MASK) for i in range(1, 6)] == published


@settings(max_examples=200)
@given(KEYS, st.integers(0, 10**12), st.integers(1, 40))
def test_any_word_can_be_had_without_those_before_it(key: tuple[int, int, int], first: int, count: int) -> None:
    stream = Stream(*key)
    start, gamma = stream_key(*key)
    scalar = [mix((start + i * gamma) & MASK) for i in range(first, first + count)]
    assert stream.words(first, count).tolist() == scalar
    assert stream.words(first + count - 1, 1).tolist() == scalar[-1:]
    assert stream.words(first, count).dtype == np.uint64
    assert [int(word(np.uint64(start), np.uint64(gamma), i)) for i in (first, first + count - 1)] == [
        scalar[0],
        scalar[-1],
    ], "the compiled round makes other words"


@settings(max_examples=200)
@given(KEYS, st.integers(0, 10**9), st.integers(1, 40))
def test_halves_are_the_words_low_half_first(key: tuple[int, int, int], first: int, count: int) -> None:
    start, gamma = stream_key(*key)
    words = [mix((start + i * gamma) & MASK) for i in range(first // 2, (first + count) // 2 + 1)]
    both = [half for word_ in words for half in (word_ & 0xFFFFFFFF, word_ >> 32)]
    expected = both[first % 2 : first % 2 + count]
    assert Stream(*key).halves(first, count) == expected
    compiled = [int(half_word(np.uint64(start), np.uint64(gamma), i)) for i in range(first, first + count)]
    assert compiled == expected


def test_every_table_and_block_has_a_stream_of_its_own() -> None:
    keys = {stream_key(seed, table, block) for seed in range(8) for table in range(8) for block in range(200)}
    assert len(keys) == 8 * 8 * 200
    assert len({start for start, _ in keys}) == len(keys)
    assert all(gamma % 2 for _, gamma in keys)


def test_a_key_never_changes() -> None:
    """Otherwise old runs could not be replayed. Recorded when the format was defined."""
    assert stream_key(0, 0, 0) == (3177686997658539410, 1815429386354596855)
    assert stream_key(1, 2, 3) == (482826630758188078, 8439321375888729205)


def test_gammas_change_many_bits() -> None:
    """Steele, Lea and Flood: a gamma with few changes from bit to bit makes a weak stream."""
    for block in range(2000):
        gamma = stream_key(11, 0, block)[1]
        assert (gamma ^ (gamma >> 1)).bit_count() >= 24


@pytest.mark.parametrize("key", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2**64, 5, 10**6)])
def test_bits_are_even(key: tuple[int, int, int]) -> None:
    """Each of the 64 bits is set in half of 20,000 words; z under 4.5 for 5 x 64 bits, error rate 0.2%."""
    words = Stream(*key).words(0, 20_000)
    for bit in range(64):
        ones = int(((words >> np.uint64(bit)) & np.uint64(1)).sum())
        assert abs(ones - 10_000) < 4.5 * 70.7


@pytest.mark.parametrize(("one", "other"), [((0, 0, 0), (0, 0, 1)), ((0, 0, 0), (0, 1, 0)), ((0, 0, 0), (1, 0, 0))])
def test_neighbouring_streams_have_nothing_in_common(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    """The bits of two streams differ in half of all positions; z under 4, error rate 0.02%. Negative control: a stream
    and itself."""
    first, second = Stream(*one).words(0, 10_000), Stream(*other).words(0, 10_000)

    def differing(a: np.ndarray, b: np.ndarray) -> int:
        return sum(int(word_).bit_count() for word_ in a ^ b)

    half, sd = 320_000, 400
    assert abs(differing(first, second) - half) < 4 * sd
    assert abs(differing(first, first) - half) > 4 * sd

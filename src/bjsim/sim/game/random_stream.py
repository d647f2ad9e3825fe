"""Random streams: 64-bit words that depend only on (seed, table, block).

Word i of a stream is mix(start + i gamma). Any word can be computed without the words before it, so results do not
depend on workers, order or restarts. This is the splittable generator of Steele, Lea and Flood, "Fast splittable
pseudorandom number generators" (OOPSLA 2014). The start and gamma of a table come from numpy's SeedSequence, whose
output is guaranteed not to change between versions. The compiled round computes the same words from these two numbers.
"""

from __future__ import annotations

import secrets
from functools import lru_cache
from typing import Any

import numpy as np

Words = np.ndarray[Any, np.dtype[np.uint64]]
_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
SEED_BITS = 128  # of an unpredictable seed
MAX_SEED = (1 << SEED_BITS) - 1
GUESSABLE = 1 << 40  # seeds below this can be found by trying all of them


def random_seed() -> int:
    """Return an unpredictable seed: 128 bits of the operating system's randomness."""
    return secrets.randbits(SEED_BITS)


def mix(z: int) -> int:
    """The finalizer of the generator (Stafford's variant 13), over 64-bit integers."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def _odd_gamma(z: int) -> int:
    z = mix(z) | 1
    # a gamma with few bit transitions would give neighbouring counters similar low bits
    return z ^ 0xAAAAAAAAAAAAAAAA if (z ^ (z >> 1)).bit_count() < 24 else z


@lru_cache(maxsize=1024)
def _table_key(seed: int, table: int) -> tuple[int, int]:
    start, gamma = np.random.SeedSequence(seed, spawn_key=(table,)).generate_state(2, np.uint64)
    return int(start), int(gamma)


def stream_key(seed: int, table: int, block: int) -> tuple[int, int]:
    """Compute (start, gamma) of the random stream of a block; all arguments are nonnegative integers."""
    start, gamma = _table_key(seed, table)
    first = (start + (2 * block + 1) * _GOLDEN) & _MASK
    second = (gamma + (2 * block + 2) * _GOLDEN) & _MASK
    return mix(first), _odd_gamma(second)


def stream_words(start: Any, gamma: Any, index: Any) -> Any:
    """Words of streams with these keys, by arrays of uint64."""
    z = start + index * gamma
    z ^= z >> 30
    z *= 0xBF58476D1CE4E5B9
    z ^= z >> 27
    z *= 0x94D049BB133111EB
    z ^= z >> 31
    return z


class Stream:
    """The random stream of a block."""

    def __init__(self, seed: int, table: int = 0, block: int = 0) -> None:
        self.start, self.gamma = stream_key(seed, table, block)

    def words(self, first: int, count: int) -> Words:
        """Words `first` .. `first + count - 1`, uint64 (count,)."""
        with np.errstate(over="ignore"):
            words: Words = stream_words(
                np.uint64(self.start), np.uint64(self.gamma), np.arange(first, first + count, dtype=np.uint64)
            )
        return words

    def halves(self, first: int, count: int) -> list[int]:
        """The 32-bit halves `first` .. `first + count - 1`, the low half of a word before its high half."""
        words = self.words(first // 2, count // 2 + 2)
        halves = np.stack([words & np.uint64(0xFFFFFFFF), words >> np.uint64(32)], axis=1).ravel()
        return [int(half) for half in halves[first % 2 : first % 2 + count]]

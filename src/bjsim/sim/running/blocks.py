"""Blocks: the units of work, runs of a table's rounds that have their own random streams.

The size of a block depends only on its number, so a result depends only on (rules, players, seed, tables, hands).
"""

from typing import NamedTuple

FIRST_BLOCK = 1 << 10
LARGEST_BLOCK = 1 << 16
_DOUBLINGS = (LARGEST_BLOCK // FIRST_BLOCK).bit_length() - 1


def block_start(block: int) -> int:
    """The number of rounds before block `block` of a table: 0, 1024, 2048, 4096, .. 65536, then 65536 more each."""
    if block <= _DOUBLINGS + 1:
        return FIRST_BLOCK << (block - 1) if block else 0
    return LARGEST_BLOCK * (block - _DOUBLINGS)


def block_number(round_number: int) -> int:
    """The block that contains round `round_number` (from 0) of a table."""
    if round_number < LARGEST_BLOCK:
        return (round_number // FIRST_BLOCK).bit_length()
    return round_number // LARGEST_BLOCK + _DOUBLINGS


class Span(NamedTuple):
    """The first `rounds` rounds of a block."""

    block: int
    rounds: int


def make_spans(first: int, last: int, until: int) -> list[Span]:
    """Blocks `first` .. `last`, up to round `until` of the table."""
    starts = [block_start(block) for block in range(first, last + 2)]
    return [Span(first + i, min(starts[i + 1], until) - start) for i, start in enumerate(starts[:-1])]

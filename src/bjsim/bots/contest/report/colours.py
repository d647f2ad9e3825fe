"""Colours and file names that belong to bots: they do not change with rank, nor when other bots join later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

LIGHT = ("#6485ff", "#e9640b", "#16a67a", "#6f37b1", "#90594e", "#00859b", "#4e4300", "#7a1664")
DARK = ("#599bff", "#bc6400", "#2cf4b1", "#854ec8", "#d38590", "#2cd3f4", "#dea600", "#9b4e6f")
DASHES = ("none", "8 4", "2 3", "10 3 2 3")  # for the first eight bots, the next eight, and so on


@dataclass(frozen=True)
class Style:
    """How a bot's lines are drawn. colour: an index of LIGHT and DARK."""

    colour: int
    dashes: str


def make_styles(names: Sequence[str]) -> list[Style]:
    """Choose the styles of bots.

    A bot has the colour of its name's hash, or the next one that the other bots of its block of eight leave.

    Args:
        names: Names by bot number.

    Returns:
        Their styles; the first 32 differ.
    """
    styles: list[Style] = []
    free: set[int] = set()
    for number, name in enumerate(names):
        free = free or set(range(len(LIGHT)))
        wanted = crc32(name.encode("utf-8", "replace"))
        colour = next(c % len(LIGHT) for c in range(wanted, wanted + len(LIGHT)) if c % len(LIGHT) in free)
        free.remove(colour)
        styles.append(Style(colour, DASHES[number // len(LIGHT) % len(DASHES)]))
    return styles


def make_slugs(names: Sequence[str]) -> list[str]:
    """Names of the bots for files and anchors.

    Args:
        names: Names by bot number; they may contain anything.

    Returns:
        Different words of small letters, digits and hyphens.
    """
    slugs: list[str] = []
    for number, name in enumerate(names):
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].rstrip("-")
        while not slug or slug in slugs:
            slug = f"{slug or 'bot'}-{number + 1}"
        slugs.append(slug)
    return slugs

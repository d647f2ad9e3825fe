"""Colours and file names that belong to bots: they do not change with rank, nor when other bots join later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

# Contrast of 3 with the paper; CIEDE2000 differences of 11 and more with normal sight and any colour blindness.
LIGHT = ("#4337b1", "#de6f16", "#16a67a", "#b16fe9", "#9b5937", "#2c7a85", "#4e4300", "#850064")
DARK = ("#5964de", "#e98500", "#2cbc9b", "#bc90ff", "#bc370b", "#64e9ff", "#dede59", "#855985")
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
        names: Names by bot number. Versions of a bot share a name.

    Returns:
        Their styles; those of the first 32 names differ.
    """
    styles: dict[str, Style] = {}
    free: set[int] = set()
    for number, name in enumerate(dict.fromkeys(names)):
        free = free or set(range(len(LIGHT)))
        wanted = crc32(name.encode("utf-8", "replace"))
        colour = next(c % len(LIGHT) for c in range(wanted, wanted + len(LIGHT)) if c % len(LIGHT) in free)
        free.remove(colour)
        styles[name] = Style(colour, DASHES[number // len(LIGHT) % len(DASHES)])
    return [styles[name] for name in names]


def make_slugs(names: Sequence[str]) -> list[str]:
    """Names of the bots for files and anchors.

    Args:
        names: Names by bot number; they may contain anything. Versions of a bot share a name.

    Returns:
        A word of small letters, digits and hyphens for each; those of different names differ.
    """
    slugs: dict[str, str] = {}
    for number, name in enumerate(dict.fromkeys(names)):
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].rstrip("-")
        while not slug or slug in slugs.values():
            slug = f"{slug or 'bot'}-{number + 1}"
        slugs[name] = slug
    return [slugs[name] for name in names]

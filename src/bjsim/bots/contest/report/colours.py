"""Colours and file names that belong to bots: rank and later bots change them only where two would look the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

# Contrast of 3 with the paper; CIEDE2000 differences of 11 and more with normal sight and any colour blindness.
LIGHT = ("#4337b1", "#de6f16", "#16a67a", "#b16fe9", "#9b5937", "#2c7a85", "#4e4300", "#850064")
DARK = ("#5964de", "#e98500", "#2cbc9b", "#bc90ff", "#bc370b", "#64e9ff", "#dede59", "#855985")


def make_colours(names: Sequence[str], drawn: Sequence[int] = ()) -> list[int]:
    """Choose the colours of bots: indices of LIGHT and DARK by bot number. Versions of a bot share a name.

    A bot has the colour of its name's hash, or the next one that the other bots of its block of eight leave. Where
    bots that are drawn together (`drawn`, best first, eight at most) have the same one, the later of them gets the
    next that is free.
    """
    colours: dict[str, int] = {}
    free: set[int] = set()
    for name in dict.fromkeys(names):
        free = free or set(range(len(LIGHT)))
        colours[name] = _first_free(crc32(name.encode("utf-8", "replace")), free)
        free.remove(colours[name])
    free = set(range(len(LIGHT)))
    for bot in drawn:
        colours[names[bot]] = _first_free(colours[names[bot]], free)
        free.remove(colours[names[bot]])
    return [colours[name] for name in names]


def _first_free(wanted: int, free: set[int]) -> int:
    return next(c % len(LIGHT) for c in range(wanted, wanted + len(LIGHT)) if c % len(LIGHT) in free)


def make_slugs(names: Sequence[str]) -> list[str]:
    """Names for files and anchors, of small letters, digits and hyphens; only versions of a bot share one."""
    slugs: dict[str, str] = {}
    for number, name in enumerate(dict.fromkeys(names)):
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].rstrip("-")
        while not slug or slug in slugs.values():
            slug = f"{slug or 'bot'}-{number + 1}"
        slugs[name] = slug
    return [slugs[name] for name in names]

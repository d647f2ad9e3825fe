"""Rows of pairs that say in words what to do against every dealer's card: `8-8 Always split`, `5,5 as 10`."""

from __future__ import annotations

import re
from typing import NamedTuple

from bjsim.strategies.charts.rows import PAIR, parse_row
from bjsim.strategies.formats.labels import LONGEST_LABEL, parse_hands
from bjsim.strategies.formats.parser import ParsedTable, Token

GAP = r"[\s:=,;|&(-]+(?=[A-Za-z]{2})"  # between the pair and the words
ALWAYS = r"(ALWAYS SPLIT|SPLIT ALWAYS|ALWAYS)\W*|SPLIT\W?"  # a lone `split` before empty cells is that of one column
NEVER = r"(NEVER( SPLIT)?|NO SPLIT|DO NOT SPLIT|DON.?T SPLIT)\W*"
AS_TOTAL = r"((TREAT|TREATED|PLAY|PLAYED|SAME) )?AS (A )?(HARD )?(?P<total>\d+)\W*"


class PairWords(NamedTuple):
    """A row of words: its label, its pairs, and `P`, `N` (as their total), or None if the words mean neither."""

    label: Token
    hands: list[str]
    words: Token
    code: str | None

    def cell(self, table: ParsedTable) -> Token:
        """The cell for every dealer's card. Raises: ChartError: The words are unclear."""
        if self.code is None:
            what = f'{self.label}: "{self.words}" is unclear'
            raise table.error(self.words, f"{what}; use Always split, Never split, or a code for each dealer's card")
        return self.label._replace(text=self.code)


def find_pair_words(number: int, text: str, section: str | None) -> PairWords | None:
    """A line that begins with pairs and goes on with words, or None."""
    found = []
    for gap in re.finditer(GAP, text[: 2 * LONGEST_LABEL]):
        label, words = text[: gap.start()].strip(" |\t\"'"), text[gap.end() :]
        hands = parse_hands(label, section) if label else None
        if hands and all(parse_row(row).kind == PAIR for row in hands):
            place = Token(number, text.index(label) + 1, label)
            said = Token(number, gap.end() + 1, words.strip(" |\t"))
            found.append(PairWords(place, hands, said, _code(words.upper(), hands)))
    return next((row for row in found if row.code), found[0] if found else None)


def _code(words: str, hands: list[str]) -> str | None:
    if re.fullmatch(ALWAYS, words):
        return "P"
    same = re.fullmatch(AS_TOTAL, words)
    as_total = same is not None and all(parse_row(row).total == same["total"] for row in hands)
    return "N" if as_total or re.fullmatch(NEVER, words) else None

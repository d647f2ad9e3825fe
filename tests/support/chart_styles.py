"""Renders a chart in a random style of books and pages, and damages what was rendered."""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from support.chart_layouts import HARD, PAIRS, SOFT

COLUMNS = "23456789TA"
WORDS = {
    "S": ["S", "s", "Stand", "STAND", "Stay"],
    "H": ["H", "h", "Hit", "HIT"],
    "P": ["P", "SP", "Split", "p"],
    "Dh": ["Dh", "D", "DH", "D/H", "DD", "Double", "Dbl", "D/h"],
    "Ds": ["Ds", "DS", "D/S", "D"],
    "Rh": ["Rh", "R", "Uh", "SUR", "R/H", "U/H", "Surrender", "RH"],
    "Y": ["Y", "Yes", "y"],
    "N": ["N", "No", "n"],
}
TITLES = {
    "hard": ["Hard", "Hard totals", "HARD HANDS", "Hard totals (excluding pairs)", "## Hard hands", "**Hard**"],
    "soft": ["Soft", "Soft totals", "SOFT HANDS:", "Soft totals (with an ace)", "## Soft", "*Soft totals*"],
    "pairs": ["Pairs", "Splits", "Pair splitting", "PAIRS:", "### Pairs"],
}
LINES = [
    "Basic strategy for six decks",
    "Dealer stands on soft 17",
    "",
    "Source: a book, page 12",
    "S = stand, H = hit",
]
SEPARATORS = ["\t", "|", ";", "csv", " ", "box", "latex", "groups", "letters"]


class Rendered(NamedTuple):
    """A rendered chart. rows: the rows that a line has, by its number from 0."""

    text: str
    rows: dict[int, list[str]]


class Style:
    """The choices of one style."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.separator = rng.choice(SEPARATORS)
        letters = self.separator == "letters"
        self.words = {code: words[0][0] if letters else rng.choice(words) for code, words in WORDS.items()}
        self.sections = rng.choice([["hard", "soft", "pairs"], ["soft", "hard", "pairs"], ["pairs", "hard", "soft"]])
        self.labelled = rng.choice(["titles", "titles", "words", "column"])
        if self.separator in (" ", "groups", "letters") and self.labelled == "column":
            self.labelled = "words"
        self.titles = {section: rng.choice(titles) for section, titles in TITLES.items()}
        self.repeat_header = rng.random() < 0.3
        self.ace_first = rng.random() < 0.2
        self.ten = rng.choice(["10", "T", "Ten", "10/J/Q/K", "X"])
        self.ace = rng.choice(["A", "Ace", "11"])
        self.corner = rng.choice(["Hand", "", "Dealer", "Player \\ Dealer", "Your hand vs dealer's card"])
        self.yes_no = rng.random() < 0.25 and not letters
        self.soft = rng.choice(["A,{0}", "A{0}", "A-{0}", "{0},A", "soft", "S"])
        self.pair = rng.choice(["{0},{0}", "{0}{0}", "{0}-{0}", "{0}/{0}", "{0}s"])
        self.dash = rng.choice(["-", "–", " to ", " - ", " thru "])
        self.merge = rng.random() < 0.6
        self.short = rng.random() < 0.5

    def render(self, cells: dict[tuple[str, str], str]) -> Rendered:
        lines: list[tuple[str, list[str]]] = [(self.rng.choice(LINES), []) for _ in range(self.rng.randrange(3))]
        for place, section in enumerate(self.sections):
            title = self.titles[section] if self.labelled == "titles" else ""
            lines += [("", []), (title, [])] if title else []
            if self.repeat_header or place == 0:
                lines += [(line, []) for line in self.header(title)]
            lines += self.section(section, cells)
        if self.rng.random() < 0.3:
            lines.append((self.rng.choice(LINES), []))
        return Rendered("\n".join(line for line, _ in lines), {n: rows for n, (_, rows) in enumerate(lines) if rows})

    def header(self, title: str) -> list[str]:
        cards = [*COLUMNS[:-2], self.ten, self.ace]
        corner = ["", self.corner] if self.labelled == "column" else [self.corner]
        if self.ace_first:
            cards = [cards[-1], *cards[:-1]]
        line = self.join(corner, cards)
        rule = {"|": "|---" * (len(cards) + len(corner)) + "|", "box": "├" + "───┼" * 10 + "───┤"}.get(self.separator)
        return [line, rule] if rule else [line]

    def section(self, section: str, cells: dict[tuple[str, str], str]) -> list[tuple[str, list[str]]]:
        rows = {"hard": HARD, "soft": SOFT, "pairs": PAIRS}[section]
        if self.short:  # rows that printed charts leave out
            rows = [row for row in rows if row not in ("4", "20", "A9", "55", "TT")]
        groups: list[list[str]] = []
        codes: list[list[str]] = []
        for row in rows:
            here = [self.code(section, row, column, cells) for column in COLUMNS]
            if self.merge and codes and codes[-1] == here and self.may_merge(groups[-1], row):
                groups[-1].append(row)
            else:
                groups.append([row])
                codes.append(here)
        lines = []
        for place, (group, here) in enumerate(zip(groups, codes, strict=True)):
            label = [self.label(section, group)]
            if self.labelled == "column":
                label = [self.titles[section].strip("#*: ") if place == 0 else "", *label]
            lines.append((self.join(label, [here[-1], *here[:-1]] if self.ace_first else here), group))
        return lines

    def may_merge(self, group: list[str], row: str) -> bool:
        return "T" not in row and row != "AA" and self.pair != "{0}s"

    def code(self, section: str, row: str, column: str, cells: dict[tuple[str, str], str]) -> str:
        code = cells[row, column]
        if section == "pairs" and self.yes_no:
            code = "Y" if code == "P" else "N"
        if code == "Ds" and self.separator == "letters":
            return "D"
        return self.words[code]

    def label(self, section: str, group: list[str]) -> str:
        first, last = self.hand(section, group[0]), self.hand(section, group[-1])
        if section == "hard" and self.merge and group[-1] == "20":
            text = f"{group[0]}{self.rng.choice(['+', ' or more', ' and up'])}"
        elif section == "hard" and group[0] == "4" and len(group) > 1:
            text = self.rng.choice([f"{group[-1]} or less", f"≤{group[-1]}", f"4{self.dash}{group[-1]}"])
        else:
            text = first if len(group) == 1 else f"{first}{self.dash}{last}"
        word = {"hard": "Hard", "soft": "Soft", "pairs": "Pair"}[section]
        return f"{word} {text}" if self.labelled == "words" and not text.startswith(word) else text

    def hand(self, section: str, row: str) -> str:
        if section == "soft":
            total = str(11 + int(row[1]))
            by_total = {"soft": total if self.labelled != "words" else f"Soft {total}", "S": f"S{total}"}
            return by_total.get(self.soft) or self.soft.format(row[1])
        if section == "pairs":
            card = "10" if row == "TT" else row[0]
            return self.pair.format(card)
        return row

    def join(self, label: list[str], cells: list[str]) -> str:
        words = [*label, *cells]
        if self.separator == "csv":
            return ",".join(f'"{word}"' if "," in word else word for word in words)
        if self.separator == "|":
            return f"| {' | '.join(words)} |"
        if self.separator == "box":
            return f"│ {' │ '.join(words)} │"
        if self.separator == "latex":
            return " & ".join(words) + r" \\"
        if self.separator == "groups":
            return f"{label[0]:18} | {' '.join(f'{cell:3}' for cell in cells[:5])} | {' '.join(cells[5:])}"
        if self.separator == "letters" and all(len(cell) == 1 for cell in cells):
            return f"{label[0]:18} {''.join(cells)}"
        if self.separator in (" ", "letters"):
            return f"{label[0]:18} {' '.join(f'{cell:8}' for cell in cells)}"
        return self.separator.join(words)


def damage(text: str, rng: random.Random) -> tuple[str, set[int]]:
    """Change a text in one place, and give the numbers of the lines that were changed, which keep their numbers."""
    lines = text.split("\n")
    at = rng.choice([number for number, line in enumerate(lines) if line.strip()])
    line, kind = lines[at], rng.choice(["character", "character", "word", "drop", "copy", "swap", "cut", "joined"])
    changed = {at}
    if kind == "character":
        place = rng.randrange(len(line))
        new = rng.choice(["", rng.choice("SHDPRNYsh0123456789ATXQ,;|\t -+/&().#\"'é\x00\u200b")])
        lines[at] = line[:place] + new + line[place + rng.choice([0, 1]) :]
    elif kind == "word":
        words = list(re.finditer(r"[\w+/≤-]+", line))
        if words:
            word = rng.choice(words)
            new = rng.choice(["S", "H", "D", "P", "Rh", "Q", "", "99", "A,7", "16", "10", "Soft", "Hard", "Y", "-"])
            lines[at] = line[: word.start()] + new + line[word.end() :]
    elif kind == "drop":
        lines[at] = ""
    elif kind == "copy":
        lines[at] = line + "\n" + line if rng.random() < 0.5 else rng.choice(lines)
    elif kind == "swap":
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
        changed.add(other)
    elif kind == "cut":
        lines[at] = line[: rng.randrange(len(line))]
    else:
        parts = line.split()
        if len(parts) > 2:
            place = rng.randrange(len(parts) - 1)
            lines[at] = " ".join([*parts[:place], parts[place] + parts[place + 1], *parts[place + 2 :]])
    return "\n".join(lines), changed

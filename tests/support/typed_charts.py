"""The chart `BOOK` of `chart_layouts` in the styles of books and pages, as people type them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.evaluation.compare import evaluate_chart
from bjsim.strategies.formats.files import read_chart
from support.chart_layouts import BOOK, CARDS, lines_of
from support.printed import printed

RULES = PRESETS["vegas-s17"].rules.replace(decks=6, surrender=True)
OWN = "".join(
    f"{row:>3}{''.join(f' {code:>2}' for code in codes)}\n" for row, codes in {"": [*"23456789TA"], **BOOK}.items()
)
# The same with pairs that are split only where split hands may double.
IF_DOUBLED = BOOK | lines_of("""
22,33 Ph Ph P P P P H H H H
44 H H H Ph Ph H H H H H
66 Ph P P P P H H H H H
""")
BARE = {"Dh": "D", "Ds": "D", "Rh": "R"}


def rows(hands: str, line: str, words: Mapping[str, str] = BARE, chart: Mapping[str, list[str]] = BOOK) -> str:
    """A line for each hand. `5-8=8` is written `5-8` and has the codes of the row 8, each as `words` has it."""
    out = ""
    for each in hands.split(";"):
        hand, _, row = each.rpartition("=")
        out += line.format(hand or row, *(words.get(code, code) for code in chart[row])) + "\n"
    return out


def cells(between: str, of: int = 10) -> str:
    """The places of so many words in a line."""
    return between.join(["{}"] * of)


TABS, BLANKS, COMMAS, SEMICOLONS = cells("\t", 11), "{}  " + cells(" "), cells(",", 11), "{} ; " + cells(";")
STYLES = {
    "tabs, a title, ranges": "\n4 to 8 decks, dealer stands on soft 17\n"
    + TABS.format("Dealer's card", *CARDS)
    + "\nHard\n"
    + rows("4-8=8;9;10;11;12;13;14;15;16;17;18+=18", TABS, {})
    + "Soft\n"
    + rows("13=A2;14=A3;15=A4;16=A5;17=A6;18=A7;19+=A8", TABS, {})
    + "Pairs\n"
    + rows("2,2=22;3,3=33;4,4=44;6,6=66;7,7=77;8,8=88;9,9=99;A,A=AA", TABS, {}, IF_DOUBLED)
    + "Key: H = hit, S = stand, Ph = split if a split hand may double, else hit\n",
    "en dashes, SP and U, a key below": "\nPlayer hand  2 3 4 5 6 7 8 9 10 A\nHard totals\n"
    + rows("18–21=18;17;16", BLANKS, {"Rh": "U/H"})
    + rows("15;13–14=13;12;11;10;9;5–8=8", BLANKS, {"Rh": "Uh"})
    + "Soft totals\n"
    + rows("A,8–A,9=A8;A,7=A7;A,6=A6;A,4–A,5=A4;A,2–A,3=A2", BLANKS, {})
    + "Pairs\n"
    + rows("A,A=AA;10,10=TT;9,9=99;8,8=88;7,7=77;6,6=66;5,5=55;4,4=44;2,2–3,3=22", BLANKS, {"P": "SP"})
    + "\nS = stand\nUh = surrender if allowed, otherwise hit\n",
    "words in every row": f"\n{'':16}2  3  4  5  6  7  8  9  10 Ace\n"
    + rows(
        "Hard 5-8=8;Hard 9=9;Hard 10=10;Hard 11=11;Hard 12=12;Hard 13 to 14=13;Hard 15=15;Hard 16=16;Hard 17-20=17;"
        "Soft 13-14=A2;Soft 15-16=A4;Soft 17=A6;Soft 18=A7;Soft 19-20=A8;Pair 2,2=22;Pair 3,3=33;Pair 4,4=44;"
        "Pair 5,5=55;Pair 6,6=66;Pair 7,7=77;Pair 8,8=88;Pair 9,9=99;Pair of tens=TT;Pair of Aces=AA",
        "{:16}" + cells("  "),
    ),
    "CSV with ranges and commas in hands": f"\nHand,{','.join(CARDS)}\n"
    + rows(
        '5-8=8;9;10;11;12;13-14=13;15;16;17-20=17;"A,2-A,3"=A2;"A,4-A,5"=A4;"A,6"=A6;"A,7"=A7;"A,8-A,9"=A8;'
        '"2,2-3,3"=22;"4,4"=44;"5,5"=55;"6,6"=66;"7,7"=77;"8,8"=88;"9,9"=99;"10,10"=TT;"A,A"=AA',
        COMMAS,
        {},
    ),
    "pairs and surrenders as tables of their own": "\n"
    + SEMICOLONS.format("Hard totals", *CARDS)
    + "\n"
    + rows("8 or less=8;9;10;11;12;13-16=13;17 or more=17", SEMICOLONS)
    + SEMICOLONS.format("Soft totals", *CARDS)
    + "\n"
    + rows("A,2-A,3=A2;A,4-A,5=A4;A,6=A6;A,7=A7;A,8-A,9=A8", SEMICOLONS, {"Dh": "D"})
    + SEMICOLONS.format("Pair splitting", *CARDS)
    + "\n"
    + rows(
        "A,A=AA;T,T=TT;9,9=99;8,8=88;7,7=77;6,6=66;5,5=55;4,4=44;3,3=33;2,2=22",
        SEMICOLONS,
        {"P": "Y", "Ph": "Y/N", "S": "N", "H": "N", "Dh": "N"},
        IF_DOUBLED,
    )
    + SEMICOLONS.format("Late surrender", *CARDS)
    + "\n16 ; ; ; ; ; ; ; ;SUR;SUR;SUR\n15 ; ; ; ; ; ; ; ; ;SUR;\n",
}


def as_markdown(text: str) -> str:
    """The same lines as a table of Markdown."""
    lines = [line for line in text.strip().splitlines() if "," not in line.split("\t")[0] or "\t" in line]
    rows = ["| " + line.replace("\t", " | ") + " |" for line in lines]
    return "\n".join([rows[0], "|---" * 11 + "|", *rows[1:]])


STYLES["Markdown"] = as_markdown(STYLES["tabs, a title, ranges"])
STYLES["upper case, Ace first"] = "\n".join(
    " ".join([*words[:-10], words[-1], *words[-10:-1]]).upper()
    for words in (line.split() for line in OWN.splitlines())
    if len(words) >= 10
)
STYLES["its own layout with other names"] = (
    re.sub(r"\bA(\d)", r"A,\1", OWN).replace(" TT ", " 10,10 ").replace(" T ", " 10 ").replace(" 22 ", " 2,2 ")
)

FRAME = "│{:6}│" + "{:8}│" * 10
RULE = "├" + "┼".join(["─" * 6, *["─" * 8] * 10]) + "┤\n"
HEAD = [f"{card:^8}" for card in [*CARDS[:-1], "Ace"]]
WORDS = {"H": " Hit", "S": " Stand", "P": " Split", "Dh": " Double", "Ds": " Double", "Rh": " Surr.*"}
SHEET = ",{}," + cells(",") + ","
LATEX = cells(" & ", 11) + r" \\"
GROUPS = "{0:14}| {1} {2} {3} {4} {5} | {6} {7} {8} | {9}  {9} {9} {9} | {10}"
PIPES = "| " + cells(" | ", 11) + " |"
MARKS = {"P": "✓", "H": "✗", "S": "✗"}


def heading(text: str, first: str) -> str:
    """A heading of Markdown, and the first lines of the table below."""
    return f"\n## {text}\n\n{PIPES.format(first, *CARDS[:-2], '10–K', 'A')}\n|:---:{'|---' * 10}|\n"


TYPED = {
    "a framed table of words": "\n"
    + RULE.translate(str.maketrans("├┼┤", "┌┬┐"))
    + FRAME.format(" Hard", *HEAD)
    + f"\n{RULE}"
    + rows(" 5-8=8; 9=9; 10=10; 11=11; 12=12;13-14=13; 15=15; 16=16; 17+=17", FRAME, WORDS)
    + RULE
    + FRAME.format(" Soft", *HEAD)
    + "\n"
    + rows(" 2-3=A2; 4-5=A4; 6=A6; 7=A7; 8-9=A8", FRAME, WORDS)
    + RULE
    + FRAME.format(" Pairs", *HEAD)
    + "\n"
    + rows(" 2-3=22; 4=44; 6=66; 7=77; 8=88; 9=99; A=AA", FRAME, WORDS)
    + RULE.translate(str.maketrans("├┼┤", "└┴┘")),
    "a spreadsheet with a column of sections and commas at the end": "\nBasic strategy,,,,,,,,,,,,\n"
    + SHEET.format("", *CARDS)
    + "\nHard"
    + rows("8 or less=8;9;10;11;12;13;14;15;16;17 or more=17", SHEET)
    + "Soft"
    + rows("13=A2;14=A3;15=A4;16=A5;17=A6;18=A7;19 or more=A8", SHEET, {"Dh": "D", "Ds": "DS"})
    + "Pair"
    + rows('"2,2"=22;"3,3"=33;"4,4"=44;"6,6"=66;"7,7"=77;"8,8"=88;"9,9"=99;"A,A"=AA', SHEET),
    "letters without blanks": "\n      23456789TA\n"
    + rows(
        "H5-8=8;H9=9;H10=10;H11=11;H12=12;H13=13;H14=14;H15=15;H16=16;H17+=17;S13=A2;S14=A3;S15=A4;S16=A5;S17=A6;"
        "S18=A7;S19+=A8;22;33;44;66;77;88;99;AA",
        "{:6}" + cells(""),
    ),
    "LaTeX": "\n\\begin{tabular}{l|cccccccccc}\n"
    + LATEX.format("Player", *"23456789TA")
    + " \\hline\n"
    + rows("A, A=AA;9, 9=99;8, 8=88;7, 7=77;6, 6=66;4, 4=44", LATEX)
    + rows("2, 2 and 3, 3=22", LATEX + r" \hline")
    + rows("A, 8 to A, 9=A8;A, 7=A7;A, 6=A6;A, 4 to A, 5=A4", LATEX, {})
    + rows("A, 2 to A, 3=A2", LATEX + r" \hline", {})
    + rows(r"$\ge 17$=17;16;15;13 to 14=13;12;11;10;9;$\le 8$=8", LATEX, {})
    + "\\end{tabular}\n",
    "groups of columns, and a picture in each of its own": "\nPlayer's hand | 2 3 4 5 6 | 7 8 9 | 10 J Q K | A\n"
    "--------------+-----------+-------+----------+--\n"
    + rows(
        "Hard 4-8=8;Hard 9=9;Hard 10=10;Hard 11=11;Hard 12=12;Hard 13, 14=13;Hard 15=15;Hard 16=16;Hard 17 & up=17;"
        "Soft 13, 14=A2;Soft 15, 16=A4;Soft 17=A6;Soft 18=A7;Soft 19 & up=A8;Pair of 2s=22;Pair of 3s=33;Pair of 4s=44;"
        "Pair of 6s=66;Pair of 7s=77;Pair of 8s=88;Pair of 9s=99;Aces=AA",
        GROUPS,
    ),
    "the output of bjsim check": printed(evaluate_chart(read_chart(OWN, "own", RULES.replace(decks="inf"))).describe()),
    "Markdown with headings and codes in two words": "\n# Blackjack strategy\n"
    + heading("Hard hands (no pairs)", "You")
    + rows("**≤8**=8;**9**=9", PIPES, {"Dh": "double or hit"})
    + rows("**10**=10;**11**=11;**12**=12;**13 – 14**=13", PIPES, {"Dh": "`D/H`"})
    + rows("**15**=15", PIPES, {"Rh": "surrender, else hit"})
    + rows("**16**=16;**17 and above**=17", PIPES, {"Rh": "SUR/H"})
    + heading("Soft hands", "You")
    + rows("A + 2, A + 3=A2;A + 4, A + 5=A4;A + 6=A6;A + 7=A7;A + 8, A + 9=A8", PIPES, {"Dh": "D", "Ds": "D/S"})
    + heading("Splitting", "Pair of")
    + rows("twos, threes=22;fours=44;sixes=66;sevens=77;eights, aces=88;nines=99", PIPES, MARKS),
}

"""Charts in the styles of books and pages: all say the same strategy and must be read as the same chart."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import FIXED

from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.formats.files import read_chart, read_with_notes
from bjsim.strategies.formats.labels import parse_hands
from bjsim.strategies.formats.parser import ChartError

RULES = PRESETS["vegas-s17"].rules.replace(decks=6, surrender=True)

# The chart that all styles below say: four to eight decks, soft 17 stood, doubling after splits, late surrender.
OWN = """
     2  3  4  5  6  7  8  9  T  A
  4  H  H  H  H  H  H  H  H  H  H
  5  H  H  H  H  H  H  H  H  H  H
  6  H  H  H  H  H  H  H  H  H  H
  7  H  H  H  H  H  H  H  H  H  H
  8  H  H  H  H  H  H  H  H  H  H
  9  H Dh Dh Dh Dh  H  H  H  H  H
 10 Dh Dh Dh Dh Dh Dh Dh Dh  H  H
 11 Dh Dh Dh Dh Dh Dh Dh Dh Dh  H
 12  H  H  S  S  S  H  H  H  H  H
 13  S  S  S  S  S  H  H  H  H  H
 14  S  S  S  S  S  H  H  H  H  H
 15  S  S  S  S  S  H  H  H Rh  H
 16  S  S  S  S  S  H  H Rh Rh Rh
 17  S  S  S  S  S  S  S  S  S  S
 18  S  S  S  S  S  S  S  S  S  S
 19  S  S  S  S  S  S  S  S  S  S
 20  S  S  S  S  S  S  S  S  S  S
 A2  H  H  H Dh Dh  H  H  H  H  H
 A3  H  H  H Dh Dh  H  H  H  H  H
 A4  H  H Dh Dh Dh  H  H  H  H  H
 A5  H  H Dh Dh Dh  H  H  H  H  H
 A6  H Dh Dh Dh Dh  H  H  H  H  H
 A7  S Ds Ds Ds Ds  S  S  H  H  H
 A8  S  S  S  S  S  S  S  S  S  S
 A9  S  S  S  S  S  S  S  S  S  S
 22  P  P  P  P  P  P  H  H  H  H
 33  P  P  P  P  P  P  H  H  H  H
 44  H  H  H  P  P  H  H  H  H  H
 55 Dh Dh Dh Dh Dh Dh Dh Dh  H  H
 66  P  P  P  P  P  H  H  H  H  H
 77  P  P  P  P  P  P  H  H  H  H
 88  P  P  P  P  P  P  P  P  P  P
 99  P  P  P  P  P  S  P  P  S  S
 TT  S  S  S  S  S  S  S  S  S  S
 AA  P  P  P  P  P  P  P  P  P  P
"""

STYLES = {
    "tabs, a title, ranges": """
4 to 8 decks, dealer stands on soft 17
Dealer's card\t2\t3\t4\t5\t6\t7\t8\t9\t10\tA
Hard
4-8\tH\tH\tH\tH\tH\tH\tH\tH\tH\tH
9\tH\tDh\tDh\tDh\tDh\tH\tH\tH\tH\tH
10\tDh\tDh\tDh\tDh\tDh\tDh\tDh\tDh\tH\tH
11\tDh\tDh\tDh\tDh\tDh\tDh\tDh\tDh\tDh\tH
12\tH\tH\tS\tS\tS\tH\tH\tH\tH\tH
13\tS\tS\tS\tS\tS\tH\tH\tH\tH\tH
14\tS\tS\tS\tS\tS\tH\tH\tH\tH\tH
15\tS\tS\tS\tS\tS\tH\tH\tH\tRh\tH
16\tS\tS\tS\tS\tS\tH\tH\tRh\tRh\tRh
17\tS\tS\tS\tS\tS\tS\tS\tS\tS\tS
18+\tS\tS\tS\tS\tS\tS\tS\tS\tS\tS
Soft
13\tH\tH\tH\tDh\tDh\tH\tH\tH\tH\tH
14\tH\tH\tH\tDh\tDh\tH\tH\tH\tH\tH
15\tH\tH\tDh\tDh\tDh\tH\tH\tH\tH\tH
16\tH\tH\tDh\tDh\tDh\tH\tH\tH\tH\tH
17\tH\tDh\tDh\tDh\tDh\tH\tH\tH\tH\tH
18\tS\tDs\tDs\tDs\tDs\tS\tS\tH\tH\tH
19+\tS\tS\tS\tS\tS\tS\tS\tS\tS\tS
Pairs
2,2\tPh\tPh\tP\tP\tP\tP\tH\tH\tH\tH
3,3\tPh\tPh\tP\tP\tP\tP\tH\tH\tH\tH
4,4\tH\tH\tH\tPh\tPh\tH\tH\tH\tH\tH
6,6\tPh\tP\tP\tP\tP\tH\tH\tH\tH\tH
7,7\tP\tP\tP\tP\tP\tP\tH\tH\tH\tH
8,8\tP\tP\tP\tP\tP\tP\tP\tP\tP\tP
9,9\tP\tP\tP\tP\tP\tS\tP\tP\tS\tS
A,A\tP\tP\tP\tP\tP\tP\tP\tP\tP\tP
Key: H = hit, S = stand, Ph = split if a split hand may double, else hit
""",
    "en dashes, SP and U, a key below": """
Player hand  2 3 4 5 6 7 8 9 10 A
Hard totals
18–21  S S S S S S S S S S
17  S S S S S S S S S S
16  S S S S S H H U/H U/H U/H
15  S S S S S H H H Uh H
13–14  S S S S S H H H H H
12  H H S S S H H H H H
11  Dh Dh Dh Dh Dh Dh Dh Dh Dh H
10  Dh Dh Dh Dh Dh Dh Dh Dh H H
9  H Dh Dh Dh Dh H H H H H
5–8  H H H H H H H H H H
Soft totals
A,8–A,9  S S S S S S S S S S
A,7  S Ds Ds Ds Ds S S H H H
A,6  H Dh Dh Dh Dh H H H H H
A,4–A,5  H H Dh Dh Dh H H H H H
A,2–A,3  H H H Dh Dh H H H H H
Pairs
A,A  SP SP SP SP SP SP SP SP SP SP
10,10  S S S S S S S S S S
9,9  SP SP SP SP SP S SP SP S S
8,8  SP SP SP SP SP SP SP SP SP SP
7,7  SP SP SP SP SP SP H H H H
6,6  SP SP SP SP SP H H H H H
5,5  Dh Dh Dh Dh Dh Dh Dh Dh H H
4,4  H H H SP SP H H H H H
2,2–3,3  SP SP SP SP SP SP H H H H

S = stand
Uh = surrender if allowed, otherwise hit
""",
    "words in every row": """
                2  3  4  5  6  7  8  9  10 Ace
Hard 5-8        H  H  H  H  H  H  H  H  H  H
Hard 9          H  D  D  D  D  H  H  H  H  H
Hard 10         D  D  D  D  D  D  D  D  H  H
Hard 11         D  D  D  D  D  D  D  D  D  H
Hard 12         H  H  S  S  S  H  H  H  H  H
Hard 13 to 14   S  S  S  S  S  H  H  H  H  H
Hard 15         S  S  S  S  S  H  H  H  R  H
Hard 16         S  S  S  S  S  H  H  R  R  R
Hard 17-20      S  S  S  S  S  S  S  S  S  S
Soft 13-14      H  H  H  D  D  H  H  H  H  H
Soft 15-16      H  H  D  D  D  H  H  H  H  H
Soft 17         H  D  D  D  D  H  H  H  H  H
Soft 18         S  D  D  D  D  S  S  H  H  H
Soft 19-20      S  S  S  S  S  S  S  S  S  S
Pair 2,2        P  P  P  P  P  P  H  H  H  H
Pair 3,3        P  P  P  P  P  P  H  H  H  H
Pair 4,4        H  H  H  P  P  H  H  H  H  H
Pair 5,5        D  D  D  D  D  D  D  D  H  H
Pair 6,6        P  P  P  P  P  H  H  H  H  H
Pair 7,7        P  P  P  P  P  P  H  H  H  H
Pair 8,8        P  P  P  P  P  P  P  P  P  P
Pair 9,9        P  P  P  P  P  S  P  P  S  S
Pair of tens    S  S  S  S  S  S  S  S  S  S
Pair of Aces    P  P  P  P  P  P  P  P  P  P
""",
    "CSV with ranges and commas in hands": """
Hand,2,3,4,5,6,7,8,9,10,A
5-8,H,H,H,H,H,H,H,H,H,H
9,H,Dh,Dh,Dh,Dh,H,H,H,H,H
10,Dh,Dh,Dh,Dh,Dh,Dh,Dh,Dh,H,H
11,Dh,Dh,Dh,Dh,Dh,Dh,Dh,Dh,Dh,H
12,H,H,S,S,S,H,H,H,H,H
13-14,S,S,S,S,S,H,H,H,H,H
15,S,S,S,S,S,H,H,H,Rh,H
16,S,S,S,S,S,H,H,Rh,Rh,Rh
17-20,S,S,S,S,S,S,S,S,S,S
"A,2-A,3",H,H,H,Dh,Dh,H,H,H,H,H
"A,4-A,5",H,H,Dh,Dh,Dh,H,H,H,H,H
"A,6",H,Dh,Dh,Dh,Dh,H,H,H,H,H
"A,7",S,Ds,Ds,Ds,Ds,S,S,H,H,H
"A,8-A,9",S,S,S,S,S,S,S,S,S,S
"2,2-3,3",P,P,P,P,P,P,H,H,H,H
"4,4",H,H,H,P,P,H,H,H,H,H
"5,5",Dh,Dh,Dh,Dh,Dh,Dh,Dh,Dh,H,H
"6,6",P,P,P,P,P,H,H,H,H,H
"7,7",P,P,P,P,P,P,H,H,H,H
"8,8",P,P,P,P,P,P,P,P,P,P
"9,9",P,P,P,P,P,S,P,P,S,S
"10,10",S,S,S,S,S,S,S,S,S,S
"A,A",P,P,P,P,P,P,P,P,P,P
""",
    "pairs and surrenders as tables of their own": """
Hard totals ; 2;3;4;5;6;7;8;9;10;A
8 or less ; H;H;H;H;H;H;H;H;H;H
9 ; H;D;D;D;D;H;H;H;H;H
10 ; D;D;D;D;D;D;D;D;H;H
11 ; D;D;D;D;D;D;D;D;D;H
12 ; H;H;S;S;S;H;H;H;H;H
13-16 ; S;S;S;S;S;H;H;H;H;H
17 or more ; S;S;S;S;S;S;S;S;S;S
Soft totals ; 2;3;4;5;6;7;8;9;10;A
A,2-A,3 ; H;H;H;D;D;H;H;H;H;H
A,4-A,5 ; H;H;D;D;D;H;H;H;H;H
A,6 ; H;D;D;D;D;H;H;H;H;H
A,7 ; S;Ds;Ds;Ds;Ds;S;S;H;H;H
A,8-A,9 ; S;S;S;S;S;S;S;S;S;S
Pair splitting ; 2;3;4;5;6;7;8;9;10;A
A,A ; Y;Y;Y;Y;Y;Y;Y;Y;Y;Y
T,T ; N;N;N;N;N;N;N;N;N;N
9,9 ; Y;Y;Y;Y;Y;N;Y;Y;N;N
8,8 ; Y;Y;Y;Y;Y;Y;Y;Y;Y;Y
7,7 ; Y;Y;Y;Y;Y;Y;N;N;N;N
6,6 ; Y/N;Y;Y;Y;Y;N;N;N;N;N
5,5 ; N;N;N;N;N;N;N;N;N;N
4,4 ; N;N;N;Y/N;Y/N;N;N;N;N;N
3,3 ; Y/N;Y/N;Y;Y;Y;Y;N;N;N;N
2,2 ; Y/N;Y/N;Y;Y;Y;Y;N;N;N;N
Late surrender ; 2;3;4;5;6;7;8;9;10;A
16 ; ; ; ; ; ; ; ;SUR;SUR;SUR
15 ; ; ; ; ; ; ; ; ;SUR;
""",
}


def as_markdown(text):
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


@pytest.mark.parametrize("style", STYLES)
def test_every_style_is_the_same_chart(style):
    chart = read_with_notes(STYLES[style], "pasted", RULES).chart
    played = {cell: {"Ph": "P"}.get(code, code) for cell, code in chart.cells.items()}  # split hands may double here
    assert played == read_chart(OWN, "own", RULES).cells


def test_what_is_filled_in_or_skipped_is_said():
    notes = read_with_notes(STYLES["tabs, a title, ranges"], "pasted", RULES).notes
    assert "filled in: 55 is played as 10" in notes
    assert "filled in: TT is played as 20" in notes
    assert "skipped: 4 to 8 decks, dealer stands on soft 17" in notes
    assert any("Key: H = hit" in note for note in notes)
    assert "filled in: 4 hits" in read_with_notes(STYLES["words in every row"], "pasted", RULES).notes


def test_a_pair_may_depend_on_doubling_after_a_split():
    rules = RULES.replace(double_after_split=False)
    chart = read_chart(STYLES["pairs and surrenders as tables of their own"], "pasted", rules)
    assert [chart.cells[row, "5"] for row in ("44", "33")] == ["H", "P"]
    assert [chart.cells[row, "2"] for row in ("22", "66")] == ["H", "H"]


@pytest.mark.parametrize(
    ("label", "section", "rows"),
    [
        ("5-8", None, "5 6 7 8"), ("18+", None, "18 19 20 21"), ("18–20", None, "18 19 20"), ("<=6", None, "4 5 6"),
        ("<6", None, "4 5"), ("8 or less", None, "4 5 6 7 8"), ("A-7", None, "A7"), ("7,A", None, "A7"),
        ("A,2-5", None, "A2 A3 A4 A5"), ("Soft 18", None, "A7"), ("18", "soft", "A7"), ("A2/A3", None, "A2 A3"),
        ("8-8", None, "88"), ("8s", "pairs", "88"), ("Pair of 10s", None, "TT"), ("2,2, 3,3", None, "22 33"),
        ("K K", None, "TT"), ("11", None, "11"), ("1010", None, "TT"), ("Soft 13 (A,2)", None, "A2"),
        ("4 to 8 decks", None, None), ("Hit", None, None), ("22-77", None, "22 33 44 55 66 77"), ("3", None, None),
        ("9", "soft", None), ("A,A", None, "AA"), ("Hard 16", "soft", "16"),
    ],
)  # fmt: skip
def test_labels(label, section, rows):
    assert parse_hands(label, section) == (rows and rows.split())


@pytest.mark.parametrize(
    ("style", "old", "new", "message"),
    [
        ("Markdown", "| 12 | H |", "| 12 | Q |", "unknown code Q for 12"),
        ("Markdown", "| 12 | H |", "| 12 |", "12 has 9 cells, but there are 10 dealer's cards"),
        ("Markdown", "| 12 |", "| 1Z |", "unknown hand 1Z"),
        ("Markdown", "| 12 |", "| 13 |", "duplicate row 13, which is also in line"),
        ("CSV with ranges and commas in hands", '"8,8",P', '"8,7",P', "unknown hand 8,7"),
        ("CSV with ranges and commas in hands", "12,H", "12,P", "P splits, but 12 cannot be split"),
        ("words in every row", "Hard 12         H", "Hard 12         Y", "unknown code Y for 12"),
    ],
)
def test_errors_name_the_place(style, old, new, message):
    text = STYLES[style]
    assert old in text
    line = text[: text.index(old)].count("\n") + 1
    with pytest.raises(ChartError, match=re.escape(message)) as error:
        read_chart(text.replace(old, new, 1), "pasted", RULES)
    assert f"line {line}, column" in str(error.value) or "duplicate" in message


@settings(FIXED, max_examples=60)
@given(style=st.sampled_from(sorted(STYLES)), seed=st.integers(0, 2**32))
def test_a_changed_cell_is_reported_or_changes_the_chart(style, seed):
    lines = STYLES[style].splitlines()
    rng = random.Random(seed)
    code = r"(?<![A-Za-z])[SHDPRYNU][a-z]?(?![A-Za-z])"
    rows = [n for n, line in enumerate(lines) if len(re.findall(code, line)) >= 10]
    line = rng.choice(rows)
    cells = list(re.finditer(r"(?<![A-Za-z])(S|H|D|Dh|DH|Ds|DS|P|SP|Y|N)(?![A-Za-z/])", lines[line]))[-8:]
    cell = rng.choice(cells)
    new = rng.choice([code for code in ("S", "H", "Dh", "Rh", "Q", "", "?") if code.upper() != cell[0].upper()])
    if cell[0] == "N":
        new = rng.choice(["P", "Q", "?"])  # an action may be the one that the total takes
    same = {"D": "DH", "Y": "P", "SP": "P", "N": ""}
    lines[line] = lines[line][: cell.start()] + new + lines[line][cell.end() :]
    try:
        reading = read_with_notes("\n".join(lines), "mutated", RULES)
    except ChartError as error:
        assert str(error).startswith("mutated, line ") and "\n" not in str(error)
    else:
        unchanged = read_with_notes(STYLES[style], "mutated", RULES)
        assert reading.chart.cells != unchanged.chart.cells or same.get(cell[0].upper(), cell[0].upper()) == new.upper()


def test_a_surrender_keeps_what_the_hand_does_otherwise():
    rows = {"16": "H", "17": "S", "8,8": "P"}
    table = "Late surrender ; 2;3;4;5;6;7;8;9;10;A\n" + "".join(f"{row} ;;;;;;;;;;SUR\n" for row in rows)
    style = STYLES["pairs and surrenders as tables of their own"]
    chart = read_chart(style[: style.index("Late surrender")] + table, "pasted", RULES)
    assert [chart.cells[row, "A"] for row in ("16", "17", "88")] == ["Rh", "Rs", "Rp"]
    assert [chart.cells[row, "T"] for row in ("16", "17", "88")] == ["H", "S", "P"]


@pytest.mark.parametrize(("left_out", "missing"), [(range(4, 10), "4 5 6 7 8 9"), (range(16, 21), "16 17 18 19 20")])
def test_only_rows_that_are_obvious_are_filled_in(left_out, missing):
    lines = [line for line in OWN.splitlines() if line[:3].strip() not in map(str, left_out)]
    with pytest.raises(ChartError, match=f"hands missing: {missing}"):
        read_chart("\n".join(lines), "pasted", RULES)

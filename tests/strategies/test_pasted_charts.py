"""Charts in the styles of books and pages: all say the same strategy and must be read as the same chart."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.typed_charts import OWN, RULES, STYLES

from bjsim.strategies.formats.files import read_chart, read_with_notes
from bjsim.strategies.formats.lines import ChartError
from bjsim.strategies.formats.words import parse_hands

TOTALS = "\n".join(line for line in OWN.splitlines() if not re.match(r" *([2-9TA])\1 ", line))  # OWN without pairs


@pytest.mark.parametrize("style", STYLES)
def test_every_style_is_the_same_chart(style):
    chart = read_with_notes(STYLES[style], "pasted", RULES).chart
    played = {cell: {"Ph": "P"}.get(code, code) for cell, code in chart.cells.items()}  # split hands may double here
    assert played == read_chart(OWN, "own", RULES).cells


def test_what_is_filled_in_or_skipped_is_said():
    notes = read_with_notes(STYLES["tabs, a title, ranges"], "pasted", RULES).notes
    assert [note for note in notes if "filled in" in note] == ["filled in: 55 as 10; TT as 20"]
    assert "skipped: 4 to 8 decks, dealer stands on soft 17" in notes
    assert any("Key: H = hit" in note for note in notes)
    assert "filled in: 4 hit" in read_with_notes(STYLES["words in every row"], "pasted", RULES).notes


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
        ("8-8", None, "88"), ("8s", "pairs", "88"), ("Pair of 10s", None, "TT"), ("2,2, 3,3", None, None),
        ("AA 88", None, None), ("A,2,A,3", "pairs", None), ("A,2,A,3", "soft", None), ("10,J,Q,K", "pairs", "TT"),
        ("K K", None, "TT"), ("11", None, "11"), ("1010", None, "TT"), ("Soft 13 (A,2)", None, "A2"),
        ("4 to 8 decks", None, None), ("Hit", None, None), ("22-77", None, "22 33 44 55 66 77"), ("3", None, None),
        ("9", "soft", "A9"), ("S18", None, "A7"), ("H5-H7", "soft", "5 6 7"), ("(A,7)", None, "A7"),
        ("A+7", None, "A7"),
        ("13 thru 16", None, "13 14 15 16"), ("up to 6", None, "4 5 6"), ("pair of eights", None, "88"),
        ("Aces", None, "AA"), ("13, 14", None, "13 14"), ("8,7", None, None), ("eights, aces", None, "88 AA"),
        ("A-7", "pairs", "77 88 99 TT AA"), ("10/J/Q/K", "pairs", "TT"), ("A,A or 8,8", None, "AA 88"),
        ("BJ", None, "A10"), ("A,A", None, "AA"),
        ("20 (A,9)", None, "A9"), ("16 (8,8)", None, "88"), ("A,7 (18)", None, "A7"),
        ("Hard 16 (10,6)", None, "16"), ("16 (not 8,8)", None, "16"), ("You have 12", None, "12"), ("F,F", None, "TT"),
        ("Hard 16", "soft", "16"), ("A,A,7", "soft", None),
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


@pytest.mark.parametrize(
    "words", ["8-8 always split", "8,8: split", "pair of eights - never", "8s as 16", "8,8 | P", "7,7 to 9,9\tSplit"]
)
def test_a_pair_with_words_in_place_of_codes_is_refused(words):
    """It is not filled in as its total."""
    aces = next(line for line in OWN.splitlines() if line.split()[:1] == ["AA"])
    with pytest.raises(ChartError, match=r"(77|88) has words, but no codes; write one for each dealer's card"):
        read_chart(f"{TOTALS}\n{aces}\n{words}\n", "pasted", RULES)
    noted = read_with_notes(f"{STYLES['tabs, a title, ranges']}\n8,8 is split even against an ace", "pasted", RULES)
    assert "skipped: 8,8 is split even against an ace" in noted.notes  # it has codes, too


@settings(max_examples=60)
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

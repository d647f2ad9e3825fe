"""Charts in the styles of books and pages, typed and random, and damaged: what changes is reported or in the chart."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.chart_styles import COLUMNS, PAIRS, Style, damage
from support.typed_charts import OWN, RULES, STYLES, TYPED

from bjsim.strategies.charts.chart import parse_row
from bjsim.strategies.formats.files import read_chart, read_with_notes
from bjsim.strategies.formats.lines import ChartError
from bjsim.strategies.formats.policy import format_policy
from bjsim.strategies.formats.words import find_title, parse_code, parse_hands

CELLS = read_chart(OWN, "own", RULES).cells
HEAD, *BODY = (line.split() for line in OWN.strip().splitlines())
TOTALS = "\n".join(line for line in OWN.splitlines() if not re.match(r" *([2-9TA])\1 ", line))  # OWN without pairs
QUICK, ALL = 120, 4_000


@pytest.mark.parametrize("style", STYLES | TYPED)
def test_every_style_is_the_same_chart(style: str) -> None:
    chart = read_with_notes((STYLES | TYPED)[style], "pasted", RULES).chart
    same = {"Ph": "P"} if style in STYLES else {}  # split hands may double here
    assert {cell: same.get(code, code) for cell, code in chart.cells.items()} == CELLS


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
        ("Hard 16", "soft", "16"), ("A,A,7", "soft", None), ("A-2 or A-3", None, "A2 A3"), ("A-2/A-3", None, "A2 A3"),
        ("2-2 or 3-3", None, "22 33"), ("A-2 to A-4", None, "A2 A3 A4"),
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


def test_empty_cells_that_an_editor_has_removed_at_the_end_of_lines() -> None:
    text = STYLES["pairs and surrenders as tables of their own"]
    stripped = "\n".join(line.rstrip("; ") if "SUR" in line else line for line in text.splitlines())
    assert stripped != text.strip()
    assert read_with_notes(stripped, "pasted", RULES).chart.cells == read_with_notes(text, "pasted", RULES).chart.cells


def test_a_policy_may_write_a_pair_of_tens_as_in_the_sample_output() -> None:
    """[BlackJackP]: "pairs, 22 to 10 10"."""
    rules = RULES.replace(surrender=False)
    policy = format_policy(read_chart(OWN, "own", rules))
    assert "\n1010\t" in policy
    assert read_chart(policy.replace("1010", "10 10"), "p", rules).cells == read_chart(policy, "p", rules).cells
    spaced = re.sub(r"(?m)^(A|\d)([A2-9])(?=\t)", lambda hand: hand[0] if "1" in hand[0] else " ".join(hand[0]), policy)
    assert "A 2\t" in spaced and "2 2\t" in spaced
    assert read_chart(spaced, "p", rules).cells == read_chart(policy, "p", rules).cells


def test_a_table_saved_by_excel_as_unicode_text() -> None:
    text = OWN.replace("–", "-").encode("utf-16")
    assert read_chart(text, "pasted", RULES).cells == CELLS


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Double/Stand", "Ds"), ("double, otherwise hit", "Dh"), ("D(S)", "Ds"), ("P/H", "Ph"), ("SUR/SP", "Rp"),
        ("usp", "Rp"),
        ("Stay", "S"), ("Dbl", "Dh"), ("Double down", "Dh"),
        ("DOUBLEDOWN", "Dh"), ("S†", "S"), ("H!", "H"), ("H/D", None), ("S/P", None),
        ("SS", None),
        ("HS", None), ("", None), ("?", None), ("Y/N*", "Y/N"), ("RD", None), ("split if allowed, else hit", "Ph"),
        ("FD", "Dh"), ("Free double", "Dh"), ("FS", "P"), ("free-split", "P"), ("FP", "P"),
    ],
)  # fmt: skip
def test_codes(text: str, code: str | None) -> None:
    assert parse_code(text) == code


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("Hard totals (excluding pairs)", "hard"), ("Hard hands, no pairs", "hard"), ("Soft hands with an ace", "soft"),
        ("Dealer stands on soft 17", None), ("No surrender", None), ("Late surrender is allowed", None),
        ("PAIRS:", "pairs"),
        ("Double on any pair", None), ("Soft 17 is hit", None),
    ],
)  # fmt: skip
def test_titles(text: str, section: str | None) -> None:
    assert find_title(text) == section


def test_columns_of_tens_must_agree() -> None:
    text = TYPED["groups of columns, and a picture in each of its own"]
    with pytest.raises(ChartError, match="12 has H and S against tens"):
        read_chart(
            text.replace("H H S S S | H H H | H  H H H | H", "H H S S S | H H H | H  H S H | H"), "pasted", RULES
        )


def test_a_table_of_surrenders_that_contradicts_the_others_is_refused() -> None:
    table = "\nLate surrender\n16 S S S S S H H SUR SUR SUR\n15 S S S S S H H S SUR H\n"
    with pytest.raises(ChartError, match="15 against 9 is S here, but H elsewhere"):
        read_chart(f"Hand {OWN.strip()}{table}", "pasted", RULES)


def label_of(row: str, style: str) -> str:
    kind, rest = ("P", row[0]) if row in PAIRS else ("S", str(11 + int(row[1:]))) if row[0] == "A" else ("H", row)
    if style == "P8" or kind == "H":
        return kind + rest
    return "-".join(row)


@pytest.mark.parametrize("style", ["P8", "8-8"])
def test_rows_of_one_letter_and_a_total(style: str) -> None:
    body = [row for row in BODY if row[0] not in ("4", "5", "6", "7")]
    text = "\n".join(" ".join(row) for row in [["Hand", *HEAD], *([label_of(row[0], style), *row[1:]] for row in body)])
    reading = read_with_notes(text, "pasted", RULES)
    assert reading.chart.cells == CELLS
    assert [note for note in reading.notes if "filled in" in note] == ["filled in: 4-7 hit"]


@pytest.mark.parametrize("separator", [" ", "\t", ",", " | "])
def test_tables_side_by_side_are_refused_with_the_way_out(separator: str) -> None:
    left, right = (["Hand", *HEAD], *BODY[:10]), (["Hand", *HEAD], *BODY[10:20])
    text = "\n".join(separator.join([*one, *other]) for one, other in zip(left, right, strict=True))
    with pytest.raises(ChartError, match=r"line 1, column \d\d: two tables side by side; put the second one below"):
        read_chart(text, "pasted", RULES)


def change_cells(rng: random.Random) -> dict[tuple[str, str], str]:
    """The chart with some cells changed: hard 9 to 16, soft 13 to 19, and the pairs that are played as their total."""
    cells = dict(CELLS)
    for _ in range(rng.randrange(12)):
        row = rng.choice([*map(str, range(9, 17)), *(f"A{card}" for card in range(2, 9))])
        column = rng.choice(COLUMNS)
        double = "Ds" if row in ("A7", "A8") else "Dh"
        codes = ["S", "H", double] + ["Rh"] * (row in ("9", "11", "13", "15"))
        cells[row, column] = rng.choice(codes)
        for pair in PAIRS:
            if parse_row(pair).total == row and cells[pair, column] != "P":
                cells[pair, column] = cells[row, column]
    return cells


def fuzz(seed: int) -> str:
    """Read a random chart in a random style exactly; then damage it. Returns: What came of the damage."""
    rng = random.Random(seed)
    cells = change_cells(rng)
    rendered = Style(rng).render(cells)
    before = read_with_notes(rendered.text, "pasted", RULES)
    assert before.chart.cells == cells, rendered.text
    text, changed = damage(rendered.text, rng)
    try:
        after = read_with_notes(text, "pasted", RULES)
    except ChartError as error:
        assert str(error).startswith("pasted") and "\n" not in str(error)
        return "reported"
    different = {row for (row, column), code in after.chart.cells.items() if cells.get((row, column)) != code}
    if not different:
        return "same"
    if set(after.notes) - set(before.notes):
        return "noted"
    named = {row for number in changed for row in rendered.rows.get(number, [])}
    assert different <= named | {pair for pair in PAIRS if parse_row(pair).total in named}, text
    return "changed"


@pytest.mark.slow
def test_a_random_chart_is_read_in_a_random_style_and_damage_is_seen() -> None:
    found = [fuzz(seed) for seed in range(QUICK)]
    assert {"reported", "same", "noted", "changed"} == set(found)


@pytest.mark.slow
def test_thousands_of_damaged_charts() -> None:
    for seed in range(QUICK, ALL):
        fuzz(seed)

"""Charts in more styles, typed and random, and a fuzz of damaged ones: what changes is reported or is in the chart."""

import random
import re

import pytest
from support.chart_layouts import BOOK, render
from support.chart_styles import COLUMNS, PAIRS, Style, damage
from support.typed_charts import OWN, RULES, STYLES, TYPED

from bjsim.strategies.charts.chart import parse_row
from bjsim.strategies.formats.files import read_chart, read_with_notes
from bjsim.strategies.formats.lines import ChartError
from bjsim.strategies.formats.policy import format_policy
from bjsim.strategies.formats.words import find_title, parse_code, parse_hands

CELLS = read_chart(OWN, "own", RULES).cells
QUICK, ALL = 120, 10_000


@pytest.mark.parametrize("style", TYPED)
def test_every_style_is_the_same_chart(style: str) -> None:
    assert read_with_notes(TYPED[style], "pasted", RULES).chart.cells == CELLS


HEAD, *BODY = (line.split() for line in OWN.strip().splitlines())
LAYOUTS = render(BOOK)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_the_same_chart(layout: str) -> None:
    """Of this chart too, which surrenders."""
    assert read_with_notes(LAYOUTS[layout], "pasted", RULES).chart.cells == CELLS


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


def test_two_pairs_or_soft_hands_in_one_label() -> None:
    assert parse_hands("A-2 or A-3", None) == ["A2", "A3"] == parse_hands("A-2/A-3", None)
    assert parse_hands("2-2 or 3-3", None) == ["22", "33"] and parse_hands("A-2 to A-4", None) == ["A2", "A3", "A4"]


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
def test_ten_thousand_damaged_charts() -> None:
    for seed in range(QUICK, ALL):
        fuzz(seed)

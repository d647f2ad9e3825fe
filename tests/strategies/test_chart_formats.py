"""Charts as text, CSV and policy: round trips, and errors with line and column."""

import codecs
import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.games import other_codes

from bjsim.errors import InputError
from bjsim.sim.game.presets import PRESETS, load_rules, named_rules
from bjsim.sim.game.shoe import ScriptedShoe
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import Chart, chart_rows
from bjsim.strategies.evaluation.compare import evaluate_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.files import WRITERS, detect_format, load_chart, read_chart, read_with_notes
from bjsim.strategies.formats.lines import ChartError

GAMES = ("easy", "blackjack-p", "neller", "neller-v1", "neller-v2", "european")
EASY = PRESETS["easy"].rules
NELLER = PRESETS["neller"].rules
BEST = {name: Solver(PRESETS[name].rules).chart for name in GAMES}
TEXT = {form: WRITERS[form](BEST["neller"]) for form in WRITERS}


def a_random_chart(name, seed):
    """Charts of a game with all rows filled."""
    states = States(PRESETS[name].rules)
    cells = itertools.product(chart_rows(states), states.columns)
    return Chart("any", states.rules, other_codes(states, cells, seed))


@settings(max_examples=25)
@given(name=st.sampled_from(GAMES), seed=st.integers(0, 2**32), form=st.sampled_from(["chart", "csv"]))
def test_what_is_written_is_read_back(name, seed, form):
    chart = a_random_chart(name, seed)
    text = WRITERS[form](chart)
    assert detect_format(text) == form
    assert read_chart(text, "again", chart.rules).cells == chart.cells


@settings(max_examples=25)
@given(name=st.sampled_from(GAMES), seed=st.integers(0, 2**32), form=st.sampled_from(["chart", "csv"]))
def test_order_case_and_comments_do_not_matter(name, seed, form):
    chart = a_random_chart(name, seed)
    rng = random.Random(seed)
    header, *lines = WRITERS[form](chart).splitlines()
    rng.shuffle(lines)
    text = "\r\n".join(["# a comment", "", header, *(f"{line.lower()}  # said" for line in lines)])
    assert read_chart(text.encode("utf-8-sig"), "again", chart.rules).cells == chart.cells


ENCODINGS = {
    "as Notepad saves": lambda text: text.encode("utf-8-sig"),
    "as PowerShell writes": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "in the other order": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
}
FILES = {
    "x.csv": (TEXT["csv"], lambda path: load_chart(path, NELLER).cells),
    "x.toml": ('bj = "6:5"\nname = "é"\n', lambda path: load_rules(path).to_dict()),
    "x.txt": ("T 8 6 # é\n9", lambda path: ScriptedShoe.load(path).cards),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("file", FILES)
def test_a_file_is_read_in_any_encoding_that_it_says(tmp_path, file, encoding):
    text, load = FILES[file]
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    plain = load(path)
    path.write_bytes(ENCODINGS[encoding](text.replace("\n", "\r\n")))
    assert load(path) == plain


def test_a_csv_may_come_from_a_spreadsheet():
    lines = TEXT["csv"].splitlines()
    quoted = "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in lines)
    semicolons = TEXT["csv"].replace(",", ";").replace("T;A", "10;1")
    for text in (quoted, semicolons):
        assert read_chart(text, "sheet", NELLER).cells == BEST["neller"].cells


def edited(form, line, new):
    """A chart of neller in a format, with one line (counted from 1) replaced, or removed if None."""
    lines = TEXT[form].splitlines()
    lines[line - 1 : line] = [] if new is None else [new]
    return "\n".join(lines) + "\n"


WRONG = {
    "a missing cell": ("chart", 9, " 11  H  H  H  H  H  H  H  H  H", "line 9, column 2: 11 has 9 cells, but"),
    "an empty cell": ("csv", 9, "11,H,H,,H,H,H,H,H,H,H", "line 9, column 8: hand 11: the cell against 4 is missing"),
    "a cell too many": ("csv", 9, "11,H,H,H,H,H,H,H,H,H,H,S", "line 9, column 24: hand 11 has more than 10 cells"),
    "a foreign code": ("chart", 9, " 11  H  H  X  H  H  H  H  H  H  H", "line 9, column 12: unknown code X"),
    "a foreign code in CSV": ("csv", 9, "11,H,H,X,H,H,H,H,H,H,H", "line 9, column 8: unknown code X"),
    "a split that is none": ("chart", 9, " 11  H  H  P  H  H  H  H  H  H  H", "line 9, column 12: P splits, but"),
    "a doubled row": ("chart", 9, " 12  H  H  H  H  H  H  H  H  H  H", "line 10, column 2: duplicate row 12"),
    "a foreign row": ("chart", 9, " 99  H  H  H  H  H  H  H  H  H  H", "line 30, column 1: hands missing: 11 ("),
    "a missing row": ("chart", 9, None, "line 29, column 1: hands missing: 11"),
    "a wrong header": ("chart", 1, "     2  3  4  5  6  7  8  9  T  X", "line 1, column 33: duplicate column X"),
    "a header too short": ("csv", 1, "hand,2,3,4,5,6,7,8,9,T", "line 1, column 23: the dealer's cards A are missing"),
    "a doubled column": ("csv", 1, "hand,2,3,4,5,6,7,8,9,T,2", "line 1, column 24: duplicate column 2"),
    "a policy's foreign hand": ("policy", 3, "4\tH H H H H H H H H H", "line 34, column 1: hands missing: 7"),
    "a policy's doubled hand": ("policy", 3, "6\tH H H H H H H H H H", "line 3, column 1: duplicate row 6"),
    "a policy's missing hand": ("policy", 3, None, "line 33, column 1: hands missing: 7"),
    "a policy's missing cell": ("policy", 3, "7\tH H H H H H H H H", "line 3, column 1: 7 has 9 codes; a row has"),
    "a policy at odds with itself": (
        "policy", 31, "99\tS H S S S S S S S S", "line 31, column 6: 99 is played as 18 in this game",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_errors_name_line_and_column(what):
    form, line, new, message = WRONG[what]
    with pytest.raises(ChartError) as error:
        read_chart(edited(form, line, new), "my.chart", NELLER)
    assert str(error.value).startswith(f"my.chart, {message}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1, column 1: the chart is empty"),
        (b"# nothing\n\n", "line 1, column 1: the chart is empty"),
        (b" 2 3\n\x89PNG\r\n\x1a\n", "line 2, column 1: not valid UTF-8 (byte 0x89)"),
        (b"2 3 4\n5 \x00", "line 2, column 3: not a text file (character 0x00)"),
        ("2 3\n5 H H".encode("utf-16"), "line 1, column 4: the dealer's cards 4 5 6 7 8 9 T A are missing"),
        ("2 3".encode("utf-16-le"), "line 1, column 2: not a text file (character 0x00)"),
        ("\N{SNOWMAN} 3".encode(), "line 1, column 1: this is no chart: no line has the dealer's cards"),
        (b"x" * 10**4, "line 1, column 1: this is no chart: no line has the dealer's cards"),
        (b",,,\n", "line 1, column 1: the chart is empty"),
        (
            b"hand,2,,4,5,6,7,8,9,T,A\n5,H,H,H,H,H,H,H,H,H,H\n",
            "line 1, column 8: the dealer's card is missing; the first line has 2 3",
        ),
    ],
)
def test_rubbish_is_refused_where_it_begins(data, message):
    with pytest.raises(ChartError) as error:
        read_chart(data, "rubbish", NELLER)
    assert str(error.value).startswith(f"rubbish, {message}")


@settings(max_examples=60)
@given(
    form=st.sampled_from(list(WRITERS)),
    place=st.floats(0, 1),
    cut=st.integers(0, 12),
    new=st.binary(max_size=6) | st.text("SHPDRhs 0123456789TAX,;\t\n", max_size=6).map(str.encode),
)
def test_a_damaged_chart_is_read_or_rejected_in_one_line(form, place, cut, new):
    data = TEXT[form].encode()
    at = int(place * len(data))
    try:
        read_chart(data[:at] + new + data[at + cut :], "damaged", NELLER)
    except ChartError as error:
        assert str(error).startswith("damaged, line ") and "\n" not in str(error)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ChartError, match=r"cannot read the chart .*: No such file"):
        load_chart(str(tmp_path / "none"), NELLER)


def test_dealer_codes_of_easy_are_whole_hands():
    text = WRITERS["chart"](BEST["easy"])
    assert text.split()[:23] == [*map(str, range(4, 21)), "AA", "A2", "A3", "A4", "A5", "A6"]
    with pytest.raises(
        ChartError, match="line 1, column 1: this chart is for games in which the dealer shows one card"
    ):
        read_chart(TEXT["policy"], "p", EASY)
    with pytest.raises(ChartError, match="a policy is for games in which the dealer shows one card"):
        WRITERS["policy"](BEST["easy"])


@pytest.mark.parametrize(("cell", "code"), [("Rs", "Rs"), ("Ds", "Rs"), ("S", "Rs"), ("H", "Rh"), ("Rh", "Rh")])
def test_a_table_of_surrenders_keeps_what_a_cell_falls_back_to(cell, code):
    rules = named_rules("vegas-s17").replace(surrender="late")
    lines = ["hand 2-6 7-9 T A", "4-11 H H H H", "12-16 S H H H", f"17 S S S {cell}", "18+ S S S S", "A2-A6 H H H H"]
    lines += ["A7+ S S S S", "AA H H H H", "Surrender", "17 - - - Y"]
    assert read_with_notes("\n".join(lines), "x", rules).chart.cells["17", "A"] == code
    with pytest.raises(ChartError, match="is N here"):
        read_with_notes("\n".join([*lines[:3], "17 S S S R", *lines[4:-1], "17 - - - N"]), "x", rules)


@pytest.mark.parametrize("double", [True, False])
@pytest.mark.parametrize(("cell", "single"), [("Ph", "Rh"), ("Pd", "Rh"), ("Ps", "Rs"), ("P", "Rp")])
def test_a_pair_that_surrenders_falls_back_to_what_it_is_without_surrender(cell, single, double):
    rules = named_rules("vegas-s17").replace(surrender="late", double_after_split=double)
    lines = ["hand 2-6 7-9 T A", "4-11 H H H H", "12-16 S H H H", "17+ S S S S", "A2-A6 H H H H", "A7+ S S S S"]
    lines += ["AA H H H H", f"88 H H H {cell}", "Surrender", "88 - - - Y"]
    assert read_with_notes("\n".join(lines), "x", rules).chart.cells["88", "A"] == ("Rp" if double else single)


def test_a_column_of_several_cards_counts_for_each_in_the_rows_of_offers():
    rules = named_rules("double-attack").replace(insurance=True)
    lines = ["hand 2-6 7-A", "4-11 H H", "12-16 S H", "17+ S S", "A2-A6 S S", "A7+ S S", "AA H H", "attack A S"]
    chart = read_with_notes("\n".join([*lines, "insurance I I"]), "x", rules).chart
    assert (chart.attack, chart.insurance) == ("23456", "I")
    with pytest.raises(InputError, match="unknown cards in attack = '1-6'"):
        Chart("x", rules, chart.cells, attack="1-6")


@pytest.mark.parametrize("surrender", ["none", "late"])
@pytest.mark.parametrize("name", ["vegas-h17", "downtown", "european"])
def test_the_best_chart_is_itself_after_a_policy(name, surrender):
    """Also a pair that surrenders, and else splits."""
    rules = named_rules(name).replace(decks="inf", surrender=surrender)
    best = Solver(rules).chart
    assert evaluate_chart(read_chart(WRITERS["policy"](best), "again", rules)).cells == ()


@pytest.mark.parametrize("form", ["chart", "csv"])
def test_a_chart_that_lacks_a_cell_is_not_written(form):
    for cell in (("16", "2"), ("16", "A")):
        cells = {place: code for place, code in BEST["neller"].cells.items() if place != cell}
        with pytest.raises(InputError, match=f"no cell for 16 against {cell[1]}"):
            WRITERS[form](Chart("x", NELLER, cells))

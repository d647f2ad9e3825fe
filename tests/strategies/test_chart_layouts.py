"""Charts in the layouts of strangers: read as what they say, or refused; a guess is confirmed by the best play."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from support.chart_layouts import BOOK, CARDS, HARD, LINES, PAIRS, ROWS, SOFT, bare_name, render, table
from support.chart_styles import COLUMNS, damage
from support.games import rules as random_rules

from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.compare import best_chart, evaluate_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.files import WRITERS, read_chart, read_files, read_with_notes
from bjsim.strategies.formats.lines import ChartError
from bjsim.strategies.formats.policy import format_policy

RULES = PRESETS["vegas-s17"].rules
LAYOUTS, BOOKS = render(LINES), render(BOOK)
CELLS, BOOK_CELLS = (
    {(row, column): code for row, codes in chart.items() for column, code in zip(COLUMNS, codes, strict=True)}
    for chart in (LINES, BOOK)
)


def reference() -> str:
    return table(["hand", *CARDS], [[row, *codes] for row, codes in LINES.items()])


# --- what bjsim writes


def there_and_back(chart: Chart) -> None:
    for form in ("chart", "csv"):
        again = read_with_notes(WRITERS[form](chart), "again", chart.rules)
        assert (again.chart.cells, again.chart.insurance, again.chart.attack, again.notes) == (
            chart.cells, chart.insurance, "".join(c for c in chart.states.columns if c in chart.attack), (),
        ), form  # fmt: skip
    if chart.rules.dealer_shows != "up":
        return
    try:
        policy = format_policy(chart)
    except ChartError as error:  # it has 33 rows and four letters
        assert "a policy cannot say" in str(error)
    else:
        assert format_policy(read_chart(policy, "policy", chart.rules)) == policy


@pytest.mark.parametrize("name", PRESETS)
def test_the_charts_of_all_games_are_read_back(name: str) -> None:
    there_and_back(Solver(PRESETS[name].rules.replace(decks="inf")).chart)


def test_a_bet_that_is_always_attacked_is_read_back() -> None:
    chart = Solver(PRESETS["double-attack"].rules.replace(decks="inf")).chart
    there_and_back(replace(chart, attack="".join(chart.states.columns)))


def test_a_pair_twice_is_refused_where_all_its_cells_are_words() -> None:
    """A row of nothing but `split` is no line of words, which rows of codes would go before."""
    split = "8,8 " + " ".join(["split"] * 10)
    with pytest.raises(ChartError, match="duplicate row 88, which is also in line"):
        read_chart(f"{reference()}{split}\n", "twice", RULES)
    spaced = reference().replace("88," + ",".join(["P"] * 10), split)
    assert spaced != reference() and read_with_notes(spaced, "mixed", RULES).chart.cells == CELLS


def test_a_chart_is_of_the_game_that_it_is_read_for() -> None:
    """Also where an equal game of another name was read for before."""
    neller = PRESETS["neller"].rules
    text = WRITERS["csv"](Solver(neller).chart)
    assert [read_chart(text, "x", neller.replace(name=name)).rules.name for name in ("neller", "ours")] == [
        "neller",
        "ours",
    ]


@pytest.mark.slow
@settings(max_examples=200)
@given(game=random_rules(decks=float("inf")))
def test_the_charts_of_random_games_are_read_back(game: Rules) -> None:
    there_and_back(Solver(game).chart)


# --- layouts


def test_the_chart_is_worth_what_an_independent_calculation_says() -> None:
    found = evaluate_chart(read_chart(reference(), "reference", RULES))
    assert f"{found.value:.6%} {found.costs:.6%}" == "-0.434997% 0.029075%"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_the_same_chart(layout: str) -> None:
    assert read_with_notes(LAYOUTS[layout], layout, RULES).chart.cells == CELLS
    surrender = RULES.replace(surrender=True)
    assert read_with_notes(BOOKS[layout], layout, surrender).chart.cells == BOOK_CELLS


def test_three_files_are_one_chart() -> None:
    files = []
    for kind, rows in ROWS.items():
        text = table(["Total", *CARDS], [[bare_name(kind, row), *LINES[row]] for row in rows])
        files.append((f"charts/10-{kind}.csv", text.encode()))
    assert read_files(files, RULES).chart.cells == CELLS
    with pytest.raises(ChartError, match=r"hands missing: AA A2 .* A9; if other files have them, name all files"):
        read_files(files[:1], RULES)
    broken = files[1][1].replace(b"18,S", b"18,Q")
    with pytest.raises(ChartError, match=r"^charts/10-soft.csv, line 7, column 4: unknown code Q for A7"):
        read_files([files[0], (files[1][0], broken), files[2]], RULES)


def test_grouped_cards() -> None:
    text = (
        "hand 2-6 7-A\n4-8 H H\n9 D H\n10-11 D D\n12-16 S H\n17+ S S\nA2-A4 H H\nA5-A7 D H\nA8+ S S\n22 P H\n"
        "33 P H\n66 P H\n77 P H\n88 P P\n99 P H\nAA P P\n"
    )
    assert f"{evaluate_chart(read_chart(text, 'grouped', RULES)).value:.6%}" == "-0.805792%"


ONE_TRAIT = {  # a change of the first line, of the names of hands, and of the codes
    **{f"ten as {ten}": ({"10": ten}, {}, {}) for ten in ("T", "Ten", "X", "10/J/Q/K", "10-K", "10s", "10+", "Face")},
    **{f"ace as {ace}": ({"A": ace}, {}, {}) for ace in ("1", "11", "Ace", "A/11", "As", "ACE")},
    **{f"a prefix {word}": ({card: word + card for card in CARDS}, {}, {}) for word in ("Dealer ", "D", "vs ", "up_")},
    **{
        f"pairs as {p}": ({}, {r: p.format({"TT": "10", "AA": "A"}.get(r, r[0])) for r in PAIRS}, {})
        for p in ("{0},{0}", "{0}-{0}", "{0}/{0}", "{0} {0}", "{0}s", "P{0}", "pair of {0}s", "split{0}")
    },
    **{
        f"soft hands as {s}": ({}, {r: s.format(r[1], 11 + int(r[1])) for r in SOFT}, {})
        for s in ("A,{0}", "{0},A", "A-{0}", "A:{0}", "A_{0}", "S{1}", "soft {1}", "soft{1}")
    },
    **{f"hard hands as {h}": ({}, {r: h.format(r) for r in HARD}, {}) for h in ("H{0}", "hard{0}", "Hard {0}")},
    **{
        f"doubles as {words}": ({}, {}, dict(zip(("Dh", "Ds"), words, strict=True)))
        for words in (
            ("D/H", "D/S"), ("D(H)", "D(S)"), ("DoubleOrHit", "DoubleOrStand"), ("double_or_hit", "double_or_stand"),
            ("Double if allowed, otherwise hit", "Double if allowed, otherwise stand"), ("doub", "Ds"), ("DD", "DS"),
        )
    },
    "other words": ({}, {}, {"S": "Stay", "P": "SPL", "H": "HIT"}),
    "ten and ace in numbers": ({}, {"TT": "1010", "AA": "1111"}, {}),
}  # fmt: skip


@pytest.mark.parametrize("trait", ONE_TRAIT)
def test_one_trait_at_a_time(trait: str) -> None:
    cards, hands, codes = ONE_TRAIT[trait]
    head = ["hand", *(cards.get(card, card) for card in CARDS)]
    rows = [[hands.get(row, row), *(codes.get(code, code) for code in cells)] for row, cells in LINES.items()]
    assert read_with_notes(table(head, rows), trait, RULES).chart.cells == CELLS


# --- damage


def damaged(layout: str, seed: int) -> str:
    """Damage a layout in one place; nothing outside the damaged rows may change without a note."""
    rng = random.Random(f"{layout} {seed}")
    text = LAYOUTS[layout].replace("\r", "\n")
    broken, changed = damage(text, rng)
    before = read_with_notes(text, "damaged", RULES)
    try:
        after = read_with_notes(broken, "damaged", RULES)
    except ChartError as error:
        assert str(error).startswith("damaged, line ") and "\n" not in str(error)
        return "refused"
    different = {cell for cell, code in after.chart.cells.items() if CELLS.get(cell) != code}
    if not different:
        return "same"
    if set(after.notes) - set(before.notes):
        return "noted"
    count = {row for row, _ in different}, {column for _, column in different}
    assert min(map(len, count)) <= 2, (layout, seed, sorted(different)[:9], [broken.split("\n")[at] for at in changed])
    return "changed"


def test_a_damaged_layout_is_refused_or_says_so() -> None:
    found = {damaged(layout, seed) for layout in LAYOUTS for seed in range(4)}
    assert found == {"refused", "same", "noted", "changed"}


@pytest.mark.slow
def test_four_thousand_damaged_layouts() -> None:
    for layout, seed in itertools.product(LAYOUTS, range(4, 4 + 4000 // len(LAYOUTS) + 1)):
        damaged(layout, seed)


# --- guesses


def bare(chart: Mapping[tuple[str, str], str], rows: list[str], columns: str) -> str:
    return "\n".join(",".join(chart[row, column] for column in columns) for row in rows)


def orders(quick: bool) -> list[tuple[Rules, list[str], str]]:
    games = [RULES, PRESETS["vegas-h17"].rules, RULES.replace(decks=1), RULES.replace(double_after_split=False)]
    found = []
    for game, first, order, step, aces_last, columns in itertools.product(
        games[: 2 if quick else 4], (4, 5), [(0, 1, 2), (1, 0, 2), (2, 1, 0)], (1, -1), (True, False),
        ("23456789TA", "A23456789T", "T98765432A"),
    ):  # fmt: skip
        blocks = [HARD[first - 4 :], SOFT, PAIRS if aces_last else ["AA", *PAIRS[:-1]]]
        found.append((game, [row for block in order for row in blocks[block][::step]], columns))
    return found[::7] if quick else found


def guess(game: Rules, rows: list[str], columns: str) -> str:
    chart = best_chart(game).cells
    try:
        reading = read_with_notes(bare(chart, rows, columns), "bare", RULES)
    except ChartError:
        return "refused"
    assert {
        (row, column): chart[row, column] for row in rows for column in COLUMNS
    }.items() <= reading.chart.cells.items()
    assert any(note.startswith("guessed: the dealer's cards are") for note in reading.notes)
    return "right"


def test_bare_codes_are_read_right_or_refused() -> None:
    found = [guess(*case) for case in orders(quick=True)]
    assert found.count("right") > len(found) / 2 and "refused" in found  # tens down to twos are no order of charts


@pytest.mark.slow
def test_bare_codes_of_all_orders() -> None:
    for case in orders(quick=False):
        guess(*case)


def test_a_chart_far_from_the_best_play_is_not_guessed() -> None:
    poor = {cell: "S" if cell[0] in HARD[8:] else "H" for cell in CELLS}
    with pytest.raises(
        ChartError, match=r"35 lines have ten codes, but none has the dealer's cards 2 3 .* not the best"
    ):
        read_chart(bare(poor, [*HARD, *SOFT, *PAIRS], COLUMNS), "poor", RULES)


# --- messages


@pytest.mark.parametrize("game", PRESETS)
def test_the_smallest_chart_of_the_messages_is_read(game: str) -> None:
    with pytest.raises(ChartError, match=r"this is no chart: .*; the smallest chart that is read") as error:
        read_chart("import bjsim\n", "program", PRESETS[game].rules)
    lines = re.findall('"(.*?)"', str(error.value))
    chart = read_chart("\n".join(lines), "smallest", PRESETS[game].rules)
    assert chart.cells["16", chart.states.columns[0]] == ("S" if lines[0] == "hand 2-6 7-A" else "H")


LABELLED = [[row, *codes] for row, codes in LINES.items()]
REFUSED = {
    "a column of numbers": (
        table(["", "hand", *CARDS], [[str(at), *row] for at, row in enumerate(LABELLED)]),
        "line 2, column 1: unknown hand 0,4; this game has",
    ),
    "dealer's cards on the left": (
        table(["upcard", *LINES], [[card, *(row[at] for row in LINES.values())] for at, card in enumerate(CARDS)]),
        "no line has the dealer's cards 2 3 4 5 6 7 8 9 T A, and the codes are not in lines of ten; the smallest chart",
    ),
    "labels on both sides": (
        table(["Hand", *CARDS, "Hand"], [[*row, row[0]] for row in LABELLED], " "),
        "line 2, column 23: hand 4 has more than 10 cells",
    ),
    "pairs that no comma or word joins": (
        reference().replace("\nAA,", "\nAA 88,"),
        "line 36, column 1: unknown hand AA 88; this game has",
    ),
    "aces as soft 12 as well": (
        f"{reference()}soft 12,{','.join('H' * 10)}\n",
        "line 37, column 1: duplicate row AA, which is also in line 36",
    ),
    "a column that says whether it is a pair": (
        "player,dealer,soft,is_pair,action\n16,10,0,0,H\n16,10,0,1,P\n16,9,0,0,H\n",
        "line 1, column 20: the column is_pair says yes or no to something unknown",
    ),
    "the card of a pair in a column of its own": (
        "player_total,pair_rank,dealer,action\n16,,10,H\nNA,8,10,P\n",
        "line 3, column 1: unknown hand NA; use a total of 4 to 21, or cards such as A,7",
    ),
    "no chart": ("import bjsim\n", "this is no chart: no line has the dealer's cards 2 3 4 5 6 7 8 9 T A; the small"),
    "sentences": ("Hit 16 against 7 or more.\nStand on 17.\n" * 12, "the smallest chart that is read has the lines"),
    "a hand twice with other codes": (
        reference() + "16,H,H,H,H,H,H,H,H,H,H\n",
        "line 37, column 1: duplicate row 16, which is also in line 14",
    ),
    "a hand twice in brackets": (
        LAYOUTS["JSON of maps"].replace('"soft"', '"hard"', 1),
        "here, but",
    ),
    "yes or no to what": (
        "hand,dealer,action,good\n"
        + "".join(f"{row},{card},H,{'0' if card == '10' else '1'}\n" for row in HARD for card in CARDS),
        "line 1, column 20: the column good says yes or no to something unknown",
    ),
    "a header with one bad card": (
        reference().replace("hand,2,3,4", "hand,2,3,B"),
        "line 1, column 10: unknown dealer's card B; the first line has 2 3 4 5 6 7 8 9 T A",
    ),
    "a header with a card twice": (reference().replace("hand,2,3", "hand,2,2"), "line 1, column 8: duplicate column 2"),
    "an unknown code": (
        reference().replace("Ds", "Z", 1),
        "line 24, column 6: unknown code Z for A7; codes are S H P Dh Ds Rh Rs Ph Pd Ps Rp; or add a line that says "
        "what Z means, such as Z = stand",
    ),
    "a decision that is missing": (
        LAYOUTS["a line for every decision"].replace("hard,16,7,H\n", ""),
        "no line for hard 16 against 7",
    ),
    "a list of cards in a program": (
        "face_cards = ['j', 'q', 'k']\nplays = ['hit', 'stand', 'DD', 'split']\n",
        "this is no chart: no line has the dealer's cards 2 3 4 5 6 7 8 9 T A; the smallest chart that is read has",
    ),
    "a row that might be a title": (
        LAYOUTS["a list of rules"].replace("| 8 | 2-10, A | split |", "| 8 | Hard, A | split |"),
        "unknown dealer's card Hard,; use 1 (an ace) to 10",
    ),
    "index plays": (
        "hand,dealer,true count,move\n16,10,0,stand\n15,10,4,stand\n12,2,3,stand\n",
        "no line for 16 against 2 3 4 5 6 7 8 9 A; a list of index plays is for `bjsim count --indices`",
    ),
    "JSON with a cell that is missing": (
        re.sub(r'"7": "H",\n', "", LAYOUTS["JSON of maps"], count=1),
        "line 3, column 3: no line for hard 4 against 7",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_read_is_refused_with_a_true_sentence(what: str) -> None:
    text, message = REFUSED[what]
    with pytest.raises(ChartError) as error:
        read_chart(text, "file", RULES)
    assert message in str(error.value) and "\n" not in str(error.value)

"""Tables fit the screen, and nothing in them is cut."""

from __future__ import annotations

import re
from functools import lru_cache
from operator import itemgetter

import pytest
from support.command import bjsim, on_screen
from support.printed import printed

from bjsim.report.parts import DataColumn, DataTable, counted

GRID = ("--vary", "blackjack_pays=3/2,6/5", "--vary", "hit_soft_17=true,false")


def table(headings: list[str], rows: list[list[str]], words: tuple[int, ...] = (0,)) -> DataTable:
    """A table of texts; the columns of `words` are words."""
    columns = [DataColumn("", text, itemgetter(n), is_text=n in words) for n, text in enumerate(headings)]
    return DataTable("", columns, rows)


def numbers(text: str) -> set[str]:
    return set(re.findall(r"[-+]?\d[\d.,]*%?", text))


@lru_cache
def whole(*command: str) -> str:
    """The output to a pipe, without the last line, which contains timings."""
    return "\n".join(bjsim(*command).out.splitlines()[:-1])


@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize(
    "command",
    [
        ("run", "--bots", "optimal,lim17,hoyle", "--hands", "2000", "--seed", "3"),
        ("run", "--bots", "optimal,lim17,hoyle", "--hands", "2000", "--rules", "vegas-s17"),
        ("compare", "--rules", "easy", *GRID),
        ("check", "hoyle", "--rules", "vegas-s17"),
        ("solve", "initial", "dealer", "stand", "strategy"),
    ],
)
def test_every_number_of_a_pipe_is_on_the_screen(command, width):
    """The tables are not wider than the screen; sentences may be, since terminals wrap them."""
    lines = on_screen(width, *command)
    fits = [line for line in lines if not re.search(r"[a-z]: | in .* s, |shoe's|cost|alone in|value|P split", line)]
    assert max(map(len, fits)) <= width
    assert numbers(whole(*command)) - numbers("\n".join(lines)) <= {"0"}  # a bust, which has a name on a screen


def test_games_are_distinguished_at_80_columns():
    game = ("--rules", "vegas-s17", "--decks", "1", "--set", "max_hands=2")
    lines = "\n".join(on_screen(80, "compare", *game, "--vary", "blackjack_pays=3/2,6/5"))
    assert "blackjack_pays=3/2" in lines and "blackjack_pays=6/5" in lines


def test_a_pipe_has_the_whole_table_in_one():
    """Transposed where it is wide, unless there are so many rows that this makes it wider."""
    headings = ["bot", *(f"interval {number}" for number in range(12))]
    few, many = ([[f"bot{number}", *["+1.2345% … +2.3456%"] * 12] for number in range(count)] for count in (3, 30))
    turned = printed(table(headings, few), 80).splitlines()
    assert [line.split()[:2] for line in turned if "%" in line] == [["interval", str(number)] for number in range(12)]
    assert max(map(len, turned)) < 85
    lines = printed(table(headings, many), 80).splitlines()
    assert [line.split()[0] for line in lines if "%" in line] == [f"bot{number}" for number in range(30)]
    assert max(map(len, lines)) > 200


def test_a_wide_table_is_transposed_and_then_split():
    rows = [[f"bot{number}", "+1.2345%", "agrees with the exact value"] for number in range(9)]
    part = table(["bot", "return", "verdict"], rows, (0, 2))
    wide = printed(part, 60, is_terminal=True)
    assert [line.split()[0] for line in wide.splitlines() if "%" in line] == [f"bot{number}" for number in range(9)]
    assert max(map(len, wide.splitlines())) <= 60
    turned = printed(part, 25, is_terminal=True).splitlines()
    assert max(map(len, turned)) <= 25
    assert [line.split() for line in turned if "%" in line] == [["return", "+1.2345%"]] * 9
    assert [line.split() for line in turned if "bot" in line] == [["bot", f"bot{number}"] for number in range(9)]


def test_a_name_longer_than_the_screen_is_folded():
    name = "".join(chr(ord("a") + number % 26) for number in range(100))
    text = printed(table(["bot", "return"], [[name, "+1.2345%"]]), 40, is_terminal=True)
    assert max(map(len, text.splitlines())) <= 40
    assert name in re.sub(r"\s|[+]1.2345%", "", text) and "+1.2345%" in text


@pytest.mark.parametrize("game", [("--rules", "easy"), ("--rules", "vegas-s17", "--decks", "1")])
def test_the_tables_of_solve_fit_the_screen_and_name_the_dealer_and_the_unit(game):
    lines = on_screen(80, "solve", *game, "stand", "strategy", "dealer", "value")
    assert max(map(len, lines)) <= 80
    assert lines[0] == "Stand: expected profit in initial bets" and lines[2].split()[0] == "you\\dealer"
    legend = "Strategy: S stand; H hit; double, else hit (Dh) or stand (Ds); P split"
    surrender = "; surrender, else hit (Rh) or stand (Rs)" if "easy" in game else ""
    assert f"{legend}{surrender}" in " ".join(" ".join(lines).split())
    assert "Dealer: probability of each final total" in lines
    assert re.fullmatch(r"[+]0\.14\d+% of the bet|[+]11\.668470% of the bet", lines[-2])


def test_the_dealers_outcomes_say_where_naturals_are_left_out():
    """In a finite shoe they are among them, which gave a ten two chances of a bust under one title."""
    title = "Dealer: probability of each final total"
    infinite = on_screen(100, "solve", "--rules", "vegas-s17", "--decks", "inf", "dealer")
    assert infinite[0] == f"{title}, given no dealer's natural" and "natural" not in " ".join(infinite[1:])
    finite = on_screen(100, "solve", "--rules", "vegas-s17", "dealer")
    assert finite[0] == title and "natural" in " ".join(finite[1:])


def test_a_name_of_a_table_with_an_underscore_is_understood():
    assert bjsim("solve", "base_split").out == bjsim("solve", "base-split").out


def test_one_decision_has_a_heading_on_a_terminal():
    lines = on_screen(80, "solve", "--rules", "vegas-s17", "--decks", "1", "--hand", "T,6 v T")
    assert lines[0] == "T6 against T: expected profit in initial bets, given no dealer's natural"
    assert max(map(len, lines)) <= 80


def test_the_chart_of_check_and_its_legend_fit_the_screen():
    lines = on_screen(80, "check", "hoyle", "--rules", "atlantic-city", "--decks", "inf")
    end = next(number for number, line in enumerate(lines) if "! differs from the best chart" in line)
    begin = [line.strip() for line in lines].index("dealer's card")
    assert max(len(line.rstrip()) for line in lines[begin : end + 1]) <= 80


def test_files_and_pipes_get_the_tables_in_the_form_of_easy():
    assert bjsim("solve", "value").out == "0.11668470418450838\n"
    lines = bjsim("solve", "base-split").out.splitlines()
    assert lines[0] == "Base-split" and lines[1].split()[0] == "4" and len(lines) == 2 + 17 + 1 + 9


def test_numbers_and_their_nouns_agree():
    assert [counted(1, "match"), counted(2, "match"), counted(1_200, "hand")] == ["1 match", "2 matches", "1,200 hands"]

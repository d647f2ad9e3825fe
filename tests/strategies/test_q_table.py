"""Policies of reinforcement learners: lines `player,dealer,usable_ace,action`."""

import pytest
from support.command import bjsim

from bjsim.sim.game.presets import PRESETS
from bjsim.strategies.charts.chart import parse_row
from bjsim.strategies.evaluation.compare import best_chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.files import detect_format, read_with_notes
from bjsim.strategies.formats.lines import ChartError

RULES = PRESETS["neller"].rules  # hit or stand, as in Gymnasium's Blackjack-v1
BEST = best_chart(RULES)
STATES = [
    (player, dealer, ace) for ace in (0, 1) for player in range(12, 22) for dealer in range(1, 11)
]  # those of Sutton and Barto


def action(player, dealer, ace):
    row = ("AA" if player == 12 else f"A{player - 11}") if ace else str(player)
    return "S" if player == 21 else BEST.cells[row, "A23456789T"[dealer - 1]]


def lines(style, states=STATES):
    return [style.format(*state, "SH".index(action(*state)), action(*state), bool(state[2])) for state in states]


@pytest.mark.parametrize(
    ("header", "style"),
    [
        ("player,dealer,usable_ace,action", "{0},{1},{2},{3}"),
        ("", "{0}, {1}, {5}, {4}"),
        ("player_sum;dealer_card;usable_ace;action", "{0};{1};{2};{3}"),
        ("", "({0}, {1}, {5}), {3}"),
        ("", "({0}, {1}, {5}): {4}"),
        ("policy = {", "    ({0}, {1}, {5}): '{4}',"),
        ("{", "({0}, {1}, {2}): np.int64({3}),"),
        ("{", '"({0}, {1}, {2})": {3},'),
    ],
)
def test_the_best_policy_is_the_best_chart(header, style):
    chart, notes = read_with_notes("\n".join([header, *lines(style)]), "q.csv", RULES)
    low = {str(total) for total in range(4, 12)}  # not in the file
    assert chart.cells == {
        cell: code for cell, code in BEST.cells.items() if cell[0] in {row for row, _ in chart.cells}
    }
    assert {row for row, _ in chart.cells} >= low and Solver(RULES).value_of(chart) == Solver(RULES).value_of(BEST)
    assert notes == ("filled in: 4-11 hit where no line has them",)


def test_a_table_of_all_indices_and_names_of_actions():
    """Indices that are no state are skipped; stick and hit are words of Sutton and Barto."""
    text = "\n".join(
        f"{player},{dealer},{ace},{'stick' if player > 16 else 'hit'}"
        for player in range(32) for dealer in range(11) for ace in (0, 1)
    )  # fmt: skip
    chart, notes = read_with_notes(text, "q.csv", RULES)
    assert notes == () and detect_format(text) == "csv"
    assert all(code == ("S" if parse_row(row).points > 16 else "H") for (row, _), code in chart.cells.items())


def test_a_pair_is_played_as_its_total():
    rules = PRESETS["vegas-s17"].rules
    chart = read_with_notes("\n".join(lines("{0},{1},{2},{3}")), "q.csv", rules).chart
    assert chart.cells["88", "T"] == chart.cells["16", "T"] == "H" and chart.cells["TT", "6"] == "S"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("16,12,0,1", "line 3, column 4: unknown dealer's card 12; use 1 (an ace) to 10"),
        ("16.5,9,0,1", "line 3, column 1: unknown hand 16.5; use a total of 4 to 21, or cards such as A,7"),
        ("16,9,maybe,1", "line 3, column 6: unknown usable ace maybe; use 0 or 1"),
        ("16,9,0,2", "line 3, column 8: unknown action 2; use 0 (stand) or 1 (hit)"),
        ("16,9,0", "line 3, column 1: 3 fields; write hand,dealer,ace,code"),
        ("12,1,0,0", "line 3, column 8: 12 against A is S here, but H in line 2; keep one"),
        ("", "line 2, column 1: no line for hard 12 against 2 3 4 5 6 7 8 9 T"),
    ],
)
def test_a_bad_line_is_one_clear_line(line, message):
    with pytest.raises(ChartError) as error:
        read_with_notes(f"player,dealer,usable_ace,action\n12,1,0,1\n{line}\n", "q.csv", RULES)
    assert str(error.value) == f"q.csv, {message}"


def test_a_game_in_which_both_cards_are_seen():
    with pytest.raises(ChartError, match="the dealer shows one card, such as vegas-s17; in easy both are seen"):
        read_with_notes("\n".join(lines("{0},{1},{2},{3}")), "q.csv", PRESETS["easy"].rules)


def test_check_reads_it(tmp_path):
    file = tmp_path / "q.csv"
    file.write_text("\n".join(lines("{0},{1},{2},{3}")))
    assert "no cell differs: this is the best chart" in bjsim("check", file, "--rules", "neller").out

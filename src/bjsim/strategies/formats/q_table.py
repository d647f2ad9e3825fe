"""Policies of reinforcement learners: a line `player,dealer,usable_ace,action` for each state, as in Gymnasium.

Pairs have no states of their own and are played as their totals. The first line may have names. States that are no
decision, such as a player's total of 31, are skipped: a table of all indices has them.
"""

from __future__ import annotations

from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import Chart, chart_rows, format_ranges
from bjsim.strategies.charts.rows import parse_row
from bjsim.strategies.formats.csv import split_fields
from bjsim.strategies.formats.parser import ParsedTable, Token, chart_from, required_rows
from bjsim.strategies.formats.policy import POLICY_COLUMNS, check_columns
from bjsim.strategies.formats.text import split_lines

DEALER = {"0": "", "1": "A", "11": "A", "10": "T", **{card: card for card in POLICY_COLUMNS}}
ACE = {"0": False, "1": True, "FALSE": False, "TRUE": True}
ACTIONS = {"0": "S", "S": "S", "STICK": "S", "STAND": "S", "1": "H", "H": "H", "HIT": "H"}
BRACKETS = str.maketrans("()[]'", "     ")  # of tuples that Python printed


def is_q_table(text: str) -> bool:
    """Whether the first line has the four fields of a state and its action, or their names."""
    first = next(iter(_lines(text)), [])
    return len(first) == 4 and (first[2].text.upper() in ACE or _has_names(first))


def q_table_chart(text: str, name: str, rules: Rules) -> tuple[Chart, tuple[str, ...]]:
    """Read a policy over states as a chart, with a note on filled-in hands, those that no card can bust."""
    states, lines = States(rules), _lines(text)
    check_columns(states, name)
    header = [Token(1, 1, column) for column in POLICY_COLUMNS]
    grid = ParsedTable(name, header, [], len(split_lines(text)))
    given: dict[tuple[str, bool, str], Token] = {}
    for fields in lines[_has_names(lines[0]) :]:
        state, action = _parse_line(grid, fields)
        if (before := given.setdefault(state, action)) is not action:
            raise grid.error(fields[0], f"this state is in line {before.line} too; give each state once")
    rows, filled = [], []
    for row in required_rows(states):
        hand = parse_row(row)
        cells = [given.get((str(hand.points), hand.soft, column)) for column in POLICY_COLUMNS]
        if None in cells:
            if hand.points > (12 if hand.soft else 11):
                dealer = POLICY_COLUMNS[cells.index(None)]
                state_text = f"player {hand.points}, dealer {dealer}, usable_ace {hand.soft:d}"
                raise grid.error(Token(grid.end + 1, 1, ""), f"no line for {state_text}")
            filled.append(hand.total)
        rows.append([Token(0, 0, row), *(cell or Token(0, 0, "H") for cell in cells)])
    note = f"filled in: {format_ranges(chart_rows(states), filled)} hit where no line has them"
    return chart_from(ParsedTable(name, header, rows, grid.end), rules), (note,) * bool(filled)


def _lines(text: str) -> list[list[Token]]:
    lines = [line.translate(BRACKETS) for line in split_lines(text)]
    separator = ";" if ";" in "".join(lines) else ","
    return [split_fields(number, line, separator) for number, line in enumerate(lines, 1) if line.strip()]


def _has_names(fields: list[Token]) -> bool:
    return "ace" in fields[2].text.lower()


def _parse_line(grid: ParsedTable, fields: list[Token]) -> tuple[tuple[str, bool, str], Token]:
    """The state of a line, as total, usable ace and column, and its action."""
    if len(fields) != 4:
        raise grid.error(fields[0], f"{len(fields)} fields; write player,dealer,usable_ace,action")
    player, dealer, ace, action = fields
    tests = (
        (player, {str(total) for total in range(32)}, "player's total", "4 to 21"),
        (dealer, DEALER, "dealer's card", "1 (an ace) to 10"),
        (ace, ACE, "usable_ace", "0 or 1"),
        (action, ACTIONS, "action", "0 (stand) or 1 (hit)"),
    )
    for token, accepted, what, hint in tests:
        if token.text.upper() not in accepted:
            raise grid.error(token, f"unknown {what} {token}; use {hint}")
    state = player.text, ACE[ace.text.upper()], DEALER[dealer.text.upper()]
    return state, action._replace(text=ACTIONS[action.text.upper()])

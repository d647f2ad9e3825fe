"""The policy format of seed 001: the first action for each of 33 two-card hands.

One line for each hand, 5..19 (a sum of two cards that are neither a pair nor an ace), A2..A9, 22..99, 1010, AA; then
a tab and ten letters separated by blanks, for the dealer's open card 2..10, A. "You need to return only the first
action": the letters are S H D P, and never Dh.

So a policy does not say what to do where doubling is no longer allowed, how to play a hard 4 or 20 that splitting or
drawing leads to, nor where bonuses count cards, what to do with three and more. Read as a chart, all of that is the
best play.
"""

from __future__ import annotations

from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import HandState, States
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.charts.rows import parse_row
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.parser import ChartError, ParsedTable, Token, chart_from, required_rows
from bjsim.strategies.formats.text import lines_of, words_of, written_rows

POLICY_HANDS = (
    *(str(points) for points in range(5, 20)),
    *(f"A{rank}" for rank in range(2, 10)),
    *(str(11 * rank) for rank in range(2, 10)),
    "1010",
    "AA",
)
POLICY_COLUMNS = tuple("23456789TA")


def first_hand(states: States, hand: str) -> HandState:
    """The two-card hand that a line of a policy speaks of."""
    first, second = parse_row("TT" if hand == "1010" else hand).cards
    return states.add(states.add(HandState(), first), second)


def format_policy(chart: Chart) -> str:
    """The chart's first actions in the policy format. Raises: ChartError where the dealer shows both cards."""
    states = chart.states
    _check_columns(states, chart.name)
    lines = []
    for hand in POLICY_HANDS:
        state = first_hand(states, hand)
        letters = [chart.letter(state, column, states.legal(state)) for column in POLICY_COLUMNS]
        lines.append(f"{hand}\t{' '.join(letters)}")
    return "\n".join(lines) + "\n"


def _check_columns(states: States, place: str) -> None:
    if states.columns != POLICY_COLUMNS:
        raise ChartError(
            f"{place}: a policy knows only the dealer's open card, and in this game both cards are seen; "
            f"the first line of a chart names {' '.join(states.columns)}"
        )


def policy_chart(text: str, name: str, rules: Rules) -> Chart:
    """The chart that plays a policy, and where it is silent the best play. Raises: ChartError."""
    states = States(rules)
    _check_columns(states, f"{name}, line 1, column 1")
    best = Solver(rules).chart
    lines = lines_of(text)
    header = [Token(1, 1, column) for column in POLICY_COLUMNS]
    grid = ParsedTable(
        name, header, [words for n, line in enumerate(lines, 1) if (words := words_of(n, line))], len(lines)
    )
    said: dict[str, tuple[str, list[Token]]] = {}
    for hand, *words in grid.rows:
        label = {"TT": "1010"}.get(hand.text.upper(), hand.text.upper())
        if label not in POLICY_HANDS:
            raise grid.error(
                hand, f"{hand} is no hand of a policy; they are {' '.join(POLICY_HANDS)} "
                "(a chart that is no policy has a first line with the dealer's cards)",
            )  # fmt: skip
        row = _row(states, label)
        if row not in said:
            said[row] = label, [Token(hand.line, hand.place, row), *_completed(best, row, words)]
        elif said[row][0] == label:
            raise grid.error(hand, f"the hand {hand} stands twice")
        else:
            _check_same(grid, hand, words, *said[row])
    rest = [[Token(0, 0, text) for text in (row, *(best.cells[row, c] for c in POLICY_COLUMNS))] for row in _rest(best)]
    return chart_from(ParsedTable(name, header, [*(words for _, words in said.values()), *rest], grid.end), rules)


def _row(states: States, hand: str) -> str:
    """The chart row that a line of a policy is about: of a pair that may not be split, its total's."""
    return states.rows_of(first_hand(states, hand))[0]


def _rest(best: Chart) -> list[str]:
    """The chart rows that no policy speaks of: those a chart must have, and those for three or more cards."""
    states = best.states
    dealt = {states.rows_of(state)[0] for state in states.starts}
    counted = [row for row in written_rows(best) if parse_row(row).counted and row not in dealt]
    spoken = {_row(states, hand) for hand in POLICY_HANDS}
    return [row for row in (*required_rows(states), *counted) if row not in spoken]


def _completed(best: Chart, row: str, words: list[Token]) -> list[Token]:
    """The cells with D and R made complete: else hit or stand, whichever is better."""
    return [
        word._replace(text=word.text + _else(best, row, column)) if word.text.upper() in ("D", "R") else word
        for column, word in zip(POLICY_COLUMNS, words, strict=False)
    ] + words[len(POLICY_COLUMNS) :]


def _else(best: Chart, row: str, column: str) -> str:
    code = best.cells[row, column]
    if code == "P" and row != "AA":
        code = best.cells[parse_row(row).total, column]
    return "s" if code[-1].upper() == "S" else "h"


def _check_same(grid: ParsedTable, hand: Token, words: list[Token], label: str, before: list[Token]) -> None:
    """A pair that may not be split is its total, and one cell cannot say two things."""
    for word, other in zip(words, before[1:], strict=False):
        if word.text[:1].upper() != other.text[:1].upper():
            raise grid.error(word, f"{hand} is played as {label} in this game, for which line {other.line} has {other}")

"""The policy format of [BlackJackP]: the first action for each of 33 two-card hands.

There is one line for each hand, 5..19 (a sum of two cards that are neither a pair nor an ace), A2..A9, 22..99, 1010,
AA: the hand, a tab, and ten letters separated by spaces, for the dealer's open card 2..10, A. "You need to return only
the first action": the letters are S H D P, and never Dh.

A policy therefore leaves open what to do if doubling is no longer allowed, how to play a hard 4 or 20 after a split or
a draw, and, where the rules count cards, how to play hands of three and more. The best play fills these gaps when a
policy is read as a chart.
"""

from __future__ import annotations

from collections.abc import Sequence

from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.charts.rows import parse_row
from bjsim.strategies.evaluation.best import best_chart
from bjsim.strategies.formats.parser import ChartError, ParsedTable, Token, chart_from, required_rows
from bjsim.strategies.formats.text import split_lines, tokenize_line, written_rows

POLICY_HANDS = (
    *(str(points) for points in range(5, 20)),
    *(f"A{rank}" for rank in range(2, 10)),
    *(str(11 * rank) for rank in range(2, 10)),
    "1010",
    "AA",
)
POLICY_COLUMNS = tuple("23456789TA")


def first_hand(states: States, hand: str) -> HandState:
    return states.hand(parse_row("TT" if hand == "1010" else hand).cards)


def format_policy(chart: Chart) -> str:
    """Write the first actions of a chart in the policy format; the dealer must not show both cards."""
    states = chart.states
    check_columns(states, chart.name)
    lines = []
    for hand in POLICY_HANDS:
        state = first_hand(states, hand)
        actions = [chart.policy(state, column, states.against(column).legal(state)) for column in POLICY_COLUMNS]
        lines.append(f"{hand}\t{' '.join(actions)}")
    return "\n".join(lines) + "\n"


def check_columns(states: States, source: str) -> None:
    """Raises: ChartError: The dealer of the game shows both cards."""
    if states.columns != POLICY_COLUMNS:
        raise ChartError(
            f"{source}: a policy is for games in which the dealer shows one card, such as blackjack-p; "
            f"in {states.rules.name} both are seen"
        )


def policy_chart(text: str, name: str, rules: Rules) -> Chart:
    """Read a policy as a chart, with the best play where the policy leaves a hand open."""
    states = States(rules)
    check_columns(states, f"{name}, line 1, column 1")
    best = best_chart(rules)
    lines = split_lines(text)
    header = [Token(1, 1, column) for column in POLICY_COLUMNS]
    grid = ParsedTable(
        name, header, [tokens for n, line in enumerate(lines, 1) if (tokens := tokenize_line(n, line))], len(lines)
    )
    parsed: dict[str, tuple[str, list[Token]]] = {}  # row -> the hand it was given as, and its tokens
    for hand, *actions in map(_join_pair, grid.rows):
        label = {"TT": "1010"}.get(hand.text.upper(), hand.text.upper())
        if label not in POLICY_HANDS:
            raise grid.error(
                hand,
                f"unknown hand {hand}; a policy has {' '.join(POLICY_HANDS)} "
                "(a chart in another format has the dealer's cards in its first line)",
            )
        row = _row(states, label)
        if row not in parsed:
            parsed[row] = label, [Token(hand.line, hand.column, row), *_completed(best, row, actions)]
        elif parsed[row][0] == label:
            raise grid.error(hand, f"duplicate row {hand}")
        else:
            _check_same(grid, hand, actions, *parsed[row])
    rest = [[Token(0, 0, text) for text in (row, *(best.cells[row, c] for c in POLICY_COLUMNS))] for row in _rest(best)]
    return chart_from(ParsedTable(name, header, [*(tokens for _, tokens in parsed.values()), *rest], grid.end), rules)


def _join_pair(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens of a line, two cards such as `10 10` or `A 2` as one."""
    cards = {token.text.upper() for token in tokens[:2]}
    if len(tokens) != len(POLICY_COLUMNS) + 2 or (len(cards) == 2 and tokens[0].text.upper() != "A"):
        return tokens
    return [tokens[0]._replace(text=tokens[0].text + tokens[1].text), *tokens[2:]]


def _row(states: States, hand: str) -> str:
    """The chart row of a line of a policy; that of the total for a pair that may not be split."""
    return states.rows_of(first_hand(states, hand))[0]


def _rest(best: Chart) -> list[str]:
    """The chart rows that a policy leaves open: required ones, and those for three or more cards."""
    states = best.states
    dealt = {states.rows_of(state)[0] for state in states.starts}
    counted = [row for row in written_rows(best) if not parse_row(row).plain and row not in dealt]
    covered = {_row(states, hand) for hand in POLICY_HANDS}
    return [row for row in (*required_rows(states), *counted) if row not in covered]


def _completed(best: Chart, row: str, actions: list[Token]) -> list[Token]:
    """The cells of a row; D and R get the better of hit and stand as a fallback."""
    return [
        token._replace(text=token.text + _fallback(best, row, column)) if token.text.upper() in ("D", "R") else token
        for column, token in zip(POLICY_COLUMNS, actions, strict=False)
    ] + actions[len(POLICY_COLUMNS) :]


def _fallback(best: Chart, row: str, column: str) -> str:
    code = best.cells[row, column]
    if code == "P" and row != "AA":
        code = best.cells[parse_row(row).total, column]
    return "s" if code[-1].upper() == "S" else "h"


def _check_same(grid: ParsedTable, hand: Token, actions: list[Token], label: str, before: list[Token]) -> None:
    """Check that two hands with the same row, such as a pair that may not be split and its total, agree."""
    for token, other in zip(actions, before[1:], strict=False):
        if token.text[:1].upper() != other.text[:1].upper():
            raise grid.error(token, f"{hand} is played as {label} in this game, but line {other.line} has {other}")

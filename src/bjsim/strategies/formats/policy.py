"""The policy format of [BlackJackP]: the first action for each of 33 two-card hands.

There is one line for each hand, 5..19 (a sum of two cards that are neither a pair nor an ace), A2..A9, 22..99, 1010,
AA: the hand, a tab, and ten letters separated by spaces, for the dealer's open card 2..10, A. "You need to return only
the first action": the letters are S H D P, and never Dh.

A policy therefore leaves open what to do if doubling is no longer allowed, how to play a hard 4 or 20 after a split or
a draw, and, where the rules count cards, how to play hands of three and more. The best play fills these gaps when a
policy is read as a chart.
"""

import re
from collections.abc import Sequence

from bjsim.sim.game.actions import LETTERS
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import Chart, parse_row
from bjsim.strategies.evaluation.compare import best_chart
from bjsim.strategies.formats.cells import Builder, GridRow
from bjsim.strategies.formats.lines import ChartError, TextLine, Token
from bjsim.strategies.formats.words import COLUMNS

POLICY_HANDS = (
    *(str(points) for points in range(5, 20)),
    *(f"A{rank}" for rank in range(2, 10)),
    *(str(11 * rank) for rank in range(2, 10)),
    "1010",
    "AA",
)
LINE = rf"\s*(10 10|A [2-9A]|([2-9]) \2|\w+)(\s+[{LETTERS}]){{5,}}\s*"  # a hand and letters


def first_hand(states: States, hand: str) -> HandState:
    return states.hand(parse_row({"1010": "TT"}.get(hand, hand)).cards)


def format_policy(chart: Chart) -> str:
    """Write the first actions of a chart in the policy format. Raises: ChartError: A policy cannot say all of it."""
    states = chart.states
    if states.columns != COLUMNS:
        raise ChartError(
            f"{chart.name}: a policy is for games in which the dealer shows one card, such as blackjack-p; "
            f"in {states.rules.name} both are seen"
        )
    lines = []
    for hand in POLICY_HANDS:
        state = first_hand(states, hand)
        actions = [chart.policy(state, column, states.against(column).legal(state)) for column in COLUMNS]
        lines.append(f"{hand}\t{' '.join(actions)}\n")
    if lost := _unsaid(chart):
        raise ChartError(f"{chart.name}: a policy cannot say {lost}; use the format chart or csv")
    return "".join(lines)


def _unsaid(chart: Chart) -> str:
    """What a policy of this chart would lose, read back with the best play where it leaves a hand open; or nothing."""
    lost, best = "when it insures" * (chart.insurance == "I") or "when it attacks" * bool(chart.attack), None
    for (row, column), code in chart.cells.items():
        if lost or (parsed := parse_row(row)).plain:
            continue
        best = best or best_chart(chart.rules)
        if code != (chart.code((parsed.total, "21"), column) if parsed.fresh else best.cells.get((row, column), code)):
            lost = f"that it plays {code} with {row} against {column}"
    return lost


def is_policy(rows: Sequence[GridRow], lines: Sequence[TextLine]) -> bool:
    """Whether rows of codes are a policy: a hand and letters in most lines, and no hand that a policy has not."""
    matched = [re.fullmatch(LINE, line.text, re.IGNORECASE) is not None for line in lines if not line.heading]
    names = {name for row in rows for name in row.hands}
    return sum(matched) > 0.8 * len(matched) and names.isdisjoint(("4", "20", "21")) and len(rows) > 9


def complete_policy(rows: Sequence[GridRow], builder: Builder) -> list[GridRow]:
    """The rows of a policy, with the best play where it leaves a hand open."""
    states, best = builder.states, best_chart(builder.states.rules)
    of_hand = {hand: states.rows_of(first_hand(states, hand))[0] for hand in POLICY_HANDS}  # totals of pairs, too
    given: dict[str, tuple[str, GridRow]] = {}
    for row in rows:
        for hand in row.hands:
            other, before = given.setdefault(states.rows_of(first_hand(states, hand))[0], (hand, row))
            if other == hand and before is not row:
                raise builder.error(row.label, f"duplicate row {row.label}")
            for token, earlier in zip(row.cells, before.cells, strict=True):
                if token.text[0].upper() != earlier.text[0].upper():
                    where = f"line {earlier.line} has {earlier.text[0]}"
                    raise builder.error(token, f"{row.label} is played as {other} in this game, but {where}")
    if missing := [hand for hand, name in of_hand.items() if name not in given]:
        raise builder.error(builder.end, f"hands missing: {' '.join(missing)}")
    filled = []
    for name, (_, row) in given.items():
        cells = [_completed(best, name, *both) for both in zip(COLUMNS, row.cells, strict=True)]
        filled.append(GridRow(None, row.label, [name], cells))
    dealt = {states.rows_of(state)[0] for state in states.starts}
    for name in [name for name in best.table if name in builder.known and name not in given]:
        if name in builder.required or (not parse_row(name).plain and name not in dealt):
            cells = [builder.end._replace(text=best.cells[name, column]) for column in COLUMNS]
            filled.append(GridRow(None, builder.end._replace(text=name), [name], cells))
    return filled


def _completed(best: Chart, row: str, column: str, token: Token) -> Token:
    """A cell; D and R get the better of hit and stand as a fallback."""
    if token.text.upper() not in ("D", "R"):
        return token
    code = best.cells[row, column]
    if code[0] == token.text.upper():
        return token._replace(text=code)
    if code == "P" and row != "AA":
        code = best.cells[parse_row(row).total, column]
    return token._replace(text=token.text + ("s" if code[-1].upper() == "S" else "h"))

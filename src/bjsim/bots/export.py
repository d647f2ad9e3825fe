"""Export a chart as a bot: a self-contained Python file that plays like the chart.

A bot sees its hand, the cards on the table and its chips, but not, for example, how many hands it holds. So a chart can
be exported only for games in which it needs no more: without splits, without bonuses for particular cards or for
their number, without choices after a double or before the deal, and with one dealer card face up.
"""

import json

from bjsim.sim.game.cards import Hand, parse_rank
from bjsim.sim.game.support import need
from bjsim.strategies.charts.chart import Chart

SHOWN = "23456789TA"

_PROGRAM = '''"""{about}.

Written by `bjsim bot export`. The arguments and the moves are described at the top of the sample lim17.py.
"""

import sys

# Moves against {shown}: FIRST {when}{instead}.
FIRST = {{
{first}
}}
LATER = {{
{later}
}}

score, hand, visible, stake, chips = int(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4]), int(sys.argv[5])
low = sum(1 if card == "A" else int(card) if card in "23456789" else 10 for card in hand)
first = {is_first}
column = "{shown}".index("T" if visible[0] in "JQK" else visible[0])
row = ("soft " if score != low else "hard ") + str(score)
move, later = (moves.get(row, "{stand}")[column] for moves in (FIRST if first else LATER, LATER))
print({move})
'''


def export(chart: Chart) -> str:
    """Write a chart as a bot's program in Python. Raises: RulesError: It needs more than a bot sees."""
    rules = chart.rules
    any_cards = rules.double_cards == "any"  # then a hand of three cards doubles too
    need(rules, "export")
    hands = {_row_name(hand): hand for hand in (*map(_hard, range(4, 21)), "AA", *(f"A{n}" for n in "23456789"))}
    return _PROGRAM.format(
        # As in a JSON string, so that no name of a file can end the docstring.
        about=json.dumps(f"{chart.name}, a chart for {rules.name}, as a bot: {chart.source}")[1:-1],
        shown=SHOWN,
        stand="S" * len(SHOWN),
        when="on every move" if any_cards else "on the first move; LATER on all others",
        instead=f"{'; LATER' if any_cards else ', and'} in place of a double that it cannot pay" * rules.raises,
        is_first="True" if any_cards else f"len(hand) == 2 and stake == {rules.buy_in}",
        move='later if move == "D" and chips < stake else move' if rules.raises else "move",
        first=_table(chart, hands, first=True),
        later=_table(chart, hands, first=False),
    )


def _hard(points: int) -> str:
    """A hand of two cards with this many points and no ace."""
    return f"2{points - 2}" if points < 12 else f"T{points - 10 if points < 20 else 'T'}"


def _row_name(hand: str) -> str:
    cards = Hand(*hand)
    return f"{'soft' if cards.soft else 'hard'} {cards.points}"


def _table(chart: Chart, hands: dict[str, str], *, first: bool) -> str:
    lines = []
    for name, hand in hands.items():
        state = chart.states.hand(map(parse_rank, hand))
        legal = {column: chart.states.against(column).legal(state) if first else "SH" for column in SHOWN}
        moves = "".join(chart.policy(state, *each) for each in legal.items())
        lines.append(f'    "{name}": "{moves}",')
    return "\n".join(lines)

"""A chart as a bot: one self-contained Python file that plays what the chart plays.

A bot is told its hand, the cards on the table and its chips, and not, for instance, how many hands it holds. So this is
for games where that is all a chart looks at: no splits, no bonuses for particular cards, one dealer card shown.
"""

from __future__ import annotations

from bjsim.errors import InputError
from bjsim.sim.game.actions import View
from bjsim.sim.game.hand import Hand
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart

SHOWN = "23456789TA"
NEEDED = {"split_by": "never", "bonuses": "none", "dealer_shows": "up"}

_PROGRAM = '''"""{name}, a chart for {rules}, as a bot: {source}.

Written by `bjsim bot export`. What a bot is told, and what it may answer, is at the top of the sample lim17.py.
"""

import sys

# The move for each hand against {shown}: on the first move with chips to double, and on all others.
FIRST = {{
{first}
}}
LATER = {{
{later}
}}

score, hand, visible, stake, chips = int(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4]), int(sys.argv[5])
low = sum(1 if card == "A" else int(card) if card in "23456789" else 10 for card in hand)
first = len(hand) == 2 and {is_first}
shown = "T" if visible[0] in "JQK" else visible[0]
moves = (FIRST if first else LATER).get(("soft " if score != low else "hard ") + str(score), "{stand}")
print(moves["{shown}".index(shown)])
'''


def export(chart: Chart) -> str:
    """The program. Raises: InputError naming the rule under which a bot is not told enough."""
    rules = chart.rules
    for name, value in NEEDED.items():
        if getattr(rules, name) != value:
            raise InputError(
                f"a chart for {name} = {getattr(rules, name)} cannot be a bot, which is not told enough to follow it; "
                f"it takes {name} = {value}"
            )
    hands = {_name(hand): hand for hand in (*map(_hard, range(4, 21)), "AA", *(f"A{n}" for n in "23456789"))}
    affordable = "chips >= stake" if rules.raises else "True"
    return _PROGRAM.format(
        name=chart.name, rules=rules.name, source=chart.source, shown=SHOWN, stand="S" * len(SHOWN),
        is_first=f"stake == {rules.buy_in} and {affordable}",
        first=_table(chart, hands, first=True), later=_table(chart, hands, first=False),
    )  # fmt: skip


def _hard(points: int) -> str:
    """Two cards that count `points` without an ace."""
    return f"2{points - 2}" if points < 12 else f"T{points - 10 if points < 20 else 'T'}"


def _name(hand: str) -> str:
    cards = Hand(*hand)
    return f"{'soft' if cards.soft else 'hard'} {cards.points}"


def _table(chart: Chart, hands: dict[str, str], *, first: bool) -> str:
    return "\n".join(
        f'    "{name}": "{"".join(chart.decide(_view(chart.rules, hand, shown, first)).letter for shown in SHOWN)}",'
        for name, hand in hands.items()
    )


def _view(rules: Rules, hand: str, shown: str, first: bool) -> View:
    cards = Hand(*hand)
    legal = "SH"
    if first:
        legal += "D" * rules.doubles(cards.points, cards.soft) + "R" * rules.surrender
    return View(rules, 0, hand, shown, shown + "#" + hand, rules.buy_in, rules.chips, legal)

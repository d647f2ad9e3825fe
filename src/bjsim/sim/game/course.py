"""What happens against the dealer's open card before the hands are played, and what a natural takes, as data.

Everything that is computed about a game reads it here. Only the readable round says it again: `round.py` with
`settlement.py` is the second statement of the rules.
"""

from __future__ import annotations

from typing import NamedTuple

from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.rule_parsers import EARLY_SURRENDER
from bjsim.sim.game.rules import Rules

ACE = 0  # its rank index


class Course(NamedTuple):
    """What happens against an open card.

    `before` has the letters of the choices made before the dealer looks for a natural: I, R, or both;
    `looks`: at the hole card, so that a natural ends the round before hands are played; `natural` is the rank
    index of the second card that completes one, all ten-valued ranks being one, -1 for none; `takes` what it
    takes, as in `Rules.no_hole_loses`, empty if none is possible.
    """

    before: str
    looks: bool
    natural: int
    takes: str

    def ends(self, second: int) -> bool:
        """Whether this second card of the dealer ends the round before the hands are played."""
        return self.looks and min(second, TEN) == self.natural


def course(rules: Rules, up: int) -> Course:
    """Return what happens against an open card; `up` is its rank index."""
    card = min(up, TEN)
    natural = {ACE: TEN, TEN: ACE}.get(card, -1) if rules.naturals == "both" else -1
    possible = natural >= 0
    before = "I" * (rules.insurance and card == ACE) + "R" * (RANKS[card] in EARLY_SURRENDER[rules.surrender])
    return Course(before, possible and rules.peek, natural, rules.no_hole_loses if possible else "")

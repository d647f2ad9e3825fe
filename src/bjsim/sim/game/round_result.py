"""The result of a readable round."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bjsim.sim.game.events import Event, HandEnded


@dataclass(frozen=True)
class RoundResult:
    """The result of a round; `net` and `tied`, the stakes that are tied and replayed, are in initial bets.

    `bets` are units that each seat bet, to multiply its profit by; empty if no player chose.
    """

    net: tuple[Fraction, ...]
    tied: tuple[Fraction, ...]
    events: tuple[Event, ...]
    bets: tuple[int, ...] = ()

    @property
    def seats_at_move_cap(self) -> set[int]:
        return {event.seat for event in self.events if isinstance(event, HandEnded) and event.ending == "move-cap"}

"""The cards, hands and seats of a round in progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bjsim.sim.game.actions import Player
from bjsim.sim.game.cards import RANKS, VALUES, best_points


class Cards:
    """Cards that lie together: their rank indices, their letters, and what they count."""

    __slots__ = ("_ace", "_hard", "letters", "points", "ranks", "soft")

    def __init__(self, ranks: Sequence[int] = ()) -> None:
        self.ranks: list[int] = []
        self.letters = ""
        self.points, self.soft = 0, False
        self._hard, self._ace = 0, False
        for rank in ranks:
            self.take(rank)

    def take(self, rank: int) -> str:
        """Add a card; returns its letter."""
        letter = RANKS[rank]
        self.ranks.append(rank)
        self.letters += letter
        self._hard += VALUES[rank]
        self._ace = self._ace or rank == 0
        self.points, self.soft = best_points(self._hard, self._ace)
        return letter


class PlayedHand(Cards):
    """One hand in play, with its stake in chips, how it came about and how it ended.

    split_from: the rank of the pair it was split from, or -1. legal: what it may do now, once its turn has come.
    """

    __slots__ = ("end", "legal", "moves", "split_from", "stake")

    def __init__(self, stake: int, ranks: Sequence[int] = (), split_from: int = -1) -> None:
        super().__init__(ranks)
        self.stake = stake
        self.split_from = split_from
        self.moves = 0
        self.legal = self.end = ""


@dataclass(slots=True)
class Seat:
    """One player's place at the table for a round. turn: which hand is to act; how many there are when all ended."""

    number: int
    player: Player
    chips: int
    hands: list[PlayedHand]
    turn: int = 0

    @property
    def playing(self) -> bool:
        """Whether a hand is still to act."""
        return self.turn < len(self.hands)

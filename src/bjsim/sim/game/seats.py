"""The cards, hands and seats of a round in progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bjsim.sim.game.actions import Action
from bjsim.sim.game.cards import RANKS, VALUES, best_points
from bjsim.sim.game.events import Ending


class Cards:
    """Cards in play: their rank indices, letters, points, and whether they are soft."""

    __slots__ = ("_ace", "_hard", "letters", "points", "ranks", "soft")

    def __init__(self, ranks: Sequence[int] = ()) -> None:
        self.ranks: list[int] = []
        self.letters = ""
        self.points, self.soft = 0, False
        self._hard, self._ace = 0, False
        for rank in ranks:
            self.take(rank)

    @property
    def natural(self) -> bool:
        """Whether these are exactly two cards, an ace and a ten-valued one."""
        return self.points == 21 and len(self.ranks) == 2

    def take(self, rank: int) -> str:
        """Add a card. Returns: its letter."""
        letter = RANKS[rank]
        self.ranks.append(rank)
        self.letters += letter
        self._hard += VALUES[rank]
        self._ace = self._ace or rank == 0
        self.points, self.soft = best_points(self._hard, self._ace)
        return letter


class PlayedHand(Cards):
    """A seat's hand in play.

    Attributes:
        stake: Chips bet on it.
        free: Chips of these that the house put up.
        doubled: How often it has doubled.
        split_from: Rank index of the pair it was split from, or -1.
        moves: Number of actions so far.
        legal: Letters of its legal actions, once its turn has come.
        ending: How it ended, or None.
    """

    __slots__ = ("doubled", "ending", "free", "legal", "moves", "split_from", "stake")

    def __init__(self, stake: int, ranks: Sequence[int] = (), split_from: int = -1, free: int = 0) -> None:
        super().__init__(ranks)
        self.stake, self.free = stake, free
        self.doubled = 0
        self.split_from = split_from
        self.moves = 0
        self.legal = ""
        self.ending: Ending | None = None


@dataclass(slots=True)
class Seat:
    """A seat during a round.

    Attributes:
        number: Number of the seat, from 0.
        chips: Chips that the seat holds, without its stakes.
        hands: Its hands.
        turn: Index of the hand in play; the number of hands if all have ended.
        answer: Its first action, if it was asked for before the dealer peeked.
        insured: Whether it took insurance.
        bets: Its initial bets: 2 if it attacked.
    """

    number: int
    chips: int
    hands: list[PlayedHand]
    turn: int = 0
    answer: Action | None = None
    insured: bool = False
    bets: int = 1

    @property
    def playing(self) -> bool:
        """Whether a hand has not ended."""
        return self.turn < len(self.hands)

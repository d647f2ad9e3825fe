"""The cards, hands and seats of a round in progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bjsim.sim.game.actions import Action
from bjsim.sim.game.cards import RANKS, VALUES
from bjsim.sim.game.events import Ending
from bjsim.sim.game.rules import Rules


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
        self._hard = hard = self._hard + VALUES[rank]
        if rank == 0:
            self._ace = True
        self.soft = self._ace and hard <= 11  # as `best_points`, without a call
        self.points = hard + 10 if self.soft else hard
        return letter


class PlayedHand(Cards):
    """A seat's hand in play; `stake` and `free`, what the house put up of it, are in chips.

    `doubled` is how often it has doubled; `split_from` the rank index of the pair it was split from, or -1;
    `bet` the number of the seat's bet that it belongs to, from 0; `moves` the actions so far; `legal` the
    letters of its legal actions, once its turn has come; `ending` how it ended, or None.
    """

    __slots__ = ("bet", "doubled", "ending", "exchanged", "free", "legal", "moves", "split_from", "stake")

    def __init__(
        self,
        stake: int,
        ranks: Sequence[int] = (),
        split_from: int = -1,
        free: int = 0,
        bet: int = 0,
        exchanged: bool = False,
    ) -> None:
        super().__init__(ranks)
        self.stake, self.free = stake, free
        self.bet, self.exchanged = bet, exchanged
        self.doubled = 0
        self.split_from = split_from
        self.moves = 0
        self.legal = ""
        self.ending: Ending | None = None


@dataclass(slots=True)
class Seat:
    """A seat during a round; `chips` are those it holds, without its stakes.

    `turn` is the index of the hand in play, the number of hands if all have ended; `answer` its first action,
    if it was asked for before the dealer peeked; `bets` its initial bets, 2 if it attacked, or has two hands.
    """

    number: int
    chips: int
    hands: list[PlayedHand]
    bets: int = 1
    turn: int = 0
    answer: Action | None = None
    insured: bool = False

    @property
    def playing(self) -> bool:
        """Whether a hand has not ended."""
        return self.turn < len(self.hands)

    def hands_of(self, bet: int) -> list[PlayedHand]:
        return self.hands if len(self.hands) == 1 else [hand for hand in self.hands if hand.bet == bet]

    def others(self, hand: PlayedHand) -> str:
        return "".join(each.letters for each in self.hands if each is not hand)

    def stake(self, hand: PlayedHand, chips: int, free: int = 0) -> None:
        """Add to the stake of a hand; the house puts up the `free` chips of them."""
        hand.stake += chips
        hand.free += free
        self.chips -= chips - free

    def exchange(self) -> None:
        """Exchange the second cards of its two hands."""
        (a, b), (c, d) = (hand.ranks for hand in self.hands)
        cards = zip(self.hands, ((a, d), (c, b)), strict=True)
        self.hands = [PlayedHand(hand.stake, ranks, bet=hand.bet, exchanged=True) for hand, ranks in cards]


def make_seats(rules: Rules, chips: Sequence[int]) -> list[Seat]:
    """Seats that have made their bets, before the deal; `chips`: what each holds before."""
    stake, bets = rules.buy_in, rules.bets
    return [
        Seat(number, held - stake * bets, [PlayedHand(stake, bet=bet) for bet in range(bets)], bets)
        for number, held in enumerate(chips)
    ]

"""The readable round: the rules of play over cards, every rule once, no speed tricks.

This is one of the two places where the rules of play are written down (the other is `states.py`). It plays any
Player and any shoe, and what happens is a list of events that can be printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from bjsim.sim.cards import HIDDEN, RANKS, TEN, is_natural, points_of
from bjsim.sim.errors import RunFailed
from bjsim.sim.play import Action, IllegalAction, Player, View
from bjsim.sim.rules import Rules
from bjsim.sim.shoe import Shoe

DEALER = -1


class Event(NamedTuple):
    """Something that happened: `what` to hand number `hand` of `seat` (DEALER is -1), in `detail`.

    shuffle; card, hidden (a card, face down), shown (the hidden card turned over); peek (`natural` or `none`);
    action (as the player gave it); end (`natural`, `21`, `bust`, `stood`, `surrendered`, `move-cap`);
    paid (profit in initial bets, or `replayed`).
    """

    what: str
    seat: int = DEALER
    hand: int = 0
    detail: str = ""


@dataclass
class PlayedHand:
    """One hand in play: its rank indices, its stake in chips, how it came about and how it ended."""

    stake: int
    ranks: list[int] = field(default_factory=list)
    split_from: int = -1  # the rank of the pair it was split from
    moves: int = 0
    end: str = ""

    @property
    def points(self) -> int:
        return points_of(self.ranks)[0]


@dataclass
class Seat:
    """One player's place at the table for a round."""

    player: Player
    chips: int
    hands: list[PlayedHand]

    @property
    def turn(self) -> int:
        """Index of the hand to act on; the number of hands when all have ended."""
        for index, hand in enumerate(self.hands):
            if not hand.end:
                return index
        return len(self.hands)


@dataclass(frozen=True)
class RoundResult:
    """What a round came to: for each seat the profit in initial bets and the stake to be dealt again; its events."""

    net: tuple[Fraction, ...]
    tied: tuple[Fraction, ...]
    events: tuple[Event, ...]


class Round:
    """One deal at one table.

    players: one for each seat, in the order they are dealt. chips: what each seat holds before its initial bet; where
    the rules let seats raise, they cannot bet more (default: `rules.chips` each).
    Raises: IllegalAction when a player answers what its view did not allow; ShoeError from a scripted shoe.
    """

    def __init__(self, rules: Rules, shoe: Shoe, players: Sequence[Player], chips: Sequence[int] | None = None) -> None:
        self.rules = rules
        self.shoe = shoe
        self.seats = [
            Seat(player, holds - rules.buy_in, [PlayedHand(rules.buy_in)])
            for player, holds in zip(players, chips or [rules.chips] * len(players), strict=True)
        ]
        self.dealer: list[int] = []
        self.open_cards: list[int] = []  # the seats' cards in the order they were dealt
        self.events: list[Event] = []

    def play(self) -> RoundResult:
        """Deal, let every seat act, let the dealer draw, and pay."""
        if self.shoe.begin_round():
            self.events.append(Event("shuffle"))
        self._deal()
        if not self._dealer_peeks_natural():
            self._seats_act()
            self._dealer_acts()
        return self._pay()

    # --- the deal

    def _deal(self) -> None:
        for letter in self.rules.deal:
            if letter == "p":
                for number in range(len(self.seats)):
                    self._card(number, 0)
            else:
                hidden = bool(self.dealer) and self.rules.dealer_shows == "up"
                self.dealer.append(self.shoe.draw())
                self.events.append(Event("hidden" if hidden else "card", DEALER, 0, RANKS[self.dealer[-1]]))
        for number, seat in enumerate(self.seats):
            self._end_by_itself(number, seat)

    def _card(self, number: int, index: int) -> None:
        rank = self.shoe.draw()
        self.seats[number].hands[index].ranks.append(rank)
        self.open_cards.append(rank)
        self.events.append(Event("card", number, index, RANKS[rank]))

    def _dealer_peeks_natural(self) -> bool:
        if not self.rules.peek:
            return False
        natural = is_natural(self.dealer)
        if natural or (self.rules.dealer_shows == "up" and self.dealer[0] in (0, *range(TEN, len(RANKS)))):
            self.events.append(Event("peek", detail="natural" if natural else "none"))
        return natural

    # --- the seats

    def _seats_act(self) -> None:
        waiting = True
        while waiting:
            waiting = False
            for number, seat in enumerate(self.seats):
                while seat.turn < len(seat.hands):
                    self._move(number, seat)
                    if self.rules.turns == "round-robin":
                        break
                waiting = waiting or seat.turn < len(seat.hands)

    def _move(self, number: int, seat: Seat) -> None:
        index = seat.turn
        hand = seat.hands[index]
        view = self._view(number, seat)
        action = _ask(seat.player, view)
        overbet = action.letter == "B" and not 0 <= action.amount <= seat.chips
        if action.letter not in tuple(view.legal) or overbet:
            raise IllegalAction(
                f"{seat.player.name} answered {action} with {view.hand} against {view.dealer}; "
                f"allowed were {', '.join(view.legal)}" + (f", B up to {seat.chips}" if overbet else "")
            )
        hand.moves += 1
        self.events.append(Event("action", number, index, str(action)))
        if action.letter == "S":
            self._end(number, index, "stood")
        elif action.letter == "R":
            self._end(number, index, "surrendered")
        elif action.letter == "H":
            self._card(number, index)
        elif action.letter == "B":
            self._stake(seat, hand, action.amount)
        elif action.letter == "D":
            self._stake(seat, hand, hand.stake)
            self._card(number, index)
            self._end(number, index, "bust" if hand.points > 21 else "stood")
        elif action.letter == "P":
            self._split(number, seat, index)
        if hand.moves >= self.rules.move_cap and not hand.end and hand.points <= 21:
            self._end(number, index, "move-cap")
        self._end_by_itself(number, seat)

    def _stake(self, seat: Seat, hand: PlayedHand, chips: int) -> None:
        hand.stake += chips
        seat.chips -= chips

    def _split(self, number: int, seat: Seat, index: int) -> None:
        pair = seat.hands[index]
        seat.chips -= pair.stake
        seat.hands[index : index + 1] = [
            PlayedHand(pair.stake, [rank], split_from=pair.ranks[0]) for rank in pair.ranks
        ]
        self._card(number, index)

    def _end_by_itself(self, number: int, seat: Seat) -> None:
        """End the hands that may do nothing more, up to the first one that must decide; it has its second card."""
        while (index := seat.turn) < len(seat.hands):
            hand = seat.hands[index]
            if len(hand.ranks) == 1:
                self._card(number, index)
            if self._legal(seat, hand):
                return
            if hand.points > 21:
                end = "bust"
            elif self._natural(hand):
                end = "natural"
            else:
                end = "21" if hand.points == 21 else "stood"
            self._end(number, index, end)

    def _end(self, number: int, index: int, how: str) -> None:
        self.seats[number].hands[index].end = how
        self.events.append(Event("end", number, index, how))

    def _natural(self, hand: PlayedHand) -> bool:
        split_tens = hand.split_from >= TEN and self.rules.split_tens_blackjack
        return self.rules.naturals != "none" and is_natural(hand.ranks) and (hand.split_from < 0 or split_tens)

    def _legal(self, seat: Seat, hand: PlayedHand) -> str:
        rules, ranks = self.rules, hand.ranks
        points, soft = points_of(ranks)
        if points > 21 or self._natural(hand) or (points == 21 and rules.stand_on_21):
            return ""
        first = len(ranks) == 2 and hand.moves == 0
        affordable = not rules.raises or seat.chips >= hand.stake
        pair = first and affordable and self._is_pair(ranks) and len(seat.hands) < rules.max_hands
        if hand.split_from == 0:
            pair = pair and rules.resplit_aces
            if not rules.hit_split_aces:
                return "SP" if pair else ""
        whole = hand.split_from < 0
        double = first and affordable and rules.doubles(points, soft) and (whole or rules.double_after_split)
        surrender = first and rules.surrender and whole
        return "SH" + "D" * double + "P" * pair + "R" * surrender + "B" * rules.raises

    def _is_pair(self, ranks: list[int]) -> bool:
        one, other = ranks
        if self.rules.split_by == "value":
            return min(one, TEN) == min(other, TEN)
        return self.rules.split_by == "rank" and one == other

    def _view(self, number: int, seat: Seat) -> View:
        hand = seat.hands[seat.turn]
        shown = self.dealer if self.rules.dealer_shows == "both" else self.dealer[:1]
        backs = HIDDEN * (len(self.dealer) - len(shown))
        dealer = _letters(shown)
        return View(
            self.rules, number, _letters(hand.ranks), dealer, dealer + backs + _letters(self.open_cards),
            hand.stake, max(seat.chips, 0), self._legal(seat, hand), hand.split_from >= 0, len(seat.hands),
        )  # fmt: skip

    # --- the dealer

    def _dealer_acts(self) -> None:
        hands = [hand for seat in self.seats for hand in seat.hands]
        playing = any(not self._settled(hand) and hand.end != "natural" for hand in hands)
        if not playing and all(self._settled(hand) for hand in hands):
            return
        if len(self.dealer) < 2:
            self._dealer_card()
        elif self.rules.dealer_shows == "up":
            self.events.append(Event("shown", detail=RANKS[self.dealer[1]]))
        while playing and self._dealer_draws():
            self._dealer_card()

    def _settled(self, hand: PlayedHand) -> bool:
        """Whether the dealer's cards no longer matter to this hand."""
        if hand.end == "natural":
            return self.rules.naturals != "both" or self.rules.peek or self.rules.natural_beats_natural
        at_once = self.rules.bonuses == "at-once" and self._bonus(hand) > 1
        return hand.end in ("bust", "surrendered") or at_once

    def _dealer_draws(self) -> bool:
        points, soft = points_of(self.dealer)
        return points < self.rules.dealer_stands_on or (points == 17 and soft and self.rules.hit_soft_17)

    def _dealer_card(self) -> None:
        self.dealer.append(self.shoe.draw())
        self.events.append(Event("card", detail=RANKS[self.dealer[-1]]))

    # --- the money

    def _pay(self) -> RoundResult:
        net, tied = [], []
        for number, seat in enumerate(self.seats):
            profit, again = Fraction(0), Fraction(0)
            for index, hand in enumerate(seat.hands):
                won = self._times_stake(hand)
                bets = Fraction(hand.stake, self.rules.buy_in)
                if won is None:
                    again += bets
                    self.events.append(Event("paid", number, index, "replayed"))
                else:
                    won *= bets
                    profit += won
                    self.events.append(Event("paid", number, index, str(won)))
            net.append(profit)
            tied.append(again)
        return RoundResult(tuple(net), tuple(tied), tuple(self.events))

    def _times_stake(self, hand: PlayedHand) -> Fraction | None:
        """What the hand wins per chip staked; None for a tie that is dealt again."""
        rules = self.rules
        if hand.end in ("bust", "surrendered"):
            return Fraction(-1) if hand.end == "bust" else Fraction(-1, 2)
        special = rules.naturals == "both" and is_natural(self.dealer)
        natural = self._natural(hand)
        if natural and (not special or rules.natural_beats_natural):
            return rules.blackjack_pays
        bonus = self._bonus(hand)
        if rules.bonuses == "at-once" and bonus > 1:
            return Fraction(bonus)
        dealer = points_of(self.dealer)[0]
        if natural == special and hand.points == dealer:
            return {"push": Fraction(0), "lose": Fraction(-1), "replay": None}[rules.ties]
        wins = not special and (dealer > 21 or hand.points > dealer)
        return Fraction(bonus if wins else -1)

    def _bonus(self, hand: PlayedHand) -> int:
        if self.rules.bonuses == "none":
            return 1
        if sorted(hand.ranks) in ([5, 6, 7], [6, 6, 6]):
            return 3 if hand.ranks[0] == hand.ranks[1] else 2
        return {0: 1, 1: 2}.get(max(len(hand.ranks) - 4, 0), 3)


def _ask(player: Player, view: View) -> Action:
    """The player's answer. Raises: RunFailed naming the player and its hand for an exception, or no action at all."""
    try:
        answer: object = player.decide(view)
    except RunFailed:
        raise
    except Exception as error:
        situation = f"with {view.hand} against {view.dealer}"
        raise RunFailed(f"{player.name} failed {situation}: {type(error).__name__}: {error}") from error
    if isinstance(answer, str):
        return Action(answer)
    if not isinstance(answer, Action):
        raise IllegalAction(f"{player.name} answered {answer!r} with {view.hand}; an Action or its letter is expected")
    return answer


def _letters(ranks: Sequence[int]) -> str:
    return "".join([RANKS[rank] for rank in ranks])

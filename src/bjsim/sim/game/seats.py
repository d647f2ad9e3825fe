"""The cards, hands and seats of a round in progress."""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from bjsim.sim.game.actions import Action, View
from bjsim.sim.game.cards import RANKS, TEN, VALUES, parse_rank
from bjsim.sim.game.events import Ending, Event, InsuranceSettled, Settled
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
        self.soft = self._ace and hard <= 11  # as `count_points`, without a call
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


# --- Settlement in the readable round: when a hand's payoff is certain, and what it is.


NOTHING = Fraction(0)
LOST = (-1, 1)  # profit per chip staked, as numerator and denominator
TIES = {"push": (0, 1), "lose": LOST, "replay": None}


def counts_as_natural(rules: Rules, hand: PlayedHand) -> bool:
    """Whether a hand is a natural under the rules, which may treat a split ace or ten differently."""
    if len(hand.ranks) != 2 or hand.points != 21 or rules.naturals == "none":
        return False
    if hand.split_from < 0:
        return not hand.exchanged or rules.exchange == "natural"
    return rules.split_tens_blackjack if hand.split_from >= TEN else rules.split_aces_blackjack


def is_settled(rules: Rules, hand: PlayedHand) -> bool:
    """Whether the payoff of a finished hand does not depend on further cards of the dealer."""
    if hand.ending == "natural":
        return rules.naturals != "both" or rules.peek or rules.natural_beats_natural
    if hand.ending == "bust":
        return rules.no_hole_loses != "original"
    if hand.ending in ("charlie", "surrendered") or (rules.player_21_wins and hand.points == 21):
        return True
    return rules.bonuses in ("at-once", "super-fun") and _bonus(rules, hand) > 1


def risks_bet(rules: Rules, seat: Seat) -> bool:
    """Whether a seat loses or wins by a dealer's natural apart from its hands."""
    return seat.insured or (rules.no_hole_loses == "original" and len(seat.hands) > 1)


def settle_seats(
    rules: Rules, seats: Sequence[Seat], dealer: Cards
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...], list[Event]]:
    """Settle all hands; return each seat's profit and replayed stake in initial bets, and the events."""
    net, tied = [], []
    events: list[Event] = []
    special = rules.naturals == "both" and dealer.natural
    for seat in seats:
        settled = settle_hands(rules, seat, dealer, special)
        events += settled
        net.append(add_amounts([hand.net for hand in settled]))
        tied.append(add_amounts([hand.tied for hand in settled]))
        if seat.insured:
            insurance = seat.bets * (Fraction(1) if special else Fraction(-1, 2))
            events.append(InsuranceSettled(seat.number, insurance))
            net[-1] += insurance
    return tuple(net), tuple(tied), events


def settle_hands(rules: Rules, seat: Seat, dealer: Cards, special: bool) -> list[Settled]:
    """Settle the finished hands of a seat; `special`: the dealer has a natural that counts as more than 21.

    If a dealer's natural takes only the original bet, a seat that has split loses it with its first hand. If it takes
    busted bets and one more, a seat loses that with the first hand that loses to the natural. If it takes busted bets
    and the original bets of the other hands, each of these loses one.
    """
    hands, settled = seat.hands, []
    for index, hand in enumerate(hands):
        times = _times_stake(rules, hand, dealer.points, special)
        stake = hand.stake - hand.free if times == LOST else hand.stake
        settled.append(_settled(seat.number, index, times, stake, rules.buy_in))
    if not special or rules.no_hole_loses == "all":
        return settled
    open_hands = [index for index, hand in enumerate(hands) if not is_settled(rules, hand)]
    losing = [index for index in open_hands if settled[index].net < 0]
    lost: dict[int, int | Fraction] = {}  # profits by hand, where a natural of the dealer changes them
    if rules.no_hole_loses == "original-and-busted":
        lost = dict.fromkeys(losing, -1)
    elif rules.no_hole_loses == "busted-plus-one":
        lost = {index: -1 if index == losing[0] else 0 for index in losing}
    elif len(hands) > 1:
        lost = dict.fromkeys(open_hands, 0)
        lost[0] = lost.get(0, settled[0].net) - 1
    else:
        lost = {index: -1 for index in open_hands if hands[index].ending != "natural"}
    for index, net in lost.items():
        tied = settled[index].tied if index not in open_hands else NOTHING
        settled[index] = Settled(seat.number, index, Fraction(net), tied)
    return settled


def _times_stake(rules: Rules, hand: PlayedHand, dealer: int, special: bool) -> tuple[int, int] | None:
    """Profit per chip staked, as numerator and denominator; None for a tie that is replayed."""
    if hand.ending == "bust":
        return LOST
    if hand.ending == "surrendered":
        return -1, 2
    bonus = _bonus(rules, hand)
    if hand.ending == "charlie" and (rules.bonuses == "none" or bonus == 1):
        return 1, 1
    natural = counts_as_natural(rules, hand)
    if natural and (not special or rules.natural_beats_natural):
        return rules.blackjack_pays.as_integer_ratio()
    if (rules.bonuses in ("at-once", "super-fun") and bonus > 1) or (
        rules.player_21_wins and hand.points == 21 and not natural
    ):
        return bonus.as_integer_ratio()
    if rules.dealer_22_pushes and dealer == 22:
        return 0, 1
    if hand.points == dealer and (natural == special or not (natural or rules.natural_beats_21)):
        return TIES[rules.ties]
    if special or hand.points < dealer <= 21:
        return LOST
    return bonus.as_integer_ratio()


def _bonus(rules: Rules, hand: PlayedHand) -> Fraction | int:
    if rules.bonuses == "none":
        return 1
    if rules.bonuses == "super-fun":
        return 2 if hand.points == 21 and len(hand.ranks) >= 5 and not hand.doubled else 1
    meld = sorted(hand.ranks) in ([5, 6, 7], [6, 6, 6])
    if rules.bonuses == "spanish":
        if hand.points != 21 or hand.doubled or (len(hand.ranks) < 5 and not meld):
            return 1
        if meld:
            return _suited_bonus(tuple(sorted(hand.ranks)), 1 if rules.infinite else int(rules.decks), rules.infinite)
        return Fraction(3, 2) if len(hand.ranks) <= 5 else min(len(hand.ranks) - 4, 3)
    if meld:
        return 3 if hand.ranks[0] == hand.ranks[1] else 2
    return {0: 1, 1: 2}.get(max(len(hand.ranks) - 4, 0), 3)


@lru_cache(maxsize=64)
def _suited_bonus(ranks: tuple[int, ...], decks: int, replaced: bool) -> Fraction:
    """The mean over the suits of three cards of what they win: 3:2, 2:1 if suited, 3:1 in spades (suit 0)."""
    ways: Counter[Fraction | int] = Counter()
    for cards in itertools.product(range(4 * decks), repeat=3):  # copies of a card of each of the ranks
        if not replaced and any(ranks[i] == ranks[j] and cards[i] == cards[j] for i, j in ((0, 1), (0, 2), (1, 2))):
            continue
        suits = {card % 4 for card in cards}
        ways[Fraction(3, 2) if len(suits) > 1 else 3 if suits == {0} else 2] += 1
    return Fraction(sum(pays * count for pays, count in ways.items())) / ways.total()


@lru_cache(maxsize=4096)  # few amounts occur, and exact arithmetic is slow
def _settled(seat: int, index: int, times: tuple[int, int] | None, stake: int, buy_in: int) -> Settled:
    bets = Fraction(stake, buy_in)
    net, tied = (NOTHING, bets) if times is None else (Fraction(*times) * bets, NOTHING)
    return Settled(seat, index, net, tied)


def add_amounts(amounts: Sequence[Fraction]) -> Fraction:
    return amounts[0] if len(amounts) == 1 else sum(amounts, NOTHING)


# --- The actions that a seat of the readable round may take.


def legal_letters(rules: Rules, seat: Seat, hand: PlayedHand) -> str:
    """Letters of the actions that a seat may take on a hand; none if the hand has ended."""
    if len(hand.ranks) == rules.charlie:
        return ""
    if hand.points >= 21 and (hand.points > 21 or counts_as_natural(rules, hand) or rules.stand_on_21):
        return ""
    if hand.doubled:
        again = rules.doubles_again(hand.points, hand.soft, hand.doubled)
        return "S" + "D" * again + "R" * rules.surrender_after_double if again or rules.surrender_after_double else ""
    first = len(hand.ranks) == 2 and hand.moves == 0
    affordable = not rules.raises or seat.chips >= hand.stake
    pair = (
        first
        and affordable
        and _is_pair(rules, hand.ranks)
        and len(seat.hands_of(hand.bet)) < rules.hand_limit(aces=hand.ranks[0] == 0)
        and (hand.split_from != 0 or rules.resplit_aces)
    )
    if hand.split_from == 0 and not rules.hit_split_aces:
        return "SP" if pair else ""
    letters, whole = "SH", hand.split_from < 0
    paid = affordable and rules.doubles(hand.points, hand.soft, first)
    if (paid or doubles_free(rules, hand)) and (whole or rules.double_after_split):
        letters += "D"
    if pair:
        letters += "P"
    may_surrender = rules.surrender != "none" and (whole or rules.surrender_after_split)
    if may_surrender and (first or rules.surrender_cards == "any"):
        letters += "R"
    return letters + "B" if rules.raises else letters


def doubles_free(rules: Rules, hand: Cards) -> bool:
    return rules.doubles_free(hand.points, hand.soft, first=len(hand.ranks) == 2)


def is_free(letter: str, view: View) -> bool:
    """Whether the house pays for the bet that an action adds."""
    hand = Cards([parse_rank(card) for card in view.hand])
    return doubles_free(view.rules, hand) if letter == "D" else letter == "P" and view.rules.splits_free(hand.ranks[0])


def _is_pair(rules: Rules, ranks: list[int]) -> bool:
    one, other = ranks
    if rules.split_by == "value":
        return VALUES[one] == VALUES[other]
    return rules.split_by == "rank" and one == other

"""The events of a round in sentences, for the person in seat 1; see `bjsim play`."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from bjsim.sim.game.actions import NAMES, Action
from bjsim.sim.game.cards import HIDDEN, Hand
from bjsim.sim.game.events import (
    DEALER,
    Acted,
    Dealt,
    Ending,
    Event,
    HandEnded,
    InsuranceSettled,
    Insured,
    Peeked,
    Revealed,
    Settled,
    Shuffled,
    describe,
)

PERSON = 0  # the seat that is called you
WINS, LOSES = "green", "red"
REASONS = {"natural": "blackjack", "bust": "bust", "surrendered": "surrender", "charlie": "enough cards"}

Line = tuple[str, str | None]  # with its colour


def format_chips(amount: Fraction | float) -> str:
    """An amount in words: `1 chip`, `7.5 chips`; at most two decimals."""
    number = f"{float(amount):.2f}".rstrip("0").rstrip(".")
    return f"{number} {'chip' if number == '1' else 'chips'}"


def format_cards(cards: str) -> str:
    """Cards and their total: `A 6, soft 17`."""
    if not cards:
        return "No cards yet"
    hand = Hand(cards)
    return f"{' '.join(cards)}, {'soft ' if hand.soft else ''}{hand.points}"


class Narrator:
    """Narrates the events of one round.

    `naturals` says whether an ace and a ten of the dealer are more than 21; `bets` is the number of equal bets of
    a seat, each with a hand. Names are by seat; that of the person is not used.
    """

    def __init__(self, names: Sequence[str], bet: int, naturals: bool, bets: int = 1) -> None:
        self.naturals = naturals
        self.names = names
        self.bet = bet
        self.hands = [[""] * bets for _ in names]
        self.stakes = [[bet] * bets for _ in names]
        self.dealer = ""
        self.hidden = False  # whether the hole card is face down
        self._natural = False  # whether a peek has found one
        self._count = 0  # events narrated
        self._dealing = True
        self._order: list[int] = []  # of the holders in the deal
        self._acted = ""  # letter of the last action
        self._endings: dict[tuple[int, int], Ending] = {}

    def narrate(self, events: Sequence[Event]) -> Iterator[Line]:
        """Yield a line for each event since the last call. The deal has one line for each holder of cards."""
        for event in events[self._count :]:
            if self._dealing and isinstance(event, Dealt):
                self._take(event)
                if event.seat not in self._order:
                    self._order.append(event.seat)
                continue
            if not isinstance(event, Shuffled):
                yield from self._narrate_deal()
            yield from self._narrate(event)
        self._count = len(events)
        yield from self._narrate_deal()

    def hand_name(self, seat: int, hand: int) -> str:
        """`Hand 2: ` if the seat has several hands, else empty."""
        return f"Hand {hand + 1}: " if len(self.hands[seat]) > 1 else ""

    def _narrate_deal(self) -> Iterator[Line]:
        if self._dealing:
            for seat in self._order:
                if seat == DEALER:
                    yield self._dealer_holding(), None
                    continue
                for hand, cards in enumerate(self.hands[seat]):
                    yield self._sentence(seat, hand, "have", format_cards(cards)), None
        self._dealing = False

    def _dealer_holding(self) -> str:
        if self.hidden or len(self.dealer) < 2:
            return f"The dealer has {' '.join(self.dealer + HIDDEN * self.hidden)}."
        return f"The dealer has {_dealer(self.dealer)}."

    def _narrate(self, event: Event) -> Iterator[Line]:
        match event:
            case Shuffled():
                yield "The shoe is shuffled.", None
            case Dealt(seat=seat):
                yield self._narrate_card(event), None
            case Peeked(natural=True):
                self._natural = True
                if not self.hidden:
                    yield "The dealer has blackjack.", None
            case Peeked():
                yield "The dealer checks for blackjack: no blackjack.", None
            case Revealed(card):
                self.dealer, self.hidden = self.dealer + card, False
                text = f"{' '.join(self.dealer)}, blackjack" if self._natural else _dealer(self.dealer)
                yield f"The dealer turns over {card}: {text}.", None
            case Acted(seat, hand, action):
                if line := self._narrate_action(seat, hand, action):
                    yield line, None
            case HandEnded(seat, hand, ending):
                self._endings[seat, hand] = ending
                if line := self._narrate_end(seat, hand, ending):
                    yield line, None
            case Insured(seat):
                stake = format_chips(Fraction(sum(self.stakes[seat]), 2))
                yield self._sentence(seat, None, "take", f"insurance for {stake}"), None
            case InsuranceSettled(seat, net):
                yield self._narrate_amount(seat, None, net, "insurance")
            case Settled():
                yield self._narrate_payoff(event)
            case _:
                yield describe(event, self.names), None

    def _take(self, event: Dealt) -> None:
        if event.face_down:
            self.hidden = True
        elif event.seat == DEALER:
            self.dealer += event.card
        else:
            self.hands[event.seat][event.hand] += event.card

    def _narrate_card(self, event: Dealt) -> str:
        self._take(event)
        if event.seat == DEALER:
            if event.face_down:
                return "The dealer takes a card face down."
            return f"The dealer draws {event.card}: {_dealer(self.dealer)}."
        acted, self._acted = self._acted, ""
        cards = self.hands[event.seat][event.hand]
        bust = ", bust" if Hand(cards).points > 21 else ""
        verbs = {"H": ("hit and get", "hits and gets"), "D": ("double and get", "doubles and gets")}
        you, others = verbs.get(acted if len(cards) > 2 else "", ("get", "gets"))
        rest = f"{event.card}: {format_cards(cards)}{bust}"
        return self._sentence(event.seat, event.hand, you, rest, others)

    def _narrate_action(self, seat: int, hand: int, action: Action) -> str:
        letter, hands, stakes = action.letter, self.hands[seat], self.stakes[seat]
        self._acted = letter
        if letter == "H":
            return ""  # in the line of the card
        if letter == "D":
            stakes[hand] *= 2
            return ""
        if letter == "A":
            stakes[hand] *= 2
            return self._sentence(seat, hand, "attack", f"with {format_chips(stakes[hand])}")
        if letter == "X":
            b, d = (cards[1] for cards in hands)
            hands[:] = [hands[0][0] + d, hands[1][0] + b]
            self._acted = ""
            both = ", and ".join(map(format_cards, hands))
            return self._sentence(seat, None, "exchange", f"{b} and {d}: {both}")
        if letter == "P":
            line = self._sentence(seat, hand, "split", " and ".join(hands[hand]))
            hands[hand : hand + 1], stakes[hand : hand + 1] = list(hands[hand]), [stakes[hand]] * 2
            return line
        if letter == "B":
            stakes[hand] += action.amount
            return self._sentence(seat, hand, "raise", f"by {format_chips(action.amount)} to {stakes[hand]}")
        on = f"on {Hand(hands[hand]).points}" if letter == "S" else ""
        return self._sentence(seat, hand, NAMES[letter], on)

    def _narrate_end(self, seat: int, hand: int, ending: Ending) -> str:
        acted, self._acted = self._acted, ""
        points = Hand(self.hands[seat][hand]).points
        if ending == "natural":
            return self._sentence(seat, hand, "have", "blackjack", "has")
        if ending == "charlie":
            return self._sentence(seat, hand, "have", f"{len(self.hands[seat][hand])} cards, which win", "has")
        if ending == "move-cap":
            return self._sentence(seat, hand, "stand", f"on {points}: there are no more moves")
        if ending == "stood" and acted == "" and self._is_split_ace(seat, hand):
            return self._sentence(seat, hand, "stand", f"on {points}: a split ace gets one card")
        return ""

    def _is_split_ace(self, seat: int, hand: int) -> bool:
        cards = self.hands[seat][hand]
        return len(self.hands[seat]) > 1 and len(cards) == 2 and cards[0] == "A"

    def _narrate_payoff(self, event: Settled) -> Line:
        seat, hand = event.seat, event.hand
        if event.tied:
            again = format_chips(event.tied * self.bet)
            return self._sentence(seat, hand, "tie", f"{self._reason(seat, hand)}: {again} bet again"), None
        reason = self._reason(seat, hand)
        if event.net == 0:
            return self._sentence(seat, hand, "get", f"the bet back ({reason})"), None
        return self._narrate_amount(seat, hand, event.net, reason)

    def _narrate_amount(self, seat: int, hand: int | None, net: Fraction, reason: str) -> Line:
        won = net > 0
        verb, others = ("win", "wins") if won else ("lose", "loses")
        colour = (WINS if won else LOSES) if seat == PERSON else None
        return self._sentence(seat, hand, verb, f"{format_chips(abs(net) * self.bet)} ({reason})", others), colour

    def _reason(self, seat: int, hand: int) -> str:
        ending = self._endings.get((seat, hand))
        if ending in REASONS:
            return REASONS[ending]
        cards = Hand(self.dealer)
        against = " against bust" if cards.points > 21 else f" against {cards.points}"
        if self.naturals and cards.natural:
            against = " against blackjack"
        is_finished = cards.points >= 17  # else the hand has won or lost before
        return f"{Hand(self.hands[seat][hand]).points}{against if is_finished else ''}"

    def _sentence(self, seat: int, hand: int | None, verb: str, rest: str = "", others: str = "") -> str:
        """A sentence about a seat or one of its hands. verb: for the person; others: else, by default with an s."""
        if seat == PERSON:
            words = f"you {verb}"
        else:
            words = f"{self.names[seat]} {others or {'have': 'has'}.get(verb, f'{verb}s')}"
        text = words if hand is None else self.hand_name(seat, hand) + words
        text += f" {rest}." if rest else "."
        return text[0].upper() + text[1:] if seat == PERSON else text


def _dealer(cards: str) -> str:
    return f"{format_cards(cards)}{', bust' if Hand(cards).points > 21 else ''}"

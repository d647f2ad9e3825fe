"""Events: what happens in a round, in order. Each kind has its own class; consumers `match` on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from bjsim.sim.game.actions import NAMES, Action
from bjsim.sim.game.cards import HIDDEN
from bjsim.sim.game.presets import PRESETS
from bjsim.sim.game.rule_text import written
from bjsim.sim.game.rules import Rules

DEALER = -1  # the dealer's seat number in an event
Ending = Literal["natural", "charlie", "21", "bust", "stood", "surrendered", "move-cap"]
ENDED_BY: dict[str, Ending] = {"S": "stood", "R": "surrendered"}  # by the letter of an action


@dataclass(frozen=True, slots=True)
class Shuffled:
    """The shoe was shuffled: before the deal, or before a card, because it had run out."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """A card left the shoe for a hand of `seat`, or for DEALER; the dealer's hole card is `face_down`."""

    card: str
    seat: int = DEALER
    hand: int = 0
    face_down: bool = False


@dataclass(frozen=True, slots=True)
class Peeked:
    """The dealer checked for a natural. natural: whether there is one, which ends the round."""

    natural: bool


@dataclass(frozen=True, slots=True)
class Revealed:
    """The dealer turned the hole card over. card: its letter."""

    card: str


@dataclass(frozen=True, slots=True)
class Acted:
    """A player acted on a hand of a seat."""

    seat: int
    hand: int
    action: Action


@dataclass(frozen=True, slots=True)
class Insured:
    """A seat took insurance."""

    seat: int


@dataclass(frozen=True, slots=True)
class InsuranceSettled:
    """A seat's insurance was settled. net: its profit in initial bets."""

    seat: int
    net: Fraction


@dataclass(frozen=True, slots=True)
class HandEnded:
    """A hand of a seat ended. ending: the reason."""

    seat: int
    hand: int
    ending: Ending


@dataclass(frozen=True, slots=True)
class Settled:
    """A hand of a seat was settled. net: its profit; tied: its stake if it is tied and replayed; in initial bets."""

    seat: int
    hand: int
    net: Fraction
    tied: Fraction


ENDINGS = {"21": "has 21", "stood": "hand ends", "surrendered": "surrenders", "move-cap": "used all its moves"}
Event = Shuffled | Dealt | Peeked | Revealed | Acted | Insured | InsuranceSettled | HandEnded | Settled
_FACE_DOWN = Dealt(HIDDEN, face_down=True)


def as_seen(event: Event) -> Event:
    """An event as everybody at the table sees it: a face-down card is `#`. It follows as `Revealed`, in every round."""
    return _FACE_DOWN if isinstance(event, Dealt) and event.face_down else event


def describe(event: Event, names: Sequence[str]) -> str:
    """Describe an event in words. names: of the players, by seat."""
    match event:
        case Shuffled():
            return "the shoe is shuffled"
        case Peeked(natural):
            return f"dealer peeks: {'a natural' if natural else 'no natural'}"
        case Revealed(card):
            return f"dealer turns over {card}"
        case Dealt(card) if event.seat == DEALER:
            return f"dealer: {card}{' face down' if event.face_down else ''}"
        case Insured(seat):
            return f"{names[seat]}: takes insurance"
        case InsuranceSettled(seat, net):
            return f"{names[seat]}: insurance, profit {net}"
    name = names[event.seat] + (f", hand {event.hand + 1}" if event.hand else "")
    match event:
        case Dealt(card):
            return f"{name}: {card}"
        case Acted(action=action):
            if action.letter in "AX":
                return f"{name}: {'attacks' if action.letter == 'A' else 'exchanges the second cards of two hands'}"
            return f"{name}: {NAMES[action.letter]}{f' {action.amount}' if action.letter == 'B' else ''}"
        case HandEnded(ending=ending):
            return f"{name}: {ENDINGS.get(ending, ending)}"
        case Settled(net=net, tied=tied):
            return f"{name}: {'tied, replayed' if tied else f'profit {net}'}"


# --- The result of a readable round.


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


# --- A game in the words of the trade, for tables, pictures and pages.


SAID = (
    "decks", "cut", "dealer_stands_on", "hit_soft_17", "dealer_shows", "blackjack_pays", "double_after_split",
    "double_on", "surrender",
)  # fmt: skip
UNSAID = {("dealer_shows", "up"), ("double_on", "any"), ("double_on", "never"), ("surrender", "none")}  # without a word


def game_text(rules: Rules, shoe: str | None = None) -> str:
    """A game with its shoe and the rules that matter most, in the words of the trade.

    Other rules that differ from the namesake preset's are listed. `shoe` is its cards, if not whole decks.
    """
    dealer = "H17" if rules.hit_soft_17 else "S17"
    if rules.dealer_stands_on > 17:
        dealer = f"dealer stands on {rules.dealer_stands_on}"
    words = [f"shoe {shoe}" if shoe else _shoe(rules), dealer]
    if rules.dealer_shows == "both":
        words.append("both dealer's cards shown")
    if rules.naturals != "none":
        pays = rules.blackjack_pays
        words.append(f"naturals {pays.numerator}:{pays.denominator}")
    if rules.split_by != "never" and rules.double_on != "never":
        words.append("DAS" if rules.double_after_split else "no DAS")
    if rules.surrender != "none":
        words.append(f"{rules.surrender} surrender")
    if rules.double_on not in ("any", "never"):
        words.append(f"double {rules.double_on}")
    if rules.deal.count("d") == 1:
        words.append("no hole card")
    if preset := PRESETS.get(rules.name):
        usual = preset.rules.to_dict()
        words += [
            f"{name} = {written(value)}"
            for name, value in rules.to_dict().items()
            if value != usual[name] and (name not in SAID or (name, value) in UNSAID)
        ]
    return f"{rules.name}: {', '.join(words)}"


def _shoe(rules: Rules) -> str:
    if rules.infinite:
        return "infinite shoe"
    cut = "" if rules.cut == 1 else f" cut at {rules.cut}" if rules.cut else " for every round"
    return format_decks(rules) + cut


def format_decks(rules: Rules) -> str:
    """The size of a finite shoe in words."""
    return "1 deck" if rules.decks == 1 else f"{rules.decks} decks"

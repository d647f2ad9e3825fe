"""The text of `bjsim play`: events of a round, prompts, the answers that are read, and the coach's comments."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from bjsim.errors import RunFailed
from bjsim.report.parts import counted, percent, typeset
from bjsim.sim.game.actions import ATTACK, EXCHANGE, INSURANCE, NAMES, Action, View
from bjsim.sim.game.cards import HIDDEN, RANKS, Hand
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
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.seats import is_free
from bjsim.strategies.evaluation.coach import Coach, Judgement
from bjsim.strategies.evaluation.drill import Record

# --- The events of a round in sentences, for the person in seat 1; see `bjsim play`.


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
                    is_open = not self.hidden and len(self.dealer) > 1
                    holding = self._describe_dealer() if is_open else " ".join(self.dealer + HIDDEN * self.hidden)
                    yield f"The dealer has {holding}.", None
                    continue
                for hand, cards in enumerate(self.hands[seat]):
                    yield self._sentence(seat, hand, "have", format_cards(cards)), None
        self._dealing = False

    def _narrate(self, event: Event) -> Iterator[Line]:
        match event:
            case Shuffled():
                yield "The shoe is shuffled.", None
            case Dealt(seat=seat):
                yield self._narrate_card(event), None
            case Peeked(natural=True):
                pass  # the dealer's cards, which are open now or will be at once, say it
            case Peeked():
                yield "The dealer checks for blackjack: no blackjack.", None
            case Revealed(card):
                self.dealer, self.hidden = self.dealer + card, False
                yield f"The dealer turns over {card}: {self._describe_dealer()}.", None
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

    def _describe_dealer(self) -> str:
        if self._dealer_has_blackjack():
            return f"{' '.join(self.dealer)}, blackjack"
        return f"{format_cards(self.dealer)}{', bust' if Hand(self.dealer).points > 21 else ''}"

    def _dealer_has_blackjack(self) -> bool:
        return self.naturals and Hand(self.dealer).natural

    def _narrate_card(self, event: Dealt) -> str:
        self._take(event)
        if event.seat == DEALER:
            if event.face_down:
                return "The dealer takes a card face down."
            return f"The dealer draws {event.card}: {self._describe_dealer()}."
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
        cards = self.hands[seat][hand]
        points = Hand(cards).points
        is_split_ace = len(self.hands[seat]) > 1 and len(cards) == 2 and cards[0] == "A"
        if ending == "natural":
            return self._sentence(seat, hand, "have", "blackjack", "has")
        if ending == "charlie":
            return self._sentence(seat, hand, "have", f"{len(cards)} cards, which win", "has")
        if ending == "move-cap":
            return self._sentence(seat, hand, "stand", f"on {points}: there are no more moves")
        if ending == "stood" and acted == "" and is_split_ace:
            return self._sentence(seat, hand, "stand", f"on {points}: a split ace gets one card")
        return ""

    def _narrate_payoff(self, event: Settled) -> Line:
        seat, hand = event.seat, event.hand
        if event.tied:
            again = format_chips(event.tied * self.bet)
            return self._sentence(seat, hand, "tie", f"{self._reason(seat, hand)}: {again} bet again"), None
        reason = self._reason(seat, hand, event.net > 0)
        if event.net == 0:
            return self._sentence(seat, hand, "get", f"the bet back ({reason})"), None
        return self._narrate_amount(seat, hand, event.net, reason)

    def _narrate_amount(self, seat: int, hand: int | None, net: Fraction, reason: str) -> Line:
        won = net > 0
        verb, others = ("win", "wins") if won else ("lose", "loses")
        colour = (WINS if won else LOSES) if seat == PERSON else None
        return self._sentence(seat, hand, verb, f"{format_chips(abs(net) * self.bet)} ({reason})", others), colour

    def _reason(self, seat: int, hand: int, is_won: bool = False) -> str:
        ending = self._endings.get((seat, hand))
        if ending in REASONS:
            return REASONS[ending]
        points, dealer = Hand(self.hands[seat][hand]).points, Hand(self.dealer).points
        if dealer < 17 or (is_won and points <= dealer <= 21):
            return f"{points}"  # whose result does not depend on the dealer's hand, such as that of a bonus
        if self._dealer_has_blackjack():
            return f"{points} against blackjack"
        return f"{points} against {'bust' if dealer > 21 else dealer}"

    def _sentence(self, seat: int, hand: int | None, verb: str, rest: str = "", others: str = "") -> str:
        """A sentence about a seat or one of its hands. verb: for the person; others: else, by default with an s."""
        if seat == PERSON:
            words = f"you {verb}"
        else:
            words = f"{self.names[seat]} {others or {'have': 'has'}.get(verb, f'{verb}s')}"
        text = words if hand is None else self.hand_name(seat, hand) + words
        text += f" {rest}." if rest else "."
        return text[0].upper() + text[1:] if seat == PERSON else text


# --- Questions and answers.


UNBROKEN = "\N{NO-BREAK SPACE}"  # in a text to print: a space where the line is not folded
STAKES = {"D": 1.0, "P": 1.0, "I": 0.5, "A": 1.0}  # further stakes that an action needs
Say = Callable[[str, str | None], object]  # takes a line and its colour
SYNONYMS = {"stay": "S", "card": "H", "dd": "D", "double down": "D", "surr": "R", "bet": "B"}
SYNONYMS |= dict.fromkeys(("exchange", "switch", "swap"), "X") | {"keep": "S"}
SYNONYMS |= dict.fromkeys(("insurance", "insure"), "I") | dict.fromkeys(("no", "n"), "S")
ORDER = "XAIHSDPRB"  # in which moves are listed
QUIT = ("q", "quit", "exit")
HELP = ("?", "help")
RAISE = re.compile(r"(?:b|bet|raise)(?:\s*by)?\s*([0-9]{1,12})(?: chips?)?")
EXPLAINED = {
    "S": "takes no more cards",
    "H": "takes a card",
    "D": "doubles the bet and takes exactly one card",
    "P": "makes two hands of a pair, each with the same bet",
    "R": "gives up half of the bet",
    "B": "adds chips to the bet, such as b 20",
    "A": "doubles the bet before the cards are dealt",
    "X": "exchanges the second cards of both hands",
    "I": "bets half as much that the dealer has blackjack; pays 2:1",
}

DECLINED = {
    ATTACK: "leaves the bet as it is",
    INSURANCE: "leaves the bet as it is",
    EXCHANGE: "leaves the hands as they are",
}


def further_stake(letter: str, view: View) -> float:
    """The chips that an action needs."""
    bets = view.rules.bets if letter == "I" else 1
    return 0.0 if is_free(letter, view) else STAKES.get(letter, 0.0) * view.stake * bets


def describe_hand(view: View, hand_name: str = "") -> str:
    """What a person decides on: a hand, which may have a name, or the two hands of an exchange."""
    if "X" in view.legal:
        return f"{format_cards(view.hand)}, and {format_cards(view.others)}"
    return f"{hand_name}{format_cards(view.hand)}"


class EndOfInput(RunFailed):
    """There are no more answers."""


class PersonLeft(EndOfInput):
    """The person wants to stop."""


def keys(view: View) -> str:
    """The keys of the possible moves in words: `h hit, s stand`."""
    return ", ".join(f"{letter.lower()}{UNBROKEN}{name}" for letter, name in move_names(view).items())


def move_names(view: View) -> dict[str, str]:
    """The names of the possible moves by letter, in the order of ORDER; `free double` if the house pays for it."""
    letters = sorted(view.legal, key=ORDER.find)
    return {letter: "free " * is_free(letter, view) + move_name(letter, view.legal) for letter in letters}


def move_name(letter: str, legal: Collection[str]) -> str:
    """The name of an action among others, which show whether the question is about insurance."""
    if "A" in legal:
        return {"A": "attack", "S": "no attack"}[letter]
    if "X" in legal:
        return {"X": "exchange", "S": "keep"}[letter]
    return {"I": "insurance", "S": "no insurance"}[letter] if "I" in legal else NAMES.get(letter, "insurance")


def parse_action(text: str, view: View) -> Action | str:
    """The action that an answer names, or what is wrong with it."""
    text = text.lower()
    words = {**SYNONYMS, **{name: letter for letter, name in NAMES.items()}, **{key.lower(): key for key in ORDER}}
    words |= {name: letter for letter, name in move_names(view).items()}
    if view.legal in DECLINED:
        words |= dict.fromkeys(("yes", "y"), view.legal.replace("S", ""))
    raised = RAISE.fullmatch(text)
    letter = "B" if raised else words.get(text, "")
    if not letter:
        return f"{text[:20] or 'An empty line'} is not a move here: {keys(view)}, q quit, ? help"
    if letter not in view.legal:
        name = NAMES.get(letter) or move_name(letter, letter)
        return f"{name.capitalize()} is not possible here: {keys(view)}"
    if letter != "B":
        return Action(letter)
    if raised is None or int(raised[1]) > view.chips:
        return f"Raise by 0 to {format_chips(view.chips)}, such as b {min(view.stake, view.chips)}"
    return Action("B", int(raised[1]))


class CoachTally:
    """Counts decisions, mistakes and their costs; `record` notes them for later drills."""

    def __init__(self, coach: Coach, record: Record) -> None:
        self.coach = coach
        self.record = record
        self.decisions = 0
        self.misses: list[Judgement] = []

    def judge(self, view: View, action: Action) -> list[tuple[str, str | None]]:
        """The coach's comment on a decision, as lines with colours."""
        judgement = self.coach.judge(view, action)
        if judgement is None:
            return []
        self.decisions += 1
        if judgement.cell:
            self.record.note(judgement.cell, judgement.is_mistake)
        if not judgement.is_mistake:
            return [(f"Coach: {praise(judgement)}", "green")]
        self.misses.append(judgement)
        chips = judgement.cost * view.stake
        cost = format_bets(judgement.lost) + (f" ({chips:.2f} chips)" if 0.005 <= chips < math.inf else "")
        return [(f"Coach: {blame(judgement)} costs {cost}.", "yellow"), (f"Coach: {self.total()}.", None)]

    def explain(self, view: View) -> list[str]:
        valued = view.legal.replace("B", "")
        judgement = self.coach.judge(view, Action(valued[0])) if valued else None
        return value_table(judgement) if judgement else ["Coach: this hand has no exact values."]

    def total(self) -> str:
        if not self.decisions:
            return "no decisions judged"
        mistakes = counted(len(self.misses), "mistake") if self.misses else "no mistakes"
        lost = f", {format_bets(sum(miss.lost for miss in self.misses))} lost" if self.misses else ""
        return f"{mistakes} in {counted(self.decisions, 'decision')}{lost}"


def format_bets(amount: float) -> str:
    """An expected loss in initial bets; it is infinite where endless splits pay without limit."""
    if math.isinf(amount):
        return "infinitely many bets"
    return f"{amount:.4f} bets" if amount >= 0.00005 else f"{amount:.1e} bets"


def praise(judgement: Judgement) -> str:
    """The comment on a decision that is not a mistake."""
    action = move_name(judgement.action, judgement.values)
    if judgement.cost:
        best = move_name(judgement.best, judgement.values)
        better = f"with exactly these cards {best} is better by {format_bets(judgement.cost)}"
        return f"right, the best chart says {action}; {better}."
    if len(judgement.values) == 1:
        return f"right: {action} is the only option."
    if judgement.margin == 0:
        return "right, no move is better."
    return f"right, {action} is best by {format_bets(judgement.margin)}."


def blame(judgement: Judgement) -> str:
    """The comment on a mistake, before its cost."""
    best, taken = (move_name(letter, judgement.values) for letter in (judgement.best, judgement.action))
    return f"{best} is best; {taken}"


def value_table(judgement: Judgement) -> list[str]:
    """The value of every move and what it loses, as lines; the best move first."""
    values = judgement.values
    names = {letter: move_name(letter, values) for letter in sorted(values, key=lambda letter: -values[letter])}
    width = max(map(len, names.values()))
    lines = ["Expected profit in initial bets, with best play afterwards:"]
    for letter, name in names.items():
        cost = replace(judgement, action=letter).cost
        note = f"{cost:.6f} less" if cost else "best"
        chart = ", the best chart's move" if letter == judgement.chart and cost else ""
        lines.append(f"  {name:{width}} {values[letter]:10.6f}  {note}{chart}")
    return lines


def describe_misses(misses: Iterable[Judgement]) -> list[str]:
    """Every mistake with the right move and its cost, as lines; the costliest first."""
    found: dict[str, list[float]] = {}
    for miss in misses:
        best, taken = (move_name(letter, miss.values) for letter in (miss.best, miss.action))
        hand = describe_hand(miss.view)
        if "X" not in miss.values:
            hand = format_cards("".join(sorted(miss.view.hand, key=RANKS.index)))
        text = f"{hand} against {' '.join(miss.view.dealer)}: {best}, not {taken}"
        found.setdefault(text, []).append(miss.lost)
    return [
        f"Missed: {text}: {format_bets(sum(costs))}" + (f" in {len(costs)} times." if len(costs) > 1 else ".")
        for text, costs in sorted(found.items(), key=lambda item: -sum(item[1]))
    ]


def parse_bet(text: str, most: int, usual: int) -> int | str:
    """The bet that an answer names, or what is wrong with it."""
    number = text.lower().removesuffix("s").removesuffix("chip").strip()
    if number.isascii() and number.isdigit() and len(number) <= 12 and 1 <= int(number) <= most:
        return int(number)
    return f"{text.lower()[:20]} is not a bet: type 1 to {most}, Enter for {usual}"


# --- Why an action is the best.


STANDS_ON = 17  # the dealer, in the games below
PLAIN: dict[str, object] = {  # rules without which a hand's value says little in a sentence
    "ties": "push", "dealer_22_pushes": False, "bonuses": "none", "charlie": "none", "free_doubles": "none",
    "free_splits": "none", "player_21_wins": False, "exchange": "none", "dealer_stands_on": STANDS_ON,
}  # fmt: skip


def reason(cards: str, values: Mapping[str, float], rules: Rules, left: Mapping[str, float]) -> str:
    """Why the best action is the best, from the values of actions and the cards that may come, by rank.

    Empty for a game that pays in other ways than the sentences say, and for actions of few games.
    """
    best, *others = sorted(values, key=lambda letter: -values[letter])
    hand = Hand(cards)
    if not {"S", "H"} <= values.keys() or any(getattr(rules, name) != plain for name, plain in PLAIN.items()):
        return ""
    if best == "P":
        together, alone = (typeset(f"{values[letter]:+.3f}") for letter in ("P", others[0]))
        return (
            f"Two hands that begin with {cards[0].replace('T', '10')} have {together} bets together; "
            f"one hand of {hand.points} has {alone}."
        )
    if best == "D":
        won = typeset(f"{values['D']:+.3f}")
        return (
            f"Twice the bet on one card wins {won} bets on average. That is more than with the "
            f"freedom to draw again, by {percent(values['D'] - values['H'], 2, sign='')} of the bet."
        )
    if best == "R":
        return f"Every other action loses more than half of the bet, the next best {-values[others[0]]:.3f}."
    if best not in "HS":
        return ""
    stands = values["S"]
    if hand.points < STANDS_ON:
        why = f"Standing wins only when the dealer goes over: {50 * (1 + stands):.0f} times in 100"
    else:
        why = f"Standing on {hand.points} {'wins' if stands > 0 else 'loses'} {abs(stands):.3f} of a bet on average"
    broken = sum(weight for card, weight in left.items() if Hand(cards + card).points > 21) / sum(left.values())
    breaks = f"A card breaks you {100 * broken:.0f} times in 100" if broken else "No single card can break you"
    if best == "H" and broken:
        breaks += f", and that is still better, by {percent(values['H'] - stands, 2, sign='')} of the bet"
    return f"{why}. {breaks}."

"""A recorded round step by step, in words: what happened, what every bot was told, and how the table lay after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.play.match import Recorded, events_of
from bjsim.bots.protocol import argv_of
from bjsim.sim.game.actions import NAMES, Action, View
from bjsim.sim.game.cards import HIDDEN
from bjsim.sim.game.hand import Hand
from bjsim.sim.game.round import DEALER, Event


def place_of(record: Mapping[str, Any]) -> str:
    """Where a round stands, in words."""
    return (
        f"match {record['match'] + 1}, table {record['table'] + 1}, "
        f"sitting {record['sitting'] + 1}, hand {record['hand'] + 1}"
    )


class Listener(Recorded):
    """Plays the moves of a record again, and notes what it is told before each."""

    def __init__(self, name: str, moves: Sequence[str]) -> None:
        super().__init__(name, moves)
        self.told: list[list[str]] = []

    def decide(self, view: View) -> Action:
        self.told.append(argv_of(view))
        return super().decide(view)


def replay(contest: Contest, record: Mapping[str, Any], names: Sequence[str], why: str) -> dict[str, Any]:
    """A round step by step: each step is a line of text, and after it the dealer's cards and every seat as its chips
    and its hands, of each the cards, the stake and what was last said."""
    listeners = [Listener(names[bot], moves) for bot, moves in zip(record["seats"], record["moves"], strict=True)]
    events = events_of(contest.rules, record, listeners).events
    table = _Table(contest, record, listeners)
    return {
        "title": f"{why}: {place_of(record)}",
        "names": [seat.name for seat in table.seats],
        "steps": [[table.step(event), table.dealer_shown, table.seats_shown] for event in events],
        "net": record["net"],
    }


def shortened(hand: Mapping[str, Any]) -> dict[str, Any]:
    """A replay with 0 for every seat that a step leaves as it was: the page of a long match is half as large."""
    steps: list[list[Any]] = []
    before: list[Any] = [None] * len(hand["names"])
    for text, dealer, seats in hand["steps"]:
        steps.append([text, dealer, [0 if seat == old else seat for seat, old in zip(seats, before, strict=True)]])
        before = seats
    return {**hand, "steps": steps}


@dataclass
class _Hand:
    stake: int
    cards: str = ""
    said: str = ""
    paid: bool = False

    @property
    def points(self) -> int:
        return Hand(*self.cards).points


@dataclass
class _Seat:
    """A seat of a replay. held: chips before the round; won: of the hands paid so far; strikes: how many are left."""

    name: str
    held: int
    hands: list[_Hand]
    told: list[list[str]]
    faults: dict[int, Mapping[str, Any]]
    strikes: int
    won: Fraction = Fraction(0)
    moves: int = 0

    @property
    def chips(self) -> int:
        """What it holds beside its stakes. Half a chip is not paid, as in `whole_chips`."""
        return self.held + int(self.won) - sum(hand.stake for hand in self.hands if not hand.paid)


class _Table:
    """The table of a replay: an event changes it and is put into words."""

    def __init__(self, contest: Contest, record: Mapping[str, Any], listeners: Sequence[Listener]) -> None:
        self.buy_in = contest.rules.buy_in
        self.dealer = self.hole = ""
        faults = record.get("faults", ())
        self.seats = [
            _Seat(
                listener.name, held, [_Hand(self.buy_in)], listener.told,
                {fault["move"]: fault for fault in faults if fault["bot"] == bot},
                contest.strikes - record.get("spent", {}).get(bot, 0),
            )
            for bot, held, listener in zip(record["seats"], record["chips"], listeners, strict=True)
        ]  # fmt: skip

    @property
    def dealer_shown(self) -> str:
        return self.dealer + (HIDDEN if self.hole else "")

    @property
    def seats_shown(self) -> list[list[Any]]:
        return [[seat.chips, [[hand.cards, hand.stake, hand.said] for hand in seat.hands]] for seat in self.seats]

    def step(self, event: Event) -> str:
        """Change the table as the event says; returns the event in words."""
        if event.seat == DEALER:
            return self._dealer_step(event)
        seat = self.seats[event.seat]
        hand = seat.hands[event.hand]
        who = f"{seat.name} (hand {event.hand + 1})" if len(seat.hands) > 1 else seat.name
        if event.what == "card":
            hand.cards += event.detail
            return f"{who} gets {event.detail}: {hand.points}."
        if event.what == "action":
            return self._answer(seat, event.hand, who, event.detail)
        if event.what == "end":
            hand.said = event.detail
            return f"{who}: {event.detail}."
        return self._pay(seat, hand, who, Fraction(event.detail) * self.buy_in)

    def _dealer_step(self, event: Event) -> str:
        if event.what == "shuffle":
            return "The shoe is shuffled."
        if event.what == "hidden":
            self.hole = event.detail
            return "The dealer takes a card face down."
        if event.what == "peek" and event.detail == "none":
            return "The dealer looks at the card face down: no natural."
        if event.what == "peek":  # the round ends here, so that no event shows the card
            self._turn_over()
            return f"The dealer has a natural, {self.dealer}: nobody acts."
        if event.what == "shown":
            self._turn_over()
            return f"The dealer turns over {event.detail}: {Hand(*self.dealer).points}."
        self.dealer += event.detail
        return f"The dealer takes {event.detail}: {Hand(*self.dealer).points}."

    def _turn_over(self) -> None:
        self.dealer += self.hole
        self.hole = ""

    def _answer(self, seat: _Seat, place: int, who: str, answer: str) -> str:
        hand = seat.hands[place]
        told, fault = " ".join(seat.told[seat.moves]), seat.faults.get(seat.moves)
        asked = seat.strikes > 0
        seat.moves += 1
        seat.strikes -= fault is not None
        hand.said = answer
        if not asked:
            return f"{who} is out of strikes, is not asked and stands."
        amount = ""
        if answer[0] == "B":
            amount = f" by {answer[2:]}"
            hand.stake += int(answer[2:])
        elif answer == "D":
            hand.stake *= 2
        elif answer == "P":
            seat.hands[place : place + 1] = [_Hand(hand.stake, card, answer) for card in hand.cards]
        wrong = f" (fault, {fault['kind']}: {fault['detail']})" if fault else ""
        return f"{who} is told “{told}” and answers {answer}: {NAMES[answer[0]]}{amount}.{wrong}"

    def _pay(self, seat: _Seat, hand: _Hand, who: str, won: Fraction) -> str:
        chips = int(seat.won + won) - int(seat.won)
        seat.won += won
        hand.paid = True
        hand.said = f"{chips:+d}"
        if not chips:
            return f"{who} neither wins nor loses."
        return f"{who} {'wins' if chips > 0 else 'loses'} {abs(chips)} chips."

"""Rounds with scripted cards and decisions, and their events as lines of text."""

from __future__ import annotations

from collections.abc import Iterable

from bjsim.sim.game.actions import Action, View
from bjsim.sim.game.events import (
    DEALER,
    Acted,
    Dealt,
    Event,
    HandEnded,
    InsuranceSettled,
    Insured,
    Peeked,
    Revealed,
    RoundResult,
    Settled,
    Shuffled,
)
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe


class Scripted:
    """A player with scripted answers such as `S` or `B 15`, which records its views."""

    def __init__(self, answers: str) -> None:
        self.name = "scripted"
        self.answers = answers.split(",") if answers else []
        self.views: list[View] = []

    def decide(self, view: View) -> Action:
        self.views.append(view)
        letter, _, amount = self.answers.pop(0).strip().partition(" ")
        return Action(letter, int(amount or 0))


def line(event: Event) -> str:
    """An event as a line: `dealer card 9`, `0.1 card 9` for seat 0, hand 1; `shuffle`."""
    match event:
        case Shuffled():
            return "shuffle"
        case Peeked(natural):
            return f"dealer peek {'natural' if natural else 'none'}"
        case Revealed(card):
            return f"dealer shown {card}"
        case Dealt(card) if event.seat == DEALER:
            return f"dealer {'hidden' if event.face_down else 'card'} {card}"
        case Insured(seat):
            return f"{seat} insured"
        case InsuranceSettled(seat, net):
            return f"{seat} insurance {net}"
    hand = f"{event.seat}.{event.hand}"
    match event:
        case Dealt(card):
            return f"{hand} card {card}"
        case Acted(action=action):
            return f"{hand} action {action}"
        case HandEnded(ending=ending):
            return f"{hand} end {ending}"
        case Settled(net=net, tied=tied):
            return f"{hand} paid {'replayed' if tied else net}"


def play_script(rules: Rules, cards: str, answers: Iterable[str]) -> tuple[RoundResult, list[Scripted]]:
    """Play one round with scripted cards; all cards and answers must be used."""
    players = [Scripted(text) for text in answers]
    shoe = ScriptedShoe(cards)
    result = Round(rules, shoe, len(players)).play(players)
    assert shoe.left == 0, f"{shoe.left} cards were not dealt"
    assert not any(player.answers for player in players), "a player was asked less often than expected"
    return result, players


def transcript(text: str) -> list[str]:
    """The lines of a written transcript, in which a line has all that happens to a hand until another one's turn."""
    rows = (row.strip().partition(" ") for row in text.strip().splitlines())
    return [f"{hand} {event}" for hand, _, events in rows for event in events.split(", ")]

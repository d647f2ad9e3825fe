"""Trying one bot before a contest: a table of situations, each asked twice, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bjsim.bots.player import BotPlayer
from bjsim.bots.protocol import Fault, argv_of, judge
from bjsim.sim.play import HIT, STAND, Action, View, raise_by
from bjsim.sim.round import Round
from bjsim.sim.rules import Rules
from bjsim.sim.shoe import ScriptedShoe

HARD = ("T7", "T6", "T5", "T3", "T2", "92", "82", "72", "62", "53")
SOFT = ("A9", "A8", "A7", "A6", "A3", "AA")
PAIRS = ("TT", "99", "88", "66", "44", "22")
SHOWN = "23456789TA"
OTHERS = "8"  # what every other card of the table is


@dataclass(frozen=True)
class Situation:
    """A view that comes up in play. before: what the seat did with this hand so far; row: what to call the hand."""

    view: View
    before: tuple[Action, ...] = ()

    @property
    def row(self) -> str:
        """The hand, and after a slash what was done before: `T6`, `T24/H`, `T6/B 15`."""
        done = ",".join(map(str, self.before))
        return f"{self.view.hand}/{done}" if done else self.view.hand


@dataclass(frozen=True)
class Answer:
    """What the bot did in a situation, asked twice; times in milliseconds."""

    situation: Situation
    moves: tuple[Action | Fault, Action | Fault]
    ms: tuple[float, float]

    @property
    def steady(self) -> bool:
        """Whether it did the same both times. A bot may throw dice, so this is no fault."""
        one, other = self.moves
        return one.kind == other.kind if isinstance(one, Fault) and isinstance(other, Fault) else one == other

    @property
    def argv(self) -> list[str]:
        """What the bot was told."""
        return argv_of(self.situation.view)

    @property
    def faults(self) -> list[Fault]:
        """The faults among its moves."""
        return [move for move in self.moves if isinstance(move, Fault)]


class _Seen(BaseException):
    """The situation has come up."""


class _Seat:
    """Does what it is told, and keeps the view in which there is nothing left to do."""

    name = "seat"

    def __init__(self, before: Sequence[Action]) -> None:
        self.left = list(before)
        self.view: View | None = None

    def decide(self, view: View) -> Action:
        if self.left:
            return self.left.pop(0)
        self.view = view
        raise _Seen


class _Stander:
    name = "stander"

    def decide(self, view: View) -> Action:
        return STAND


def situation(
    rules: Rules, cards: str, shown: str, before: Sequence[Action] = (), chips: int | None = None
) -> Situation | None:
    """The situation of the first seat with these cards, the dealer showing `shown`, after some moves.

    It is dealt and played by the readable round, so the rules allow it. None where they end the hand before it comes.
    """
    seat, own, dealer = _Seat(before), list(cards), [shown, OTHERS]
    deck = []
    for letter in rules.deal:
        deck += [own.pop(0), *OTHERS * (rules.seats - 1)] if letter == "p" else [dealer.pop(0)]
    shoe = ScriptedShoe("".join([*deck, *own, *OTHERS * 20]))
    holds = [chips or rules.chips, *[rules.chips] * (rules.seats - 1)]
    with suppress(_Seen):
        Round(rules, shoe, [seat, *[_Stander()] * (rules.seats - 1)], holds).play()
    return Situation(seat.view, tuple(before)) if seat.view else None


def situations(rules: Rules) -> Iterator[Situation]:
    """What a bot is tried with: hands of two cards against every card, then later moves, and few chips."""
    for hand in (*HARD, *SOFT, *(PAIRS if rules.split_by != "never" else PAIRS[:1])):
        for shown in SHOWN:
            yield from _some(situation(rules, hand, shown))
    for shown in "27T":
        yield from _some(situation(rules, "T24", shown, [HIT]))
        yield from _some(situation(rules, "22354", shown, [HIT, HIT, HIT]))
        yield from _some(situation(rules, "A23", shown, [HIT]))
        if rules.raises:
            yield from _some(situation(rules, "T8", shown, [raise_by(rules.buy_in)]))
            yield from _some(situation(rules, "65", shown, [raise_by(5)]))
            yield from _some(situation(rules, "65", shown, chips=rules.buy_in + 5))
            yield from _some(situation(rules, "T8", shown, chips=rules.buy_in))


def _some(found: Situation | None) -> Sequence[Situation]:
    return [found] if found else []


def try_bot(player: BotPlayer, rules: Rules) -> Iterator[Answer]:
    """Ask the bot in every situation, twice."""
    for tried in situations(rules):
        replies = [player.ask(tried.view) for _ in range(2)]
        one, other = (judge(reply, tried.view) for reply in replies)
        yield Answer(tried, (one, other), (replies[0].elapsed_ns / 1e6, replies[1].elapsed_ns / 1e6))

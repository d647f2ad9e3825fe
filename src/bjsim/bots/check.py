"""Trying one bot before a contest: a table of situations, each asked twice, hands played on, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bjsim.bots.contest.config import Contest
from bjsim.bots.protocol import Fault, argv_of, classify_reply
from bjsim.sim.game.actions import HIT, STAND, Action, Player, View, raise_by
from bjsim.sim.game.round import Round, RoundResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer

HARD = ("T7", "T6", "T5", "T3", "T2", "92", "82", "72", "62", "53")
SOFT = ("A9", "A8", "A7", "A6", "A3", "AA")
PAIRS = ("TT", "99", "88", "66", "44", "22")
SHOWN = "23456789TA"
OTHERS = "8"  # what every other card of the table is
ENOUGH = 3  # hands played on that meet a fault before no more are: by then the author knows, and they take long


@dataclass(frozen=True)
class Deal:
    """A round that deals `cards` to the first seat, who holds `chips`, and shows `shown` of the dealer's."""

    rules: Rules
    cards: str
    shown: str
    chips: int

    def play(self, player: Player) -> RoundResult:
        """Play it with this player in the first seat; all others stand."""
        rules, own, dealer = self.rules, list(self.cards), [self.shown, OTHERS]
        deck = []
        for letter in rules.deal:
            deck += [own.pop(0), *OTHERS * (rules.seats - 1)] if letter == "p" else [dealer.pop(0)]
        shoe = ScriptedShoe("".join([*deck, *own, *OTHERS * 20]))
        others = rules.seats - 1
        return Round(rules, shoe, [player, *[_Stander()] * others], [self.chips, *[rules.chips] * others]).play()


@dataclass(frozen=True)
class Situation:
    """A view that comes up in play. before: what the seat did with this hand so far; row: what to call the hand."""

    view: View
    before: tuple[Action, ...]
    deal: Deal

    @property
    def row(self) -> str:
        """The hand, and after a slash what was done before: `T6`, `T24/H`, `T6/B 15`."""
        done = ",".join(map(str, self.before))
        return f"{self.view.hand}/{done}" if done else self.view.hand


@dataclass(frozen=True)
class Answer:
    """What the bot did in a situation, asked twice; times in milliseconds.

    after: what it did with the same hand from there on, where that was played. cap: the fault of moving too often.
    """

    situation: Situation
    moves: tuple[Action | Fault, Action | Fault]
    ms: tuple[float, float]
    after: tuple[Action | Fault, ...] = ()
    cap: Fault | None = None

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
        """The faults among its moves, and that of making too many."""
        return [move for move in (*self.moves, *self.after, self.cap) if isinstance(move, Fault)]


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


class _Asked:
    """Does what it is told, then asks the bot; a fault makes it stand, as in a contest."""

    name = "bot"

    def __init__(self, bot: BotPlayer, before: Sequence[Action]) -> None:
        self.bot, self.left = bot, list(before)
        self.moves: list[Action | Fault] = []
        self.last = Fault("move-cap", "")

    def decide(self, view: View) -> Action:
        if self.left:
            return self.left.pop(0)
        reply = self.bot.ask(view)
        move = classify_reply(reply, view)
        detail = f"{view.rules.move_cap} moves with one hand, and no stand"
        self.last = Fault("move-cap", detail, tuple(argv_of(view)), reply.stdout, reply.stderr)
        self.moves.append(move)
        return STAND if isinstance(move, Fault) else move


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
    seat, deal = _Seat(before), Deal(rules, cards, shown, chips or rules.chips)
    with suppress(_Seen):
        deal.play(seat)
    return Situation(seat.view, tuple(before), deal) if seat.view else None


def situations(rules: Rules) -> Iterator[Situation]:
    """What a bot is tried with: hands of two cards against every card, then later moves, and few chips.

    Different hands come first: a bot that fails at one of them shows soon that it knows others.
    """
    for shown in SHOWN:
        for hand in (*HARD, *SOFT, *(PAIRS if rules.split_by != "never" else PAIRS[:1])):
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


def try_bot(player: BotPlayer, tried: Iterable[Situation], most: int = Contest.strikes) -> Iterator[Answer]:
    """Ask the bot in every situation, twice, and play on where it raised: only so it can reach the move cap.

    After `most` timeouts, or `most` crashes without one good move, it is asked no more, for that would take minutes;
    the rest has no answer.
    """
    wrong = 0
    kinds: Counter[str] = Counter()
    for found in tried:
        answer = _answer(player, found, wrong < ENOUGH)
        wrong += any(isinstance(move, Fault) for move in (*answer.after, answer.cap))
        kinds.update(move.kind if isinstance(move, Fault) else "" for move in (*answer.moves, *answer.after))
        yield answer
        if kinds["timeout"] >= most or (kinds["crash"] >= most and not kinds[""]):
            return


def _answer(player: BotPlayer, tried: Situation, play_on: bool) -> Answer:
    replies = [player.ask(tried.view) for _ in range(2)]
    one, other = (classify_reply(reply, tried.view) for reply in replies)
    answer = Answer(tried, (one, other), (replies[0].elapsed_ns / 1e6, replies[1].elapsed_ns / 1e6))
    raised = next((move for move in (one, other) if isinstance(move, Action) and move.letter == "B"), None)
    if not play_on or raised is None:
        return answer
    asked = _Asked(player, [*tried.before, raised])
    events = tried.deal.play(asked).events
    capped = any((event.what, event.seat, event.detail) == ("end", 0, "move-cap") for event in events)
    return replace(answer, after=tuple(asked.moves), cap=asked.last if capped else None)

"""Check a bot before a contest: ask it twice in each of many situations, and play on where it raises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bjsim.bots.contest.config import Contest
from bjsim.bots.protocol import UNFLUSHED, Fault, classify_reply, make_argv
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
OTHERS = "8"  # the rank of all other cards
ENOUGH = 3  # hands are no longer played on after this many with a fault: they are slow, and add nothing for the author


@dataclass(frozen=True)
class Deal:
    """The cards of a round for the first seat.

    Attributes:
        rules: the game.
        cards: those that the seat gets, in order.
        shown: the dealer's open card.
        chips: the seat's chips.
    """

    rules: Rules
    cards: str
    shown: str
    chips: int

    def play(self, player: Player) -> RoundResult:
        """Play the round with this player in the first seat. All others stand."""
        rules, own, dealer = self.rules, list(self.cards), [self.shown, OTHERS]
        deck = []
        for letter in rules.deal:
            deck += [own.pop(0), *OTHERS * (rules.seats - 1)] if letter == "p" else [dealer.pop(0)]
        shoe = ScriptedShoe("".join([*deck, *own, *OTHERS * 20]))
        others = rules.seats - 1
        return Round(rules, shoe, rules.seats, [self.chips, *[rules.chips] * others]).play(
            [player, *[_Stander()] * others]
        )


@dataclass(frozen=True)
class Situation:
    """A view that can occur in play.

    Attributes:
        view: what the bot sees.
        before: the seat's earlier moves with this hand.
        deal: the cards that lead to it.
    """

    view: View
    before: tuple[Action, ...]
    deal: Deal

    @property
    def row(self) -> str:
        """The hand, and after a slash the moves before: `T6`, `T24/H`, `T6/B 15`."""
        done = ",".join(map(str, self.before))
        return f"{self.view.hand}/{done}" if done else self.view.hand


@dataclass(frozen=True)
class Answer:
    """The bot's answers in one situation.

    Attributes:
        situation: what it was asked.
        moves: its two answers.
        ms: their times in milliseconds.
        after: its further moves with the hand, if the hand was played on.
        cap: the fault of too many moves with the hand, if it occurred.
    """

    situation: Situation
    moves: tuple[Action | Fault, Action | Fault]
    ms: tuple[float, float]
    after: tuple[Action | Fault, ...] = ()
    cap: Fault | None = None

    @property
    def deterministic(self) -> bool:
        """Whether both answers were the same. A bot may be random, so a difference is not a fault."""
        one, other = self.moves
        if _in_every_match(one) or _in_every_match(other):
            return True
        return one.kind == other.kind if isinstance(one, Fault) and isinstance(other, Fault) else one == other

    @property
    def argv(self) -> list[str]:
        """The bot's arguments."""
        return make_argv(self.situation.view)

    @property
    def faults(self) -> list[Fault]:
        """All faults, in order."""
        one, other = self.moves
        moves = (one, *([] if one is other else [other]), *self.after, self.cap)
        return [move for move in moves if isinstance(move, Fault)]


class _SituationReached(BaseException):
    """Ends the round when the situation has occurred."""


class _ViewRecorder:
    """Makes the moves in `before`, then keeps the next view and ends the round."""

    name = "recorder"

    def __init__(self, before: Sequence[Action]) -> None:
        self.left = list(before)
        self.view: View | None = None

    def decide(self, view: View) -> Action:
        if self.left:
            return self.left.pop(0)
        self.view = view
        raise _SituationReached


class _BotAfterMoves:
    """Makes the moves in `before`, then asks the bot. A fault counts as a stand, as in a contest."""

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
        detail = f"{view.rules.move_cap} moves with one hand, without standing"
        self.last = Fault("move-cap", detail, tuple(make_argv(view)), reply.stdout, reply.stderr)
        self.moves.append(move)
        return STAND if isinstance(move, Fault) else move


class _Stander:
    name = "stander"

    def decide(self, view: View) -> Action:
        return STAND


def situation(
    rules: Rules, cards: str, shown: str, before: Sequence[Action] = (), chips: int | None = None
) -> Situation | None:
    """Play the first seat's hand up to one decision. The readable round plays it, so the rules allow it.

    Args:
        rules: the game.
        cards: the cards that the seat gets, in order.
        shown: the dealer's open card.
        before: the seat's moves before the decision.
        chips: the seat's chips; by default those of the rules.

    Returns:
        The situation; None if the hand ends before it occurs.
    """
    seat, deal = _ViewRecorder(before), Deal(rules, cards, shown, chips or rules.chips)
    with suppress(_SituationReached):
        deal.play(seat)
    return Situation(seat.view, tuple(before), deal) if seat.view else None


def situations(rules: Rules) -> Iterator[Situation]:
    """The situations to ask a bot in: hands of two cards against every card, then later moves, and few chips.

    Consecutive situations have different hands, so that a failure with one hand does not hide other results for long.
    """
    for shown in SHOWN:
        for hand in (*HARD, *SOFT, *(PAIRS if rules.split_by != "never" else PAIRS[:1])):
            yield from _optional(situation(rules, hand, shown))
    for shown in "27T":
        yield from _optional(situation(rules, "T24", shown, [HIT]))
        yield from _optional(situation(rules, "22354", shown, [HIT, HIT, HIT]))
        yield from _optional(situation(rules, "A23", shown, [HIT]))
        if rules.raises:
            yield from _optional(situation(rules, "T8", shown, [raise_by(rules.buy_in)]))
            yield from _optional(situation(rules, "65", shown, [raise_by(5)]))
            yield from _optional(situation(rules, "65", shown, chips=rules.buy_in + 5))
            yield from _optional(situation(rules, "T8", shown, chips=rules.buy_in))


def _optional(result: Situation | None) -> Sequence[Situation]:
    return [result] if result else []


def try_bot(player: BotPlayer, tried: Iterable[Situation], most: int = Contest.strikes) -> Iterator[Answer]:
    """Ask the bot twice in every situation, and play on after a raise, because only then can it reach the move cap.

    Args:
        player: the bot.
        tried: the situations.
        most: the number of timeouts, or of crashes without one good move, after which the bot is no longer asked,
            because that would take minutes. A line bot is no longer asked once it is not ready, does not flush or
            writes lines unasked.

    Yields:
        The answers, one for each situation in order; fewer if the bot is no longer asked.
    """
    hands_with_faults = 0
    kinds: Counter[str] = Counter()
    for asked in tried:
        answer = _answer(player, asked, hands_with_faults < ENOUGH)
        hands_with_faults += any(isinstance(move, Fault) for move in (*answer.after, answer.cap))
        kinds.update(move.kind if isinstance(move, Fault) else "" for move in (*answer.moves, *answer.after))
        yield answer
        if any(map(_in_every_match, answer.faults)):
            return
        if kinds["timeout"] >= most or (kinds["crash"] >= most and not kinds[""]):
            return


def _in_every_match(move: Action | Fault) -> bool:
    """Whether this is a fault of a line bot that hides all others, so that it is to be mended first."""
    return isinstance(move, Fault) and (move.kind in ("not-ready", "chatter") or UNFLUSHED in move.detail)


def _answer(player: BotPlayer, asked: Situation, play_on: bool) -> Answer:
    replies = [player.ask(asked.view)]
    one = classify_reply(replies[0], asked.view)
    replies.append(replies[0] if _in_every_match(one) else player.ask(asked.view))
    other = one if _in_every_match(one) else classify_reply(replies[1], asked.view)
    answer = Answer(asked, (one, other), (replies[0].elapsed_ns / 1e6, replies[1].elapsed_ns / 1e6))
    raised = next((move for move in (one, other) if isinstance(move, Action) and move.letter == "B"), None)
    if not play_on or raised is None:
        return answer
    bot = _BotAfterMoves(player, [*asked.before, raised])
    capped = 0 in asked.deal.play(bot).seats_at_move_cap
    return replace(answer, after=tuple(bot.moves), cap=bot.last if capped else None)

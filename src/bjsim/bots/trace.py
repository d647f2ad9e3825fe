"""Show what a bot receives and what it answers: in a whole match, or for one move."""

from __future__ import annotations

from collections.abc import Callable

from bjsim.bots.line import Transcript
from bjsim.bots.player import BotPlayer
from bjsim.bots.protocol import make_argv
from bjsim.bots.turn import Turn
from bjsim.sim.game.actions import Action, Player, View
from bjsim.sim.game.round import Round, ask_action, drive
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import Stream, open_shoe

Write = Callable[[str], None]


class TracedSeat:
    """A bot in the first seat of a match, written as lines: > to the bot, < from it, ! faults."""

    def __init__(self, bot: BotPlayer, transcript: Transcript, rounds: int, write: Write) -> None:
        self.write = write
        self.faults = self.asked = 0
        self._errors = b""
        self._line = None
        if bot.protocol == "line":
            self._line = bot.join(transcript, 0, transcript.rules.seats, rounds)
            self._line.trace = write
            self._unready = self._line.start()  # a match without a question shows it too
        self._turn = Turn(bot, self._line)

    def move(self, view: View) -> Action:
        """Ask the bot; a fault counts as a stand."""
        asked = self._turn.asks(view)
        self.asked += asked
        if asked and not self._line:
            self.write(f"> {' '.join(make_argv(view))}")
        action, fault, reply = self._turn.take(view)
        if reply and not self._line:
            self._errors += reply.stderr
            for text in reply.stdout.decode("utf-8", "backslashreplace").strip().split("\n"):
                self.write(f"< {text}")
        if fault:
            self.write(f"! {fault}")
            self.faults += 1
        return action

    def leave(self, chips: int | None = None) -> bytes:
        """End the match; returns what the bot wrote to stderr."""
        if not self._line:
            return self._errors
        if self._unready and not self.asked:
            self.write(f"! {self._unready.cause}: {self._unready.detail}")
            self.faults += 1
        self._line.leave(chips)
        return self._line.log


def trace_match(bot: BotPlayer, rules: Rules, others: Player, rounds: int, seed: int, write: Write) -> TracedSeat:
    """Play a match with the bot in the first seat; return its seat, which is still in the match.

    It does not carry chips from round to round. `others` has all other seats.
    """
    transcript, shoe = Transcript(rules), open_shoe(rules, Stream(seed))
    seat = TracedSeat(bot, transcript, rounds, write)
    for _ in range(rounds):
        game = Round(rules, shoe, rules.seats)
        transcript.begin_round(range(rules.seats), [rules.chips] * rules.seats, game.events)
        drive(game.steps(), lambda number, view: ask_action(others, view) if number else seat.move(view))
    return seat

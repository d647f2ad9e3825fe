"""Check a line bot in a match: it is ready, skips what it does not know, survives a cut, and ends with its input."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bjsim.bots.line import Transcript
from bjsim.bots.player import BotPlayer
from bjsim.bots.protocol import Fault, make_argv
from bjsim.bots.resident import LineSeat
from bjsim.bots.turn import Turn
from bjsim.sim.game.actions import STAND, Action, Player, View
from bjsim.sim.game.round import Round, ask_action, drive
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import Stream, open_shoe

ROUNDS = 25
SEED = 1  # of the match; all checks deal the same cards
CHECKS = {
    "ready": "answers hello with `ready 1`, in time",
    "deterministic": "gives the same answers to the same lines",
    "unknown": "skips lines and keys that it does not know",
    "resumed": "gives the same answers when a new process takes over in the middle of the match",
    "ends": "ends by itself when its input does",
}


@dataclass(frozen=True)
class LineCheck:
    """The result of the checks in a match."""

    # by key of CHECKS; None if the bot's answers are random, so that they cannot be compared
    passed: dict[str, bool | None]
    ready_ms: float | None  # from the start of the process to `ready`; None if it is not ready
    ms: float | None  # median of the time of an answer; None without answers
    faults: list[Fault]
    random: bool = False  # whether the bot says that it is: after `ready 1`, or in its `bot.toml`


@dataclass
class _Match:
    """A match of the bot: its answers, with their times in ms, and whether it ended by itself."""

    seat: LineSeat
    answers: list[Action | Fault] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    ended: bool = False

    @property
    def moves(self) -> list[str]:
        return [move.kind if isinstance(move, Fault) else str(move) for move in self.answers]


def add_unknown(text: str) -> list[str]:
    """The line with a key that no version of the protocol has, after a line that none has."""
    return ["weather 3 fine wind=5", f"{text} mood=good"]


def check_match(bot: BotPlayer, rules: Rules) -> LineCheck:
    """Play a match as it is, again, with unknown words, and with a cut in the middle. Raises: SandboxClosed."""
    plain, again, unknown = _play(bot, rules), _play(bot, rules), _play(bot, rules, unknown=True)
    cut = _play(bot, rules, cut=len(plain.answers) // 2)
    faults = [move for move in plain.answers if isinstance(move, Fault)]
    ready = not any(fault.kind in ("not-ready", "start-failure") for fault in faults)
    same = plain.moves == again.moves
    times = sorted(plain.ms)
    passed = {
        "ready": ready,
        "deterministic": same,
        "unknown": unknown.moves == plain.moves if same else None,
        "resumed": cut.moves == plain.moves if same else None,
        "ends": plain.ended,
    }
    random = bot.program.random or plain.seat.ready.get("random") == "1"
    return LineCheck(passed, plain.seat.ready_ms, times[len(times) // 2] if ready and times else None, faults, random)


def _play(bot: BotPlayer, rules: Rules, *, cut: int = -1, unknown: bool = False) -> _Match:
    """Play the match. cut: the number of answers before another process takes over."""
    transcript, shoe = Transcript(rules), open_shoe(rules, Stream(SEED))
    match = _Match(bot.join(transcript, 0, rules.seats, ROUNDS))
    turn = Turn(bot, match.seat)
    if unknown:
        match.seat.dress = add_unknown

    def answer(seat: int, view: View) -> Action:
        if seat:
            return STAND
        if len(match.answers) == cut:
            match.seat.replace_process()
        action, fault, reply = turn.take(view)
        match.answers.append(fault or action)
        match.ms.append(reply.elapsed_ns / 1e6 if reply else 0.0)
        return action

    for _ in range(ROUNDS):
        game = Round(rules, shoe, rules.seats)
        transcript.begin_round(range(rules.seats), [rules.chips] * rules.seats, game.events)
        drive(game.steps(), answer)
    match.ended = match.seat.leave(rules.chips)
    return match


# --- Show what a bot receives and what it answers: in a whole match, or for one move.


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

"""The line protocol, version 1, as text: the messages to and from a bot that runs for a whole match.

The host writes lines of ASCII to the bot's stdin: `hello`, then for a match `rules`, `match`, and all that a person at
the table sees (`round`, `shuffle`, `card`, `hidden`, `shown`, `peek`, `action`, `end`, `paid`). The bot answers `hello`
with `ready 1`, and each `move` with a move as in `protocol`, after which the rest of the line is a note. Words are
separated by one space; fixed words come first, then KEY=VALUE words in any order. The reference is
docs/reference/line-protocol.md.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bjsim.bots.protocol import make_argv
from bjsim.errors import printable
from bjsim.sim.game.actions import INSURANCE, View
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
    Settled,
    Shuffled,
    as_seen,
)
from bjsim.sim.game.rule_text import plain
from bjsim.sim.game.rules import RULE_FIELDS, Rules

VERSION = 1
NOTE_LIMIT = 200  # bytes of the note after a move
LOG_LIMIT = 1 << 16  # bytes of stderr in a match
BYE = "bye"
_NAME_LIMIT = 100  # letters of the name of custom rules, which may be of any length
_MOVE = re.compile(rb"\s*(?:[bB]\s+\S*|\S*)")  # the words that are not the note


@dataclass(frozen=True)
class Clock:
    """The time that a bot has, in milliseconds: `load` from `hello` to `ready`, `move` for each move.

    `bank` is for all moves of a match together that take longer; a move that uses it up is a timeout.
    """

    load: int = 10_000
    move: int = 200
    bank: int = 2_000

    @staticmethod
    def within(timeout: float) -> "Clock":
        """The clock for a time limit in seconds: a tenth for each move, and the whole for a match."""
        return Clock(move=round(timeout * 100), bank=round(timeout * 1000))


class Transcript:
    """What everybody at a table sees in a match, as `lines`. The hole card is masked until it is turned over."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.lines: list[str] = []
        self._round = 0
        self._header = ""  # the line `round`, which follows the line `shuffle`
        self._events: Sequence[Event] = ()
        self._seen = 0
        self._chairs: Sequence[int] = ()
        self.hand_in_play: Counter[int] = Counter()  # by chair: as many hands have ended

    def begin_round(self, chairs: Sequence[int], chips: Sequence[int], events: Sequence[Event]) -> None:
        """Begin a round; `update` reads on as `events` grows.

        `chairs` has the seat number at the table of each seat of the round; `chips` are those of the table before
        the buy-in.
        """
        self.update()
        self._round += 1
        self._header = f"round {self._round} in={_joined(chairs)} chips={_joined(chips)}"
        self._events, self._seen, self._chairs = events, 0, chairs
        self.hand_in_play.clear()

    def update(self) -> None:
        """Add lines for the events that have happened since the last call."""
        for event in map(as_seen, self._events[self._seen :]):
            if self._header and not isinstance(event, Shuffled):
                self.lines.append(self._header)
                self._header = ""
            self.lines.append(event_line(event, self._chairs, self.rules.buy_in))
            if isinstance(event, HandEnded):
                self.hand_in_play[self._chairs[event.seat]] += 1
        self._seen = len(self._events)


class SeatLines:
    """The lines for the bot in a chair: those of the transcript, and those for it alone; `unsent` are not sent yet."""

    def __init__(self, transcript: Transcript, chair: int) -> None:
        self._transcript, self._chair, self._copied = transcript, chair, 0
        self.all: list[str] = []
        self.unsent: list[str] = []

    def update(self) -> None:
        self._transcript.update()
        self._add(self._transcript.lines[self._copied :])
        self._copied = len(self._transcript.lines)

    def ask(self, view: View, bank: int | None = None) -> list[str]:
        """What to send now, the question for a move last. bank: as for `move_line`."""
        self.update()
        lines, self.unsent = [*self.unsent, move_line(view, self._transcript.hand_in_play[self._chair], bank)], []
        return lines

    def report_fault(self, kind: str, strikes: int | None) -> None:
        """Add the line about a fault of the bot. strikes: how many it has left; None for no limit."""
        self.update()
        self._add([f"fault {kind}" + ("" if strikes is None else f" strikes={strikes}")])

    def _add(self, lines: list[str]) -> None:
        self.all += lines
        self.unsent += lines


def event_line(event: Event, chairs: Sequence[int], buy_in: int) -> str:
    """An event as a line; `chairs` has the seat number at the table of each seat of the round."""
    if isinstance(event, Dealt):  # the most frequent ones first, and tests of types, which are faster than patterns
        if event.seat == DEALER:
            return "hidden d" if event.face_down else f"card d {event.card}"
        return f"card {chairs[event.seat]}.{event.hand} {event.card}"
    if isinstance(event, Acted):
        return f"action {chairs[event.seat]}.{event.hand} {event.action}"
    if isinstance(event, HandEnded):
        return f"end {chairs[event.seat]}.{event.hand} {event.ending}"
    if isinstance(event, Settled):
        tied = f" tied={event.tied * buy_in}" if event.tied else ""  # with a fraction if need be: 15/2
        return f"paid {chairs[event.seat]}.{event.hand} {event.net * buy_in}{tied}"
    match event:
        case Shuffled():
            return "shuffle"
        case Peeked(natural):
            return f"peek {'natural' if natural else 'none'}"
        case Revealed(card):
            return f"shown d {card}"
        case Insured(seat):
            return f"insured {chairs[seat]}"
        case InsuranceSettled(seat, net):
            return f"insurance {chairs[seat]} {net * buy_in}"


def hello_line(clock: Clock) -> str:
    """The first line to a process, which it answers with `ready`."""
    return f"hello {VERSION} load-ms={clock.load} move-ms={clock.move} bank-ms={clock.bank}"


def rules_line(rules: Rules) -> str:
    """The rules, without the fields that have their defaults."""
    default = Rules()
    name = re.sub(r"[^!-~]", "-", rules.name)[:_NAME_LIMIT]
    changed = [name for name in RULE_FIELDS if getattr(rules, name) != getattr(default, name)]
    return " ".join([f"rules name={name}", *(f"{field}={_value(getattr(rules, field))}" for field in changed)])


def match_line(seats: int, chair: int, chips: int, rounds: int | None = None, resumed: bool = False) -> str:
    """The start of a match; `resumed` if its events so far follow, because the process is not its first."""
    keys = {"seats": seats, "seat": chair, "rounds": rounds, "chips": chips, "resumed": 1 if resumed else None}
    return " ".join(["match", *(f"{key}={value}" for key, value in keys.items() if value is not None)])


def move_line(view: View, hand: int, bank: int | None = None) -> str:
    """The question for a move: the five argv arguments, and the rest of the view; `bank` is in ms, or None."""
    hand = 0 if view.legal == INSURANCE else hand  # a natural that is asked has ended
    keys = f"hand={hand} hands={view.hands} dealer={view.dealer} legal={view.legal}"
    return f"move {' '.join(make_argv(view))} {keys}" + ("" if bank is None else f" bank-ms={bank}")


def as_bytes(lines: Sequence[str]) -> bytes:
    return "\n".join([*lines, ""]).encode("ascii")


def parse_ready(line: bytes) -> dict[str, str] | None:
    """Parse the answer to `hello`. Returns: its keys, such as `name` and `version`; None if it is not `ready 1`."""
    words = [printable(word) for word in line.decode("ascii", "replace").split()]
    if words[:2] != ["ready", str(VERSION)]:
        return None
    return {key: value for key, equals, value in (word.partition("=") for word in words[2:]) if equals}


def parse_note(line: bytes) -> str:
    """The note after the move in an answer, shortened to NOTE_LIMIT bytes, and fit for a terminal."""
    move = _MOVE.match(line)
    assert move  # it matches the empty text too
    return printable(line[move.end() :].strip()[:NOTE_LIMIT].decode("ascii", "replace"))


def _joined(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _value(value: object) -> str:
    text = plain(value)
    return str(int(text)) if isinstance(text, bool) else re.sub(r"[^!-~]+", "-", str(text))

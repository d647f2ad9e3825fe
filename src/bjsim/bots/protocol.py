"""The bot protocol, pure: what a bot is told on its command line, and what its answer means.

A bot is a program that is run once per move as `bot SCORE HAND VISIBLE STAKE CHIPS` and prints its move. SCORE is what
the hand counts; HAND and VISIBLE are cards, one letter each, as in `View`; STAKE and CHIPS are whole numbers of chips.
It prints S (stand), H (hit), D (double), B n (raise by n chips), and P (split) or R (surrender) where the rules allow
them. Source: seed 003, "Programming interface".
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from functools import lru_cache

from bjsim.sim.game.actions import NAMES, STAND, Action, View, raise_by
from bjsim.sim.game.hand import Hand

FAULTS = {
    "bad-reply": "printed nothing, or something that is no move here",
    "late-double": "doubled when it was no longer its first move",
    "overbet": "bet more chips than it had",
    "timeout": "ran, but did not end in time",
    "crash": "ended with an exit status or a signal, or was killed for its memory",
    "flood": "printed more than a reply may hold",
    "orphan": "ended, but left a process running",
    "start-failure": "could not be started",
    "move-cap": "made as many moves with one hand as the rules allow, without standing",
}
REPLY_LIMIT = 4096  # bytes of stdout
_CHIPS = re.compile(rb"[+-]?([0-9]*)(?:\.[0-9]*)?")  # a fraction is cut off: programs that reckon in floats print one
_PYTHON_2 = re.compile(  # what Python 3 says of a program for Python 2
    r"Missing parentheses in call to '(print|exec)'|multiple exception types must be parenthesized"
    r"|leading zeros in decimal integer literals"
    r"|NameError: name '(raw_input|xrange|unicode|long|reduce)' is not defined"
    r"|unsupported operand type\(s\) for >>: 'builtin_function_or_method'|has no attribute '(has_key|iteritems)'"
)


@dataclass(frozen=True)
class Reply:
    """How one run of a bot ended.

    cause: `exit`, or why it was stopped: `timeout`, `cpu`, `memory`, `flood`, `orphan` when a process of it outlived
    it, or `start` when it never ran.
    status: exit status, or minus the signal's number. stdout, stderr: cut to 4 KiB each.
    """

    cause: str
    status: int
    elapsed_ns: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True)
class Fault:
    """A move that made the bot stand, kept for its author. kind: a key of `FAULTS`; detail: one line."""

    kind: str
    detail: str
    argv: tuple[str, ...] = ()
    stdout: bytes = b""
    stderr: bytes = b""

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"

    def to_json(self) -> dict[str, object]:
        """What it was asked and what it said, as text."""
        out, err = (raw.decode("utf-8", "backslashreplace") for raw in (self.stdout, self.stderr))
        return {"kind": self.kind, "detail": self.detail, "argv": list(self.argv), "stdout": out, "stderr": err}


def argv_of(view: View) -> list[str]:
    """What the bot is told, as the five arguments of its command line."""
    return [_score(view.hand), view.hand, view.visible, str(view.stake), str(view.chips)]


@lru_cache(maxsize=4096)  # the same few hands come up all the time
def _score(hand: str) -> str:
    return str(Hand(*hand).points)


def parse_reply(stdout: bytes, view: View) -> Action | Fault:
    """The move that a bot printed, or the fault in it.

    The first word counts, in any case, and for `B` the second: a number whose sign and fraction are ignored, so that
    `B -107.9` raises by 107. Numbers with an exponent, `nan` and `inf` are none.
    """

    def fault(kind: str, detail: str) -> Fault:
        return Fault(kind, detail, tuple(argv_of(view)), stdout)

    words = stdout.split()
    if not words:
        return fault("bad-reply", "printed nothing")
    letter = words[0].upper().decode("ascii", "replace")
    if letter not in NAMES:
        return fault("bad-reply", f"{_shown(words[0])} is no move; moves are {', '.join(NAMES)}")
    if letter == "D" and "D" not in view.legal:
        return fault(*_refused_double(view))
    if letter not in view.legal:
        return fault("bad-reply", f"{letter} is not allowed here; allowed are {', '.join(view.legal)}")
    if letter != "B":
        return Action(letter)
    number = words[1] if len(words) > 1 else b""
    match = _CHIPS.fullmatch(number)
    if not match or not re.search(rb"[0-9]", number):
        said = _shown(number) if number else "nothing"
        return fault("bad-reply", f"B needs a number of chips, such as 15, not {said}")
    chips = int(match[1] or b"0")
    if chips > view.chips:
        return fault("overbet", f"B {chips} with {view.chips} chips")
    return raise_by(chips)


def classify_reply(reply: Reply, view: View) -> Action | Fault:
    """What a run of the bot comes to: its move, or the fault that makes it stand."""
    kind, detail = "", ""
    if reply.cause == "start":
        said = reply.stderr.decode("utf-8", "replace").strip()
        kind, detail = "start-failure", said.partition("\n")[0] or "could not be started"
    elif reply.cause in ("timeout", "cpu"):
        kind, detail = "timeout", "used up its time"  # how much of which kind is another figure in every run
    elif reply.cause == "memory":
        kind, detail = "crash", "used more memory than it may, and was killed"
    elif reply.cause == "flood":
        kind, detail = "flood", f"printed more than {REPLY_LIMIT} bytes"
    elif reply.status:
        kind, detail = "crash", _ending(reply.status) + python_2_hint(reply.stderr.decode("utf-8", "replace"))
    elif reply.cause == "orphan":
        kind, detail = "orphan", "left a process running"
    if kind:
        return Fault(kind, detail, tuple(argv_of(view)), reply.stdout, reply.stderr)
    move = parse_reply(reply.stdout, view)
    if isinstance(move, Fault):
        return Fault(move.kind, move.detail, move.argv, reply.stdout, reply.stderr)
    return move


def ends_hand(action: Action) -> bool:
    """Whether no further move with the same hand can follow."""
    return action == STAND or action.letter in "DPR"


def printable(text: str) -> str:
    """The text without what would move the cursor of a terminal or turn its writing round."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def printable_lines(text: str) -> str:
    """The same for a text of several lines, which may have tabs."""
    return "\n".join(map(printable, text.expandtabs().split("\n")))


def python_2_hint(said: str) -> str:
    """What to add to an error that Python 3 reported so: that the program looks like Python 2, or nothing."""
    return "; it looks like Python 2, and bots are run by Python 3: print(...)" if _PYTHON_2.search(said) else ""


def _refused_double(view: View) -> tuple[str, str]:
    if not view.rules.doubles(*_points(view)) and len(view.hand) == 2:
        return "bad-reply", f"these rules do not let {view.hand} double; allowed are {', '.join(view.legal)}"
    if len(view.hand) == 2 and view.stake == view.rules.buy_in and view.chips < view.stake:
        return "overbet", f"D needs {view.stake} more chips, and there are {view.chips}"
    return "late-double", "D is for the first move only"


def _points(view: View) -> tuple[int, bool]:
    hand = Hand(*view.hand)
    return hand.points, hand.soft


def _ending(status: int) -> str:
    if status > 0:
        return f"ended with exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def _shown(word: bytes) -> str:
    text = word.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 20 else text[:20] + "…")

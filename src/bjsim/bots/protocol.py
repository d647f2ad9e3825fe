"""The bot protocol: the command line of a move, and the meaning of the reply. It runs no programs.

A bot is a program that is run once per move as `bot SCORE HAND VISIBLE STAKE CHIPS` and prints its move. SCORE is the
points of the hand; HAND and VISIBLE are cards, one letter each, as in `View`; STAKE and CHIPS are numbers of chips. The
moves are S (stand), H (hit), D (double), B n (raise by n chips), and, where the rules allow them, P (split) and
R (surrender).

Source: [CardShark], "Programming interface".
"""

import os
import re
import signal
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from bjsim.errors import InputError
from bjsim.sim.game.actions import NAMES, Action, View, raise_by
from bjsim.sim.game.cards import Hand

FAULTS = {
    "bad-reply": "printed nothing, or not a legal move",
    "late-double": "doubled after its first move",
    "overbet": "bet more chips than it had",
    "timeout": "did not end in time",
    "crash": "ended with an exit status or a signal, or used too much memory or too many processes",
    "flood": "printed more than a reply may contain",
    "orphan": "ended, but left a process running",
    "start-failure": "could not be started",
    "move-cap": "used all moves that the rules allow with one hand, without standing",
    "chatter": "in the line protocol: wrote a line unasked, or a second one",
    "not-ready": "in the line protocol: did not answer `hello` in time with `ready 1`",
}
UNFLUSHED = "its answer came only when its input ended: flush after each line"
PROTOCOLS = ("argv", "line")  # of programs: started for every move, or alive for a match
TIMEOUT = 1.0  # seconds for a move, unless an option or a contest sets others
REPLY_LIMIT = 4096  # bytes of stdout
_CHIPS = re.compile(rb"[+-]?([0-9]*)(?:\.[0-9]*)?")  # fractions are ignored: programs that use floats print them
_PYTHON_2 = re.compile(  # errors of Python 3 in programs for Python 2
    r"Missing parentheses in call to '(print|exec)'|multiple exception types must be parenthesized"
    r"|leading zeros in decimal integer literals"
    r"|NameError: name '(raw_input|xrange|unicode|long|reduce)' is not defined"
    r"|unsupported operand type\(s\) for >>: 'builtin_function_or_method'|has no attribute '(has_key|iteritems)'"
)


@dataclass(frozen=True)
class Reply:
    # why it ended: `exit`; `timeout` or `cpu` (out of wall or processor time); `memory`; `flood` (too much output);
    # `orphan` (it left a process behind); `start` (it could not be started). Of a line bot `exit` is a line, and
    # `ended` (its process ended instead), `chatter`, `not-ready`, and `lost` (the machine ended it) are possible too
    cause: str
    status: int  # the exit status, or minus the number of the signal
    elapsed_ns: int
    stdout: bytes  # at most 4 KiB, as of stderr
    stderr: bytes  # the message if the cause is `start`
    detail: str = ""


@dataclass(frozen=True)
class Fault:
    """A faulty move of a `kind` in `FAULTS`; the bot stands instead. `detail` is a message of one line."""

    kind: str
    detail: str
    argv: tuple[str, ...] = ()
    stdout: bytes = b""
    stderr: bytes = b""

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"

    def to_json(self) -> dict[str, object]:
        """The fields as JSON values; what is not UTF-8 is escaped, also in what a Python player raised."""
        raws = self.detail.encode("utf-8", "backslashreplace"), self.stdout, self.stderr
        detail, out, err = (raw.decode("utf-8", "backslashreplace") for raw in raws)
        return {"kind": self.kind, "detail": detail, "argv": list(self.argv), "stdout": out, "stderr": err}


def make_argv(view: View) -> list[str]:
    """The view as the five arguments of a bot's command line."""
    return [_score(view.hand), view.hand, view.visible, str(view.stake), str(view.chips)]


@lru_cache(maxsize=4096)  # few different hands occur often
def _score(hand: str) -> str:
    return str(Hand(*hand).points)


def parse_reply(stdout: bytes, view: View) -> Action | Fault:
    """Parse the output of a bot: the move, or a fault of kind `bad-reply`, `late-double` or `overbet`.

    The first word is the move, in upper or lower case. After `B` the second word is a number, whose sign and
    fraction are ignored: `B -107.9` raises by 107. Exponents, `nan` and `inf` are not accepted.
    """

    def fault(kind: str, detail: str) -> Fault:
        return Fault(kind, detail, tuple(make_argv(view)), stdout)

    words = stdout.split()
    if not words:
        return fault("bad-reply", "printed nothing")
    letter = words[0].upper().decode("ascii", "replace")
    if letter not in (*NAMES, *view.legal):  # which may offer insurance
        meant = next((key for key in view.legal if NAMES.get(key) == letter.lower()), "")
        hint = f"did you mean {meant}?" if meant else f"moves here are {', '.join(view.legal)}"
        return fault("bad-reply", f"{_shown(words[0])} is not a move; {hint}")
    if letter not in view.legal:
        # Not where insurance or aces are offered, nor after a split, unless split hands double.
        if letter == "D" and "H" in view.legal and (view.rules.double_after_split or not view.split):
            return fault(*_refused_double(view))
        return fault("bad-reply", f"{letter} is not allowed here; allowed are {', '.join(view.legal)}")
    if letter != "B":
        return Action(letter)
    number = words[1] if len(words) > 1 else b""
    match = _CHIPS.fullmatch(number)
    if not match or not re.search(rb"[0-9]", number):
        printed = _shown(number) if number else "nothing"
        return fault("bad-reply", f"B needs a number of chips, such as 15, not {printed}")
    chips = int(match[1] or b"0")
    if chips > view.chips:
        return fault("overbet", f"B {chips} with {view.chips} chips")
    return raise_by(chips)


def classify_reply(reply: Reply, view: View) -> Action | Fault:
    """The move that a run of the bot returned, or the fault that makes it stand. The view is what it was asked."""
    if failure := find_failure(reply):
        return Fault(*failure, tuple(make_argv(view)), reply.stdout, reply.stderr)
    move = parse_reply(reply.stdout, view)
    return replace(move, stderr=reply.stderr) if isinstance(move, Fault) else move


def find_failure(reply: Reply) -> tuple[str, str] | None:
    """The kind and the detail of the fault of a run that failed, whatever it printed; None for any other."""
    error = reply.stderr.decode("utf-8", "replace")
    match reply.cause:
        case "start":
            return "start-failure", error.strip().partition("\n")[0] or "could not be started"
        case "timeout" | "cpu":  # without figures, which differ from run to run
            return "timeout", "; ".join(filter(None, ["used up its time", reply.detail]))
        case "memory":
            return "crash", "used too much memory or too many processes, and was killed"
        case "flood":
            return "flood", f"printed more than {REPLY_LIMIT} bytes"
        case "chatter":
            return "chatter", "wrote a line unasked, or a second one"
        case "not-ready":
            return "not-ready", reply.detail + python_2_hint(error)
        case "ended":
            return "crash", f"{ending(reply.status)} instead of answering{python_2_hint(error)}"
        case _ if reply.status:
            return "crash", ending(reply.status) + python_2_hint(error)
        case "orphan":
            return "orphan", "left a process running"
    return None


def python_2_hint(error: str) -> str:
    """A hint to append to an error of Python 3 if the program looks like Python 2; else an empty text."""
    return "; it looks like Python 2, but bots run under Python 3: print(...)" if _PYTHON_2.search(error) else ""


def _refused_double(view: View) -> tuple[str, str]:
    soon = len(view.hand) == 2 or view.rules.double_cards == "any"
    hand = Hand(*view.hand)
    if soon and not view.rules.doubles(hand.points, hand.soft, first=len(view.hand) == 2):
        return "bad-reply", f"these rules do not allow doubling {view.hand}; allowed are {', '.join(view.legal)}"
    if soon and view.stake == view.rules.buy_in and view.chips < view.stake:
        return "overbet", f"D needs {view.stake} more chips, and it has {view.chips}"
    return "late-double", "D is allowed only as the first move"


def ending(status: int) -> str:
    """How a process ended: its exit status, or minus the number of a signal, in words."""
    if status > 0:
        return f"ended with exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def _shown(word: bytes) -> str:
    text = word.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 20 else text[:20] + "…")


# --- Whether programs can be bots on this system. They need Linux: the modules that run them are imported only where
# one is used, because the import fails elsewhere.


NEEDED = ("fork", "memfd_create", "pidfd_open", "sched_getaffinity")  # functions of `os`


@cache
def can_run_programs() -> bool:
    return all(hasattr(os, name) for name in NEEDED)


def need_programs(bot: str) -> None:
    """Check that programs can run here. Raises: InputError that names this bot."""
    if not can_run_programs():
        raise InputError(f"{bot} is a program, and such bots need Linux; strategies, charts and Python players do not")

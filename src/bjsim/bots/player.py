"""A bot as a Player: it sits at any table, and whatever goes wrong with it becomes a stand, counted and kept."""

from __future__ import annotations

import math
import os
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bjsim.bots.protocol import Fault, Reply, argv_of, classify_reply, ends_hand
from bjsim.bots.sandbox.box import Box, Limits, SandboxClosed, SandboxError, sandboxed
from bjsim.bots.sandbox.build import build
from bjsim.bots.sandbox.languages import BuildError, Program
from bjsim.sim.game.actions import STAND, Action, View

KEPT_FAULTS = 20  # of each kind, with their output; all are counted


class BotPlayer:
    """A program in a box that decides. Use it as a context, or `close` it.

    It may sit at several tables at once, each played by a thread: there are as many boxes as it is asked at a time. A
    process that it is copied to opens its own.

    faults: how often each kind of `protocol.FAULTS` happened. kept: the first of each kind, whole. strikes: faults
    after which the bot is no longer run and only stands (None: it is always run).
    """

    def __init__(
        self, program: Program, limits: Limits, *, sandboxed: bool, cold: bool = False, strikes: int | None = None,
        name: str = "",
    ) -> None:  # fmt: skip
        self.name = name or program.name
        self.program, self.strikes = program, strikes
        self.faults: Counter[str] = Counter()
        self.kept: list[Fault] = []
        self._nanoseconds = array("q")
        self._closed = False
        self._open = partial(Box, program, limits, sandboxed=sandboxed, cold=cold)
        self._copy = partial(BotPlayer, program, limits, sandboxed=sandboxed, cold=cold, strikes=strikes, name=name)
        self._forget_boxes()

    def __reduce__(self) -> tuple[Callable[[], BotPlayer], tuple[()]]:
        return self._copy, ()

    @property
    def out(self) -> bool:
        """Whether its strikes have run out."""
        return self.strikes is not None and self.faults.total() >= self.strikes

    def decide(self, view: View) -> Action:
        """The bot's move, always one that the view allows; a stand for every fault."""
        if self.out:
            return STAND
        seat = self._seat(view.seat)
        moves = seat.count(view)
        reply = self.ask(view)
        move = classify_reply(reply, view)
        if isinstance(move, Fault):
            self._count(move)
            move = STAND
        elif moves >= view.rules.move_cap and not ends_hand(move):
            told = tuple(argv_of(view))
            self._count(Fault("move-cap", f"{moves} moves with one hand", told, reply.stdout, reply.stderr))
        seat.last = view, move
        return move

    def ask(self, view: View) -> Reply:
        """Run the bot once for this view: how that ended, whatever it comes to."""
        return self.run(argv_of(view))

    def run(self, arguments: Sequence[str]) -> Reply:
        """Run the bot once with these arguments. Raises: BoxClosed after `close`, which may come meanwhile."""
        try:
            box = self._lend()
        except (SandboxError, BuildError) as error:
            return Reply("start", 0, 0, b"", str(error).encode())
        reply = box.ask(arguments)
        with self._lock:
            self._idle.append(box)
            if reply.cause != "start":
                self._nanoseconds.append(reply.elapsed_ns)
        return reply

    def ms_per_move(self) -> dict[str, float | None]:
        """`median` and `p99` of the time its moves took, in milliseconds; None when it made none."""
        times = sorted(self._nanoseconds)
        return {"median": _quantile_ms(times, 0.5), "p99": _quantile_ms(times, 0.99)}

    def first_faults(self) -> list[Fault]:
        """The first fault of each kind, as they came."""
        first: dict[str, Fault] = {}
        for fault in self.kept:
            first.setdefault(fault.kind, fault)
        return list(first.values())

    def open(self) -> None:
        """Make a box ready, as the first move would. Raises: BuildError, SandboxError."""
        self._idle.append(self._lend())

    def __deepcopy__(self, memo: object) -> BotPlayer:
        return self  # a bot keeps nothing between moves

    def close(self) -> None:
        """End the bot for good, whatever it does in other threads. Its figures stay."""
        with self._lock:
            self._closed = True
        for box in self._boxes if os.getpid() == self._process else ():
            box.close()

    def __enter__(self) -> BotPlayer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _forget_boxes(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._boxes: list[Box] = []
        self._idle: list[Box] = []
        self._threads = threading.local()

    def _lend(self) -> Box:
        """An idle box on this thread's cores, or a new one."""
        if os.getpid() != self._process:
            self._forget_boxes()  # forked: the boxes are the other process's
        cores = os.sched_getaffinity(0)
        with self._lock:
            fitting = [box for box in self._idle if box.cores >= cores]
            idle = min(fitting, key=lambda box: len(box.cores), default=None)
            if idle:
                self._idle.remove(idle)
        if idle and idle.cores == cores:
            return idle
        if idle:  # opened by a thread that uses more cores, before others were held to fewer
            idle.close()
        if not self._closed:
            box = self._open()
            with self._lock:
                self._boxes.append(box)
                if not self._closed:
                    return box
            box.close()
        raise SandboxClosed(f"{self.name} was closed")

    def _seat(self, number: int) -> Seat:
        """What is remembered of this seat at the table that this thread plays."""
        seats: dict[str, Seat] = self._threads.__dict__
        return seats.setdefault(str(number), Seat())

    def _count(self, fault: Fault) -> None:
        with self._lock:
            self.faults[fault.kind] += 1
            if self.faults[fault.kind] <= KEPT_FAULTS:
                self.kept.append(fault)


class UnstartableBot:
    """A program that cannot be made to run: whatever it is asked, it could not be started."""

    def __init__(self, name: str, why: BuildError) -> None:
        self.name, self.why = name, why
        self.reply = Reply("start", 0, 0, b"", f"{why}\n{why.log}".strip().encode())

    def ask(self, view: View) -> Reply:
        """What every run of it comes to."""
        return self.reply

    def decide(self, view: View) -> Action:
        return STAND


@dataclass
class Seat:
    """What a bot's player remembers at one table: its last move, and how many it made with this hand."""

    last: tuple[View, Action] | None = None
    moves: int = 0

    def count(self, view: View) -> int:
        """How many moves this is with the same hand; nobody says when a new one begins."""
        self.moves = self.moves + 1 if self._follows(view) else 1
        return self.moves

    def _follows(self, view: View) -> bool:
        if self.last is None or self.moves >= view.rules.move_cap:
            return False
        last, move = self.last
        if move.letter == "H":
            return view.hand[:-1] == last.hand
        return move.letter == "B" and (view.hand, view.stake) == (last.hand, last.stake + move.amount)


def open_bot(
    path: str | Path,
    *,
    sandbox: str = "auto",
    timeout: float = Limits.timeout,
    cold: bool = False,
    strikes: int | None = None,
    name: str = "",
) -> BotPlayer:
    """The bot in the file `path`, compiled if need be, in its box, ready to play under any rules.

    sandbox: `required`, `auto` or `off`. timeout: seconds for one move. cold: start the program anew for every move
    even where a resident server could fork it.
    Raises: BuildError with the compiler's messages; SandboxError when there is no box for it.
    """
    walled = sandboxed(sandbox)
    program = build(path, sandboxed=walled)
    player = BotPlayer(program, Limits(timeout=timeout), sandboxed=walled, cold=cold, strikes=strikes, name=name)
    player.open()
    return player


def _quantile_ms(sorted_ns: Sequence[int], share: float) -> float | None:
    """The smallest time that at least `share` of them do not exceed."""
    return sorted_ns[math.ceil(share * len(sorted_ns)) - 1] / 1e6 if sorted_ns else None


__all__ = ["BotPlayer", "BuildError", "Fault", "SandboxError", "open_bot"]

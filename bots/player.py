"""A bot as a Player: it sits at any table, and whatever goes wrong with it becomes a stand, counted and kept."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bjsim.bots.box import Box, BoxError, Limits, sandboxed
from bjsim.bots.build import build
from bjsim.bots.languages import BuildError, Program
from bjsim.bots.protocol import Fault, Reply, argv_of, ends_hand, judge
from bjsim.sim.play import STAND, Action, View
from bjsim.sim.rules import Rules

KEPT_FAULTS = 20  # of each kind, with their output; all are counted


class BotPlayer:
    """A program in a box that decides. Use it as a context, or `close` it.

    faults: how often each kind of `protocol.FAULTS` happened. kept: the first of each kind, whole. strikes: faults
    after which the bot is no longer run and only stands (None: it is always run).
    """

    def __init__(self, program: Program, box: Box, *, strikes: int | None = None, name: str = "") -> None:
        self.name = name or program.name
        self.program, self.box, self.strikes = program, box, strikes
        self.faults: Counter[str] = Counter()
        self.kept: list[Fault] = []
        self._nanoseconds = array("q")
        self._last: tuple[View, Action] | None = None
        self._moves = 0

    @property
    def out(self) -> bool:
        """Whether its strikes have run out."""
        return self.strikes is not None and self.faults.total() >= self.strikes

    def decide(self, view: View) -> Action:
        """The bot's move, always one that the view allows; a stand for every fault."""
        if self.out:
            return STAND
        self._moves = self._moves + 1 if self._follows(view) else 1
        move = judge(self.ask(view), view)
        if isinstance(move, Fault):
            self._count(move)
            move = STAND
        elif self._moves >= view.rules.move_cap and not ends_hand(move):
            self._count(Fault("move-cap", f"{self._moves} moves with one hand", tuple(argv_of(view))))
        self._last = view, move
        return move

    def ask(self, view: View) -> Reply:
        """Run the bot once, as it is: without counting a fault."""
        reply = self.box.ask(argv_of(view))
        if reply.cause != "start":
            self._nanoseconds.append(reply.elapsed_ns)
        return reply

    def ms_per_move(self) -> dict[str, float]:
        """`median` and `p99` of the time its moves took, in milliseconds; both nan when it made none."""
        times = sorted(self._nanoseconds)
        return {"median": _quantile(times, 0.5) / 1e6, "p99": _quantile(times, 0.99) / 1e6}

    def close(self) -> None:
        """End the bot. Its figures stay."""
        self.box.close()

    def __enter__(self) -> BotPlayer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _count(self, fault: Fault) -> None:
        self.faults[fault.kind] += 1
        if self.faults[fault.kind] <= KEPT_FAULTS:
            self.kept.append(fault)

    def _follows(self, view: View) -> bool:
        """Whether the view is of the same hand as the last one: the bot is not told when a new one begins."""
        if self._last is None or self._moves >= view.rules.move_cap:
            return False
        last, move = self._last
        if move.letter == "H":
            return view.hand[:-1] == last.hand
        return move.letter == "B" and (view.hand, view.stake) == (last.hand, last.stake + move.amount)


def open_bot(
    path: str | Path,
    rules: Rules | None = None,
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
    Raises: BuildError with the compiler's messages; BoxError when there is no box for it.
    """
    walled = sandboxed(sandbox)
    program = build(path, sandboxed=walled)
    box = Box(program, Limits(timeout=timeout), sandboxed=walled, cold=cold)
    return BotPlayer(program, box, strikes=strikes, name=name)


def _quantile(times: Sequence[int], share: float) -> float:
    if not times:
        return math.nan
    return float(times[min(len(times) - 1, math.ceil(share * len(times)) - 1)])


__all__ = ["BotPlayer", "BoxError", "BuildError", "Fault", "open_bot"]

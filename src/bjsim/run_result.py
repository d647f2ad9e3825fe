"""The result of a run, as plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

from bjsim.arguments import short_names
from bjsim.bots.protocol import FAULTS
from bjsim.errors import printable_lines
from bjsim.report.data import Described
from bjsim.report.parts import DataColumn, DataTable, Notes, Only, Report, Section, counted, interval, percent
from bjsim.sim.game.events import game_text
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.experiment import Progress, half_width
from bjsim.strategies.results import BotResult, convergence_parts, shown_columns


@dataclass(frozen=True, repr=False)
class RunResult(Described, Sequence[BotResult]):
    """The result of a run: a sequence of one `BotResult` for each bot, in order, with what they have in common.

    Attributes:
        rules: The game.
        seed: The seed that was used, also where none was given.
        results: The results of all bots that have one.
        missing: Why a bot has no result, a line for each such bot.
        progress: The tallies and convergences of all seats.
        seconds: How long the rounds took to play.
        stopped: Whether an interrupt (Ctrl-C) ended the run, so that this is only what was known by then.
        failure: Why the run could not go on, such as a round that never ends or a full disk; empty if it could.
        until: The precision that was asked for, in initial bets; None if none was.
        reached: Whether that was reached.
        programs: For each result, the faults and times of its bot where that is a program; else None.
        biased: Whether the failure leaves out the longest rounds, and so biases the results.
    """

    rules: Rules
    seed: int
    results: tuple[BotResult, ...]
    missing: tuple[str, ...]
    progress: Progress
    seconds: float
    stopped: bool = False
    failure: str = ""
    until: float | None = None
    reached: bool = False
    programs: tuple[Mapping[str, Any] | None, ...] = ()
    biased: bool = False

    @overload
    def __getitem__(self, index: int) -> BotResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[BotResult]: ...
    def __getitem__(self, index: int | slice) -> BotResult | Sequence[BotResult]:
        return self.results[index]

    def __len__(self) -> int:
        return len(self.results)

    @property
    def rounds(self) -> int:
        """Rounds played, over all bots."""
        return self.progress.rounds

    @property
    def rounds_per_second(self) -> float:
        """How fast it went; rounds that a checkpoint knew do not count."""
        return (self.rounds - self.progress.rounds_before) / max(self.seconds, 1e-9)

    def describe(self) -> Report:
        """The results, their convergence, what removing luck gains, and the faults and times of programs."""
        parts: list[Any] = [
            Notes(self._warnings(), "warning"),
            Only("page", lambda: [Section("Results")]),
            DataTable("bots", shown_columns(self), self.results),
            Notes([*luck_lines(self), *self._remarks()]),
            *([Only("page", lambda: [Section("Convergence")]), *found] if (found := convergence_parts(self)) else []),
            *self._programs(),
        ]
        hands = {one.tally.rounds for one in self}
        each = " each" if len(self) > 1 else ""
        most = max(hands, default=0)
        count = f"up to {most:,} hands each" if len(hands) > 1 else f"{counted(most, 'hand')}{each}"
        title = f"The return of {self[0].name}" if len(self) == 1 else f"The returns of {len(self)} bots"
        return Report(
            title, [game_text(self.rules), f"{count}, seed {self.seed}"], parts, [self.rules], data=self._data
        )

    def _warnings(self) -> list[str]:
        """What makes the results other than those of the run that was asked for."""
        unmerged = f", with {self.progress.unmerged:,} rounds of unfinished blocks" if self.progress.unmerged else ""
        biased = "; the results below are biased, since they leave out the longest rounds" if self.biased else ""
        stopped = [f"stopped: results so far{unmerged}"] if self.stopped else []
        return [*stopped, *([f"stopped: {self.failure}{biased}"] if self.failure else []), *self.missing]

    def _remarks(self) -> list[str]:
        """That ties were replayed, and whether the requested precision was reached."""
        replayed = any(one.tally.ties_replayed for one in self)
        lines = ["ties are replayed: the return is per settled bet"] if replayed else []
        if self.until is None or not self.results:
            return lines
        target = f"± {100 * self.until:g}%"
        if self.reached:
            return [*lines, f"reached the requested {target}"]
        expected = rounds_expected(self.progress, self.until, self.results[0].optimal_n)
        more = "" if math.isinf(expected) else f"; it would take about {expected:,.0f} rounds"
        return [*lines, f"{target} was not reached in {self.progress.rounds:,} rounds{more}"]

    def _programs(self) -> list[Any]:
        """The times and the faults of bots that are programs, and what happened at their first faults."""
        played = [(one.name, found) for one, found in zip(self, self.programs, strict=False) if found]
        if not played:
            return []
        first = [f"{name}, first {fault_lines(fault)}" for name, found in played for fault in found["first_faults"]]
        return [Section("Programs"), DataTable("", PROGRAMS, played), Only("terminal", lambda: [Notes(first)])]

    def _data(self) -> dict[str, Any]:
        data: dict[str, Any] = {"rules": self.rules.to_dict(), "seed": self.seed, "rounds": self.rounds}
        if self.stopped or self.failure:
            data |= {"stopped": True, "unmerged": self.progress.unmerged}
        data |= {
            "seconds": self.seconds,
            "rounds_per_second": self.rounds_per_second,
            "missing": list(self.missing),
        }
        return data | ({} if self.until is None else {"until": self.until, "reached": self.reached})

    def to_json(self) -> dict[str, Any]:
        """The result as `bjsim run --json` writes it.

        Returns:
            JSON values; returns are in initial bets, and an interval without bounds is `-inf`, `inf`.
        """
        data = super().to_json()
        for bot, program in zip(data["bots"], self.programs, strict=False):
            bot |= program or {}
        return data

    def published(self) -> RunResult:
        """The result with paths shortened to file names, and as many folders as tell two apart.

        Returns:
            The same figures.
        """
        lines = [line.partition(": ") for line in self.missing]
        names = short_names([*(one.name for one in self), *(name for name, _, _ in lines)])
        missing = [": ".join([names[name], why]) for name, _, why in lines]
        failure = self.failure
        for name, short in names.items():
            failure = failure.replace(name, short)
        results = tuple(replace(one, name=names[one.name]) for one in self)
        return replace(self, results=results, missing=tuple(missing), failure=failure)

    def __repr__(self) -> str:
        bots, stopped = counted(len(self), "bot"), ", stopped" * bool(self.stopped or self.failure)
        return f"RunResult({self.rules}, seed {self.seed}, {bots}, {self.rounds:,} rounds{stopped})"


def rounds_expected(progress: Progress, precision: float, optimal_n: int) -> float:
    """Estimate the rounds needed for a precision: an interval narrows with the root of their number."""
    widest = max(half_width(tally, optimal_n) for tally in progress.tallies)
    return progress.rounds * max(widest / precision, 1.0) ** 2


PROGRAMS = (
    DataColumn("", "bot", lambda one: one[0], is_text=True),
    DataColumn("", "ms per move, median", lambda one: one[1]["ms_per_move"]["median"], "{:.2f}".format),
    DataColumn("", "99th percentile", lambda one: one[1]["ms_per_move"]["p99"], "{:.2f}".format),
    DataColumn(
        "",
        "faults",
        lambda one: ", ".join(f"{kind} {n:,}" for kind, n in one[1]["faults"].items()) or "none",
        is_text=True,
    ),
)
LINES = 10  # of what a bot printed; the first ones, and the last, where a traceback has its error


def fault_lines(fault: Mapping[str, Any]) -> str:
    """Describe a fault to the bot's author: its arguments and its output."""
    lines = [f"{fault['kind']}: {FAULTS[fault['kind']]}", f"  {fault['detail']}", f"  asked: {' '.join(fault['argv'])}"]
    for name, content in (("printed", fault["stdout"]), ("on stderr", fault["stderr"])):
        if text := content.rstrip():
            shown = text.split("\n")
            if len(shown) > LINES:
                size = len(content.encode())
                shown = [*shown[: LINES // 2], f"... {size:,} bytes in all ...", *shown[-LINES // 2 :]]
            lines += [f"  {name}:", *(f"  | {line[:200]}" for line in shown)]  # no command of a forge begins a line
    return printable_lines("\n".join(lines))  # no control characters in the terminal


def luck_lines(results: Sequence[BotResult]) -> list[str]:
    """What removing luck gains, and what it finds: the exact value in every round, or the effect of the cut card."""
    lines = []
    for result in results:
        luck = result.adjusted
        if luck is None:
            continue
        if result.no_exact:
            lines.append(f"{result.name}: no exact value: {result.no_exact}")
        if result.certified:
            lines.append(
                f"{result.name}: without luck, every round returned the exact value {percent(luck.mean, 6)}: solver "
                "and simulation agree on every card"
            )
        elif not math.isinf(luck.ci95[1]):
            lines.append(f"{result.name}: luck adjustment cuts the variance {luck.gain:,.0f}-fold")
            if effect := result.cut_card_effect:
                lines.append(
                    f"{result.name}: cut-card effect {percent(effect.mean, 5)}, 95% interval "
                    f"{interval(effect.ci95, 5)}: its luck-adjusted return less the exact value of a fresh shoe"
                )
    return lines

"""The result of a run, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from bjsim.json_values import json_object
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.experiment import Progress
from bjsim.strategies.results import COLUMNS, NESTED, BotResult, results_html
from bjsim.strategies.tabular import data_frame

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class RunResult(Sequence[BotResult]):
    """The result of a run: a sequence of one `BotResult` for each bot, in order, with what they have in common.

    Attributes:
        rules: The game.
        seed: The seed that was used, also where none was given.
        results: The results of all bots that have one.
        missing: Why a bot has no result, a line for each such bot.
        progress: The tallies and convergences of all seats.
        seconds: How long the rounds took to play.
        stopped: Whether an interrupt (Ctrl-C) ended the run, so that this is only what was known by then.
        failure: Why the run could not go on, such as a round that never ends; empty if it could.
        until: The precision that was asked for, in initial bets; None if none was.
        reached: Whether that was reached.
        programs: For each result, the faults and times of its bot where that is a program; else None.
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

    @overload
    def __getitem__(self, index: int) -> BotResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[BotResult]: ...
    def __getitem__(self, index: int | slice) -> BotResult | Sequence[BotResult]:
        return self.results[index]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[BotResult]:
        return iter(self.results)

    @property
    def rounds(self) -> int:
        """Rounds played, over all bots."""
        return self.progress.rounds

    @property
    def rounds_per_second(self) -> float:
        """How fast it went; rounds that a checkpoint knew do not count."""
        return (self.rounds - self.progress.rounds_before) / max(self.seconds, 1e-9)

    def to_json(self) -> dict[str, Any]:
        """The result as `bjsim run --json` writes it.

        Returns:
            JSON values; returns are in initial bets, and an interval without bounds is `-inf`, `inf`.
        """
        programs = self.programs or (None,) * len(self.results)
        bots = [result.to_json() | dict(program or {}) for result, program in zip(self.results, programs, strict=True)]
        data: dict[str, Any] = {
            "rules": self.rules.to_dict(),
            "seed": self.seed,
            "bots": bots,
            "rounds": self.rounds,
        }
        if self.stopped or self.failure:
            data |= {"stopped": True, "unmerged": self.progress.unmerged}
        data |= {
            "seconds": self.seconds,
            "rounds_per_second": self.rounds_per_second,
            "missing": list(self.missing),
        }
        if self.until is not None:
            data |= {"until": self.until, "reached": self.reached}
        return json_object(data)

    def to_frame(self) -> pandas.DataFrame:
        """The results as a data frame.

        Returns:
            A row for each bot; returns are in initial bets.

        Raises:
            InputError: If pandas is not installed.
        """
        keys = [column.key for column in COLUMNS if column.key not in NESTED]
        rows = [result.to_json() for result in self.results]
        return data_frame({key: [row[key] for row in rows] for key in keys})

    def __repr__(self) -> str:
        stopped = ", stopped" if self.stopped or self.failure else ""
        bots = f"{len(self)} bot{'s' * (len(self) != 1)}"
        return f"RunResult({self.rules}, seed {self.seed}, {bots}, {self.rounds:,} rounds{stopped})"

    def _repr_html_(self) -> str:
        stopped = " (stopped)" if self.stopped or self.failure else ""
        return results_html(self.results, f"{self.rules}, seed {self.seed}{stopped}")

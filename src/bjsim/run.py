"""A run that is ready to be played: players in their seats, programs started, the backend open."""

import math
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from bjsim.bots.turn import runs_program
from bjsim.errors import EndlessSplitting, NotSaved
from bjsim.run_result import RunResult
from bjsim.sim.engine.compile_notice import announce_compile, on_compile
from bjsim.sim.game.actions import Player
from bjsim.sim.running.checkpoint import Checkpoint
from bjsim.sim.running.compiled_table import CompiledTable
from bjsim.sim.running.driver import Driver
from bjsim.sim.running.experiment import Experiment, Progress, is_precise
from bjsim.sim.running.table import Backend
from bjsim.sim.running.workers import end_with_parent, is_fork_safe, stops_held, usable_cores
from bjsim.strategies.experiment import exact_returns, make_results, missing_results
from bjsim.strategies.results import ExactReturn

T = TypeVar("T")
OnProgress = Callable[[Progress], object]


def ignore_progress(progress: Progress) -> None:
    """The callback of a run whose progress is not asked for."""


@dataclass(frozen=True)
class Run:
    """A run ready to be played.

    exact: computes the exact returns of all players, or waits for them.
    """

    players: Sequence[Player]
    experiment: Experiment
    backend: Backend
    exact: Callable[[], list[ExactReturn]]
    checkpoint: Checkpoint | None = None
    resume: bool = False

    def compile(self, announce: Callable[[], object] = announce_compile) -> None:
        """Have the kernels ready that pay for their compilation; `announce` is called first if that takes long.

        Workers are forked afterwards. What is loaded until then they share, also a temporary folder of numba.
        """
        hands = min(self.experiment.target_n or math.inf, self.experiment.hands)
        each_core = hands * len(self.players) / usable_cores()
        with on_compile(announce):
            for table in self.experiment.groups:
                if isinstance(table, CompiledTable):
                    table.prepare(each_core)

    def play(self, on_progress: OnProgress = ignore_progress) -> RunResult:
        """Play it. An interrupt, a round that does not end, or a full disk leaves what is known so far."""
        driver = Driver(self.experiment, self.backend, self.checkpoint, self.resume, on_progress)
        began = time.perf_counter()
        stopped, failure, biased = False, "", False
        try:
            driver.run()
        except KeyboardInterrupt:
            stopped = True
        except (EndlessSplitting, NotSaved) as error:
            failure, biased = str(error), isinstance(error, EndlessSplitting)
        seconds = time.perf_counter() - began
        progress = driver.partial_progress() if stopped or failure else driver.progress
        return self.result(progress, seconds, stopped, failure, biased)

    def steps(self) -> Iterator[Progress]:
        """Play it from the start and yield the progress, one merge after the other."""
        return Driver(self.experiment, self.backend).steps()

    def result(
        self, progress: Progress, seconds: float, stopped: bool, failure: str, biased: bool = False
    ) -> RunResult:
        """The result of the progress of this run; `failure` is why it could not go on, empty if it could."""
        experiment = self.experiment
        try:
            exact = self.exact()
        except KeyboardInterrupt:  # all rounds are played, and this may take minutes
            stopped, exact = True, [ExactReturn(None, None, "its computation was stopped")] * len(self.players)
        settled = [player for player, tally in zip(self.players, progress.tallies, strict=True) if tally.settled]
        return RunResult(
            experiment.rules,
            experiment.seed,
            tuple(make_results(experiment, self.players, progress, exact)),
            tuple(missing_results(self.players, progress, exact)),
            progress,
            seconds,
            stopped,
            failure,
            experiment.precision or None,
            is_precise(experiment, progress),
            tuple(map(program_json, settled)),
            biased,
        )


def program_json(player: Player) -> dict[str, Any] | None:
    """The faults of a program and how long its moves took, as JSON values; None for other players."""
    if not runs_program(player):
        return None
    return {
        "faults": dict(sorted(player.faults.items())),
        "ms_per_move": player.ms_per_move(),
        "first_faults": [fault.to_json() for fault in player.first_faults.values()],
    }


def exact_ahead(experiment: Experiment, players: Sequence[Player], backend: Backend) -> Callable[[], list[ExactReturn]]:
    """The exact returns of all players, which a fork computes meanwhile if there are workers."""
    exact: Callable[[], list[ExactReturn]] = cache(lambda: exact_returns(experiment, players))
    return exact if backend.is_this_process or not is_fork_safe() or usable_cores() == 1 else forked(exact)


def forked(work: Callable[[], T]) -> Callable[[], T]:
    """Begin work in a fork of this process, and return what waits for its result, or does the work if the fork failed.

    Only where `can_fork()`, and before any other thread starts.
    """
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def send() -> None:
        end_with_parent()
        with suppress(Exception):  # who waits repeats the work, and gets the error
            sender.send(work())

    with suppress(OSError), stops_held():
        multiprocessing.get_context("fork").Process(target=send, daemon=True).start()
    sender.close()

    def result() -> T:
        with suppress(EOFError, OSError):  # no fork, or it died before its result was complete
            found: T = receiver.recv()
            return found
        return work()

    return result

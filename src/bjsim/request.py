"""The validated parameters of a run, which the command line and `bjsim.play` build alike, and that function."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import KW_ONLY, dataclass, field
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

from bjsim import __version__
from bjsim.arguments import (
    MAX_HANDS,
    MAX_SEED,
    a_type,
    argument,
    check_distinct,
    names_wrong_types,
    naming,
)
from bjsim.asked.kinds import check_fields
from bjsim.asked.signature import function
from bjsim.bots.seats import BotOptions, ProgramFile, Seated, check_needs, find_seated, warn_of_guessable
from bjsim.errors import InputError, RunFailed
from bjsim.run import OnProgress, Run, exact_ahead, ignore_progress
from bjsim.run_result import RunResult
from bjsim.sim.game.actions import Action, Player, View
from bjsim.sim.game.presets import RulesLike, load_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import random_seed
from bjsim.sim.running.checkpoint import Checkpoint, check_checkpoints
from bjsim.sim.running.table import Backend, Need
from bjsim.sim.running.workers import collect_logs, find_backend
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.players.catalogue import fingerprint

Bot = str | os.PathLike[str] | Player | Callable[[View], Action | str]


@names_wrong_types
@dataclass(frozen=True)
class RunRequest:
    """The validated parameters of a run. `play` plays it, any number of times.

    Args:
        rules: The game: Rules, the name of a preset, or a TOML file.
        bots: Who plays: names, or files of charts and of programs. Players and functions of a view play too, and one
            alone needs no list.
        hands: Rounds for each bot, such as 1e7; with `until`, the most.
        until: Play until the anytime-valid interval of every bot is within plus or minus this share of the initial bet,
            luck-adjusted where possible.
        seed: The same seed gives the same result, bit for bit. None takes the resumed run's, or a fresh one; programs
            can guess small ones.
        tables: Tables that share a bot's hands.
        workers: Number of processes. They are threads where a program plays, in a notebook, and while this process has
            other threads; None is one for each core. An executor plays as many blocks at once, if more than 1.
        executor: Any `concurrent.futures.Executor`, such as a cluster's, which is left open; None is this machine.
        adjust_luck: Remove the luck of the cards from the returns of charts, which makes intervals up to 300 times
            narrower. None does so in finite shoes where all players are compiled.
        checkpoint: A new file to save progress in, for `resume`.
        resume: Checkpoint of the same run, to go on from.
        log: A file for the log records of all workers.
        programs: How programs are run.
        on_progress: Called periodically with the results so far.

    Attributes:
        game: The rules that `rules` names.
        seated: The bots, found.

    Raises:
        InputError: If an argument is not accepted; the message names it.
    """

    rules: RulesLike
    bots: Bot | Sequence[Bot]
    hands: float | None = None
    _: KW_ONLY
    until: float | None = None
    seed: int | None = 1
    tables: int = 1
    workers: int | None = 1
    executor: Executor | None = None
    adjust_luck: bool | None = None
    checkpoint: str | os.PathLike[str] | None = None
    resume: str | os.PathLike[str] | None = None
    log: str | os.PathLike[str] | None = None
    programs: BotOptions = BotOptions()
    on_progress: OnProgress = field(default=ignore_progress, repr=False, compare=False)
    game: Rules = field(init=False, repr=False, compare=False)
    seated: tuple[Seated, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.hands is None and self.until is None:
            raise InputError("no length of play; give hands, such as 1e7, or until, such as 0.0001")
        check_checkpoints(self.checkpoint, self.resume)
        with naming("log"):  # which refuses other types, too
            check_distinct(self.checkpoint or self.resume, self.log)
        self._set(game=load_rules(self.rules), bots=tuple(_listed(self.bots)))
        check_fields(self)
        if self.hands is None:
            self._set(hands=MAX_HANDS)
        if not callable(self.on_progress):
            raise InputError(f"on_progress: {a_type(self.on_progress)} is not accepted; use a function")
        if not isinstance(self.programs, BotOptions):
            raise InputError(f"programs: {a_type(self.programs)} is not accepted; use BotOptions")
        with naming("bots"):
            self._set(seated=tuple(find_seated(bot, self.game) for bot in _listed(self.bots)))
        self._find_backend()
        self._choose_seed()

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def has_programs(self) -> bool:
        """Whether a program plays."""
        return any(Need.PROGRAMS in seat.needs for seat in self.seated)

    def play(self) -> RunResult:
        """Play it.

        Returns:
            The results; where an interrupt (Ctrl-C) or a round that does not end stopped the run, as far as they are
            known; `stopped` or `failure` is then set.

        Raises:
            InputError: If a checkpoint is another run's, a cluster cannot be reached, or a program cannot be started.
            RunFailed: If the run cannot go on.
        """
        with self.open() as run:
            run.compile()
            return run.play(self.on_progress)

    @contextmanager
    def open(self) -> Iterator[Run]:
        """Open the run: programs started, the backend open. Both end when the context is left.

        Yields:
            The run, ready to be played.

        Raises:
            InputError: As for `play`.
            RunFailed: If a program's sandbox fails.
        """
        place, seed, hands, until = self._find_backend(), int(self.seed or 0), int(self.hands or 0), self.until or 0.0
        keep = self.checkpoint or self.resume
        with ExitStack() as opened:
            players: list[Player] = [
                opened.enter_context(seat.player.start(self.programs))
                if isinstance(seat.player, ProgramFile)
                else seat.player
                for seat in self.seated
            ]
            experiment = make_experiment(self.game, players, hands, seed, self.tables, self.adjust_luck, until)
            saved = Checkpoint(Path(keep), self.identity(players)) if keep else None
            exact = exact_ahead(experiment, players, place)  # before any thread is started
            opened.enter_context(collect_logs(self.log))
            yield Run(players, experiment, place, exact, saved, bool(saved and saved.path.exists()))

    def _find_backend(self) -> Backend:
        """Where it is played. Which of them is safe depends on the threads that there are now."""
        needs = reduce(or_, (seat.needs for seat in self.seated), Need.NOTHING)
        place = find_backend(self.executor, self.workers, needs)
        executor = "" if self.executor is None else argument("executor", type(self.executor).__name__)
        check_needs(self.seated, place, executor, self.workers)
        if self.log is not None and executor:
            raise InputError(f"{argument('log')} collects the records of local workers; not supported with {executor}")
        return place

    def _choose_seed(self) -> None:
        if self.seed is None:
            found = Checkpoint(Path(self.resume)).read()[0].get("seed") if self.resume else None
            usable = isinstance(found, int) and 0 <= found <= MAX_SEED
            self._set(seed=found if usable else random_seed())
        elif self.has_programs:
            warn_of_guessable(self.seed)

    def identity(self, players: Sequence[Player]) -> dict[str, Any]:
        """The identity of this run, for its checkpoint.

        Args:
            players: Its players.

        Returns:
            JSON values by name.
        """
        pairs = zip(self.seated, players, strict=True)
        return {
            "rules": self.game.to_dict(),
            "bots": [[seat.bot, _digest(seat, player)] for seat, player in pairs],
            "hands": self.hands,
            "until": self.until,
            "tables": self.tables,
            "seed": self.seed,
            "adjust_luck": self.adjust_luck,
            "bjsim": __version__,
        }


def _digest(seat: Seated, player: Player) -> str:
    return seat.player.digest if isinstance(seat.player, ProgramFile) else fingerprint(seat.bot, player)


def _listed(bots: Bot | Sequence[Bot]) -> Sequence[Bot]:
    if isinstance(bots, str | os.PathLike) or not isinstance(bots, Iterable):
        return [bots]
    try:
        listed = list(bots)
    except TypeError:  # an array without dimensions
        raise InputError(f"bots: {a_type(bots)} is not accepted; give one bot or more") from None
    if not listed:
        raise InputError("bots: an empty list is not accepted; give one bot or more")
    return listed


def _finished(request: RunRequest) -> RunResult:
    """Play bots and compare their returns with the exact values, as `bjsim run` does."""
    result = request.play()
    if result.failure:
        raise RunFailed(result.failure)
    if result.missing and not result.stopped:
        raise RunFailed("; ".join(result.missing))
    return result


play = function(RunRequest, "play", _finished)
"""Play bots and compare their returns with the exact values: `bjsim run` in Python.

The arguments are those of `RunRequest`.

Returns:
    RunResult: The results, one for each bot, in order. After an interrupt (Ctrl-C) they are what was known by then, and
    `stopped` is true.

Raises:
    InputError: If an argument is not accepted; the message names it.
    RunFailed: If a bot's rounds settled no bet, or the run could not go on.

Examples:
    >>> result, = play("easy", ["lim17"], hands=10_000)
    >>> result.verdict
    'agrees with the exact value'
"""

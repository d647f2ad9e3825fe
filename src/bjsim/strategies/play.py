"""`bjsim.play`: what `bjsim run` does, for Python programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor

from bjsim.arguments import MOST_WORKERS, whole_number
from bjsim.errors import InputError, RunFailed
from bjsim.sim.game.actions import Player
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.random_stream import random_seed
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.driver import Driver
from bjsim.sim.running.executors import borrowed, local
from bjsim.sim.running.workers import usable_cores
from bjsim.strategies.experiment import exact_returns, experiment_of, missing_results, results_of
from bjsim.strategies.players.find import as_player, need_picklable
from bjsim.strategies.results import BotResult

Bot = str | os.PathLike[str] | Player


def play(
    rules: Rules | str | os.PathLike[str],
    bots: Bot | Sequence[Bot],
    hands: int,
    seed: int | None = 1,
    tables: int = 1,
    workers: int | None = None,
    executor: Executor | None = None,
) -> list[BotResult]:
    """Play bots and compare them with their exact values: `bjsim run` in Python.

    Args:
        rules: A game, or the name of a preset or TOML file.
        bots: Names as `--bots` takes them, chart files, or Players; one alone needs no list.
        hands: Rounds for each bot. It and the other numbers may be floats that are whole, or numpy's integers.
        seed: The same seed gives the same result, bit for bit; None takes a fresh one.
        tables: Tables that share a bot's hands.
        workers: Processes, 1 by default. With `executor`, how many blocks it plays at once; by default as many as
            this machine has cores.
        executor: Any executor to play on instead; it is left open.

    Raises:
        InputError: An argument is not accepted; the message names it.
        RunFailed: A bot's rounds settled no bet.

    >>> result, = play("easy", ["lim17"], hands=10_000)
    >>> result.verdict
    'agrees with the exact value'
    """
    game = rules if isinstance(rules, Rules) else load_rules(rules)
    cores = workers if workers is None else whole_number("workers", workers, 1, MOST_WORKERS)
    players = [as_player(bot, game) for bot in _listed(bots)]
    experiment = experiment_of(game, players, hands, random_seed() if seed is None else seed, tables)
    if isinstance(executor, ProcessPoolExecutor) or (executor is None and (cores or 1) > 1):
        for player in players:
            need_picklable(player)
    place = borrowed(executor, cores or usable_cores()) if executor else local(cores or 1)
    progress = Driver(experiment, place).run()
    exact = exact_returns(game, players)
    if missing := missing_results(players, progress, exact):
        raise RunFailed("; ".join(missing))
    return results_of(experiment, players, progress, exact)


def _listed(bots: Bot | Sequence[Bot]) -> Sequence[Bot]:
    """The bots as a list, also where there is one alone."""
    if isinstance(bots, str | os.PathLike) or not isinstance(bots, Iterable):
        return [bots]
    listed = list(bots)
    if not listed:
        raise InputError("bots: an empty list is not accepted; give one bot or more")
    return listed

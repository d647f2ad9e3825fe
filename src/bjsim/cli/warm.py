"""`bjsim warm`: compile everything now, so that later commands start at once."""

import math
from collections.abc import Iterator
from typing import Any

import click

from bjsim.cli.waiting import waiting
from bjsim.errors import InputError
from bjsim.sim.engine.compile_notice import on_compile, on_each_kernel
from bjsim.sim.engine.counting import pays
from bjsim.sim.engine.play import have_kernels
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.compiled_table import CompiledTable
from bjsim.sim.running.table import Table
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.counting.tables import CountingGame, ready_table
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.experiment import make_experiment
from bjsim.strategies.learning.learn import study
from bjsim.strategies.mdp.blackjack import game_mdp
from bjsim.strategies.players.catalogue import find_player

SEED = 1


@click.command()
@waiting("compiling")
def warm() -> None:
    """Compile everything that bjsim compiles, and print where it is.

    That is what `learn` and long runs need. Otherwise their first use compiles it, which takes up to half a minute. Run
    this when building a container image.
    """
    if not have_kernels():
        raise InputError("numba is missing, so nothing is compiled: pip install numba")
    compiled: list[bool] = []
    with on_compile(lambda: compiled.append(True)), on_each_kernel(lambda name: click.echo(f"compiling {name} …")):
        use_kernels(load_rules("easy"))
    click.echo(f"{'compiled' if compiled else 'nothing to compile'}; cached in:")
    for folder in folders():
        click.echo(f"  {folder}")


def use_kernels(rules: Rules) -> None:
    """Use every compiled function once."""
    for table in tables(rules):
        if isinstance(table, CompiledTable):
            table.prepare(math.inf)
    counted = load_rules("vegas-s17").replace(decks=1)
    departures = Departures.parse("none", Solver(counted).chart)
    for adjusted in (False, True):
        game = CountingGame(counted, find_system("hilo"), departures, adjusted=adjusted)
        pays(ready_table(game).table, math.inf)
    study(game_mdp(rules), 1000, seed=SEED)


def tables(rules: Rules) -> Iterator[Table]:
    """Tables that together use every compiled kernel."""
    games = rules, rules.replace(seats=2), rules.replace(seats=2, turns="round-robin"), rules.replace(decks=1)
    for game, adjusted in zip(games, (False, False, False, True), strict=True):
        players = [find_player(bot, game) for bot in ("optimal", "lim17")]
        yield from make_experiment(game, players, 1, SEED, 1, adjusted).groups


def folders() -> list[str]:
    """The folders in which numba caches compiled code."""
    from bjsim.sim.engine.kernels import plain, walk
    from bjsim.strategies.learning import kernel as learning

    modules: list[Any] = [plain, walk, learning]
    kernels = [each for module in modules for each in vars(module).values() if hasattr(each, "stats")]
    return sorted({str(kernel.stats.cache_path) for kernel in kernels if kernel.stats.cache_path})

"""`bjsim warm`: compile everything now, so that no later command waits for it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from bjsim.sim.engine.compile_notice import on_compile
from bjsim.sim.game.presets import load_rules
from bjsim.sim.running.table import Span, Table
from bjsim.strategies.experiment import experiment_of
from bjsim.strategies.learning.learn import ALGORITHMS, Schedule
from bjsim.strategies.learning.study import study
from bjsim.strategies.mdp.blackjack import GameProcess
from bjsim.strategies.mdp.build import build_mdp
from bjsim.strategies.players.find import find_player

SEED = 1


@click.command()
def warm() -> None:
    """Compile everything that `run`, `check`, `compare` and `learn` need, and say where it is kept.

    Everything else does this when it is first needed, which takes some seconds. In an image for containers, do it when
    the image is built.
    """
    compiled: list[bool] = []
    with on_compile(lambda: compiled.append(True)):
        for table in tables():
            table.play(SEED, 0, [Span(0, 1)])
        mdp = build_mdp(GameProcess(load_rules("easy")))
        for algorithm in ALGORITHMS:
            study(mdp, 1000, Schedule(algorithm), SEED)
    click.echo(f"{'compiled' if compiled else 'nothing to compile'}; kept in:")
    for folder in folders():
        click.echo(f"  {folder}")


def tables() -> Iterator[Table]:
    """Tables of every kind that is compiled for itself: one seat or several, luck told or not, cards in common."""
    for name in ("easy", "vegas-s17", "cardshark"):
        rules = load_rules(name)
        players = [find_player(bot, rules) for bot in ("optimal", "lim17")]
        for adjusted in (False, True):
            for common in (False, True):
                yield from experiment_of(rules, players, 1, SEED, 1, adjusted, common).groups


def folders() -> list[str]:
    """Where numba keeps what it compiled."""
    from bjsim.sim.fold_kernel import fold_rows
    from bjsim.sim.kernel import play, walk
    from bjsim.strategies.learning.kernel import learn_episodes, play_episodes

    kernels = (fold_rows, play, walk, learn_episodes, play_episodes)
    return sorted({kernel.stats.cache_path for kernel in kernels})

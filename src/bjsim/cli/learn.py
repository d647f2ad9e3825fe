"""`bjsim learn`: learn a game, or any decision process from a file, and evaluate the learned policy."""

from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from bjsim.asked.kinds import Names
from bjsim.cli.asked import ask, asked_of
from bjsim.cli.options import UNSAID, Files, files_options, given_command, homework_rules, refuse_together
from bjsim.cli.waiting import Waiting, waiting
from bjsim.sim.engine.compile_notice import on_compile
from bjsim.sim.game.events import game_text
from bjsim.sim.game.rules import Rules
from bjsim.strategies.learning.learn import ALGORITHMS, DRAWS, LearningPoint, Schedule, Studies, Study, study
from bjsim.strategies.learning.report import LearnedGame
from bjsim.strategies.mdp.blackjack import GameProcess
from bjsim.strategies.mdp.model import FiniteMDP, build_mdp, read_mdp


@click.command()
@homework_rules
@click.option(
    "--mdp", "mdp_path", metavar="FILE.json", help="Learn the decision process in this file instead of a game."
)
@ask(
    "algorithm",
    "Learning algorithm: Q-learning (q), every-visit Monte Carlo (mc), or both, to compare them.",
    "q",
    kind=Names("q|mc|q,mc"),
    known=lambda: ALGORITHMS,
    variable="algorithms",
)
@click.option(
    "--draws",
    type=click.Choice(DRAWS),
    help="Sampling of chance while learning: even (less noise; default of q), or independent, as at a table.",
)
@asked_of("bjsim.api:learn")
@files_options("Plot value and regret against the number of episodes.")
def learn(
    rules: Rules,
    mdp_path: str | None,
    episodes: int,
    algorithms: list[str],
    draws: str | None,
    workers: int,
    seed: int,
    files: Files,
) -> None:
    """Learn a game, or any decision process, from samples, and compare the result with the exact solution.

    The regret, and the cost of every state with a suboptimal action, are computed, not sampled. The schedules of
    alpha and epsilon are fixed, so that results can be compared; for your own, `bjsim.gym` has the environments.
    """
    refuse_together("mdp_path", "rules_name", "settings", "decks", "ten_probability", why=", as the file says it all")
    schedules = [Schedule(algorithm, draws or "") for algorithm in dict.fromkeys(algorithms)]
    if mdp_path:
        process, mdp = None, read_mdp(mdp_path)
    else:
        process = GameProcess(rules)
        mdp = build_mdp(process)
    console = Console(stderr=files.quiet)
    compiling = "compiling the learner (once after install, up to half a minute) …"
    studies: list[Study] = []
    for schedule in schedules:
        describe(console, process.rules if process else mdp_path, mdp, schedule, seed)
        with waiting("solving the process") as line, on_compile(lambda: console.print(compiling, style="dim")):

            def show(point: LearningPoint, line: Waiting = line) -> None:
                line.say("learning", point.episodes, episodes, f"regret {point.regret:.6f}")

            studies.append(study(mdp, episodes, schedule, seed, workers, show))
    if process:
        studies = [LearnedGame.of(process, result) for result in studies]
    title = game_text(process.rules) if process else Path(str(mdp_path)).name
    files.show(Studies(title, studies), given_command(seed, UNSAID - {"workers"}), has_lines=False)


def describe(console: Console, what: Rules | str | None, mdp: FiniteMDP, schedule: Schedule, seed: int) -> None:
    size = f"{len(mdp.states):,} states, {len(mdp.actions):,} actions in them, discount factor {mdp.gamma:g}"
    console.print(Text.assemble((str(what), "bold"), f": {size}"), soft_wrap=not console.is_terminal)
    power = schedule.power_for(mdp.gamma)
    console.print(
        f"algorithm {schedule.algorithm}, {schedule.draws} draws, exploring starts, step size "
        + (f"{power + 1}/(n+{power})" if power else "1/n")
        + f", seed {seed}",
        style="dim",
        soft_wrap=not console.is_terminal,
        highlight=False,
    )

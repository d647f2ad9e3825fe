"""`bjsim learn`: learn a game, or any decision process from a file, and evaluate the learned policy."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from bjsim.cli.options import (
    Count,
    Files,
    Names,
    gathered,
    given_command,
    homework_rules,
    is_given,
    json_option,
    plot_option,
    seed_option,
    write_json,
)
from bjsim.cli.plots import ADJUSTED, EXACT, RAW, add_legend, framed, save_figure
from bjsim.cli.waiting import Waiting, waiting
from bjsim.errors import InputError
from bjsim.sim.engine.compile_notice import on_compile
from bjsim.sim.game.events import game_text
from bjsim.sim.game.rules import Rules
from bjsim.strategies.formats.files import format_text
from bjsim.strategies.learning.learn import ALGORITHMS, DRAWS, LearningPoint, Schedule, Study, study
from bjsim.strategies.learning.report import LearnedGame
from bjsim.strategies.mdp.blackjack import GameProcess
from bjsim.strategies.mdp.model import FiniteMDP, build_mdp, read_mdp

# --- The plot of `bjsim learn`: the value of the learned policy and its regret against the number of episodes.


FLOOR = 1e-7  # smaller regrets are hollow markers here


def plot_studies(studies: Sequence[Study], title: str, path: str, command: str) -> None:
    """Plot the greedy policy's exact value, and its regret on a logarithmic axis, for each algorithm."""
    first = studies[0]
    lines = f"{title}\n{first.episodes:,} episodes, seed {first.seed}"
    figure, above, below = framed(7.2, 5.4, lines, command)
    value, regret = above.subplots(2, 1, sharex=True, height_ratios=(2, 3))
    for each, colour, marker in zip(studies, (RAW, ADJUSTED), "os", strict=False):
        points = [point for point in each.curve if isfinite(point.regret)]
        episodes, regrets = [point.episodes for point in points], [point.regret for point in points]
        name = f"{each.schedule.algorithm}, {each.schedule.draws} draws"
        value.plot(episodes, [each.value_exact - lost for lost in regrets], color=colour, marker=marker, ms=3.5)
        regret.plot(episodes, [max(lost, FLOOR) for lost in regrets], color=colour, marker=marker, ms=3.5, label=name)
        small = [point.episodes for point in points if point.regret <= FLOOR]
        regret.plot(small, [FLOOR] * len(small), marker, ms=4.5, mec=colour, mfc="white", ls="")
    value.axhline(first.value_exact, color=EXACT, lw=1, ls="--", label=f"exact optimum, {first.value_exact:+.4f}")
    regret.axhline(FLOOR, color=EXACT, lw=0.5, ls=":", label=f"regret {FLOOR:g} or less")
    value.set(ylabel="value of the policy")
    regret.set(xscale="log", yscale="log", xlabel="episodes", ylabel="exact regret per episode", ylim=(FLOOR / 2, None))
    for axes in (value, regret):
        axes.grid(alpha=0.3)
    add_legend(below, [regret, value])
    save_figure(figure, path)


LISTED = 20  # states printed; the JSON has all of them


@click.command()
@homework_rules
@click.option(
    "--mdp", "mdp_path", metavar="FILE.json", help="Learn the decision process in this file instead of a game."
)
@click.option(
    "--episodes",
    type=Count(2),
    default=2 * 10**7,
    metavar="N",
    help="Number of episodes to learn from.  [default: 2e7]",
)
@click.option(
    "--algorithm",
    "algorithms",
    type=Names(lambda: [*ALGORITHMS]),
    default="q",
    show_default=True,
    metavar="q|mc|q,mc",
    help="Learning algorithm: Q-learning (q), every-visit Monte Carlo (mc), or both, to compare them.",
)
@click.option(
    "--draws",
    type=click.Choice(DRAWS),
    help="Sampling of chance while learning: even (less noise; default of q), or independent, as at a table.",
)
@click.option("--workers", type=Count(1, 256), default=1, show_default=True, help="Number of threads.")
@seed_option
@json_option
@plot_option("Plot value and regret against the number of episodes.")
@gathered(files=Files)
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
    schedules = [Schedule(algorithm, draws or "") for algorithm in dict.fromkeys(algorithms)]
    files.check()
    if mdp_path:
        if any(map(is_given, ("rules_name", "settings", "decks"))):
            raise InputError("--mdp reads the whole process from the file; omit --rules, --set and --decks")
        process, mdp = None, read_mdp(mdp_path)
    else:
        process = GameProcess(rules)
        mdp = build_mdp(process)
    console = Console(stderr=files.quiet)
    compiling = "compiling the learner (once after install, up to a minute) …"
    studies = []
    for schedule in schedules:
        describe(console, process.rules if process else mdp_path, mdp, schedule, seed)
        with waiting("solving the process") as line, on_compile(lambda: console.print(compiling, style="dim")):

            def show(point: LearningPoint, line: Waiting = line) -> None:
                line.say("learning", point.episodes, episodes, f"regret {point.regret:.6f}")

            studies.append(study(mdp, episodes, schedule, seed, workers, show))
    games = [LearnedGame.of(process, result) if process else None for result in studies]
    if files.json_path:
        found = [(game or result).to_json() for game, result in zip(games, studies, strict=True)]
        write_json({"algorithms": found} if len(found) > 1 else found[0], files.json_path)
    if files.plot_path:
        title = game_text(process.rules) if process else Path(str(mdp_path)).name
        plot_studies(studies, title, files.plot_path, given_command(seed))
    if len(studies) > 1:
        print_compared(console, studies)
    else:
        report(console, studies[0], games[0])


def describe(console: Console, what: Rules | str | None, mdp: FiniteMDP, schedule: Schedule, seed: int) -> None:
    size = f"{len(mdp.states):,} states, {len(mdp.actions):,} actions in them, discount factor {mdp.gamma:g}"
    console.print(f"[bold]{what}[/bold]: {size}", soft_wrap=not console.is_terminal, highlight=False)
    power = schedule.power_for(mdp.gamma)
    console.print(
        f"algorithm {schedule.algorithm}, {schedule.draws} draws, exploring starts, step size "
        + (f"{power + 1}/(n+{power})" if power else "1/n")
        + f", seed {seed}",
        style="dim",
        soft_wrap=not console.is_terminal,
        highlight=False,
    )


def report(console: Console, result: Study, game: LearnedGame | None) -> None:
    """Print the learned chart, the suboptimal states, the regret, the values, and the answers in words."""
    if game:
        console.print("\nThe learned chart\n" + format_text(game.chart), soft_wrap=True, highlight=False, markup=False)
    else:
        console.print(policy_table(result))
    console.print(suboptimal_table(result) if result.disagreements else "every state has an optimal action\n")
    low, high = result.learned.value_ci95
    lines = [
        f"regret             {result.regret:.6f}   (exact: optimal value minus the learned policy's)",
        f"value, learned    {result.learned.value:+.6f}   95% interval {low:+.6f} … {high:+.6f}, "
        f"{result.learned.value_episodes:,} greedy episodes",
        f"value, exact      {result.value_exact:+.6f}   (of the best policy)",
        *([f"value, chart      {game.chart_value:+.6f}   (exact, of the chart above)"] if game else []),
        f"{result.episodes:,} episodes in {result.seconds:.1f} s, {result.speed / 1e6:.2f} million episodes/s",
    ]
    if result.learned.cut_short and result.mdp.gamma == 1:
        lines.append(f"{result.learned.cut_short:,} episodes were truncated after {result.schedule.longest:,} steps")
    console.print("\n".join(lines), soft_wrap=not console.is_terminal, highlight=False, markup=False)
    homework = game if game and game.rules.name.startswith("neller") else None  # of others, the JSON has the answers
    for question, answer in (homework.answers() if homework else {}).items():
        console.print(f"\n[bold]{question}[/bold]", soft_wrap=not console.is_terminal, highlight=False)
        console.print(
            "\n".join(f"  {line}" for line in answer), soft_wrap=not console.is_terminal, highlight=False, markup=False
        )


def print_compared(console: Console, studies: list[Study]) -> None:
    table = RichTable("algorithm", "regret", "suboptimal states", "value, learned", "seconds", box=box.SIMPLE_HEAD)
    for one in studies:
        name, wrong = f"{one.schedule.algorithm}, {one.schedule.draws} draws", f"{len(one.disagreements):,}"
        table.add_row(name, f"{one.regret:.6f}", wrong, f"{one.learned.value:+.6f}", f"{one.seconds:.1f}")
    console.print(table)
    console.print(f"value, exact {studies[0].value_exact:+.6f}, of the best policy; regrets are exact", style="dim")


def policy_table(result: Study) -> RichTable:
    """The learned policy of any process: its first LISTED states."""
    mdp, learned = result.mdp, result.learned
    table = RichTable("state", "action", "learned value", "exact value", box=box.SIMPLE_HEAD)
    for state, row in enumerate(learned.policy):
        if row >= 0 and table.row_count < LISTED:
            table.add_row(
                mdp.states[state], mdp.actions[row], f"{learned.q[row]:+.4f}", f"{result.best.values[state]:+.4f}"
            )
    if table.row_count == LISTED:
        table.caption = f"the first {LISTED} of {len(mdp.states):,} states"
    return table


def suboptimal_table(result: Study) -> RichTable:
    """The states with a suboptimal action, most expensive first."""
    table = RichTable("state", "learned", "best", "cost in it", title="suboptimal states", box=box.SIMPLE_HEAD)
    for each in result.disagreements[:LISTED]:
        table.add_row(each.state, each.learned, each.best, f"{each.cost:.6f}")
    if len(result.disagreements) > LISTED:
        table.caption = f"and {len(result.disagreements) - LISTED:,} more"
    return table

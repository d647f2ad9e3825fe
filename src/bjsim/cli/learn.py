"""`bjsim learn`: learn a game, or any decision process in a file, and judge what was learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from click.core import ParameterSource
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable

from bjsim.cli.learn_plot import plot_regret
from bjsim.cli.options import Count, check_writable, json_option, rules_options, seed_option, the_rules, write_json
from bjsim.cli.plots import check_picture
from bjsim.errors import InputError
from bjsim.sim.engine.compile_notice import on_compile
from bjsim.sim.game.rules import Rules
from bjsim.strategies.formats.text import format_text
from bjsim.strategies.learning.learn import ALGORITHMS, DRAWS, Schedule
from bjsim.strategies.learning.report import LearnedGame
from bjsim.strategies.learning.study import LearningPoint, Study, study
from bjsim.strategies.mdp.blackjack import GameProcess
from bjsim.strategies.mdp.build import build_mdp, read_mdp
from bjsim.strategies.mdp.model import FiniteMDP

LISTED = 20  # disagreements that are printed; the JSON has them all


@click.command()
@rules_options
@click.option("--mdp", "mdp_path", metavar="FILE.json", help="Learn the decision process of this file instead.")
@click.option("--episodes", type=Count(2), default=2 * 10**7, show_default=True, metavar="N", help="2e7 is fine.")
@click.option(
    "--algorithm",
    type=click.Choice([*ALGORITHMS]),
    default="q",
    show_default=True,
    help="Q-learning, or every-visit Monte Carlo.",
)
@click.option(
    "--draws",
    type=click.Choice(DRAWS),
    help="How chance is sampled while learning: even (default of q; less noise), or independent, as at a table.",
)
@click.option("--workers", type=Count(1, 256), default=1, show_default=True, help="Threads.")
@seed_option
@json_option
@click.option("--plot", "plot_path", metavar="FILE.png|.svg", help="Draw the regret against episodes.")
@click.pass_context
def learn(
    ctx: click.Context, rules_name: str, settings: tuple[str, ...], decks: str | None, mdp_path: str | None,
    episodes: int, algorithm: str, draws: str | None, workers: int, seed: int, json_path: str | None,
    plot_path: str | None,
) -> None:  # fmt: skip
    """Learn a game, or any decision process, from samples; judge what was learned against the exact solution.

    The regret, and the cost of every state that is played worse than it could be, are computed, not sampled.
    """
    schedule = Schedule(algorithm, draws or "")
    if plot_path:
        check_picture(plot_path)
    for path in (json_path, plot_path):
        check_writable(path)
    if mdp_path:
        if settings or decks or ctx.get_parameter_source("rules_name") != ParameterSource.DEFAULT:
            raise InputError("--mdp takes the whole process from the file; leave out --rules, --set and --decks")
        process, mdp = None, read_mdp(mdp_path)
    else:
        process = GameProcess(the_rules(rules_name, settings, decks))
        mdp = build_mdp(process)
    console = Console(stderr=json_path == "-")
    describe(console, process.rules if process else mdp_path, mdp, schedule, seed)
    compiling = "compiling the learner (once after install, some seconds) …"
    with progress(console, episodes) as show, on_compile(lambda: console.print(compiling, style="dim")):
        found = study(mdp, episodes, schedule, seed, workers, show)
    game = LearnedGame(process, found) if process else None
    if json_path:
        write_json(learn_json(found, game), json_path)
    if plot_path:
        plot_regret(found, str(process.rules if process else mdp_path), plot_path)
    report(console, found, game)


@contextmanager
def progress(console: Console, episodes: int) -> Iterator[Callable[[LearningPoint], None]]:
    """A bar that follows learning, with the exact regret so far; nothing where there is no terminal."""
    now = TextColumn("{task.fields[now]}")
    columns = TextColumn("learning"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), now
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("learning", total=episodes, now="")
        yield lambda point: bar.update(task, completed=point.episodes, now=f"regret {point.regret:.6f}")


def describe(console: Console, what: Rules | str | None, mdp: FiniteMDP, schedule: Schedule, seed: int) -> None:
    """One line on what is learned, and one on how."""
    console.print(
        f"[bold]{what}[/bold]: {len(mdp.states):,} states, {len(mdp.actions):,} actions in them, discount factor "
        f"{mdp.gamma:g}", soft_wrap=True, highlight=False,
    )  # fmt: skip
    power = schedule.power_for(mdp.gamma)
    console.print(
        f"algorithm {schedule.algorithm}, {schedule.draws} draws, exploring starts, step size "
        + (f"{power + 1}/(n+{power})" if power else "1/n")
        + f", seed {seed}",
        style="dim",
        soft_wrap=True,
        highlight=False,
    )


def report(console: Console, found: Study, game: LearnedGame | None) -> None:
    """Print what was learned: the chart, the value, the regret, the states in dispute, and the answers in words."""
    if game:
        console.print("\nThe learned chart\n" + format_text(game.chart), soft_wrap=True, highlight=False, markup=False)
    else:
        console.print(policy_table(found))
    console.print(disputes_table(found) if found.disagreements else "no state is played worse than it could be\n")
    low, high = found.learned.value_ci95
    lines = [
        f"regret             {found.regret:.6f}   (exact: what the learned policy loses in the long run)",
        f"value, learned    {found.learned.value:+.6f}   95% interval {low:+.6f} … {high:+.6f}, "
        f"{found.learned.value_episodes:,} greedy episodes",
        f"value, exact      {found.value_exact:+.6f}   (of the best policy)",
        f"{found.episodes:,} episodes in {found.seconds:.1f} s, {found.speed / 1e6:.2f} million a second",
    ]
    if found.learned.cut_short and found.mdp.gamma == 1:
        lines.append(f"{found.learned.cut_short:,} episodes were cut after {found.schedule.longest:,} steps")
    console.print("\n".join(lines), soft_wrap=True, highlight=False, markup=False)
    for question, answer in (game.answers() if game else {}).items():
        console.print(f"\n[bold]{question}[/bold]", soft_wrap=True, highlight=False)
        console.print("\n".join(f"  {line}" for line in answer), soft_wrap=True, highlight=False, markup=False)


def policy_table(found: Study) -> RichTable:
    """The learned policy of any process, state by state, as far as there are LISTED."""
    mdp, learned = found.mdp, found.learned
    table = RichTable("state", "action", "learned value", "exact value", box=box.SIMPLE_HEAD)
    for state, row in enumerate(learned.policy):
        if row >= 0 and table.row_count < LISTED:
            table.add_row(
                mdp.states[state], mdp.actions[row], f"{learned.q[row]:+.4f}", f"{found.best.values[state]:+.4f}"
            )
    if table.row_count == LISTED:
        table.caption = f"the first {LISTED} of {len(mdp.states):,} states"
    return table


def disputes_table(found: Study) -> RichTable:
    """The states that are played worse than they could be, dearest first."""
    table = RichTable("state", "learned", "best", "cost there", title="worse than it could be", box=box.SIMPLE_HEAD)
    for each in found.disagreements[:LISTED]:
        table.add_row(each.state, each.learned, each.best, f"{each.cost:.6f}")
    if len(found.disagreements) > LISTED:
        table.caption = f"and {len(found.disagreements) - LISTED:,} more"
    return table


def learn_json(found: Study, game: LearnedGame | None) -> dict[str, object]:
    """What `--json` writes."""
    data = found.to_json()
    if game:
        data |= {
            "rules": game.rules.to_dict(),
            "chart": {f"{row} v {column}": code for (row, column), code in game.chart.cells.items()},
            "answers": game.answers(),
        }
    return data

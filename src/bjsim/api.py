"""The functions behind `import bjsim`: one for each thing that the command line does.

Games are given as `Rules`, as the name of a preset or as the path of a TOML file; charts as `Chart`, by name or as the
path of a file. Every function raises `InputError` for an argument that is not accepted.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Unpack, overload

from bjsim.arguments import flag, names_wrong_types
from bjsim.asked.kinds import checked
from bjsim.bots.contest.config import Contest, Settings, with_settings
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.page import write_results
from bjsim.bots.contest.standings import Standings
from bjsim.errors import InputError
from bjsim.sim.engine.compile_notice import announce_compile, on_compile
from bjsim.sim.game.presets import RulesLike, load_rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.compare import Compared, Evaluation, evaluate_chart
from bjsim.strategies.evaluation.compare import compare as compare_games
from bjsim.strategies.evaluation.compare import solve as solve_game
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.learning.learn import LearningPoint, Schedule, Study, study
from bjsim.strategies.learning.report import LearnedGame
from bjsim.strategies.mdp.blackjack import GameProcess
from bjsim.strategies.mdp.model import FiniteMDP, build_mdp
from bjsim.strategies.players.catalogue import find_player
from bjsim.strategies.solution import Solution

COMPILING = "compiling the learner (once after install, up to half a minute) …"


@names_wrong_types
def solve(rules: RulesLike, *, exact: bool = False) -> Solution:
    """Solve a game by dynamic programming, in its own shoe.

    Args:
        rules: The game.
        exact: Compute with `fractions.Fraction` instead of `float`, which needs an infinite shoe.

    Returns:
        The solution: `.value` in initial bets per settled bet of a freshly shuffled shoe, `.sd`, `.chart` with the best
        strategy, `.value_of(chart)` and `.costs(chart)` of any other, `.hand_values(cards, shown)`. Its `.refusal` is
        set where a finite shoe has no exact value and an infinite one takes its place. A finite shoe values
        composition-dependent strategies too, by name.

    Raises:
        InputError: If the rules are not accepted.
    """
    rules = load_rules(rules)
    if not flag("exact", exact):
        return solve_game(rules)
    if not rules.infinite:
        raise InputError("exact: fractions are for the infinite shoe; give decks = inf")
    return Solver(rules, Fraction)


@names_wrong_types
def evaluate(chart: Chart | str | os.PathLike[str], rules: RulesLike | None = None) -> Evaluation:
    """Compute what a chart returns and what each of its wrong cells costs.

    Args:
        chart: A chart, the name of a strategy, or the path of a chart file.
        rules: The game to play it by. May be left out for a `Chart`, which has rules of its own.

    Returns:
        Value of the chart and of the best one, in initial bets per settled bet in a freshly shuffled shoe, and the
        cells in which they differ, most expensive first. `refusal` is set where a shoe had to be infinite instead.

    Raises:
        InputError: If the chart or the rules are not accepted.
    """
    if isinstance(chart, Chart):
        return evaluate_chart(chart if rules is None else replace(chart, rules=load_rules(rules)))
    if rules is None:
        raise InputError(f"rules are needed to read the chart {os.fspath(chart)}; give rules=")
    player = find_player(os.fspath(chart), load_rules(rules))
    if not isinstance(player, Chart):
        raise InputError(f"{chart} is not a chart; only charts can be evaluated exactly")
    return evaluate_chart(player)


@names_wrong_types
def compare(*rules: RulesLike) -> list[Compared]:
    """Compare games: what each returns under best play, and how its best chart differs from the first game's.

    Args:
        *rules: Two games or more; differences are taken from the first.

    Returns:
        One entry for each game, in order. Values in initial bets per settled bet, of a freshly shuffled shoe.

    Raises:
        InputError: If rules are not accepted, or none are given.
    """
    if not rules:
        raise InputError("compare takes at least one game")
    if isinstance(rules[0], list | tuple):
        raise InputError("rules: a list is not accepted; write compare(*games), or name them one after the other")
    return compare_games([load_rules(game) for game in rules])


@overload
def learn(
    game: RulesLike,
    episodes: int = ...,
    *,
    algorithm: str = ...,
    seed: int = ...,
    workers: int = ...,
    on_point: Callable[[LearningPoint], object] = ...,
) -> LearnedGame: ...
@overload
def learn(
    game: FiniteMDP,
    episodes: int = ...,
    *,
    algorithm: str = ...,
    seed: int = ...,
    workers: int = ...,
    on_point: Callable[[LearningPoint], object] = ...,
) -> Study: ...
@names_wrong_types
def learn(
    game: RulesLike | FiniteMDP,
    episodes: int = 20_000_000,
    *,
    algorithm: str = "q",
    seed: int = 1,
    workers: int = 1,
    on_point: Callable[[LearningPoint], object] = lambda point: None,
) -> LearnedGame | Study:
    """Learn a game, or any finite decision process, from sampled episodes.

    Args:
        game: A game, or a `FiniteMDP`.
        episodes: Number of episodes to learn from.
        algorithm: `q` (Q-learning) or `mc` (every-visit Monte Carlo).
        seed: The same seed and number of workers give the same result to the bit.
        workers: Number of threads.
        on_point: Called with the exact regret now and then.

    Returns:
        What was learned, with its exact regret; for a game also as a chart.

    Raises:
        InputError: If the game is not accepted, cannot be learned, or there are too few episodes.
    """
    episodes, seed, workers = checked(episodes=episodes, seed=seed, workers=workers)
    schedule = Schedule(algorithm, "")
    with on_compile(lambda: announce_compile(COMPILING)):
        if isinstance(game, FiniteMDP):
            return study(game, episodes, schedule, seed, workers, on_point)
        process = GameProcess(load_rules(game))
        return LearnedGame.of(process, study(build_mdp(process), episodes, schedule, seed, workers, on_point))


@names_wrong_types
def contest(
    bots: Sequence[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    *,
    rules: RulesLike = "cardshark",
    workers: int = 1,
    sandbox: str = "required",
    on_match: Callable[[Host], None] = lambda host: None,
    **settings: Unpack[Settings],
) -> Standings:
    """Host a contest, as `bjsim koth play` does.

    Args:
        bots: Names, files of bots or charts, folders of such files; `NAME=` may precede each.
        folder: Where the journal, the standings and the page go. It must not hold a contest.
        rules: The game.
        workers: Tables played at the same time.
        sandbox: `required` or `auto`.
        on_match: Called after every match.
        **settings: Other fields of a contest, such as `matches`, `seed`, `until` or `duplicate`.

    Returns:
        The standings at the end.

    Raises:
        InputError: If a bot or a setting is not accepted.
        RunFailed: If the sandbox fails.
    """
    workers, sandbox = checked(workers=workers, sandbox=sandbox)
    asked = with_settings(Contest(load_rules(rules)), settings)
    bots = bots if isinstance(bots, str) else [*bots]  # it may be a generator
    for bot in [None] if isinstance(bots, str) else bots:
        if not isinstance(bot, str | os.PathLike):
            wrong = type(bots if bot is None else bot).__name__
            raise InputError(f"bots: a {wrong} is not accepted; give a list of names, files or folders")
    host = Host.gathered(Path(folder), asked, [os.fspath(bot) for bot in bots], workers, sandbox)
    try:
        return host.run(on_match)
    finally:
        write_results(host.folder, host.standings, host.page, host.logs)

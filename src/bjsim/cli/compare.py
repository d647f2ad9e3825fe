"""`bjsim compare`: how the value of a game and its best chart change with the rules."""

import itertools
from collections.abc import Sequence

import click

from bjsim.arguments import MAX_HANDS
from bjsim.asked.kinds import Names
from bjsim.cli.asked import AskedType, ask
from bjsim.cli.options import (
    CASINO,
    Files,
    files_options,
    given_command,
    is_given,
    parse_varied,
    settings_options,
    vary_option,
)
from bjsim.cli.run import play_on_screen
from bjsim.cli.waiting import waiting
from bjsim.errors import InputError, RunFailed
from bjsim.request import RunRequest
from bjsim.sim.game.presets import PRESETS, the_rules
from bjsim.sim.game.rules import LONGEST_NAME, Rules
from bjsim.sim.game.support import refusal
from bjsim.strategies.comparison import Comparison
from bjsim.strategies.evaluation.compare import Compared, best_chart, differ_in_cut_alone
from bjsim.strategies.evaluation.compare import compare as compare_games
from bjsim.strategies.results import BotResult

CUT_PRECISION = 5e-5  # initial bets, where games differ only in their cut: a fraction of its effect, in a second or two


@click.command()
@click.option(
    "--rules",
    "names",
    type=AskedType("rules", Names(), lambda: PRESETS),
    default=CASINO,
    show_default=True,
    metavar="A[,B...]",
    help="Games, as presets or TOML files; each is compared with the first.",
)
@vary_option("Vary a rule: one game for each value; repeat it for all combinations.")
@settings_options("decks", "ten_probability")
@ask("until")
@ask("seed", default=1)
@ask("workers", "Number of processes for --until.", shown="all cores")
@files_options("Draw the values of the games.")
def compare(
    names: list[str],
    varied: tuple[str, ...],
    settings: tuple[str, ...],
    until: float | None,
    seed: int,
    workers: int | None,
    files: Files,
) -> None:
    """Compare games: the exact values of their best charts, decks included, and so the effect of a rule.

    A value is that of a freshly shuffled shoe. With --until, and where games differ only in their cut, the best chart
    is also played in each finite shoe, for its luck-adjusted return and the cut-card effect.

    bjsim compare --rules vegas-s17,vegas-h17,atlantic-city

    bjsim compare --rules vegas-s17 --vary blackjack_pays=3/2,6/5,1

    bjsim compare --rules vegas-s17 --vary decks=1,2,6,8

    bjsim compare --rules vegas-s17 --vary cut=1/2,3/4,9/10
    """
    games = the_games(names, varied, settings)
    if until and all(game.infinite for game in games):
        raise InputError("--until is for finite shoes, and these are infinite; leave it out, or give --decks 1 to 8")
    if until is None and differ_in_cut_alone(games) and not any(refusal(game, "luck") for game in games):
        until = CUT_PRECISION
    for name in ("seed", "workers"):
        if until is None and is_given(name):
            raise InputError(f"--{name} is for what --until plays; give --until P%, such as 0.01%, or leave it out")
    with waiting("solving the games") as line:
        compared = compare_games(games, lambda done: line.say("solving the games", done, len(games)))
    played: list[BotResult | None] = [None] * len(games)
    try:
        if until:
            for number, one in enumerate(compared):
                played[number] = in_its_shoe(one, until, seed, workers, files.quiet)
    finally:  # also after Ctrl-C, or a run that failed
        files.show(Comparison(compared, played, seed), given_command(seed if any(played) else None))


def in_its_shoe(one: Compared, precision: float, seed: int, workers: int | None, quiet: bool) -> BotResult | None:
    """The result of the best chart in the game's own shoe; None for an infinite shoe."""
    if one.rules.infinite:
        return None
    chart = best_chart(one.rules)
    request = RunRequest(one.rules, [chart], MAX_HANDS, until=precision, seed=seed, workers=workers)
    played = play_on_screen(request, quiet)[1]
    if played.stopped:
        raise KeyboardInterrupt
    if played.failure:
        raise RunFailed(played.failure)
    return played[0]


def the_games(names: Sequence[str], varied: Sequence[str], settings: tuple[str, ...]) -> list[Rules]:
    """The games that the options choose, at least two. Raises: InputError."""
    games = [the_rules(name, settings) for name in names]
    if varied:
        if len(games) > 1:
            raise InputError(f"--vary takes one game, not {len(games)}: {', '.join(names)}")
        points = [*itertools.product(*parse_varied(varied))]
        named = [", ".join(f"{field}={text}" for field, text in point) for point in points]
        if max(map(len, named)) > LONGEST_NAME:
            named = [", ".join(text for _, text in point) for point in points]
        games = [games[0].replace(**dict(point), name=name) for point, name in zip(points, named, strict=True)]
    if len(games) < 2:
        raise InputError("nothing to compare; give --rules two or more games, or --vary FIELD=V1,V2")
    return games

"""One question to all front ends: what does the best chart of a game return?

Each answer is a number in initial bets; a refusal is an `InputError`, in words.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache, lru_cache, partial

import numpy as np

import bjsim
from bjsim.bots.contest.config import has_luck
from bjsim.bots.contest.luck import StateIndex, tabulate
from bjsim.bots.contest.luck import evaluate as evaluate_states
from bjsim.errors import InputError
from bjsim.sim.engine.compiled_rules import payoff_code
from bjsim.sim.game.actions import ATTACK, INSURANCE, LETTERS, Action, View
from bjsim.sim.game.automaton import START
from bjsim.sim.game.cards import parse_rank
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import CardStream, stream_key
from bjsim.sim.stats.estimate import Z95
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.coach import Coach
from bjsim.strategies.experiment import compile_players
from bjsim.strategies.formats.files import WRITERS, read_chart
from bjsim.strategies.learning.gym_env import BlackjackEnv
from bjsim.strategies.learning.observations import LUCK_ADJUSTED, decision_values
from bjsim.strategies.mdp.blackjack import GameProcess
from bjsim.strategies.mdp.model import FiniteMDP, build_mdp
from bjsim.strategies.mdp.solve import evaluate, start_value, value_iteration
from bjsim.strategies.players.catalogue import find_player
from support.conformance import KEY, Watched
from support.conformance import play as played_views
from support.engines import play_rounds

CLOSE = 1e-9
COACHED = 30  # rounds
EPISODES = 300
PLAYED = 400  # rounds
PAIRED = 10  # rounds for each rank
COUNTED = 2_000  # rounds
# Rules that contests leave out of their values, see `StateIndex`.
WITHOUT_VALUES = {
    "no_hole_loses": "all", "surrender_after_double": False, "max_doubles": 1, "insurance": False, "attack": False,
}  # fmt: skip
FAR = 4.5  # standard errors
ACTIONS = LETTERS + INSURANCE[0]  # of environments, by number
Answer = Callable[[], float]


def answers(rules: Rules) -> Iterator[tuple[str, Answer]]:
    """Every front end's name and its answer about the best chart."""
    solved = bjsim.solve(rules)
    chart = solved.chart
    value = cache(lambda: bjsim.evaluate(chart, rules).value)

    def value_of(other: Chart) -> float:
        same = (chart.cells, chart.insurance, chart.attack) == (other.cells, other.insurance, other.attack)
        return value() if same else bjsim.evaluate(other, rules).value

    yield "solve", lambda: float(solved.value)
    yield "evaluate(chart)", value
    yield "optimal", lambda: value_of(find_chart(rules))
    for form in WRITERS:
        yield form, partial(lambda form: value_of(read_chart(WRITERS[form](chart), form, rules)), form)
    yield "run", lambda: exact(bjsim.play(rules, ["optimal"], hands=200, workers=1, adjust_luck=False)[0])
    yield "bank", lambda: bjsim.bank(rules, 1000, 1).ev
    yield "known", lambda: bjsim.known(rules, "first").game
    yield "known, mean", lambda: bjsim.known(rules, "first").value
    yield "compare", lambda: bjsim.compare(rules, rules)[1].value
    yield "readable round", lambda: value() if rounds_are_alike(rules, chart) else math.nan
    yield "coach", lambda: float(solved.value) + sum(costs_of(rules, chart))
    if rules.infinite and not solved.beyond_chart:  # else neither can play the chart
        yield "learn", lambda: learned(rules)
        yield "environment", lambda: mean_reward(rules, chart)
        if has_luck(rules) and rules == rules.replace(**WITHOUT_VALUES) and rules.split_by != "rank":
            yield "contest", lambda: value_in_contests(rules, chart)
    elif not (rules.infinite or solved.refusal):
        yield "count", lambda: counted(rules, value())


def find_chart(rules: Rules) -> Chart:
    chart = find_player("optimal", rules)
    assert isinstance(chart, Chart)
    return chart


def value_in_contests(rules: Rules, chart: Chart) -> float:
    """The value of a round by which contests judge luck."""
    index = StateIndex(rules)
    return float(evaluate_states(index, tabulate(index, chart.policy))[index.number_of[START], 0])


def mean_reward(rules: Rules, chart: Chart) -> float:
    """What the best chart earns in an environment without luck, where best play earns the value in every episode."""
    environment = BlackjackEnv(rules, reward=LUCK_ADJUSTED)
    total = 0.0
    for episode in range(EPISODES):
        _, info = environment.reset(seed=None if episode else 7)
        ended = False
        while not ended:
            letter = chart.decide(info["view"]).letter if len(info["view"].legal) > 1 else "S"
            _, reward, ended, _, info = environment.step(np.int64(ACTIONS.index(letter)))
            total += reward
    return total / EPISODES


def counted(rules: Rules, right: float) -> float:
    """What a counter earns who bets one unit at every count and departs from nothing, in shoes of one round.

    It is estimated. The right value is returned where the estimate may be as far from it by chance.
    """
    game = rules.replace(cut=Fraction(1, rules.shoe_size))
    found = bjsim.count(game, ramp="1", indices="none", rounds=COUNTED)["ev_per_round"]
    assert found.half is not None
    return right if abs(found.value - right) < FAR * found.half / Z95 else found.value


def exact(result: bjsim.BotResult) -> float:
    if result.exact is None:
        raise InputError(result.no_exact)
    return result.exact


def rounds_are_alike(rules: Rules, chart: Chart) -> bool:
    """Whether the readable round asks as the states of hands say, and pays what the compiled one does."""
    alone = rules.replace(seats=1)
    results, seen = played_views(alone, chart, PLAYED)
    seen += views_of_pairs(alone, chart)
    if not all(letters_of(chart, view) == set(view.legal) for view, _ in seen if view.legal not in (INSURANCE, ATTACK)):
        return False
    readable = [payoff_code(result.net[0], result.tied[0], rules.unit) for result in results]
    trace = play_rounds(compile_players(alone, [chart]), stream_key(*KEY), PLAYED, PLAYED)[2]
    return bool(trace[:, 0].tolist() == readable)


def views_of_pairs(rules: Rules, chart: Chart) -> list[tuple[View, Action]]:
    """What a chart is asked where many cards have one rank, so that pairs are split up to the limit of hands."""
    rng, watched = random.Random(PLAYED), Watched(chart)
    for rank in range(13):
        for _ in range(PAIRED):
            cards = (rank if rng.random() < 0.35 else rng.randrange(13) for _ in itertools.count())
            Round(rules, CardStream(cards), 1).play([watched])
    return watched.seen


def letters_of(chart: Chart, view: View) -> set[str]:
    """The legal actions of a hand by its state."""
    ranks = [parse_rank(card) for card in view.hand]
    state = chart.states.hand(ranks, view.split, view.free, view.doubled)
    letters = chart.states.against(chart.states.column(view.dealer)).legal(state)
    full = view.hands >= chart.rules.hand_limit(aces=ranks[0] == 0)
    return set(letters) - {"P"} if full else set(letters)


def costs_of(rules: Rules, chart: Chart) -> Iterator[float]:
    """What a coach blames in some rounds of a chart."""
    coach = Coach(rules)
    for view, action in played_views(rules.replace(seats=1), chart, COACHED)[1]:
        judged = coach.judge(view, action)
        if judged is not None and judged.is_mistake:
            yield judged.cost


def learned(rules: Rules) -> float:
    """The value of the chart in the decision process that is learned."""
    process, mdp = decision_process(rules)
    return start_value(mdp, evaluate(mdp, process.policy(mdp, bjsim.solve(rules).chart.policy)))


@lru_cache(maxsize=1)
def decision_process(rules: Rules) -> tuple[GameProcess, FiniteMDP]:
    process = GameProcess(rules)
    return process, build_mdp(process)


def best_of_all(rules: Rules) -> Iterator[tuple[str, float]]:
    """What best play of an infinite shoe returns, which may know more than a chart."""
    yield "solve", float(bjsim.solve(rules).best_value)
    with suppress(InputError):
        yield "environment", decision_values(rules).start
    _, mdp = decision_process(rules)
    yield "learn", start_value(mdp, value_iteration(mdp, 1e-11).values)


def differences(rules: Rules) -> tuple[list[str], list[str]]:
    """The front ends with another answer than the chart's own value, and what was refused by which."""
    found: dict[str, float] = {}
    refused = []
    for name, answer in answers(rules):
        try:
            found[name] = answer()
        except InputError as error:
            refused.append(f"{name}: {error}")
    right = found["evaluate(chart)"]
    wrong = [
        f"{name} {value:+.9f}, not {right:+.9f}" for name, value in found.items() if not abs(value - right) < CLOSE
    ]
    return wrong, refused

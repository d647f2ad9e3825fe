"""One question to all front ends: what does the best chart of a game return?

Each answer is a number in initial bets; a refusal is an `InputError`, in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial

import bjsim
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.coach import Coach
from bjsim.strategies.formats.files import WRITERS, read_chart
from bjsim.strategies.mdp.blackjack import GameProcess
from bjsim.strategies.mdp.build import build_mdp
from bjsim.strategies.mdp.model import FiniteMDP
from bjsim.strategies.mdp.solve import evaluate, start_value, value_iteration
from support.conformance import play as played_views

CLOSE = 1e-9
COACHED = 30  # rounds
Answer = Callable[[], float]


def answers(rules: Rules) -> Iterator[tuple[str, Answer]]:
    """Every front end's name and its answer about the best chart."""
    solved = bjsim.solve(rules)
    chart = solved.chart
    value = cache(lambda: bjsim.evaluate(chart, rules).value)

    def read_back(form: str) -> float:
        read = read_chart(WRITERS[form](chart), form, rules)
        return value() if same_plays(read, chart) else bjsim.evaluate(read, rules).value

    yield "solve", lambda: float(solved.value)
    yield "evaluate(chart)", value
    yield "evaluate('optimal')", lambda: bjsim.evaluate("optimal", rules).value
    for form in WRITERS:
        yield form, partial(read_back, form)
    yield "run", lambda: exact(bjsim.play(rules, ["optimal"], hands=200, seed=1, workers=1)[0])
    yield "bank", lambda: bjsim.bank(rules, 1000, 1).ev
    yield "known", lambda: bjsim.known(rules, "first").game
    yield "known, mean", lambda: bjsim.known(rules, "first").value
    yield "compare", lambda: bjsim.compare(rules, rules)[1].value
    yield "coach", lambda: float(solved.value) + sum(costs_of_the_chart(rules))
    if rules.infinite:
        yield "learn", lambda: learned(rules)


def same_plays(chart: Chart, other: Chart) -> bool:
    return (chart.cells, chart.insurance, chart.attack) == (other.cells, other.insurance, other.attack)


def exact(result: bjsim.BotResult) -> float:
    if result.exact is None:
        raise InputError(result.no_exact)
    return result.exact


def costs_of_the_chart(rules: Rules) -> Iterator[float]:
    """What a coach blames in some rounds of the best chart."""
    coach = Coach(rules)
    for view, action in played_views(rules.replace(seats=1), coach.chart, COACHED)[1]:
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
    """What best play of an infinite shoe returns, which may know more than a chart; learners split every pair again."""
    yield "solve", float(bjsim.solve(rules).best_value)
    if rules.free_splits == "none" and rules.no_hole_loses != "busted-plus-one":
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

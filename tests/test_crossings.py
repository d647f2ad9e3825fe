"""Every engine and front end in the games of the covering array, held against the readable round or another.

A rule that is declared with its unusual values is in these games, and so in every crossing.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from support.counters import play_shoes
from support.engines import Game, readable_trace
from support.environments import SAME_STEP, gym, played
from support.games import random_chart, slow
from support.lines import Reader
from support.unusual import chosen_games, covering_array, tell

from bjsim.bots import line
from bjsim.bots.protocol import Fault, Reply, classify_reply, make_argv
from bjsim.bots.turn import can_ask
from bjsim.sim.engine.compiled_rules import payoff_code
from bjsim.sim.game.actions import ATTACK, CODES, INSURANCE, LETTERS, STAND, Action, View
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import Stream, open_shoe, stream_key
from bjsim.sim.game.support import refusal
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.departures import Departures
from bjsim.strategies.counting.system import find_system
from bjsim.strategies.counting.tables import CountingGame, ready_table
from bjsim.strategies.evaluation.coach import Coach
from bjsim.strategies.players.catalogue import find_player

ROUNDS = 250
KEY = (5, 0, 1)  # seed, table and block
STEPS, WITH_VALUES = 40, 120  # of environments; more where they have values, of which few are of another split
CLOSE = 1e-9


def walkers(chart: Chart) -> str:
    """Arrays and kernels, with the payoff and the cards of every round."""
    return Game(chart.rules, [chart]).wrong([ROUNDS, 0, 40])


def counter(chart: Chart) -> str:
    """A counter that departs from nothing is paid as its chart."""
    game = CountingGame(chart.rules, find_system("hilo"), Departures(chart), adjusted=False)
    trace = play_shoes(ready_table(game).table, stream_key(*KEY), ROUNDS, ROUNDS)[1][:ROUNDS]
    return wrong_rounds(trace[:, [2, 1]], readable_trace(chart.rules, [chart], KEY, ROUNDS))


def line_bot(chart: Chart) -> str:
    """A bot that plays the chart from the lines that it is sent."""
    unasked = replace(chart, attack="")  # as no protocol has this question
    paid, transcript, shoe = [], line.Transcript(chart.rules), open_shoe(chart.rules, Stream(*KEY))
    bot = LineBot(unasked, transcript)
    for _ in range(ROUNDS):
        game = Round(chart.rules, shoe, 1)
        transcript.begin_round([0], [chart.rules.chips], game.events)
        result = game.play([bot])
        paid.append(payoff_code(result.net[0], result.tied[0], chart.rules.unit))
    return wrong_rounds(np.array(paid), readable_trace(chart.rules, [unasked], KEY, ROUNDS)[:, 0])


class LineBot:
    """Reads lines, and answers in words."""

    name = "line bot"

    def __init__(self, chart: Chart, transcript: line.Transcript) -> None:
        self.chart, self.transcript, self.reader, self.read = chart, transcript, Reader(), 0
        self.reader.read(line.rules_line(chart.rules))

    def decide(self, view: View) -> Action:
        if view.legal == ATTACK:
            return Action("S")
        self.transcript.update()
        for text in [*self.transcript.lines[self.read :], line.move_line(view, self.transcript.hand_in_play[0])]:
            self.reader.read(text)
        self.read = len(self.transcript.lines)
        return parsed(f"{self.chart.decide(self.reader.view(0))} as the chart", view)


def parsed(answer: str, view: View) -> Action:
    """The action that the words of a program mean, which is no fault."""
    action = reply(answer, view)
    assert isinstance(action, Action), action
    return action


def reply(answer: str, view: View) -> Action | Fault:
    return classify_reply(Reply("exit", 0, 0, answer.encode(), b""), view)


def program(chart: Chart) -> str:
    """A program that is run for every move, and knows its points alone."""
    same = find_player("lim17", chart.rules)
    assert isinstance(same, Chart)
    found, right = (readable_trace(chart.rules, [player], KEY, ROUNDS) for player in (Program(), same))
    return wrong_rounds(found, right)


class Program:
    """Answers as Lim 17, and finds no other letters accepted than those that are legal."""

    name = "program"

    def decide(self, view: View) -> Action:
        if not can_ask(view, line=False):
            return STAND
        accepted = [letter for letter in CODES if isinstance(reply(letter, view), Action)]
        assert accepted == [letter for letter in CODES if letter in view.legal]
        return parsed("h" if int(make_argv(view)[0]) < 17 else "s", view)


def environments(chart: Chart) -> str:
    """The vector environment and that of readable rounds, for random actions; it raises."""
    values, split = chart.rules.infinite, LETTERS.index("P")
    steps = WITH_VALUES if values else STEPS
    played(chart.rules, SAME_STEP, steps, seed=5, tables=8, favourite=split, favour=3, close=CLOSE, values=values)
    return ""


def coach(chart: Chart) -> str:
    """The coach's values and those of an environment, which are of an infinite shoe."""
    if not chart.rules.infinite:
        return ""
    environment = gym.BlackjackEnv(chart.rules, values=True)
    judge, rng, (_, info) = Coach(chart.rules), random.Random(5), environment.reset(seed=5)
    for _ in range(4 * STEPS):
        view, values = info["view"], dict(zip(LETTERS + INSURANCE[0], info["values"].tolist(), strict=False))
        judged = judge.judge(view, Action(view.legal[0])) if len(view.legal) > 1 else None
        for letter, value in judged.values.items() if judged else ():
            other = values[letter] * chart.rules.buy_in / view.stake  # a coach values a bet of the hand
            if letter != "P" and not abs(value - other) < CLOSE:
                return f"{view.hand} against {view.dealer}, {letter}: {value:.9f}, not {other:.9f}"
        _, _, ended, _, info = environment.step(np.int64((LETTERS + INSURANCE[0]).index(rng.choice(view.legal))))
        if ended:
            _, info = environment.reset()
    return ""


def wrong_rounds(found: np.ndarray, right: np.ndarray) -> str:
    wrong = np.flatnonzero((found != right).reshape(len(right), -1).any(axis=1))
    return f"{len(wrong)} rounds, first {wrong[0]}: {found[wrong[0]]}, not {right[wrong[0]]}" if len(wrong) else ""


CROSSINGS: dict[Callable[[Chart], str], str] = {  # with the front end whose games they need
    walkers: "compiled",
    counter: "count",
    line_bot: "bots",
    program: "bots",
    environments: "environment",
    coach: "environment",
}
PARTS = 4  # of the covering array, by night


@pytest.mark.parametrize(("games", "part"), [(chosen_games, 0), *(slow(covering_array, part) for part in range(PARTS))])
def test_engines_agree(games: Callable[[], tuple[Rules, ...]], part: int) -> None:
    """By day some ten games in which every unusual value occurs, by night all; in one shoe each.

    By day none has more than four hands, as tables of endless splits take long to make.
    """
    wrong, crossed, by_day = [], Counter[str](), games is chosen_games
    for number, rules in enumerate(games()[part :: 1 if by_day else PARTS]):
        most = min(rules.max_hands, 4 if by_day else math.inf)
        game = rules.replace(decks=("inf", 2)[number % 2], cut=1, seats=1, max_hands=most)
        chart = random_chart(game, number + part, number % 6)
        for cross, front_end in CROSSINGS.items():
            if refusal(game, front_end):
                continue
            crossed[cross.__name__] += 1
            if found := cross(chart):
                wrong.append(f"{cross.__name__}: {found} in {tell(game)}")
    assert wrong == []
    assert min(crossed[cross.__name__] for cross in CROSSINGS) >= 3

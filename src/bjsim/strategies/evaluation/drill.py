"""`Drill`: chooses the exercises that a learner should do next."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import combinations_with_replacement

from bjsim.sim.game.actions import LETTERS, Action, View
from bjsim.sim.game.cards import HIDDEN, RANKS, TEN
from bjsim.strategies.evaluation.coach import Coach, Judgement

SCALE = 0.05  # initial bets; a guess is assumed to be wrong half as often for each so much between best and second best
MORE, LESS = 4.0, 0.5  # how a wrong and a right answer change the weight of a cell
LEAST, MOST = LESS**4, MORE**3


@dataclass(frozen=True)
class Exercise:
    """Two cards against what the dealer shows, before any action.

    Attributes:
        view: What the player sees.
        cell: Row and column of the chart.
        weight: The expected loss by it per round of a beginner, in initial bets.
    """

    view: View
    cell: tuple[str, str]
    weight: float


class Drill:
    """Asks for the first decision of a hand, most often where errors are expected.

    The weight of an exercise is its chance, times what the second-best action costs, times how often a beginner is
    assumed to err: close decisions are missed most, and the others cost most. Each wrong answer raises the weight of
    the cell of the chart, each right one lowers it.

    Args:
        coach: Judges the answers.
        seed: The same seed and the same answers give the same questions.

    Attributes:
        exercises: Those that are asked for, with their weights before the first answer.
        answers: By cell, the number of right and of wrong answers.
        lost: The costs of all mistakes, in initial bets.
    """

    def __init__(self, coach: Coach, seed: int) -> None:
        self.coach = coach
        self.exercises = list(_exercises(coach))
        self.answers: dict[tuple[str, str], list[int]] = {}
        self.lost = 0.0
        self._random = random.Random(seed)
        self._factors: dict[tuple[str, str], float] = {}
        self._last: tuple[str, str] | None = None

    @property
    def asked(self) -> int:
        """The number of answers."""
        return sum(map(sum, self.answers.values()))

    @property
    def right(self) -> int:
        """The number of right answers."""
        return sum(right for right, _ in self.answers.values())

    def ask(self) -> Exercise:
        """Choose the next exercise, of another cell than the last one."""
        others = [each for each in self.exercises if each.cell != self._last] or self.exercises
        weights = [each.weight * self._factors.get(each.cell, 1.0) for each in others]
        [exercise] = self._random.choices(others, weights)
        self._last = exercise.cell
        return exercise

    def answer(self, exercise: Exercise, action: Action) -> Judgement:
        """Judge an answer, and weight its cell accordingly."""
        judgement = self.coach.judge(exercise.view, action)
        assert judgement is not None  # each exercise was judged before
        factor = self._factors.get(exercise.cell, 1.0)
        is_wrong = judgement.is_mistake
        self._factors[exercise.cell] = min(factor * MORE, MOST) if is_wrong else max(factor * LESS, LEAST)
        self.answers.setdefault(exercise.cell, [0, 0])[is_wrong] += 1
        self.lost += judgement.cost if is_wrong else 0.0
        return judgement

    def most_missed(self, count: int) -> list[tuple[tuple[str, str], int, int]]:
        """The cells with most wrong answers, as (cell, wrong answers, all answers)."""
        missed = [(cell, wrong, right + wrong) for cell, (right, wrong) in self.answers.items() if wrong]
        return sorted(missed, key=lambda entry: -entry[1])[:count]


def _exercises(coach: Coach) -> list[Exercise]:
    found = []
    rules, states = coach.rules, coach.chart.states
    by_rank = rules.card_probabilities
    ten = next(rank for rank in range(TEN, len(RANKS)) if by_rank[rank])  # a Spanish deck has no T
    cards = [*RANKS[:TEN], RANKS[ten]]
    chances = dict(zip(cards, map(float, (*by_rank[:TEN], rules.ten_probability)), strict=True))
    both = rules.dealer_shows == "both"
    for dealer in ["".join(pair) for pair in combinations_with_replacement(cards, 2)] if both else cards:
        column = states.column(dealer)
        if column not in states.columns:
            continue
        for pair in combinations_with_replacement(cards, 2):
            hand = "".join(pair)
            state = coach.chart.find_state(hand, False)
            legal = "".join(letter for letter in states.legal(state) if letter in LETTERS)
            shown = dealer if both else dealer + HIDDEN
            view = View(rules, 0, hand, dealer, shown + hand, rules.buy_in, rules.chips, legal)
            judgement = coach.judge(view, Action(legal[0])) if legal else None
            if judgement is None or len(judgement.values) < 2:
                continue
            margin = judgement.margin
            if 0 < margin < math.inf:
                weight = _chance(hand, chances) * _chance(dealer, chances) * margin * 0.5 ** (margin / SCALE)
                found.append(Exercise(view, (states.rows_of(state)[0], column), weight))
    return found


def _chance(cards: str, chances: dict[str, float]) -> float:
    """Probability of one or two cards, in any order, in an infinite shoe."""
    chance = math.prod(chances[card] for card in cards)
    return chance * len(set(cards))  # two different cards have two orders

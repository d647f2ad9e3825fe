"""`Drill`: chooses the exercises that a learner should do next."""

from __future__ import annotations

import math
import random
from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations_with_replacement

from bjsim.errors import InputError
from bjsim.sim.game.actions import LETTERS, Action, View
from bjsim.sim.game.cards import HIDDEN, RANKS, TEN
from bjsim.strategies.charts.rows import parse_row
from bjsim.strategies.evaluation.coach import Coach, Judgement
from bjsim.strategies.evaluation.record import Record, cell_name

SCALE = 0.05  # initial bets; a guess is assumed to be wrong half as often for each such gap between the two best
TOPICS = ("hard", "soft", "pairs", "doubles", "surrender", "close")


@dataclass(frozen=True)
class Exercise:
    """Two cards against what the dealer shows, before any action; `cell` is the row and column of the chart.

    `weight` is the expected loss by it per round of a beginner, in initial bets. `topics` are of TOPICS: the kind
    of hand; a double or a surrender if best or second best; close if the best action gains less than SCALE.
    """

    view: View
    cell: tuple[str, str]
    weight: float
    topics: frozenset[str]


class Drill:
    """Asks for the first decision of a hand, most often where errors are expected.

    The weight of an exercise is its chance, times what the second-best action costs, times how often a beginner
    is assumed to err: close decisions are missed most, and the others cost most. Each answer changes the weight
    of the cell of the chart; see `Record`. What is due from earlier sessions is asked first. The same `seed`,
    `record` and answers give the same questions. Without a `record` of the coach's best chart, one is kept that
    ends with the drill. `exercises` are those asked for, on any of the `topics` (default all), with their weights
    before the first answer; `due` has the names of cells, and `misses` are the wrong answers.
    """

    def __init__(self, coach: Coach, seed: int, topics: Collection[str] = (), record: Record | None = None) -> None:
        self.coach = coach
        for topic in topics:
            if topic not in TOPICS:
                raise InputError(f"no topic is called {topic!r}; topics are {', '.join(TOPICS)}")
        self.exercises = [each for each in _exercises(coach) if not topics or each.topics.intersection(topics)]
        if not self.exercises:
            about = f" on the topics {', '.join(topics)}" if topics else ""
            raise InputError(f"{coach.rules.name} has no decisions to drill{about}")
        self.record = record or Record()
        cells = {cell_name(each.cell) for each in self.exercises}
        self.due = [name for name in self.record.due if name in cells]
        self.asked = 0
        self.misses: list[Judgement] = []
        self._waiting = list(self.due)
        self._random = random.Random(seed)
        self._last: tuple[str, str] | None = None

    def ask(self) -> Exercise:
        """Choose the next exercise: of a cell that is due, or else of another cell than the last one."""
        if self._waiting:
            due = self._waiting.pop(0)
            others = [each for each in self.exercises if cell_name(each.cell) == due]
        else:
            others = [each for each in self.exercises if each.cell != self._last] or self.exercises
        weights = [each.weight * self.record.factor(each.cell) for each in others]
        [exercise] = self._random.choices(others, weights)
        self._last = exercise.cell
        return exercise

    def answer(self, exercise: Exercise, action: Action) -> Judgement:
        """Judge an answer, and note it for its cell."""
        judgement = self.coach.judge(exercise.view, action)
        assert judgement is not None  # each exercise was judged before
        self.record.note(exercise.cell, judgement.is_mistake)
        self.asked += 1
        if judgement.is_mistake:
            self.misses.append(judgement)
        return judgement


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
            legal = "".join(letter for letter in states.against(column).legal(state) if letter in LETTERS)
            shown = dealer if both else dealer + HIDDEN
            view = View(rules, 0, hand, dealer, shown + hand, rules.buy_in, rules.chips, legal)
            judgement = coach.judge(view, Action(legal[0])) if legal else None
            if judgement is None or len(judgement.values) < 2:
                continue
            margin = judgement.margin
            if 0 < margin < math.inf:
                weight = _chance(hand, chances) * _chance(dealer, chances) * margin * 0.5 ** (margin / SCALE)
                assert judgement.cell
                found.append(Exercise(view, judgement.cell, weight, _topics(judgement)))
    return found


def _topics(judgement: Judgement) -> frozenset[str]:
    assert judgement.cell
    topics = {("hard", "pairs", "soft")[parse_row(judgement.cell[0]).kind]}
    best_two = sorted(judgement.values, key=lambda letter: -judgement.values[letter])[:2]
    topics |= {topic for letter, topic in (("D", "doubles"), ("R", "surrender")) if letter in best_two}
    return frozenset(topics | ({"close"} if judgement.margin < SCALE else set()))


def _chance(cards: str, chances: dict[str, float]) -> float:
    """Probability of one or two cards, in any order, in an infinite shoe."""
    chance = math.prod(chances[card] for card in cards)
    return chance * len(set(cards))  # two different cards have two orders

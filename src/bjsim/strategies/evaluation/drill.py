"""`Drill`: chooses the exercises that a learner should do next."""

import hashlib
import json
import math
import os
import random
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path

from bjsim.errors import InputError
from bjsim.files import read_bytes
from bjsim.sim.game.actions import LETTERS, Action, View
from bjsim.sim.game.cards import HIDDEN, RANKS, TEN, parse_rank
from bjsim.strategies.charts.chart import Chart, parse_row
from bjsim.strategies.evaluation.coach import Coach, Judgement

# --- `Record`: how well a player knows the cells of a chart, kept in a file between sessions.


MORE, LESS = 4.0, 0.5  # how a wrong and a right answer change the factor of a cell
LEAST, MOST = LESS**4, MORE**3
MAX_CHARTS = 20  # in the file; those practised longest ago are dropped
MAX_BYTES = 1 << 20

Cell = tuple[str, str]  # row and column of a chart


class Record:
    """Every wrong answer raises the factor of its cell, every right one lowers it.

    The file is written after each answer, so that closing the terminal loses nothing; if `path` is None, the
    record is in memory. Games with the same chart share what is known of it. A file that cannot be read is set
    aside. `factors` say how much more often than at first each cell is asked, by its name such as `16 v T`; `noted`
    has the answers since it was opened, each with its cell and whether it was wrong;
    `problem` says in a sentence why the file could not be read or written, else it is empty.
    """

    def __init__(self, chart: Chart | None = None, path: Path | None = None) -> None:
        self.path = path
        self.problem = ""
        self.noted: list[tuple[Cell, bool]] = []
        cells = sorted(chart.cells.items()) if chart else []
        self._key = hashlib.sha256(repr(cells).encode()).hexdigest()[:16]
        self.factors = self._read().get(self._key, {})

    @property
    def due(self) -> list[str]:
        """The names of the cells that were missed and not yet answered right often enough; the weakest first."""
        return [name for name, factor in sorted(self.factors.items(), key=lambda item: -item[1]) if factor > 1]

    def factor(self, cell: Cell) -> float:
        """How much more often than at first to ask a cell."""
        return self.factors.get(cell_name(cell), 1.0)

    def expect(self, name: str) -> None:
        """Treat a cell as missed if nothing is known of it."""
        self.factors.setdefault(name, MORE)

    def note(self, cell: Cell, is_wrong: bool) -> None:
        """Take note of an answer, and write the file."""
        self.noted.append((cell, is_wrong))
        charts = self._read()  # others may have written, of this chart too
        self.factors |= charts.pop(self._key, {})
        factor = self.factor(cell)
        self.factors[cell_name(cell)] = min(max(factor, 1.0) * MORE, MOST) if is_wrong else max(factor * LESS, LEAST)
        if self.path is None:
            return
        charts[self._key] = self.factors
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(dict(list(charts.items())[-MAX_CHARTS:])), encoding="utf-8")
            os.replace(fresh, self.path)
        except OSError as error:
            self.problem = f"The record {self.path} cannot be written: {error.strerror}."
            self.path = None  # else what it had would be read again, over what is known now

    def _read(self) -> dict[str, dict[str, float]]:
        if self.path is None or not self.path.exists():
            return {}
        try:
            return _parse(self.path)
        except PermissionError as error:
            self.problem = f"The record {self.path} cannot be read: {error.strerror}."
            self.path = None
        except (OSError, ValueError, RecursionError):
            kept = self.path.with_suffix(".broken")
            with suppress(OSError):
                os.replace(self.path, kept)
            self.problem = f"{self.path} is not a record of bjsim: it is renamed {kept.name}, and a new one starts."
        return {}


def cell_name(cell: Cell) -> str:
    """A cell in words: `16 v T`."""
    return " v ".join(cell)


def _parse(path: Path) -> dict[str, dict[str, float]]:
    """The factors by cell and chart. Raises: OSError, ValueError, RecursionError."""
    charts = json.loads(read_bytes(path, MAX_BYTES))
    if not isinstance(charts, dict):
        raise ValueError
    for factors in charts.values():
        if not isinstance(factors, dict):
            raise ValueError
        for factor in factors.values():
            if not isinstance(factor, float) or not LEAST <= factor <= MOST:
                raise ValueError
    return charts


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
        self._shown: tuple[int, Exercise] | None = None

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

    def asked_after(self, answers: int) -> Exercise:
        """The exercise after so many answers: the same one until there are more or fewer, as on a page loaded again."""
        if self._shown is None or self._shown[0] != answers:
            self._shown = answers, self.ask()
        return self._shown[1]

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
            state = states.hand(map(parse_rank, hand))
            legal = "".join(letter for letter in states.against(column).legal(state) if letter in LETTERS)
            view = View.alone(rules, hand, dealer, legal)
            view = view._replace(visible=dealer + ("" if both else HIDDEN) + hand)
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
    row = judgement.cell[0]
    topics = {("hard", "pairs", "soft")[parse_row(row).kind]}
    if row == "AA" and "P" not in judgement.values:  # which is soft 12
        topics = {"soft"}
    best_two = sorted(judgement.values, key=lambda letter: -judgement.values[letter])[:2]
    topics |= {topic for letter, topic in (("D", "doubles"), ("R", "surrender")) if letter in best_two}
    return frozenset(topics | ({"close"} if judgement.margin < SCALE else set()))


def _chance(cards: str, chances: dict[str, float]) -> float:
    """Probability of one or two cards, in any order, in an infinite shoe."""
    chance = math.prod(chances[card] for card in cards)
    return chance * len(set(cards))  # two different cards have two orders

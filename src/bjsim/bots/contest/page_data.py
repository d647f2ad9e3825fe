"""The rounds and faults that the pages show, collected record by record."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from heapq import nlargest
from typing import Any, NamedTuple

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.match import RecordedMove, recorded_round, replay_alone, with_spent
from bjsim.sim.game.actions import ATTACK, INSURANCE, Action, View
from bjsim.strategies.charts.chart import INSURANCE_ROW, parse_row
from bjsim.strategies.evaluation.coach import Coach
from bjsim.sums import add_up

# --- The mistakes of each bot, with their exact costs: its recorded decisions, judged by the coach.


HANDS = 500  # rounds of each bot that are judged: all those of a long contest would take minutes
TENS = str.maketrans("JQK", "TTT")


class Cell(NamedTuple):
    """A wrong answer in a cell of the chart: row and column, the letters of the bot's action and of the best one."""

    row: str
    column: str
    answer: str
    best: str


@dataclass
class Mistake:
    """How often a bot gave a wrong answer, and what that cost."""

    count: int = 0
    bets: float = 0.0  # in stakes of the hand
    chips: float = 0.0
    record: dict[str, Any] = field(default_factory=dict)  # the round where it cost most
    worst: float = 0.0  # chips, there

    def add(self, cost: float, stake: int, record: dict[str, Any]) -> None:
        """Count the answer once more; `cost` is in stakes of the hand, `stake` in chips."""
        self.count += 1
        self.bets += cost
        self.chips += cost * stake
        if cost * stake > self.worst:
            self.worst, self.record = cost * stake, record


@dataclass
class BotMistakes:
    """The mistakes of a bot.

    A stand that replaces a faulty answer, or the answer of a bot without strikes left, is not a mistake.
    """

    hands: int = 0  # judged rounds
    decisions: int = 0  # in these, that have an exact value
    fault_chips: float = 0.0  # total cost of the stands that replaced its answers
    by_cell: dict[Cell, Mistake] = field(default_factory=lambda: defaultdict(Mistake))

    @property
    def chips_per_hand(self) -> float:
        return add_up(mistake.chips for mistake in self.by_cell.values()) / max(1, self.hands)

    def costliest(self, count: int) -> list[tuple[Cell, Mistake]]:
        return sorted(self.by_cell.items(), key=lambda item: -item[1].chips)[:count]


class MistakeLog:
    """Judges the first HANDS rounds of each bot; `bots` has the mistakes by bot number.

    Raises have no exact value and are left out.
    """

    def __init__(self, contest: Contest) -> None:
        self.contest = contest
        self.bots: dict[int, BotMistakes] = defaultdict(BotMistakes)
        self._judge = lru_cache(maxsize=2**14)(self._judge_hand)

    def add(self, record: dict[str, Any]) -> None:
        """Judge the decisions of a round; its record has the strikes spent before it, as `PageData` keeps it."""
        seats = [seat for seat, bot in enumerate(record["seats"]) if bot >= 0 and self.bots[bot].hands < HANDS]
        if not seats:
            return
        for seat in seats:
            self.bots[record["seats"][seat]].hands += 1
        for move in replay_alone(self.contest, recorded_round(self.contest.rules, record), record):
            if move.seat in seats:
                self._add_move(record, self.bots[record["seats"][move.seat]], move)

    def _add_move(self, record: dict[str, Any], bot: BotMistakes, move: RecordedMove) -> None:
        view, answer = move.view, move.text[0]
        if view.legal == ATTACK or (view.legal == INSURANCE and answer == "S"):
            return  # programs are not asked for an attack, nor those that are started for every move for insurance
        hand = view.hand.translate(TENS)
        hand, legal = hand if view.split else "".join(sorted(hand)), view.legal.replace("B", "")
        own = {"hands": view.hands, "pending": view.pending, "free": view.free, "doubled": view.doubled}
        alike = View.alone(view.rules, hand, view.dealer, legal, view.split, **own)
        if not (judged := self._judge(alike, answer)):
            return
        cell, cost = judged
        bot.decisions += move.own
        if not move.own:
            bot.fault_chips += cost * view.stake
        elif cost:
            bot.by_cell[cell].add(cost, view.stake, record)

    @cached_property
    def _coach(self) -> Coach:
        return Coach(self.contest.rules)

    def _judge_hand(self, view: View, answer: str) -> tuple[Cell, float] | None:
        """The cell of a decision and its cost, 0 if it is no mistake; None if it has no exact value."""
        if not (judgement := self._coach.judge(view, Action(answer))):
            return None
        states = self._coach.chart.states
        state, column, legal = states.situation(view)
        rows = states.rows_of(state, "P" in legal)
        row = next(name for name in rows if not parse_row(name).counted)
        row = INSURANCE_ROW if legal == INSURANCE else row
        cell = Cell(row, column, answer, judgement.best)
        return cell, judgement.cost if judgement.is_mistake else 0.0


SWINGS = 12  # replays of the rounds with the largest swings
LAST = 500  # replays of the last match; with four bots they take 1 MB
BOT_SWINGS = 6  # the same on the page of a bot
BOT_LAST = 50
FAULTS = 5  # different faults of a kind shown for each bot

Swings = list[tuple[int, int, dict[str, Any]]]  # (swing in chips, -number, record), largest first


@dataclass
class FaultGroup:
    """The faults of one kind of one bot; `shown` has the first FAULTS with different details."""

    bot: int
    kind: str
    count: int = 0
    shown: list[dict[str, Any]] = field(default_factory=list)

    def add(self, fault: Mapping[str, Any], record: Mapping[str, Any]) -> None:
        self.count += 1
        same = next((each for each in self.shown if each["detail"] == fault["detail"]), None)
        if same:
            same["count"] += 1
        elif len(self.shown) < FAULTS:
            self.shown.append({**fault, "round": record, "count": 1})


@dataclass
class BotHands:
    match: int = -1  # number of its last match, -1 before the first
    last: list[dict[str, Any]] = field(default_factory=list)  # the first BOT_LAST rounds of that
    raises: bool = False  # whether it has ever raised its stake: the swings of others are just their first hands
    swings: Swings = field(default_factory=list)  # its largest wins and losses


class PageData:
    """The data of the pages that the standings do not have. Pass every record to `add`, as to the standings."""

    def __init__(self, contest: Contest) -> None:
        self.mistakes = MistakeLog(contest)
        self.swings: Swings = []
        self.hands: dict[int, BotHands] = {}  # by bot
        self.faults: dict[tuple[int, str], FaultGroup] = {}  # by bot and kind
        # Of the last match its number, -1 before the first, the number of its rounds, and the first LAST of these.
        self.match, self.rounds = -1, 0
        self.last: list[dict[str, Any]] = []
        self._number = 0
        self._retired: set[int] = set()

    def add(self, record: Mapping[str, Any]) -> None:
        if record["record"] == "retire":
            self._retired.add(record["bot"])
        elif record["record"] == "match":
            self.match, self.rounds, self.last = record["match"], len(record["rounds"]), []
            for each in with_spent(self.mistakes.contest, record["rounds"], self._retired):
                self._add_round(each)

    @property
    def failures(self) -> dict[int, dict[str, Any]]:
        """By bot the first fault of the kind that it had most often."""
        groups = sorted(reversed(self.faults.values()), key=lambda group: group.count)  # of equals the first comes last
        return {group.bot: group.shown[0] for group in groups}

    def _add_round(self, kept: dict[str, Any]) -> None:
        """Add a round of `with_spent`: a bot without strikes left is not asked."""
        self._number += 1
        if len(self.last) < LAST:
            self.last.append(kept)
        self.mistakes.add(kept)
        self.swings = self._with(self.swings, max(map(abs, kept["net"])), kept, SWINGS)
        for bot, net, moves in zip(kept["seats"], kept["net"], kept["moves"], strict=True):
            hands = self.hands.setdefault(bot, BotHands())
            if hands.match != self.match:
                hands.match, hands.last = self.match, []
            if len(hands.last) < BOT_LAST:
                hands.last.append(kept)
            hands.raises = hands.raises or any(move[0] == "B" for move in moves)
            hands.swings = self._with(hands.swings, abs(net), kept, BOT_SWINGS)
        for fault in kept.get("faults", ()):
            key = fault["bot"], fault["kind"]
            self.faults.setdefault(key, FaultGroup(*key)).add(fault, kept)

    def _with(self, swings: Swings, swing: int, record: dict[str, Any], count: int) -> Swings:
        if len(swings) == count and swing <= swings[-1][0]:
            return swings
        return nlargest(count, [*swings, (swing, -self._number, record)], key=lambda each: each[:2])

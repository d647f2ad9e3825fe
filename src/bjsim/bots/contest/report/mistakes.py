"""The mistakes of each bot, with their exact costs: its recorded decisions, judged by the coach."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from bjsim.bots.contest.config import Contest
from bjsim.bots.contest.play.match import recorded_round, replay_alone
from bjsim.sim.game.actions import ATTACK, INSURANCE, Action, View
from bjsim.strategies.charts.chart import INSURANCE_ROW, parse_row
from bjsim.strategies.evaluation.coach import Coach
from bjsim.sums import add_up

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
    """How often a bot gave a wrong answer, and what that cost in stakes of the hand (`bets`) and in chips.

    `record` is the round where it cost most, and `worst` its cost there in chips.
    """

    count: int = 0
    bets: float = 0.0
    chips: float = 0.0
    record: dict[str, Any] = field(default_factory=dict)
    worst: float = 0.0

    def add(self, cost: float, stake: int, record: dict[str, Any]) -> None:
        """Count the answer once more; `cost` is in stakes of the hand, `stake` in chips."""
        self.count += 1
        self.bets += cost
        self.chips += cost * stake
        if cost * stake > self.worst:
            self.worst, self.record = cost * stake, record


@dataclass
class BotMistakes:
    """The mistakes of a bot in `hands` judged rounds, among its `decisions` that have an exact value.

    Stands for faults, and without strikes left, are no mistakes; they cost `fault_chips` in all.
    """

    hands: int = 0
    decisions: int = 0
    fault_chips: float = 0.0
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
        self._coach: Coach | None = None
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
                self._add_decision(record, self.bots[record["seats"][move.seat]], move.view, move.text[0], move.own)

    def _add_decision(self, record: dict[str, Any], bot: BotMistakes, view: View, answer: str, own_move: bool) -> None:
        if view.legal == ATTACK or (view.legal == INSURANCE and answer == "S"):
            return  # programs are not asked for an attack, nor those that are started for every move for insurance
        hand = view.hand.translate(TENS)
        hand, own = hand if view.split else "".join(sorted(hand)), (view.free, view.doubled)
        judged = self._judge(hand, view.dealer, view.legal.replace("B", ""), view.split, view.hands, own, answer)
        if judged is None:
            return
        cell, cost = judged
        bot.decisions += own_move
        if not own_move:
            bot.fault_chips += cost * view.stake
        elif cost:
            bot.by_cell[cell].add(cost, view.stake, record)

    def _judge_hand(
        self, hand: str, dealer: str, legal: str, split: bool, hands: int, own: tuple[bool, int], answer: str
    ) -> tuple[Cell, float] | None:
        """The cell of a decision and its cost, 0 if it is no mistake; None if it has no exact value."""
        self._coach = coach = self._coach or Coach(self.contest.rules)
        view = View(self.contest.rules, 0, hand, dealer, dealer, self.contest.rules.buy_in, 0, legal, split, hands)
        view = view._replace(free=own[0], doubled=own[1])
        judgement = coach.judge(view, Action(answer))
        if judgement is None:
            return None
        states = coach.chart.states
        rows = states.rows_of(coach.chart.find_state(hand, split, *own), "P" in legal)
        row = next(name for name in rows if not parse_row(name).counted)
        row = INSURANCE_ROW if legal == INSURANCE else row
        cell = Cell(row, states.column(dealer), answer, judgement.best)
        return cell, judgement.cost if judgement.is_mistake else 0.0

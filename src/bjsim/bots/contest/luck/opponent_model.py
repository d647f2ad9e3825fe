"""Model a bot's strategy as a chart that is updated from its observed decisions."""

from collections import defaultdict

import numpy as np

from bjsim.arrays import Ints
from bjsim.bots.contest.luck.chart_values import ActionTable
from bjsim.bots.contest.luck.state_index import StateIndex
from bjsim.sim.game.automaton import Decision
from bjsim.strategies.charts.chart import Chart

ChartChanges = dict[str, str]  # "16 T" -> code, for every changed cell


class OpponentModel:
    """One bot's strategy: the reference chart, with the bot's last observed action in every cell it has met.

    `actions`, S1 (columns, hands), is at first the reference chart as of `tabulate`, then the current action; `cells`
    has the codes of the chart by row and column.
    """

    def __init__(self, state_index: StateIndex, reference: Chart, actions: ActionTable) -> None:
        self.state_index = state_index
        self.actions = actions.copy()
        self.cells = dict(reference.cells)
        self._chart = Chart.following(reference.name, state_index.rules, self.cells)
        columns = state_index.columns
        self._column_of = np.array([columns.index(c) if c in columns else -1 for c in state_index.dealers.columns])
        self._rows: list[str] = []  # the chart row of each hand, "" if it has none
        self._hands: dict[str, list[int]] = defaultdict(list)  # the hands of each row
        for number, hand in enumerate(state_index.hands):
            splits = isinstance(hand, Decision) and "P" in hand.legal(state_index.automaton)
            rows = state_index.automaton.rows_of(hand.state, splits) if isinstance(hand, Decision) else ()
            self._rows.append(next((row for row in rows if (row, columns[0]) in self.cells), ""))
            self._hands[self._rows[-1]].append(number)

    def observe_all(self, decisions: Ints) -> ChartChanges:
        """Update the chart from `decisions`, and return the changed cells.

        They are int64 (n, 3) in the order they were made: hand, dealer, character code of the action.
        """
        hands, dealers, actions = decisions.T
        expected = self.actions[self._column_of[dealers], hands]
        if (expected.view(np.uint8) == actions).all():
            return {}
        changes: ChartChanges = {}
        for hand, dealer, action in decisions.tolist():
            changes.update(self.observe(hand, dealer, chr(action)))
        return changes

    def observe(self, hand: int, dealer: int, action: str) -> ChartChanges:
        """Update the chart from one decision; returns the changed cell, if any."""
        row, column = self._rows[hand], self.state_index.dealers.columns[dealer]
        if not row:  # for example a 21 that may be hit: the reference chart has no such cell
            return {}
        current = self.cells[row, column]
        code = self._updated(current, action, self.state_index.legal[hand][column])
        if code == current:
            return {}
        self._write(row, column, code)
        return {f"{row} {column}": code}

    @staticmethod
    def _updated(current: str, action: str, legal: str) -> str:
        if action in "DR":
            return action + current[-1].lower()
        return current[0] + action.lower() if current[0] in "DR" and current[0] not in legal else action

    def apply(self, changes: ChartChanges) -> None:
        for cell, code in changes.items():
            row, _, column = cell.partition(" ")
            self._write(row, column, code)

    def _write(self, row: str, column: str, code: str) -> None:
        self.cells[row, column] = code
        for number in self._hands[row]:
            hand = self.state_index.hands[number]
            assert isinstance(hand, Decision)
            action = self._chart.policy(hand.state, column, self.state_index.legal[number][column])
            self.actions[self.state_index.columns.index(column), number] = action.encode()

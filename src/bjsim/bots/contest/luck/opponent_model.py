"""What a bot has been seen to do, as a chart: what its hands are worth is best told from how it plays on from there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from bjsim.bots.contest.luck.state_index import Ints, StateIndex
from bjsim.bots.contest.luck.state_values import Letters
from bjsim.sim.game.states import HandState
from bjsim.strategies.charts.chart import Chart

Learned = dict[str, str]  # "16 T" -> code: cells of a chart that are new


class OpponentModel:
    """How one bot plays: by the reference chart at first, and in every cell as the bot did there last.

    letters: what that comes to for every hand, as of `Worths.letters_of`; columns: their order there.
    """

    def __init__(self, space: StateIndex, reference: Chart, letters: Letters, columns: list[str]) -> None:
        self.space = space
        self.letters = letters.copy()
        self._cells = dict(reference.cells)
        self._chart = Chart.following(reference.name, space.rules, self._cells)
        self._columns = columns
        self._column_of = np.array([columns.index(up) if up in columns else -1 for up in space.ups])
        self._rows: list[str] = []  # of each hand: where it is looked up, "" where there is nothing to look up
        self._hands: dict[str, list[int]] = defaultdict(list)  # of each row
        for number, legal in enumerate(space.legal):
            hand = space.hands[number]
            rows = space.states.rows_of(hand) if legal and isinstance(hand, HandState) else ()
            self._rows.append(next((row for row in rows if (row, columns[0]) in self._cells), ""))
            self._hands[self._rows[-1]].append(number)

    @property
    def cells(self) -> Mapping[tuple[str, str], str]:
        """The chart: code by row and column."""
        return self._cells

    def see_all(self, decisions: Ints) -> Learned:
        """Learn from decisions in the order they were made, rows of hand, dealer and letter; returns what is new."""
        hands, dealers, letters = decisions.T
        expected = self.letters[self._column_of[dealers], hands]
        if (expected.view(np.uint8) == letters).all():
            return {}
        learned: Learned = {}
        for hand, dealer, letter in decisions.tolist():
            learned.update(self.see(hand, dealer, chr(letter)))
        return learned

    def see(self, hand: int, dealer: int, letter: str) -> Learned:
        """Learn from one decision; returns what is new."""
        row, column = self._rows[hand], self.space.ups[dealer]
        if not row:  # such as a 21 that may be hit, for which the reference has no cell
            return {}
        known = self._cells[row, column]
        code = self._code(known, letter, self.space.legal[hand])
        if code == known:
            return {}
        self._write(row, column, code)
        return {f"{row} {column}": code}

    @staticmethod
    def _code(known: str, letter: str, legal: str) -> str:
        """A cell's code, `known` so far, after the bot took the action `letter` of those that are legal."""
        if letter in "DR":
            return letter + known[-1].lower()
        return known[0] + letter.lower() if known[0] in "DR" and known[0] not in legal else letter

    def learn(self, learned: Learned) -> None:
        """Learn what `see` returned."""
        for cell, code in learned.items():
            row, _, column = cell.partition(" ")
            self._write(row, column, code)

    def _write(self, row: str, column: str, code: str) -> None:
        self._cells[row, column] = code
        for number in self._hands[row]:
            hand = self.space.hands[number]
            assert isinstance(hand, HandState)
            letter = self._chart.letter(hand, column, self.space.legal[number])
            self.letters[self._columns.index(column), number] = letter.encode()

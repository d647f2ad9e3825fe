"""What a bot has been seen to do, as a chart: what its hands are worth is best told from how it plays on from there."""

from __future__ import annotations

from collections.abc import Mapping

from bjsim.bots.contest.space import Space
from bjsim.sim.states import HandState
from bjsim.strategies.chart import Chart

Learned = dict[str, str]  # "16 T" -> code: cells of a chart that are new


class Habits:
    """The chart of one bot: the reference chart at first, and in every cell what the bot did there last."""

    def __init__(self, space: Space, reference: Chart) -> None:
        self.space = space
        self.reference = reference
        self.cells = dict(reference.cells)

    @property
    def chart(self) -> Chart:
        """The chart as it is now."""
        return Chart(self.reference.name, self.space.rules, dict(self.cells))

    def see(self, hand: int, dealer: int, letter: str) -> Learned:
        """Learn from one decision; returns what is new."""
        space = self.space
        state = space.hands[hand]
        assert isinstance(state, HandState)  # only such a hand decides
        column = space.ups[dealer]
        row = next((row for row in space.states.rows_of(state) if (row, column) in self.cells), "")
        if not row:  # such as a 21 that may be hit, for which the reference has no cell
            return {}
        code = self._code(self.cells[row, column], letter, space.states.legal(state))
        if code == self.cells[row, column]:
            return {}
        self.cells[row, column] = code
        return {f"{row} {column}": code}

    @staticmethod
    def _code(known: str, letter: str, legal: str) -> str:
        """A cell's code, `known` so far, after the bot took the action `letter` of those that are legal."""
        play = known[-1].upper()
        if letter in "DR":
            return letter + play.lower()
        return known[0] + letter.lower() if known[0] in "DR" and known[0] not in legal else letter

    def learn(self, learned: Mapping[str, str]) -> None:
        """Learn what `see` returned."""
        for cell, code in learned.items():
            row, _, column = cell.partition(" ")
            self.cells[row, column] = code

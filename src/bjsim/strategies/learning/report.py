"""What was learned about a game: its chart, and the answers to seed 004's questions in words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart, format_ranges
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.learning.study import Study
from bjsim.strategies.mdp.blackjack import GameProcess, MDPState
from bjsim.strategies.mdp.size import Reason, plain_size, reasons_of
from bjsim.strategies.mdp.solve import evaluate, start_value
from bjsim.strategies.players.catalogue import CATALOGUE

WHY_NO_DISCOUNT = (
    "1: every hand ends after a few cards, and a bet won is worth the same however many cards it took; "
    "any other factor would answer another question"
)


class LearnedGame:
    """A study of a game's decision process, read as blackjack."""

    def __init__(self, process: GameProcess, study: Study) -> None:
        self.process = process
        self.study = study
        self.rules: Rules = process.rules

    def letter(self, place: MDPState) -> str:
        """The learned action where a hand is played."""
        mdp = self.study.mdp
        return mdp.actions[int(self.study.learned.policy[mdp.index[str(place)]])]

    @cached_property
    def places(self) -> list[MDPState]:
        """Where a hand is played, in the order of charts, as far as play can come there."""
        return [place for name, place in self.process.decisions.items() if name in self.study.mdp.index]

    @cached_property
    def chart(self) -> Chart:
        """The learned strategy as a chart.

        Where one row of the chart stands for several states, the one with the most actions speaks for it.
        """
        cells: dict[tuple[str, str], str] = {}
        choices: dict[tuple[str, str], int] = {}
        for place in self.places:
            cell, letters = (_row(place), place.column), self.process.letters(place)
            if len(letters) > choices.get(cell, 0):
                cells[cell], choices[cell] = self._code(place), len(letters)
        return Chart("learned", self.rules, cells, source=f"learned from {self.study.episodes:,} episodes")

    def _code(self, place: MDPState) -> str:
        letter = self.letter(place)
        if letter not in "DR":
            return letter
        stand, hit = (self.study.learned.q[self.study.mdp.row(str(place), each)] for each in "SH")
        return letter + ("s" if stand >= hit else "h")

    # --- the seed's questions

    def answers(self) -> dict[str, list[str]]:
        """Each question with the lines of its answer."""
        found = {
            "What was the discount factor?": [WHY_NO_DISCOUNT],
            "Does it match the strategy of Hoyle?": self._beside_hoyle(),
            "Can the payout be learned?": self._payout(),
        }
        if "P" in self._letters:
            found["Which pairs does it split?"] = self._those_it("P", "never splits")
        if "D" in self._letters:
            found["What does it double?"] = self._those_it("D", "never doubles")
        if self.rules.bonuses != "none":
            found["Do the bonuses change the strategy?"] = self._without_bonuses()
        if reasons := reasons_of(self.rules):
            found["How much larger must the representation be?"] = self._larger(reasons)
        return found

    @cached_property
    def _letters(self) -> str:
        return "".join(self.process.letters(place) for place in self.places)

    def _beside_hoyle(self) -> list[str]:
        hoyle = CATALOGUE["hoyle"].chart(self.rules)
        mdp = self.study.mdp
        ev = start_value(mdp, evaluate(mdp, self.process.policy(mdp, hoyle.letter)))
        price = f"Hoyle's is worth {ev:+.6f} a bet, {self.study.value_exact - ev:.6f} less than the best"
        lines = list(self._unlike(hoyle, "Hoyle"))
        return [f"no; {price}", *lines] if lines else [f"yes, in every state; {price}"]

    def _payout(self) -> list[str]:
        learned = self.study.learned
        low, high = learned.value_ci95
        lines = [
            f"yes: the mean return of {learned.value_episodes:,} episodes played with what was learned is "
            f"{learned.value:+.6f} a bet, 95% interval {low:+.6f} to {high:+.6f}; the exact value of the game is "
            f"{self.study.value_exact:+.6f}"
        ]
        if self.rules.ties == "replay":
            lines.append("a tie is no end: the same bet is dealt again, so the return is that of a settled bet")
        return lines

    def _those_it(self, letter: str, never: str) -> list[str]:
        chosen = [(_row(place), place.column) for place in self.places if self.letter(place) == letter]
        return list(self._spans(chosen)) or [never]

    def _without_bonuses(self) -> list[str]:
        plain = Solver(self.rules.replace(bonuses="none")).chart
        return list(self._unlike(plain, "without them the best")) or ["no"]

    def _larger(self, reasons: list[Reason]) -> list[str]:
        states, plain = len(self.study.mdp.states), plain_size(self.rules).states
        lines = [f"{states / plain:.2f} times: {states:,} states, where hit or stand alone needs {plain:,}; it keeps"]
        return lines + [f"{reason.why}: without that {reason.without.states:,} states" for reason in reasons]

    def _unlike(self, chart: Chart, name: str) -> Iterator[str]:
        """Where what was learned differs from a chart, grouped by what the two do."""
        groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for place in self.places:
            assert place.hand is not None
            mine = self.letter(place)
            theirs = chart.letter(place.hand, place.column, self.process.letters(place))
            if mine != theirs:
                groups.setdefault((mine, theirs), []).append((_row(place), place.column))
        for (mine, theirs), cells in groups.items():
            yield f"{NAMES[mine]}s where {name} {NAMES[theirs]}s: {'; '.join(self._spans(cells))}"

    def _spans(self, cells: list[tuple[str, str]]) -> Iterator[str]:
        """Rows with the dealer's cards, runs of which are drawn together: `16 against 9-A`."""
        by_row: dict[str, set[str]] = {}
        for row, column in cells:
            by_row.setdefault(row, set()).add(column)
        for row, columns in by_row.items():
            yield f"{row} against {format_ranges([*self.process.columns], columns)}"


def _row(place: MDPState) -> str:
    return place.name.partition(" ")[0]

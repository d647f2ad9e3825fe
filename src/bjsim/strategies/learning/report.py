"""A learned game: its chart, and answers to the questions of [Neller]."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from bjsim.report.parts import Code, Notes, Report, Section, Value
from bjsim.sim.game.actions import NAMES
from bjsim.sim.game.automaton import Decision
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart, format_ranges, full_code
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.formats.files import format_text
from bjsim.strategies.learning.learn import Study
from bjsim.strategies.mdp.blackjack import ATTACKS, INSURE, GameProcess, MDPState, Reason, find_reasons, plain_size
from bjsim.strategies.players.catalogue import CATALOGUE

WHY_NO_DISCOUNT = (
    "1: every hand ends after a few cards, and the payoff of a bet does not depend on the number of cards; "
    "any other factor would change the question"
)


@dataclass(frozen=True, repr=False)
class LearnedGame(Study):
    """A study of the decision process of a game, in terms of blackjack.

    Attributes:
        process: The game.
    """

    process: GameProcess

    @classmethod
    def of(cls, process: GameProcess, study: Study) -> LearnedGame:
        """Make the study of a game from that of its decision process.

        Args:
            process: The game.
            study: The study of its decision process.

        Returns:
            The study of the game.
        """
        return cls(**{field.name: getattr(study, field.name) for field in fields(Study)}, process=process)

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self.process.rules

    def _repr_html_(self) -> str:
        return self.chart._repr_html_()

    def action(self, state: MDPState) -> str:
        """The learned action.

        Args:
            state: A state with a decision.

        Returns:
            The letter of the action.

        Raises:
            KeyError: The state cannot be reached.
        """
        return self.mdp.actions[int(self.learned.policy[self.mdp.index[str(state)]])]

    @cached_property
    def decisions(self) -> list[MDPState]:
        """The reachable states with a decision, in the order of charts."""
        return [state for name, state in self.process.decisions.items() if name in self.mdp.index]

    @cached_property
    def chart(self) -> Chart:
        """The learned strategy as a chart, which has fewer cells than the policy has states; see `chart_value`.

        If a cell of the chart covers several states, it has the action of the state with the most legal actions.
        """
        cells: dict[tuple[str, str], str] = {}
        choices: dict[tuple[str, str], int] = {}
        for state in self.decisions:
            cell, legal = (_row(state), state.column), self.process.legal(state)
            if len(legal) > choices.get(cell, 0):
                cells[cell], choices[cell] = self._code(state, legal), len(legal)
        for state in self.decisions:
            assert isinstance(state.node, Decision)
            rows = [(row, state.column) for row in self.process.automaton.rows_of(state.node.state, may_split=False)]
            if cells.keys().isdisjoint(rows):  # without a limit on hands no pair is played as its total
                cells[rows[-1]] = self._code(state, self.process.legal(state).replace("P", ""))
        insurance = self.action(INSURE) if str(INSURE) in self.mdp.index else "S"
        offers = [state for name in self.process.columns if str(state := MDPState(ATTACKS, name)) in self.mdp.index]
        attack = "".join(state.column for state in offers if self.action(state) == "A")
        source = f"learned from {self.episodes:,} episodes"
        return Chart("learned", self.rules, cells, source, insurance, attack)

    @cached_property
    def chart_value(self) -> float:
        """The exact value of the chart, per bet: by its cells, as the process merges hands that charts tell apart."""
        return float(Solver(self.rules).value_of(self.chart))

    def _code(self, state: MDPState, letters: str) -> str:
        ev = {letter: self.learned.q[self.mdp.row(str(state), letter)] for letter in letters}
        return full_code(max(ev, key=ev.__getitem__), ev)

    def describe(self) -> Report:
        """The learned chart, the suboptimal states, the regret, the values, and the answers in words."""
        report = super().describe()
        # of other games, the data has the answers
        answers = self.answers() if self.rules.name.startswith("neller") else {}
        said = [part for question, lines in answers.items() for part in (Section(question), Notes(lines))]
        return replace(report, parts=[*report.parts, *said], games=[self.rules])

    def _policy_parts(self) -> list[Any]:
        return [Section("The learned chart"), Code(format_text(self.chart).rstrip())]

    def _figures(self) -> list[Value]:
        return [
            *super()._figures(),
            Value("value_chart", "value of the chart above, exact", self.chart_value, "{:+.6f}".format),
        ]

    def _data(self) -> dict[str, Any]:
        chart = {f"{row} v {column}": code for (row, column), code in self.chart.cells.items()}
        return super()._data() | {"rules": self.rules.to_dict(), "chart": chart, "answers": self.answers()}

    # --- the questions of [Neller]

    def answers(self) -> dict[str, list[str]]:
        """Answer the questions of [Neller] that apply to the game.

        Returns:
            The lines of each answer by question.
        """
        answers = {
            "What was the discount factor?": [WHY_NO_DISCOUNT],
            "Does it match the strategy of Hoyle?": self._compared_with_hoyle(),
            "Can the payout be learned?": self._payout(),
        }
        if "P" in self._actions:
            answers["Which pairs does it split?"] = self._hands_with("P", "never splits")
        if "D" in self._actions:
            answers["What does it double?"] = self._hands_with("D", "never doubles")
        if self.rules.bonuses != "none":
            answers["Do the bonuses change the strategy?"] = self._without_bonuses()
        if reasons := find_reasons(self.rules):
            answers["How much larger must the representation be?"] = self._larger(reasons)
        return answers

    @cached_property
    def _actions(self) -> str:
        return "".join(self.process.legal(state) for state in self.decisions)

    def _compared_with_hoyle(self) -> list[str]:
        hoyle = CATALOGUE["hoyle"].chart(self.rules)
        ev = float(Solver(self.rules).value_of(hoyle))
        value = f"Hoyle's has the value {ev:+.6f} per bet, {self.value_exact - ev:.6f} less than the best"
        lines = list(self._differences(hoyle, "Hoyle"))
        return [f"no; {value}", *lines] if lines else [f"yes, in every state; {value}"]

    def _payout(self) -> list[str]:
        learned = self.learned
        if learned.value_episodes < 2:
            return ["too few episodes to say"]
        low, high = learned.value_ci95
        lines = [
            f"yes: the mean return of {learned.value_episodes:,} episodes under the learned policy is "
            f"{learned.value:+.6f} per bet, 95% interval {low:+.6f} to {high:+.6f}; the exact value of the game is "
            f"{self.value_exact:+.6f}"
        ]
        if self.rules.ties == "replay":
            lines.append("ties are replayed with the same bet, so the return is per settled bet")
        return lines

    def _hands_with(self, action: str, never: str) -> list[str]:
        chosen = [(_row(state), state.column) for state in self.decisions if self.action(state) == action]
        return list(self._spans(chosen)) or [never]

    def _without_bonuses(self) -> list[str]:
        plain = Solver(self.rules.replace(bonuses="none")).chart
        return list(self._differences(plain, "without them the best")) or ["no"]

    def _larger(self, reasons: list[Reason]) -> list[str]:
        states, plain = len(self.mdp.states), plain_size(self.rules).states
        lines = [f"{states / plain:.2f} times: {states:,} states, where hit or stand alone needs {plain:,}; it keeps"]
        return lines + [f"{reason.why}: without that {reason.without.states:,} states" for reason in reasons]

    def _differences(self, chart: Chart, name: str) -> Iterator[str]:
        groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for state in self.decisions:
            assert isinstance(state.node, Decision)
            learned = self.action(state)
            other = chart.policy(state.node.state, state.column, self.process.legal(state))
            if learned != other:
                groups.setdefault((learned, other), []).append((_row(state), state.column))
        for (learned, other), cells in groups.items():
            yield f"{NAMES[learned]}s where {name} {NAMES[other]}s: {'; '.join(self._spans(cells))}"

    def _spans(self, cells: list[tuple[str, str]]) -> Iterator[str]:
        """Rows with ranges of the dealer's cards: `16 against 9-A`."""
        by_row: dict[str, set[str]] = {}
        for row, column in cells:
            by_row.setdefault(row, set()).add(column)
        for row, columns in by_row.items():
            yield f"{row} against {format_ranges([*self.process.columns], columns)}"


def _row(state: MDPState) -> str:
    return state.name.partition(" ")[0]

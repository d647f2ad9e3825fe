"""Charts in a finite shoe: the exact value of any chart, the best chart, and two-card exceptions.

A chart's cells are coupled through how often play comes to each hand, so the best chart is found by improving a chart.
No hand comes to one cell twice (its total with aces as 1 grows, and a soft hand turns hard at most once), and the
profits of split hands add; so what changing one cell is worth is, exactly,

    sum over the cell's nodes of  visits(node) x [value of the new action - value of the old one]

with visits and values under the present chart. Visits of split hands are weights of the linear form of `splits` and
may be negative for some numbers of pair cards gone. All cells that gain are changed together; should that not
improve the value, only the one that gains most is. It ends when no cell gains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bjsim.sim.game.cards import RANKS
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.shoe import kernel
from bjsim.strategies.shoe.analysis import Acts, Analysis, Floats, Play
from bjsim.strategies.shoe.composition import VALUES
from bjsim.strategies.shoe.game import LETTERS
from bjsim.strategies.shoe.kernel import HIT, SPLIT

NOTHING = 1e-13  # a gain below this is rounding
Codes = dict[str, str]  # by chart row


@dataclass(frozen=True)
class TwoCards:
    """A hand of two cards that is played otherwise than the chart has it.

    cards: their letters, the higher first. action: its letter. gain: what that adds to the value of a round.
    """

    cards: str
    column: str
    action: str
    variance_reduction: float


class ColumnCharts:
    """Everything about charts in one column: the starts in which the dealer shows it."""

    def __init__(self, analysis: Analysis, column: str) -> None:
        shoe, game = analysis.shoe, analysis.shoe.game
        self.analysis = analysis
        self.column = column
        self.kinds = game.kinds
        self.starts = [start for start in shoe.live if game.columns[start] == column]
        self.chances = shoe.chance[self.starts]
        self.in_row: dict[str, list[int]] = {row: [] for row in game.rows}
        for number, kind in enumerate(self.kinds):
            if kind.legal and not kind.fixed:
                self.in_row[kind.row].append(number)

    def acts(self, codes: Mapping[str, str]) -> Acts:
        """What these codes do at each node."""
        by_kind = [kind.act(codes[kind.row]) if kind.legal else kernel.STAND for kind in self.kinds]
        acts: Acts = np.array(by_kind, np.int8)[self.analysis.shoe.kind]
        return acts

    def chart_acts(self, chart: Chart) -> Acts:
        """What a chart does at each node. Raises: KeyError naming a cell that the chart lacks."""
        by_kind = [
            LETTERS[chart.letter(kind.state, self.column, kind.legal)] if kind.legal else kernel.STAND
            for kind in self.kinds
        ]
        acts: Acts = np.array(by_kind, np.int8)[self.analysis.shoe.kind]
        return acts

    def plays(self, acts: Acts) -> list[Play]:
        """The strategy's values, by start of this column."""
        return [self.analysis.follow(start, acts) for start in self.starts]

    def value(self, plays: Sequence[Play]) -> float:
        """What this column adds to the expected profit of a round."""
        values = [self.analysis.round_value(start, play) for start, play in zip(self.starts, plays, strict=True)]
        return float(self.chances @ np.array(values))

    # --- visits and gains

    def visits(self, start: int, play: Play) -> Floats:
        """How often play comes to each node in a round against this start."""
        shoe = self.analysis.shoe
        visits = np.zeros(len(play.act))
        nodes, weights = shoe.dealt(start)
        visits[nodes] = weights
        at = shoe.layout.pairs
        kernel.reach(shoe.nodes, shoe.shown, start, at, len(visits), play.act, visits)
        for value in np.flatnonzero(play.act[at:] == SPLIT).tolist():
            form = shoe.form(start, value)
            if form is not None:
                weight = form.weight.sum(axis=0)
                for gone in range(len(weight)):
                    visits[form.tree.second(gone)] += visits[at + value] * weight[gone]
        kernel.reach(shoe.nodes, shoe.shown, start, 0, at, play.act, visits)
        return visits

    def by_action(self, plays: Sequence[Play], visits: Sequence[Floats]) -> Floats:
        """What each action is worth, by kind, summed over its nodes: visits x value, shape (kinds, 5)."""
        analysis, shoe = self.analysis, self.analysis.shoe
        ev = np.zeros((len(self.kinds), 5))
        at = shoe.layout.pairs
        for start, chance, play, visited in zip(self.starts, self.chances, plays, visits, strict=True):
            kernel.gains(
                shoe.nodes, analysis.base, start, shoe.kind, chance * visited, play.hit, analysis.surrender, ev
            )
            splits = chance * visited[at:] * np.nan_to_num(play.split)
            np.add.at(ev[:, SPLIT], shoe.kind[at:], splits)
        return ev

    def codes_of(self, row: str) -> list[str]:
        """The codes that make a difference in a row."""
        letters = {letter for number in self.in_row[row] for letter in self.kinds[number].legal}
        codes = [letter for letter in "SHP" if letter in letters]
        return codes + [letter + other for letter in "DR" if letter in letters for other in "hs"]

    def row_ev(self, row: str, code: str, ev: Floats) -> float:
        """What a row brings in with this code."""
        return sum(float(ev[number, self.kinds[number].act(code)]) for number in self.in_row[row])

    # --- the best chart

    @cached_property
    def best_codes(self) -> Codes:
        """The best chart's codes in this column."""
        plays = [self.analysis.by_cards(start) for start in self.starts]
        prior = self.by_action(plays, [self._prior(start) for start in self.starts])
        ev = self.by_action(plays, [self.visits(start, play) for start, play in zip(self.starts, plays, strict=True)])
        codes = {row: self._choice(row, ev, prior) for row in self.in_row}
        plays = self.plays(self.acts(codes))
        value = self.value(plays)
        while True:
            better, ev = self.improvements(codes, plays)
            if not better:
                break
            changed = codes | {row: code for row, (code, _) in better.items()}
            plays = self.plays(self.acts(changed))
            if len(better) > 1 and self.value(plays) <= value:
                row = max(better, key=lambda row: better[row][1])
                changed = codes | {row: better[row][0]}
                plays = self.plays(self.acts(changed))
            codes, value = changed, self.value(plays)
        return {row: self._choice(row, ev, prior) for row in codes}

    @cached_property
    def best_plays(self) -> list[Play]:
        """The best chart's values, by start."""
        return self.plays(self.acts(self.best_codes))

    def improvements(self, codes: Codes, plays: Sequence[Play]) -> tuple[dict[str, tuple[str, float]], Floats]:
        """The rows whose code can be improved by itself: row -> (code, gain); and the worth by action."""
        visits = [self.visits(start, play) for start, play in zip(self.starts, plays, strict=True)]
        ev = self.by_action(plays, visits)
        better = {}
        for row, code in codes.items():
            now = self.row_ev(row, code, ev)
            best = max(self.codes_of(row), key=lambda other: self.row_ev(row, other, ev))
            variance_reduction = self.row_ev(row, best, ev) - now
            if variance_reduction > NOTHING:
                better[row] = best, variance_reduction
        return better, ev

    def _choice(self, row: str, ev: Floats, prior: Floats) -> str:
        """The best code of a row; where play does not come to it, what is best if it did."""
        codes = {code: self.row_ev(row, code, ev) for code in self.codes_of(row)}
        most = max(codes.values())
        equal = [code for code, value in codes.items() if value >= most - NOTHING]
        return max(equal, key=lambda code: self.row_ev(row, code, prior))

    def _prior(self, start: int) -> Floats:
        """Visits if every hand were hit, to judge cells that play does not come to."""
        shoe = self.analysis.shoe
        nodes, weights = shoe.dealt(start)
        act = np.full(len(shoe.kind), HIT, np.int8)
        visits = np.zeros(len(act))
        visits[nodes] = weights
        kernel.reach(shoe.nodes, shoe.shown, start, shoe.layout.pairs, len(act), act, visits)
        kernel.reach(shoe.nodes, shoe.shown, start, 0, len(shoe.game.hands.key), act, visits)
        pairs = np.diagonal(shoe.game.hands.two)
        visits[pairs] += visits[shoe.layout.pairs :]  # as their totals too
        return visits

    # --- two-card exceptions

    def exceptions(self, plays: Sequence[Play]) -> dict[int, tuple[int, float]]:
        """The hands of two cards as dealt that another action than the chart's suits: node -> (action, gain)."""
        shoe, analysis = self.analysis.shoe, self.analysis
        ev: dict[int, NDArray[np.float64]] = {}
        for start, chance, play in zip(self.starts, self.chances, plays, strict=True):
            for node, weight in zip(*shoe.dealt(start), strict=True):
                split = play.split[node - shoe.layout.pairs] if node >= shoe.layout.pairs else np.nan
                values = np.array([
                    analysis.base.stand[start, node], play.hit[node], analysis.base.double[start, node],
                    analysis.surrender * analysis.base.plays[start, node], split,
                ])  # fmt: skip
                ev[node] = ev.get(node, np.zeros(5)) + chance * weight * np.nan_to_num(values)
        found = {}
        for node, values in ev.items():
            letters = self.kinds[shoe.kind[node]].legal
            if letters:
                best = max((LETTERS[letter] for letter in letters), key=lambda action: values[action])
                variance_reduction = float(values[best] - values[plays[0].act[node]])
                if variance_reduction > NOTHING:
                    found[int(node)] = best, variance_reduction
        return found

    @cached_property
    def best_exceptions(self) -> dict[int, tuple[int, float]]:
        """Those of the best chart."""
        return self.exceptions(self.best_plays)

    @cached_property
    def plays_with_exceptions(self) -> list[Play]:
        """The best chart with its two-card exceptions, by start."""
        acts = self.acts(self.best_codes)
        for node, (action, _) in self.best_exceptions.items():
            acts[node] = action
        return self.plays(acts)

    def two_cards(self, found: Mapping[int, tuple[int, float]]) -> list[TwoCards]:
        """The exceptions in words, dearest first."""
        shoe = self.analysis.shoe
        letters = {action: letter for letter, action in LETTERS.items()}
        named = []
        for node, (action, variance_reduction) in found.items():
            counts = shoe.game.hands.counts[shoe.layout.hand[node]]
            cards = "".join(RANKS[value] * counts[value] for value in reversed(range(VALUES)))
            named.append(TwoCards(cards, self.column, letters[action], variance_reduction))
        return sorted(named, key=lambda exception: -exception.variance_reduction)

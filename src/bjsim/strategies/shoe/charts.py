"""Charts in a finite shoe: the exact value of any chart, the best chart, and two-card exceptions.

A chart's cells are coupled: each affects how often play reaches the others. The best chart is therefore found by
iterative improvement. No hand visits a cell twice (its total with aces as 1 grows, and a soft hand turns hard at most
once), and the profits of split hands add up. The gain from changing one cell is therefore exactly

    sum over the cell's nodes of  visits(node) x [value of the new action - value of the old one]

with visits and values under the current chart. Visits of split hands are weights of the linear form of `splits` and
may be negative for some numbers of removed pair cards. Each iteration changes all cells with a positive gain; if that
does not improve the value, it changes only the cell with the largest gain. It stops when no cell has a positive gain.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bjsim.arrays import Acts, Floats
from bjsim.sim.game.actions import CODES, ActionCode
from bjsim.sim.game.cards import RANKS
from bjsim.strategies.charts.chart import CellChoice, Chart, full_code
from bjsim.strategies.shoe.analysis import Analysis
from bjsim.strategies.shoe.game import ACTIONS
from bjsim.strategies.shoe.hands import VALUES
from bjsim.strategies.shoe.passes import DOUBLE, HIT, SPLIT, STAND, Play

NOTHING = 1e-13  # a smaller gain is rounding error
Chosen = dict[str, int]  # the option of each row of a chart


@dataclass(frozen=True)
class TwoCards:
    """A two-card hand with a better action than the chart's.

    `cards` has aces first, then descending order; `gain` is in expected profit of a round, in initial bets.
    """

    cards: str
    column: str
    action: str
    gain: float


class ColumnCharts:
    """Evaluate and optimize one column of a chart, over the starts where the dealer shows it."""

    def __init__(self, analysis: Analysis, column: str) -> None:
        shoe = analysis.shoe
        game = shoe.game.against(column)
        self.analysis = analysis
        self.column = column
        self.kinds = game.kinds
        self.starts = [start for start in shoe.live if shoe.game.columns[start] == column]
        self.chances = shoe.chance[self.starts]
        self.options = game.options

    def acts(self, chosen: Chosen) -> Acts:
        by_kind = np.array([kind.act("P") if kind.fixed else STAND for kind in self.kinds], np.int8)
        for option in chosen.values():
            by_kind[self.options.kinds[option]] = self.options.acts[option]
        acts: Acts = by_kind[self.analysis.shoe.kind]
        return acts

    def chart_letters(self, chart: Chart) -> Acts:
        """Return the chart's action for each kind. Raises: InputError: The chart lacks a cell."""
        letters: Acts = np.array(
            [CODES[chart.policy(kind.state, self.column, kind.legal)] if kind.legal else STAND for kind in self.kinds],
            np.int8,
        )
        return letters

    def chart_acts(self, chart: Chart) -> Acts:
        acts: Acts = self.chart_letters(chart)[self.analysis.shoe.kind]
        return acts

    def plays(self, acts: Acts) -> list[Play]:
        """Evaluate a strategy against each start of this column."""
        return [self.analysis.follow(start, acts) for start in self.starts]

    def value(self, plays: Sequence[Play]) -> float:
        """Return this column's contribution to the expected profit of a round."""
        values = [self.analysis.round_value(start, play) for start, play in zip(self.starts, plays, strict=True)]
        return float(self.chances @ np.array(values))

    # --- visits and gains

    def visits(self, start: int, play: Play) -> Floats:
        """Return the expected visits to each node in a round against this start."""
        shoe = self.analysis.shoe
        visits = np.zeros(len(play.act) + 1)
        nodes, weights = shoe.dealt(start)
        visits[nodes] = weights
        at = shoe.layout.pairs
        shown = self.analysis.shown(start)
        shown.reach(play.act, visits, at, len(play.act))
        for value in np.flatnonzero(play.act[at:] == SPLIT).tolist():
            for form in shoe.forms(start, value):
                weight = form.weight.sum(axis=0)
                for gone in range(len(weight)):
                    visits[form.tree.second(gone)] += visits[at + value] * weight[gone]
        shown.reach(play.act, visits, 0, shoe.layout.block)
        shown.reach_doubled(np.flatnonzero(play.act == DOUBLE), visits)
        return visits

    def by_action(self, plays: Sequence[Play], visits: Sequence[Floats]) -> Floats:
        """Return visits x value of each action, summed over the nodes of each kind, (kinds, ACTIONS)."""
        analysis, shoe = self.analysis, self.analysis.shoe
        ev = np.zeros((len(self.kinds), ACTIONS))
        at = shoe.layout.pairs
        for start, chance, play, visited in zip(self.starts, self.chances, plays, visits, strict=True):
            analysis.shown(start).gains(chance * visited, play.value, ev)
            splits = chance * visited[at:-1] * np.nan_to_num(play.split)
            np.add.at(ev[:, SPLIT], shoe.kind[at:], splits)
        return ev

    # --- the best chart

    @cached_property
    def best_codes(self) -> dict[str, str]:
        """The best chart's codes in this column, by row; one that no hand plays in two ways names the second best."""
        values, codes = self.row_values(), {}
        for row, option in self.chosen.items():
            (_, code), kinds = self.options.names[option], self.options.kinds[option]
            always = all(code[0] in self.kinds[kind].legal for kind in kinds)
            codes[row] = full_code(code[0], values[row]) if always else code
        return codes

    @property
    def chosen(self) -> Chosen:
        return self._best[0]

    @cached_property
    def _best(self) -> tuple[Chosen, list[Play]]:
        plays = [self.analysis.by_cards(start) for start in self.starts]
        prior = self.options.ev(self.by_action(plays, [self.prior_visits(start) for start in self.starts]))
        ev = self.options.ev(self.by_action(plays, self.all_visits(plays)))
        chosen = {row: self._choice(row, ev, prior) for row in self.options.rows}
        plays = self.plays(self.acts(chosen))
        value = self.value(plays)
        while True:
            better, ev = self.improvements(chosen, plays)
            if not better:
                break
            changed = chosen | {row: option for row, (option, _) in better.items()}
            plays = self.plays(self.acts(changed))
            if len(better) > 1 and self.value(plays) <= value:
                row = max(better, key=lambda row: better[row][1])
                changed = chosen | {row: better[row][0]}
                plays = self.plays(self.acts(changed))
            chosen, value = changed, self.value(plays)
        unreached = {row: self._choice(row, ev, prior) for row in chosen}
        if unreached != chosen:
            chosen, plays = unreached, self.plays(self.acts(unreached))
        return chosen, plays

    def improvements(self, chosen: Chosen, plays: Sequence[Play]) -> tuple[dict[str, tuple[int, float]], Floats]:
        """Return the rows that changing alone improves, as row -> (option, gain), and the value of each option."""
        ev = self.options.ev(self.by_action(plays, self.all_visits(plays)))
        better = {}
        for row, option in chosen.items():
            best = max(self.options.rows[row], key=ev.__getitem__)
            gain = float(ev[best] - ev[option])
            if gain > NOTHING:
                better[row] = best, gain
        return better, ev

    def _choice(self, row: str, ev: Floats, prior: Floats) -> int:
        """Return the best option of a row; if play does not reach the row, the best according to `prior`."""
        options = self.options.rows[row]
        most = max(ev[option] for option in options)
        return max((option for option in options if ev[option] >= most - NOTHING), key=prior.__getitem__)

    def all_visits(self, plays: Sequence[Play]) -> list[Floats]:
        return [self.visits(start, play) for start, play in zip(self.starts, plays, strict=True)]

    def prior_visits(self, start: int) -> Floats:
        """Return the visits if every hand were hit, and also doubled, to evaluate cells that play does not reach."""
        shoe, shown = self.analysis.shoe, self.analysis.shown(start)
        nodes, weights = shoe.dealt(start)
        act = np.full(len(shoe.kind), HIT, np.int8)
        visits = np.zeros(len(act) + 1)
        visits[nodes] = weights
        pairs = np.diagonal(shoe.game.hands.two)
        visits[pairs] += visits[shoe.layout.pairs : -1]  # pairs also count as totals
        shown.reach(act, visits, 0, len(shoe.game.hands.key))
        shown.reach_doubled(shown.may(DOUBLE, 0, shoe.layout.pairs), visits)
        return visits

    @cached_property
    def best_plays(self) -> list[Play]:
        return self._best[1]

    def row_values(self) -> dict[str, dict[str, float]]:
        """Return the value of each action in each row, followed by the best chart: row -> letter -> value.

        A value is the mean over the hands of the row, weighted by visits (by the visits if every hand were hit, where
        play does not reach the row), given that no dealer's natural has ended the round.
        """
        values: dict[str, dict[str, float]] = {row: {} for row in self.options.rows}
        for visits in (self.all_visits(self.best_plays), [self.prior_visits(start) for start in self.starts]):
            ev = self.by_action(self.best_plays, visits)
            played = np.zeros(len(self.kinds))
            for start, chance, visited in zip(self.starts, self.chances, visits, strict=True):
                weight = chance * (visited * self.analysis.shown(start).plays)[:-1]
                played += np.bincount(self.analysis.shoe.kind, weight, len(played))
            for row, options in self.options.rows.items():
                kinds = self.options.kinds[options[0]]
                for letter, action in CODES.items():
                    able = [kind for kind in kinds if letter in self.kinds[kind].legal]
                    if letter not in values[row] and played[able].sum() > NOTHING:
                        values[row][letter] = float(ev[able, action].sum() / played[able].sum())
        return values

    # --- the costs of cells

    def choices(self, chart: Chart, by_action: Floats) -> Iterator[CellChoice]:
        """Yield the decisions of a chart, row by row. by_action: visits x value, as of the method `by_action`."""
        letters = self.chart_letters(chart)
        for row, option in self.chosen.items():
            rows = row, *self.analysis.shoe.game.states.rows_of(self.kinds[self.options.kinds[option][0]].state)
            for kind, best in zip(self.options.kinds[option], self.options.acts[option], strict=True):
                loss = by_action[kind, best] - by_action[kind, letters[kind]]
                yield CellChoice(rows, bool(letters[kind] != best), float(loss))

    @cached_property
    def best_by_action(self) -> Floats:
        """Visits x value of each action under the best chart."""
        return self.by_action(self.best_plays, self.all_visits(self.best_plays))

    # --- two-card exceptions

    def exceptions(self, plays: Sequence[Play]) -> dict[int, tuple[int, float]]:
        """Return the dealt two-card hands with a better action than the chart's: node -> (action, gain)."""
        shoe, analysis = self.analysis.shoe, self.analysis
        ev: dict[int, Floats] = {}
        for start, chance, play in zip(self.starts, self.chances, plays, strict=True):
            nodes, weights = shoe.dealt(start)
            shown = analysis.shown(start)
            draws = shown.hits(nodes, play.value), shown.doubles(nodes, play.value)
            for node, weight, hits, doubles in zip(nodes, weights, *draws, strict=True):
                split = play.split[node - shoe.layout.pairs] if node >= shoe.layout.pairs else np.nan
                values = np.zeros(ACTIONS)
                values[[STAND, HIT, DOUBLE, SPLIT]] = shown.stand[node], hits, doubles, split
                values[[*shown.endings]] = [ended[node] for ended in shown.endings.values()]
                ev[node] = ev.get(node, np.zeros(ACTIONS)) + chance * weight * np.nan_to_num(values)
        exceptions = {}
        for node, values in ev.items():
            letters = self.kinds[shoe.kind[node]].legal
            if letters:
                best = max((CODES[letter] for letter in letters), key=lambda action: values[action])
                gain = float(values[best] - values[plays[0].act[node]])
                if gain > NOTHING:
                    exceptions[int(node)] = best, gain
        return exceptions

    @cached_property
    def best_exceptions(self) -> dict[int, tuple[int, float]]:
        return self.exceptions(self.best_plays)

    @cached_property
    def plays_with_exceptions(self) -> list[Play]:
        if not self.best_exceptions:
            return self.best_plays
        acts = self.acts(self.chosen)
        for node, (action, _) in self.best_exceptions.items():
            acts[node] = action
        return self.plays(acts)

    def two_cards(self, found: Mapping[int, tuple[int, float]]) -> list[TwoCards]:
        """Return the exceptions as `TwoCards`, by descending gain."""
        shoe = self.analysis.shoe
        named = []
        for node, (action, gain) in found.items():
            counts = shoe.game.hands.counts[shoe.layout.hand[node]]
            cards = "".join(RANKS[value] * counts[value] for value in (0, *reversed(range(1, VALUES))))
            named.append(TwoCards(cards, self.column, ActionCode(action).letter, gain))
        return sorted(named, key=lambda exception: -exception.gain)

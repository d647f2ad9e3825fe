"""`ShoeSolver`: exact values and strategies of one game in one shoe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from bjsim.errors import InputError
from bjsim.sim.engine.kernels.layout import CODES, SPLIT
from bjsim.sim.game.cards import TEN
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.shoe.analysis import Analysis, Play, ShoeStates
from bjsim.strategies.shoe.charts import ColumnCharts, TwoCards
from bjsim.strategies.shoe.composition import Composition
from bjsim.strategies.shoe.deviation import round_sd
from bjsim.strategies.shoe.game import MAX_HANDS, make_game
from bjsim.strategies.shoe.hands import moved
from bjsim.strategies.shoe.lookup import Strategy, find_node, find_start, strategy_key

Plays = dict[int, Play]  # by start


class ShoeSolver:
    """Exact values and optimal play in a finite shoe, computed on demand.

    A `strategy` is one of `STRATEGIES` (see the docstring of the package) or a `Chart`. Values are in initial bets.

    Args:
        rules: The game. With `ties = replay`, rounds are replayed from the same full shoe. Raises are not considered.
        shoe: The cards, if not the whole decks of `rules`: `{"A": 4, "2": 3, ...}`, or ten counts for A, 2..9, T.

    Raises:
        InputError: The shoe has no exact value; the message gives the reason.
    """

    def __init__(self, rules: Rules, shoe: Mapping[str, int] | Sequence[int] | None = None) -> None:
        self.rules = rules
        self.composition = Composition.of(rules, shoe)
        self.game = make_game(rules)
        self.shoe = ShoeStates(self.game, self.composition)
        self._analyses: dict[float, Analysis] = {}
        self._columns: dict[tuple[str, float], ColumnCharts] = {}
        self._plays: dict[tuple[object, float], Plays] = {}
        self._tie_values: dict[object, float] = {}

    def __copy__(self) -> ShoeSolver:
        """Return a solver that starts with this one's caches: what it adds to them is not kept here."""
        solver = object.__new__(type(self))
        solver.__dict__ = {
            name: dict(found) if isinstance(found, dict) else found for name, found in vars(self).items()
        }
        return solver

    # --- results

    def value(self, strategy: Strategy = "td") -> float:
        """Return the expected profit per settled bet of a strategy, in a freshly shuffled shoe."""
        if self.rules.ties == "replay":
            return self.tie_value(strategy)
        return self._value_at(strategy, 0.0)

    def by_upcard(self, strategy: Strategy = "td") -> dict[str, float]:
        """Return the expected profit by column of a chart (the dealer's upcard), including peeked naturals."""
        analysis, plays = self._at(self.tie_value(strategy)), self.plays(strategy)
        total: dict[str, list[float]] = {label: [0.0, 0.0] for label in self.game.states.columns}
        for start, play in plays.items():
            sums = total[self.game.columns[start]]
            sums[0] += self.shoe.chance[start] * analysis.round_value(start, play)
            sums[1] += self.shoe.chance[start]
        return {label: float(ev / chance) for label, (ev, chance) in total.items() if chance}

    @cached_property
    def chart(self) -> Chart:
        """The best chart for this shoe: changing any single cell does not raise its exact value."""
        cells = {(row, charts.column): code for charts in self.columns() for row, code in charts.best_codes.items()}
        for column in self.game.states.columns:  # columns that this shoe cannot show
            for row in self.game.rows:
                cells.setdefault((row, column), "S")
        ordered = {(row, column): cells[row, column] for column in self.game.states.columns for row in self.game.rows}
        return Chart("optimal", self.rules, ordered, source="exact values of the finite shoe (bjsim.strategies.shoe)")

    @cached_property
    def exceptions(self) -> list[TwoCards]:
        """The two-card hands that `td-2c` plays differently from the chart, by descending gain."""
        found = []
        for charts in self.columns("td-2c"):
            found += charts.two_cards(charts.best_exceptions)
        return sorted(found, key=lambda exception: -exception.gain)

    def row_values(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return the value of each action in each cell of the best chart: column -> row -> letter -> value."""
        return {charts.column: charts.row_values() for charts in self.columns()}

    def hand_values(self, cards: str, shown: str, strategy: Strategy = "cdz-", pair: bool = True) -> dict[str, float]:
        """Return the value of each action for one hand, followed by a strategy.

        Args:
            cards: The hand's cards, such as `"T6"`; they are removed from the shoe.
            shown: The dealer's upcard, or both cards if both are shown.
            strategy: The strategy that is played afterwards.
            pair: Whether two equal cards may be split.

        Returns:
            Expected profit by letter of the action, given that no dealer's natural has ended the round. A hand that
            stands automatically has only `S`.

        Raises:
            InputError: The cards are not a hand to decide on, or cannot be dealt from this shoe.
        """
        start, node = find_start(self.shoe, shown), find_node(self.shoe, cards, pair)
        analysis, play = self._at(self.tie_value(strategy)), self.plays(strategy)[start]
        plays = float(analysis.base.plays[start, node])
        if plays == 0:
            raise InputError(f"{cards} against {shown} cannot be dealt from this shoe")
        split = play.split[node - self.shoe.layout.pairs] if node >= self.shoe.layout.pairs else np.nan
        values = {
            "S": analysis.base.stand[start, node], "H": play.hit[node], "D": analysis.base.double[start, node],
            "P": split, "R": analysis.surrender * plays,
        }  # fmt: skip
        legal = self.game.kinds[self.shoe.kind[node]].legal or "S"
        return {letter: float(values[letter]) / plays for letter in legal}

    def best_action(self, cards: str, shown: str, strategy: Strategy = "cdz-", pair: bool = True) -> str:
        """Return the letter of a strategy's action for a hand; the arguments are those of `hand_values`."""
        act = self.plays(strategy)[find_start(self.shoe, shown)].act[find_node(self.shoe, cards, pair)]
        return next(letter for letter, action in CODES.items() if action == act)

    def dealer(self, shown: str) -> dict[int, float]:
        """Return the distribution of the dealer's outcome: 0 is a bust, 22 a natural if naturals are special."""
        chances = self.shoe.dealer[find_start(self.shoe, shown), self.shoe.layout.nothing_gone]
        return dict(zip(self.game.dealer.outcomes, map(float, chances), strict=True))

    def insurance(self) -> float:
        """Return the expected profit per unit of an insurance bet (2:1) against an ace, given no other card."""
        values = self.composition.values
        if values[0] < 1 or values.sum() < 2:
            raise InputError("insurance needs an ace and another card in the shoe")
        return float(3 * values[TEN] / (values.sum() - 1) - 1)

    def sd(self, strategy: Strategy = "td") -> float:
        """Return the standard deviation of a round's profit, including splits.

        If ties are replayed, it is defined as in `exact.round_sd`.

        Raises:
            InputError: The strategy is cdp, whose play depends on the number of hands, or tens are split by rank.
        """
        if strategy == "cdp":
            raise InputError(
                "sd: not available for cdp, whose play depends on the number of hands; use cdp1, cdz-, td-2c or td"
            )
        tie_value, plays, settled = self.tie_value(strategy), self.plays(strategy), 1.0
        mean = self._value_at(strategy, tie_value)
        if self.rules.ties == "replay":
            settled -= self._ev(self.shoe, tie_value + 1, plays) - mean
        return round_sd(self._at(tie_value), plays, mean, settled)

    def removal(self, strategy: Strategy = "td") -> dict[str, float]:
        """Return the effects of removal: the change in value after removing one card, with the decisions unchanged.

        The effects, weighted by the counts of the shoe, sum to 0.

        Returns:
            The effect by card letter, in initial bets.

        Raises:
            InputError: The strategy is cdp, whose decisions after a split are not stored.
        """
        if strategy == "cdp":
            raise InputError(
                "removal: not available for cdp, whose decisions after a split are not stored; "
                "use cdp1, cdz-, td-2c or td"
            )
        plays, whole = self.plays(strategy), self.value(strategy)
        effects = {}
        for letter, cases in self.composition.removals(self.shoe.by_rank).items():
            effects[letter] = sum(share * self._value_in(left, plays) for share, left in cases) - whole
        return effects

    def _value_in(self, composition: Composition, plays: Plays) -> float:
        """Return the value of the decisions of `plays` in another shoe."""
        shoe = ShoeStates(self.game, composition)
        return self._settled(lambda tie_value: self._ev(shoe, tie_value, plays))

    def _ev(self, shoe: ShoeStates, tie_value: float, plays: Plays) -> float:
        """Return the expected profit of a round in `shoe` with the decisions of `plays`."""
        analysis = Analysis(shoe, tie_value)
        ev = sum(shoe.chance[start] * value for start, value in analysis.ended())
        for start in shoe.live:
            play = analysis.follow(start, moved(plays[start].act, self.shoe.layout, shoe.layout))
            ev += shoe.chance[start] * analysis.round_value(start, play)
        return float(ev)

    # --- strategies

    def plays(self, strategy: Strategy = "td") -> Plays:
        """Return the actions and values of a strategy at every node, by start."""
        return self._plays_at(strategy, self.tie_value(strategy))

    def tie_value(self, strategy: Strategy) -> float:
        """Return the value of a tied bet: the value of the game if ties are replayed, else 0."""
        if self.rules.ties != "replay":
            return 0.0
        key = strategy_key(strategy)
        if key not in self._tie_values:
            self._tie_values[key] = self._settled(lambda tie_value: self._value_at(strategy, tie_value))
        return self._tie_values[key]

    def _settled(self, value_at: Callable[[float], float]) -> float:
        """Return the value V of a game in which a tied bet has the value V, by the secant method."""
        before, value = 0.0, value_at(0.0)
        if self.rules.ties != "replay":
            return value
        now = value
        while abs(now - before) > 1e-14:
            after = value_at(now)
            slope = (after - value) / (now - before)
            before, value, now = now, after, now + (after - now) / (1 - slope)
        return now

    def _value_at(self, strategy: Strategy, tie_value: float) -> float:
        analysis = self._at(tie_value)
        ev = sum(self.shoe.chance[start] * value for start, value in analysis.ended())
        for start, play in self._plays_at(strategy, tie_value).items():
            ev += self.shoe.chance[start] * analysis.round_value(start, play)
        return float(ev)

    def columns(self, strategy: Strategy = "td") -> list[ColumnCharts]:
        """Return the charts of every column that this shoe can show, with the value of ties under a strategy."""
        tie_value = self.tie_value(strategy)
        return [self._column(column, tie_value) for column in self._shown_columns()]

    def _at(self, tie_value: float) -> Analysis:
        if tie_value not in self._analyses:
            self._analyses[tie_value] = Analysis(self.shoe, tie_value)
        return self._analyses[tie_value]

    def _shown_columns(self) -> list[str]:
        shown = {self.game.columns[start] for start in self.shoe.live}
        return [column for column in self.game.states.columns if column in shown]

    def _column(self, column: str, tie_value: float) -> ColumnCharts:
        key = column, tie_value
        if key not in self._columns:
            self._columns[key] = ColumnCharts(self._at(tie_value), column)
        return self._columns[key]

    def _plays_at(self, strategy: Strategy, tie_value: float) -> Plays:
        key = strategy_key(strategy), tie_value
        if key not in self._plays:
            self._plays[key] = self._played(strategy, tie_value)
            self._check_splits(self._plays[key])
        return self._plays[key]

    def _check_splits(self, plays: Plays) -> None:
        """Reject splits into more hands than the solver follows."""
        if not self.game.follows_all(TEN, self.composition):
            tens = self.shoe.layout.pairs + TEN
            for start, play in plays.items():
                if play.act[tens] == SPLIT:
                    raise InputError(
                        f"TT is split against {self.game.columns[start]} with max_hands = inf: the solver follows at "
                        f"most {MAX_HANDS} hands; set max_hands to {MAX_HANDS} or less"
                    )

    def _played(self, strategy: Strategy, tie_value: float) -> Plays:
        if not isinstance(strategy, Chart) and strategy not in ("td", "td-2c"):
            analysis = self._at(tie_value)
            return {start: analysis.by_cards(start, strategy) for start in self.shoe.live}
        plays: Plays = {}
        for column in self._shown_columns():
            charts = self._column(column, tie_value)
            if isinstance(strategy, Chart):
                found = charts.plays(charts.chart_acts(strategy))
            else:
                found = charts.best_plays if strategy == "td" else charts.plays_with_exceptions
            plays |= zip(charts.starts, found, strict=True)
        return plays

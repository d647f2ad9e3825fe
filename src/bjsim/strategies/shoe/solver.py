"""`ShoeSolver`: exact values and strategies of one game in one shoe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from bjsim.arguments import names_wrong_types
from bjsim.errors import InputError
from bjsim.sim.game.actions import ENDINGS, LETTERS, NAMES, View
from bjsim.sim.game.cards import TEN, parse_cards, parse_rank
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import CellChoice, Chart, sum_losses
from bjsim.strategies.exact.tables import LabelledTable
from bjsim.strategies.shoe.analysis import ShoeStates
from bjsim.strategies.shoe.charts import TwoCards
from bjsim.strategies.shoe.deviation import round_sd
from bjsim.strategies.shoe.hands import Composition
from bjsim.strategies.shoe.plays import STRATEGIES, Plays, ShoePlays, Strategy, find_node, find_start
from bjsim.strategies.shoe.present import action_values
from bjsim.strategies.solution import Solution, with_natural
from bjsim.sums import add_up

# --- The tables of a finite shoe, for any game and strategy, as `bjsim solve` prints them.


T = TypeVar("T")


def _if_known(figure: Callable[[str], T], strategy: str) -> T | None:
    try:
        return figure(strategy)
    except InputError:
        return None


class ShoeTables:
    """The tables of one shoe; `followed` is the strategy whose value is given."""

    names = ("dealer", "stand", "hit", "double", "split", "optimal", "strategy", "advantage")

    def __init__(self, solution: ShoeSolver, followed: str = "td") -> None:
        self.solution = solution
        self.followed = followed

    @property
    def value(self) -> float:
        return self.solution.value_of(self.followed)

    def to_json(self, tables: Mapping[str, object]) -> dict[str, object]:
        """The figures of the strategy and of the others around these tables; those that have no value are None."""
        solver, strategy = self.solution, self.followed
        fixed = strategy != "cdp"  # the play of cdp after a split depends on the number of hands
        return {
            "shoe": dict(zip("A23456789TJQK", solver.composition.ranks, strict=True)),
            "strategy": strategy,
            "value": self.value,
            "strategies": {name: solver.value_of(name) for name in STRATEGIES},
            "by_upcard": {name: solver.by_upcard(name) for name in STRATEGIES},
            "sd": _if_known(solver.sd_of, strategy) if fixed else None,
            "removal": _if_known(solver.removal, strategy) if fixed else None,  # a round may need every card
            "exceptions": [exception.__dict__ for exception in solver.exceptions],
            "tables": tables,
        }

    @property
    def exceptions(self) -> Sequence[TwoCards]:
        """The two-card exceptions to the best chart, where the strategy is the chart with them."""
        return self.solution.exceptions if self.followed == "td-2c" else ()

    def named(self, name: str) -> dict[str, LabelledTable]:
        """The labelled tables of a name, by title: none for the dealer and single numbers."""
        chart, shown = self.solution.chart, self.solution.by_upcard()
        columns = [column for column in chart.states.columns if column in shown]
        rows = [row for row in self.solution.game.rows if row not in ("21", "A10")]
        letters = {NAMES[letter]: letter for letter in LETTERS}
        table = LabelledTable(str if name == "strategy" else float, columns, rows)
        if name == "strategy":
            for row in rows:
                for column in columns:
                    table[row, column] = chart.cells[row, column]
        elif name in letters or name == "optimal":
            for (row, column), values in self.solution.cell_values().items():
                letter = chart.cells[row, column][0] if name == "optimal" else letters[name]
                if row in rows and letter in values:
                    table[row, column] = values[letter]
        else:
            return {}
        return {name: table}


@names_wrong_types
class ShoeSolver(ShoePlays, Solution):
    """Exact values and optimal play in a finite shoe, computed on demand.

    A `strategy` is one of `STRATEGIES` (see the docstring of the package) or a `Chart`. Values are in initial bets.

    A shoe that one hand and the dealer could exhaust is refused. Whether split hands could exhaust it is not checked:
    values of splits assume that the cards last.

    Args:
        rules: The game. With `ties = replay`, rounds are replayed from the same full shoe. Raises are not considered.
        shoe: The cards, if not the whole decks of `rules`: `{"A": 4, "2": 3, ...}`, or ten counts for A, 2..9, T, or a
            `Composition`, whose counts may be fractions.

    Raises:
        InputError: The shoe has no exact value; the message gives the reason.
    """

    infinite = False

    def __init__(self, rules: Rules, shoe: Mapping[str, int] | Sequence[int] | Composition | None = None) -> None:
        super().__init__(rules, shoe)  # written out for its entry in the API reference

    def __repr__(self) -> str:
        return f"ShoeSolver({self.rules.name}, {self.composition.cards:g} cards)"

    @property
    def value(self) -> float:
        """The value of the best chart in a freshly shuffled shoe, in initial bets."""
        return self.value_of("td")

    def value_of(self, strategy: Strategy = "td") -> float:
        """Compute the value of a strategy, one of `STRATEGIES` or a chart; see `Solution.value_of`."""
        if self.rules.ties == "replay":
            return self.tie_value_of(strategy)
        return self._value_at(strategy, 0.0)

    def by_upcard(self, strategy: Strategy = "td") -> dict[str, float]:
        """Compute the expected profit by what the dealer shows, including peeked naturals.

        Args:
            strategy: One of `STRATEGIES`, or a chart.

        Returns:
            Expected profit in initial bets by column of a chart.
        """
        analysis, plays = self._at(self.tie_value_of(strategy)), self.plays(strategy)
        total: dict[str, list[float]] = {label: [0.0, 0.0] for label in self.game.states.columns}
        for start, play in plays.items():
            sums = total[self.game.columns[start]]
            sums[0] += self.shoe.chance[start] * analysis.round_value(start, play)
            sums[1] += self.shoe.chance[start]
        return {label: float(ev / chance) for label, (ev, chance) in total.items() if chance}

    @cached_property
    def chart(self) -> Chart:
        """The best chart for this shoe: changing any single cell does not raise its exact value."""
        cells = {
            (row, charts.column): code for charts in self.column_charts() for row, code in charts.best_codes.items()
        }
        for column in self.game.states.columns:  # columns that this shoe cannot show
            for row in self.game.rows:
                cells.setdefault((row, column), "S")
        ordered = {(row, column): cells[row, column] for column in self.game.states.columns for row in self.game.rows}
        source = "exact values of the finite shoe (bjsim.strategies.shoe)"
        return Chart("optimal", self.rules, ordered, source, self._insurance, "".join(self.attacked))

    @cached_property
    def attacked(self) -> list[str]:
        """The upcards against which the best chart doubles its bet before the deal."""
        return [self.game.columns[start] for start, play in self.plays("td").items() if play.bets == 2]

    def attack_values(self) -> dict[str, tuple[float, float]]:
        """Compute the probability and the value of each upcard; see `Solution.attack_values`."""
        found, by_upcard = {}, self.by_upcard("td")
        for start, play in self.plays("td").items():
            upcard = self.game.columns[start]
            found[upcard] = float(self.shoe.chance[start]), by_upcard[upcard] / play.bets
        return found

    @cached_property
    def _insurance(self) -> str:
        taken = [self.insured("td", start) for start in self.shoe.live]
        return "I" if any(each is not None and each.all() for each in taken) else "S"

    @cached_property
    def exceptions(self) -> list[TwoCards]:
        """The two-card hands that `td-2c` plays differently from the chart, by descending gain."""
        found = []
        for charts in self.column_charts("td-2c"):
            found += charts.two_cards(charts.best_exceptions)
        return sorted(found, key=lambda exception: -exception.gain)

    def cell_values(self) -> dict[tuple[str, str], dict[str, float]]:
        """Compute the mean value of each action in each cell of the best chart; see `Solution.cell_values`."""
        return {
            (row, charts.column): values
            for charts in self.column_charts()
            for row, values in charts.row_values().items()
            if values
        }

    def hand_values(
        self, cards: str, shown: str, strategy: Strategy = "cdz-", *, pair: bool = True, doubled: int = 0
    ) -> dict[str, float]:
        """Return the value of each action for one hand, followed by a strategy; see `Solution.hand_values`."""
        start = find_start(self.shoe, shown)
        node = find_node(self.shoe, cards, pair) + doubled * self.shoe.layout.block
        analysis, play = self._at(self.tie_value_of(strategy)), self.plays(strategy)[start]
        plays, left = float(analysis.base.plays[start, node]), 0.0
        if by_rank := self.shoe.by_rank and node == self.shoe.layout.pairs + TEN:
            rank = parse_rank(cards[0])
            left = self.composition.ranks[rank] - parse_cards(cards + shown).count(rank)
        if plays == 0 or left <= -1:
            raise InputError(f"{cards} against {shown} cannot be dealt from this shoe")
        if by_rank:  # the strategy splits tens of any rank
            analysis = analysis.of_tens(left)
            play = analysis.by_cards(start, "cdp") if strategy == "cdp" else analysis.follow(start, play.act)
        split = play.split[node - self.shoe.layout.pairs] if node >= self.shoe.layout.pairs else np.nan
        values = {
            "S": analysis.base.stand[start, node],
            "H": analysis.hit(start, play, np.array([node]))[0],
            "D": analysis.double(start, play, np.array([node]))[0],
            "P": split,
            **{letter: analysis.endings[action][start, node] for letter, action in ENDINGS.items()},
        }
        legal = self.game.against(self.game.columns[start]).kinds[self.shoe.kind[node]].legal or "S"
        found = {letter: float(values[letter]) / plays for letter in legal}
        return with_natural(self.rules, cards, shown, found, 1 - plays)

    def values_by_strategy(self, cards: str, shown: str) -> dict[str, dict[str, float]]:
        """Return the values of one hand for each of `STRATEGIES`; see `Solution.values_by_strategy`."""
        return {name: self.hand_values(cards, shown, name) for name in STRATEGIES}

    def view_values(self, view: View) -> dict[str, float]:
        """Return the value of the legal actions of a decision at a table; see `Solution.view_values`."""
        if not view.split:
            values = self.hand_values(view.hand, view.dealer, pair="P" in view.legal, doubled=view.doubled)
            return {letter: values[letter] for letter in view.legal if letter in values}
        return action_values(view._replace(rules=self.rules), self.unseen(view), self.tie_value_of("td"))

    def unseen(self, view: View) -> list[float]:
        """Count the cards of each rank that are not the hand's, its pair's or the dealer's; see `Solution.unseen`."""
        left = list(self.composition.ranks)
        for card in (*view.hand, *view.dealer, *view.hand[0] * (view.hands - 1)):
            rank = parse_rank(card)
            if rank >= TEN:  # a pair may have been of two ranks
                rank = max(range(TEN, len(left)), key=lambda ten: (left[ten] > 0 and ten == rank, left[ten]))
            left[rank] -= 1
        if min(left) < 0:
            raise InputError(f"{view.hand} against {view.dealer} cannot be dealt from this shoe")
        return left

    @property
    def shown(self) -> tuple[str, ...]:
        """What the dealer may show in this shoe: from 2 to ace, or both cards if both are shown."""
        starts = [self.shoe.starts[start] for start in self.shoe.live]
        shown = ["".join("A23456789T"[value] for value in start) for start in starts]
        return tuple(shown if self.rules.dealer_shows == "both" else sorted(shown, key="23456789TA".index))

    def dealer(self, shown: str) -> dict[int, float]:
        """Compute the distribution of the dealer's outcome, naturals included; see `Solution.dealer`."""
        chances = self.shoe.dealer[find_start(self.shoe, shown), :, self.shoe.layout.nothing_gone]
        return dict(zip(self.game.dealer.outcomes, map(float, chances), strict=True))

    def sd_of(self, strategy: Strategy = "td") -> float:
        """Compute the standard deviation of a round, splits included; see `Solution.sd_of`."""
        if strategy == "cdp":
            raise InputError(
                "sd: not available for cdp, whose play depends on the number of hands; use cdp1, cdz-, td-2c or td"
            )
        tie_value, plays, settled = self.tie_value_of(strategy), self.plays(strategy), 1.0
        mean = self._value_at(strategy, tie_value)
        if self.rules.ties == "replay":
            settled -= self._ev(self.shoe, tie_value + 1, plays) - mean
        return round_sd(self._at(tie_value), plays, mean, settled)

    def removal(self, strategy: Strategy = "td") -> dict[str, float]:
        """Compute the effects of removal: the change in value after removing one card, with the decisions unchanged.

        The effects, weighted by the counts of the shoe, sum to 0.

        Args:
            strategy: One of `STRATEGIES` except cdp, or a chart.

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
        plays, whole = self.plays(strategy), self.value_of(strategy)
        effects = {}
        for letter, cases in self.composition.removals(self.shoe.by_rank).items():
            effects[letter] = add_up(share * self._value_in(left, plays) for share, left in cases) - whole
        return effects

    def _value_in(self, composition: Composition, plays: Plays) -> float:
        """Return the value of the decisions of `plays` in another shoe."""
        shoe = ShoeStates(self.game, composition)
        return self._settled(lambda tie_value: self._ev(shoe, tie_value, plays))

    # --- the costs of cells; see `Solution.costs`

    def _settled_share(self, chart: Chart) -> float:
        return 1 - (self._value_at(chart, 1.0) - self._value_at(chart, 0.0)) if self.rules.ties == "replay" else 1.0

    def _choices(self, chart: Chart, column: str) -> Iterator[CellChoice]:
        charts = self._column(column, self.tie_value_of("td"))
        plays = charts.plays(charts.chart_acts(chart))
        return charts.choices(chart, charts.by_action(charts.best_plays, charts.all_visits(plays)))

    def _alone(self, chart: Chart, column: str, codes: Mapping[str, str]) -> dict[str, float]:
        if self.rules.ties == "replay":  # each cell changes how many bets tie
            cells = self.chart.cells
            ones = {row: replace(self.chart, cells={**cells, (row, column): code}) for row, code in codes.items()}
            return {row: self.value - copy(self).value_of(one) for row, one in ones.items()}  # keeps no tie value
        charts = self._column(column, self.tie_value_of("td"))
        bets = 2 if column in self.chart.attack else 1
        return {row: bets * loss for row, loss in sum_losses(charts.choices(chart, charts.best_by_action)).items()}

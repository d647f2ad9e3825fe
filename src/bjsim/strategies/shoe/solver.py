"""`ShoeSolver`: exact values and strategies of one game in one shoe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import Literal, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from bjsim.arguments import names_wrong_types
from bjsim.errors import InputError
from bjsim.sim.game.actions import LETTERS, NAMES, View
from bjsim.sim.game.cards import RANKS, TEN, parse_cards, parse_rank
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import CellChoice, Chart, sum_losses
from bjsim.strategies.exact.tables import LabelledTable
from bjsim.strategies.shoe.analysis import Analysis, ShoeStates, takes_insurance
from bjsim.strategies.shoe.charts import ColumnCharts, TwoCards
from bjsim.strategies.shoe.deviation import round_sd
from bjsim.strategies.shoe.game import MAX_HANDS, make_game
from bjsim.strategies.shoe.hands import VALUES, Composition, moved
from bjsim.strategies.shoe.passes import SPLIT, Play
from bjsim.strategies.shoe.present import action_values
from bjsim.strategies.solution import RoundPart, Solution, hand_ranks, with_natural
from bjsim.sums import add_up

# --- Finds what a user names: cards in the state space of a shoe, and strategies.


Name = Literal["td", "td-2c", "cdz-", "cdp1", "cdp"]
STRATEGIES: tuple[str, ...] = get_args(Name)
Strategy = str | Chart  # one of STRATEGIES, or a chart


def find_start(shoe: ShoeStates, shown: str) -> int:
    try:
        start = tuple(sorted(min(rank, TEN) for rank in parse_cards(shown)))
        number = shoe.starts.index(start)
    except ValueError:
        wanted = "both of the dealer's cards" if shoe.game.rules.dealer_shows == "both" else "the dealer's upcard"
        raise InputError(f"{shown!r} is not {wanted}; cards are {' '.join(RANKS)}") from None
    if number not in shoe.live:
        raise InputError(f"the dealer cannot show {shown} in this shoe without ending the round")
    return number


def find_node(shoe: ShoeStates, cards: str, pair: bool) -> int:
    """Return the number of the node of a hand. pair: whether equal cards may be split. Raises: InputError."""
    ranks = hand_ranks(cards)
    values = [min(rank, TEN) for rank in ranks]
    alike = pair and len(set(ranks if shoe.by_rank else values)) == 1
    if len(cards) == 2 and alike and shoe.layout.trees[values[0]] is not None:
        return shoe.layout.pairs + values[0]
    return shoe.game.hands.find(values)


def strategy_key(strategy: Strategy) -> object:
    """Return the cache key of a strategy. Raises: InputError: The name is unknown."""
    if isinstance(strategy, Chart):
        return frozenset(strategy.cells.items()), strategy.insurance, strategy.attack
    if strategy not in STRATEGIES:
        raise InputError(f"unknown strategy {strategy!r}; use {', '.join(STRATEGIES)} or a chart")
    return strategy


Plays = dict[int, Play]  # by start
MOST_PLAYS = 12  # that are kept
MOST_STEPS = 100  # to the value of a tied bet


@names_wrong_types
class ShoeSolver(Solution):
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
        self.rules = rules
        self.composition = Composition.of(rules, shoe)
        self.game = make_game(rules)
        self.shoe = ShoeStates(self.game, self.composition)
        self._analyses: dict[float, Analysis] = {}
        self._columns: dict[tuple[str, float], ColumnCharts] = {}
        self._plays: dict[tuple[object, float], Plays] = {}
        self._tie_values: dict[object, float] = {}

    def __repr__(self) -> str:
        return f"ShoeSolver({self.rules.name}, {self.composition.cards:g} cards)"

    def __copy__(self) -> Self:
        """Return a solver that starts with this one's caches: what it adds to them is not kept here."""
        solver = object.__new__(type(self))
        solver.__dict__ = {
            name: dict(found) if isinstance(found, dict) else found for name, found in vars(self).items()
        }
        return solver

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
        return Chart("optimal", self.rules, ordered, source, self._insurance, "".join(self.attacked()))

    def attacked(self, strategy: Strategy = "td") -> list[str]:
        """The upcards against which a strategy doubles its bet before the deal."""
        return [self.game.columns[start] for start, play in self.plays(strategy).items() if play.bets == 2]

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
        against = analysis.shown(start)
        plays, left = float(against.plays[node]), 0.0
        if by_rank := self.shoe.by_rank and node == self.shoe.layout.pairs + TEN:
            rank = parse_rank(cards[0])
            left = self.composition.ranks[rank] - parse_cards(cards + shown).count(rank)
        if plays == 0 or left <= -1:
            raise InputError(f"{cards} against {shown} cannot be dealt from this shoe")
        if by_rank:  # the strategy splits tens of any rank
            analysis = analysis.of_tens(left)
            play = analysis.by_cards(start, "cdp") if strategy == "cdp" else analysis.follow(start, play.act)
        split = play.split[node - self.shoe.layout.pairs] if node >= self.shoe.layout.pairs else np.nan
        values = {**against.actions(node, play.value), "P": split}
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
        chances = self.shoe.dealer(find_start(self.shoe, shown))[:, 0]  # nothing is removed
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
            settled -= self._ev(self.shoe, plays, tie_value + 1) - mean
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
            shoes = [(share, ShoeStates(self.game, left)) for share, left in cases]
            values = (share * self._settled(partial(self._ev, shoe, plays)) for share, shoe in shoes)
            effects[letter] = add_up(values) - whole
        return effects

    # --- the decisions of strategies, computed on demand

    def plays(self, strategy: Strategy = "td") -> Plays:
        """Compute a strategy's play by start (what the dealer has), as arrays over the nodes of the shoe."""
        return self._plays_at(strategy, self.tie_value_of(strategy))

    def tie_value_of(self, strategy: Strategy) -> float:
        """Compute the value of a tied bet, in initial bets: that of the game if ties are replayed, else 0."""
        if self.rules.ties != "replay":
            return 0.0
        key = strategy_key(strategy)
        if key not in self._tie_values:
            asked = copy(self)  # the plays at other values of a tie are not asked for again
            self._tie_values[key] = self._settled(lambda tie_value: asked._value_at(strategy, tie_value))
        return self._tie_values[key]

    def _settled(self, value_at: Callable[[float], float]) -> float:
        """Return the value V of a game whose tied bets have the value V, by the secant method; see `Solver._replayed`.

        Raises: InputError: There is no such value, as play ties a bet or more per round.
        """
        before, value = 0.0, value_at(0.0)
        if self.rules.ties != "replay":
            return value
        now = value
        for _ in range(MOST_STEPS):
            if abs(now - before) <= 1e-14:
                return now
            after = value_at(now)
            slope = (after - value) / (now - before)
            if slope >= 1 and after >= now:
                break
            # of ties that cost more than they return, best play ties fewer at a lower value
            before, value, now = now, after, now + (after - now) / (1 - slope) if slope < 1 else 2 * now - 1
        raise InputError("ties = replay: a round of this shoe ties a bet or more, so its value is infinite")

    def _value_at(self, strategy: Strategy, tie_value: float) -> float:
        return self._at(tie_value).value(self._plays_at(strategy, tie_value))

    def round_parts(self) -> Iterator[RoundPart]:
        """Divide a round by first card and column; see `Solution.round_parts`."""
        analysis, plays = self._at(self.tie_value_of("td")), self.plays("td")
        for start in np.flatnonzero(self.shoe.chance > 0).tolist():
            nodes, weights = self.shoe.dealt(start)
            ended = start not in plays
            profits = analysis.against_natural[nodes] if ended else analysis.profits(start, nodes, plays[start])
            column = "BJ" if self.game.ended(self.shoe.starts[start]) else self.game.columns[start]
            shares = self.shoe.chance[start] * weights * self.shoe.nodes.counts[:, nodes] / 2
            for first, chances in enumerate(shares):
                yield RoundPart(first, column, float(chances.sum()), float(chances @ profits))

    def column_charts(self, strategy: Strategy = "td") -> list[ColumnCharts]:
        """List the charts of every column that this shoe can show, with a strategy's value of ties."""
        tie_value = self.tie_value_of(strategy)
        return [self._column(column, tie_value) for column in self._shown_columns()]

    def _at(self, tie_value: float) -> Analysis:
        if tie_value not in self._analyses:
            if len(self._analyses) >= MOST_PLAYS:
                oldest = next(iter(self._analyses))
                for key in [key for key in self._columns if key[1] == oldest]:
                    del self._columns[key]
                del self._analyses[oldest]
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
            plays = self._played(strategy, tie_value)
            self._check_splits(plays)
            if len(self._plays) >= MOST_PLAYS:  # up to 25 MB each
                del self._plays[next(iter(self._plays))]
            self._plays[key] = plays
        return self._plays[key]

    def _check_splits(self, plays: Plays) -> None:
        """Reject splits into more hands than the solver follows."""
        pairs = self.shoe.layout.pairs
        for value in range(VALUES):
            if self.game.follows_all(value, self.composition):
                continue
            field = "max_ace_hands" if value == 0 and self.rules.max_ace_hands != "none" else "max_hands"
            for start, play in plays.items():
                if play.act[pairs + value] == SPLIT:
                    raise InputError(
                        f"{2 * RANKS[value]} is split against {self.game.columns[start]} with {field} = inf: the "
                        f"solver follows at most {MAX_HANDS} hands; set {field} to {MAX_HANDS} or less"
                    )

    def _played(self, strategy: Strategy, tie_value: float) -> Plays:
        if isinstance(strategy, Chart):  # which may be for another game
            strategy = replace(strategy, rules=self.rules)
        if not isinstance(strategy, Chart) and strategy not in ("td", "td-2c"):
            analysis = self._at(tie_value)
            found = {start: analysis.by_cards(start, strategy) for start in self.shoe.live}
            return self._with_bets(strategy, found, tie_value)
        plays: Plays = {}
        for column in self._shown_columns():
            charts = self._column(column, tie_value)
            if isinstance(strategy, Chart):
                by_start = charts.plays(charts.chart_acts(strategy))
            else:
                by_start = charts.best_plays if strategy == "td" else charts.plays_with_exceptions
            plays |= zip(charts.starts, by_start, strict=True)
        return self._with_bets(strategy, plays, tie_value)

    def _with_bets(self, strategy: Strategy, plays: Plays, tie_value: float) -> Plays:
        found = {start: replace(play, insured=self.insured(strategy, start)) for start, play in plays.items()}
        for start, play in found.items() if self.rules.attack else ():
            if isinstance(strategy, Chart):
                attacks = self.game.columns[start] in strategy.attack
            else:
                attacks = self._at(tie_value).round_value(start, play) > 0
            play.bets = 1 + attacks
        return found

    def insured(self, strategy: Strategy, start: int) -> NDArray[np.bool_] | None:
        """At which nodes a strategy takes insurance; None if it is not offered against this start."""
        shoe = self.shoe
        if "I" not in self.game.course(shoe.starts[start]).before:
            return None
        return takes_insurance(strategy, shoe.insurance(start), *shoe.dealt(start))

    def _ev(self, shoe: ShoeStates, plays: Plays, tie_value: float) -> float:
        """Return the value of the decisions of `plays` in a shoe, with a value of ties."""
        analysis = Analysis(shoe, tie_value)
        ev = add_up(shoe.chance[start] * value for start, value in analysis.ended())
        for start in shoe.live:  # one play after another, as each takes some 2 MB
            play = analysis.follow(start, moved(plays[start].act, self.shoe.layout, shoe.layout))
            play.bets = plays[start].bets
            if (insured := plays[start].insured) is not None:
                play.insured = moved(insured.astype(np.int8), self.shoe.layout, shoe.layout).astype(np.bool_)
            ev += shoe.chance[start] * analysis.round_value(start, play)
        return float(ev)

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

"""`ShoePlays`: the decisions of every strategy in one shoe, computed on demand."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from bjsim.errors import InputError
from bjsim.sim.game.cards import RANKS, TEN, parse_cards
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.shoe.analysis import Analysis, Play, ShoeStates, profits, takes_insurance
from bjsim.strategies.shoe.charts import ColumnCharts
from bjsim.strategies.shoe.game import MAX_HANDS, make_game
from bjsim.strategies.shoe.hands import VALUES, Composition, encode_counts, moved
from bjsim.strategies.shoe.passes import SPLIT
from bjsim.strategies.solution import RoundPart, hand_ranks
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
    counts = np.bincount(values, minlength=VALUES).astype(np.int64)
    alike = pair and len(set(ranks if shoe.by_rank else values)) == 1
    if len(cards) == 2 and alike and shoe.layout.trees[values[0]] is not None:
        return shoe.layout.pairs + values[0]
    return int(np.flatnonzero(shoe.game.hands.key == encode_counts(counts))[0])


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


class ShoePlays:
    """The decisions of strategies in a finite shoe, and the value of a tied bet, with their caches.

    The argument `shoe` has the cards, if not the whole decks of `rules`. The attribute has what depends on the
    shoe alone: nodes, chances and the dealer's distribution; `game` has the hands of the game, for every shoe.
    """

    def __init__(self, rules: Rules, shoe: Mapping[str, int] | Sequence[int] | Composition | None = None) -> None:
        self.rules = rules
        self.composition = Composition.of(rules, shoe)
        self.game = make_game(rules)
        self.shoe = ShoeStates(self.game, self.composition)
        self._analyses: dict[float, Analysis] = {}
        self._columns: dict[tuple[str, float], ColumnCharts] = {}
        self._plays: dict[tuple[object, float], Plays] = {}
        self._tie_values: dict[object, float] = {}

    def __copy__(self) -> Self:
        """Return a solver that starts with this one's caches: what it adds to them is not kept here."""
        solver = object.__new__(type(self))
        solver.__dict__ = {
            name: dict(found) if isinstance(found, dict) else found for name, found in vars(self).items()
        }
        return solver

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
        analysis = self._at(tie_value)
        ev = add_up(self.shoe.chance[start] * value for start, value in analysis.ended())
        for start, play in self._plays_at(strategy, tie_value).items():
            ev += self.shoe.chance[start] * analysis.round_value(start, play)
        return float(ev)

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
        if not self.game.follows_all(TEN, self.composition):
            tens = self.shoe.layout.pairs + TEN
            for start, play in plays.items():
                if play.act[tens] == SPLIT:
                    raise InputError(
                        f"TT is split against {self.game.columns[start]} with max_hands = inf: the solver follows at "
                        f"most {MAX_HANDS} hands; set max_hands to {MAX_HANDS} or less"
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
        return takes_insurance(strategy, profits(shoe.nodes, shoe.shown, start), *shoe.dealt(start))

    def _ev(self, shoe: ShoeStates, tie_value: float, plays: Plays) -> float:
        analysis = Analysis(shoe, tie_value)
        ev = add_up(shoe.chance[start] * value for start, value in analysis.ended())
        for start in shoe.live:
            play = analysis.follow(start, moved(plays[start].act, self.shoe.layout, shoe.layout))
            play.bets = plays[start].bets
            if (insured := plays[start].insured) is not None:
                play.insured = moved(insured.astype(np.int8), self.shoe.layout, shoe.layout).astype(np.bool_)
            ev += shoe.chance[start] * analysis.round_value(start, play)
        return float(ev)

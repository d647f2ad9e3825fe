"""A strategy as a table of codes: a row for each hand, a column for each card that the dealer may show.

Codes, as in [Easy]: `S` stand, `H` hit, `P` split, `Dh` and `Ds` double (else hit / stand), `Rh` and `Rs`
surrender (else hit / stand). The bare `D` and `R` of policy listings mean `Dh` and `Rh`. Other published charts also
use `Ph`, `Pd` and `Ps` (split if a split hand may double, else hit / double / stand), and `Rp` (surrender, else split).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from bjsim.arguments import names_wrong_types
from bjsim.errors import InputError
from bjsim.report.data import data_frame, html_table
from bjsim.sim.game.actions import ATTACK, INSURANCE, Action, View
from bjsim.sim.game.automaton import Decision
from bjsim.sim.game.cards import RANKS, TEN, VALUES, pair_code, soft_code
from bjsim.sim.game.hand_states import SPLIT_ACES, HandState
from bjsim.sim.game.rules import Rules, need_rules
from bjsim.sim.game.states import MOST_KEPT, States
from bjsim.sim.running.table import Need

if TYPE_CHECKING:
    import pandas


# --- Parsing the names of chart rows: `16`, `88`, `A6`; where the rules count cards `15/4` and `14:77`; doubled,
# `16x2`.
#
# `States.rows_of` in `sim/game/states.py` makes these names, from the codes of [Easy].


HARD, PAIR, SOFT = range(3)  # the kinds of rows, in the order of [Easy]


class Row(NamedTuple):
    """The parsed name of a row."""

    kind: int  # HARD, PAIR or SOFT; a pair of aces is a PAIR, and soft
    points: int
    soft: bool
    rank: int = -1  # the rank index of a pair, else -1
    counted: str = ""  # the part after `/` or `:` in a row for hands whose cards are counted, else empty
    stake: int = 1  # bets on a hand that has doubled and still has a choice, else 1

    @property
    def fresh(self) -> bool:
        """Whether the row includes hands of two cards: `15` and `15:78` do, `15/4` does not."""
        return self.stake == 1 and (not self.counted or len(self.counted) == 2)

    @property
    def plain(self) -> bool:
        """Whether the row is for a total or a pair, however many cards it has."""
        return not self.counted and self.stake == 1

    @property
    def total(self) -> str:
        """The name of the row for hands of this total that are not pairs and whose cards are not counted."""
        return soft_code(self.points) if self.soft else str(self.points)

    @property
    def hand(self) -> HandState:
        """A hand of two cards with this total that is not a pair."""
        return HandState(self.points, self.soft, 2)

    @property
    def cards(self) -> tuple[int, int]:
        """Rank indices of two cards with this total: the pair, an ace first if soft, else the highest card first."""
        if self.kind == PAIR:
            return self.rank, self.rank
        high = 1 if self.soft else min(self.points - 2, 10)
        return high - 1, self.points - high - (11 if self.soft else 1)

    @property
    def order(self) -> tuple[int, int, int, str]:
        """Sort key: hard totals, pairs (22 .. TT, AA), soft hands; then those that have doubled."""
        return self.stake, self.kind, (self.rank or len(RANKS)) if self.kind == PAIR else self.points, self.counted


PLAIN_ROWS = {  # by name; charts from elsewhere may begin at 3
    **{str(points): Row(HARD, points, False) for points in range(3, 22)},
    **{soft_code(points): Row(SOFT, points, True) for points in range(13, 22)},
    **{pair_code(rank): Row(PAIR, 2 * VALUES[rank], False, rank) for rank in range(1, TEN + 1)},
    "AA": Row(PAIR, 12, True, 0),
}


@cache
def parse_row(name: str) -> Row:
    """Parse the name of a row. Raises: ValueError: It is not one that `rows_of` makes."""
    base, *rest = re.split("[x:/]", name, maxsplit=1)
    if base not in PLAIN_ROWS or ("x" in name and PLAIN_ROWS[base].kind == PAIR and base != "AA"):
        raise ValueError(f"{name} is not a row of a chart")
    row = PLAIN_ROWS[base]
    if "x" in name:
        return Row(SOFT if row.soft else HARD, row.points, row.soft, stake=int(rest[0]))
    return row._replace(counted="".join(rest))


def row_order(name: str) -> tuple[int, int, int, str]:
    """Sort key for names of rows, in the order of [Easy]."""
    return parse_row(name).order


# --- Players that the compiled round can play: those that decide by the state of a hand.


class StatePlayer(ABC):
    """A player whose action depends only on the state of its hand, what the dealer shows, and what is legal.

    `states` are those that it distinguishes: `States`, or `CardStates` if it depends on the cards of a hand.
    """

    name: str
    states: States
    needs = Need.NOTHING  # the compiled round plays it

    @abstractmethod
    def policy(self, state: HandState, column: str, legal: str) -> str:
        """Return the letter of the action to take, one of `legal`; `column` is one of `states.columns`."""

    def decide(self, view: View) -> Action:
        answer = self._answered.get(key := view.key)
        if answer is None:
            if len(self._answered) >= MOST_KEPT:
                self._answered.clear()
            answer = self._answered[key] = Action(self.policy(*self.states.situation(view)))
        return answer

    def __deepcopy__(self, memo: object) -> StatePlayer:
        return self  # the only state is a cache

    @cached_property
    def _answered(self) -> dict[tuple[object, ...], Action]:
        return {}


# The actions of every code, in order of preference: the first legal one is taken.
ACTIONS = {
    "S": "S", "H": "H", "P": "PH", "Dh": "DH", "Ds": "DS", "Rh": "RH", "Rs": "RS",
    "Ph": "PH", "Pd": "PDH", "Ps": "PS", "Rp": "RPH",
}  # fmt: skip
CODES = tuple(ACTIONS)
ELSE = {"D": "SH", "R": "SHP"}  # what a code can name for hands that may not double or surrender
INSURANCE_ROW, ATTACK_ROW = "insurance", "attack"  # in printed charts and files
IF_SPLITS_DOUBLE = ("Ph", "Pd", "Ps")  # these split only if a split hand may double


def actions_of(code: str, rules: Rules) -> str:
    """Return the actions of a code in this game, in order of preference."""
    return ACTIONS[code][code in IF_SPLITS_DOUBLE and not rules.double_after_split :]


def full_code(action: str, ev: Mapping[str, float | Fraction]) -> str:
    """Return the code of an action; after a double or surrender, with the best of what else a code can name."""
    others = [letter for letter in ELSE.get(action, "") if letter in ev]
    return action + max(others, key=ev.__getitem__).lower() if others else action


@names_wrong_types
@dataclass(frozen=True)
class Chart(StatePlayer):
    """A strategy that looks up every decision in a table; as a Player it plays in the readable round.

    Codes: `S` stand, `H` hit, `P` split, `Dh` and `Ds` double (else hit / stand), `Rh` and `Rs` surrender (else hit /
    stand), `Ph`, `Pd` and `Ps` split if split hands may double (else hit / double / stand), `Rp` surrender (else
    split).

    A hand is looked up under the most specific of its rows that the chart has: where the rules count cards, a 15 of
    four cards as `15/4` and only then as `15`. 21, and a hand that has doubled (`16x2`), stand if they have no row. A
    pair that may not be split is looked up as its total; a pair of aces, whose total has the same name, is then hit.

    Args:
        name: The name of the strategy.
        rules: The game it is for.
        cells: The code for every (row, column).
        source: Where the chart comes from.
        insurance: `I` if insurance is taken where it is offered, else `S`.
        attack: The columns against which the bet is doubled before the deal, where the game offers it.

    Attributes:
        states: The hands of the game, and the rows in which they are looked up.

    Raises:
        InputError: A code, a row or a column is unknown.
    """

    name: str
    rules: Rules
    cells: Mapping[tuple[str, str], str]
    source: str = ""
    insurance: str = "S"
    attack: str = ""
    states: States = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        need_rules(self.rules)
        object.__setattr__(self, "states", States(self.rules))
        for (row, column), code in self.cells.items():
            try:
                _ = parse_row(row), self.states.columns.index(column)
            except ValueError:
                place = f"{row!r} against {column!r} is no cell; columns are {' '.join(self.states.columns)}"
                raise InputError(f"chart {self.name}: {place}") from None
            if code not in CODES:
                raise InputError(
                    f"chart {self.name}: unknown code {code!r} at {row} against {column}; codes are {' '.join(CODES)}"
                )
        if self.insurance not in tuple(INSURANCE):
            raise InputError(f"chart {self.name}: unknown code {self.insurance!r} for insurance; codes are I S")
        if not set(self.attack) <= set(self.states.columns):
            known = " ".join(self.states.columns)
            raise InputError(f"chart {self.name}: unknown cards in attack = {self.attack!r}; cards are {known}")
        object.__setattr__(self, "cells", MappingProxyType(dict(self.cells)))

    @classmethod
    def following(cls, name: str, rules: Rules, cells: Mapping[tuple[str, str], str]) -> Chart:
        """Make a chart over mutable cells: `policy` follows their changes, but `decide` may answer from its cache.

        Args:
            name: The name of the strategy.
            rules: The game it is for.
            cells: The code for every (row, column); it is not copied.

        Returns:
            The chart.

        Raises:
            InputError: A code is unknown.
        """
        chart = cls(name, rules, cells)
        object.__setattr__(chart, "cells", cells)
        return chart

    def __repr__(self) -> str:
        return f"Chart({self.name!r}, {self.rules}, {len(self.cells)} cells)"

    def __hash__(self) -> int:
        return hash((self.name, self.rules, frozenset(self.cells.items()), self.insurance, self.attack))

    @property
    def table(self) -> dict[str, dict[str, str]]:
        """The cells as row -> column -> code, with rows in the order of printed charts."""
        columns = self.states.columns
        rows = sorted({row for row, _ in self.cells}, key=row_order)
        return {row: {column: self.cells.get((row, column), "") for column in columns} for row in rows} | offers(self)

    def _repr_html_(self) -> str:
        rows = [[row, *cells.values()] for row, cells in self.table.items()]
        return html_table(["", *self.states.columns], rows, f"{self.name}, {self.rules}")

    def to_frame(self) -> pandas.DataFrame:
        """The chart as a data frame.

        Returns:
            A row for each hand and a column for each card of the dealer; the cells are codes.

        Raises:
            InputError: pandas is not installed.
        """
        table = self.table
        return data_frame({c: [cells[c] for cells in table.values()] for c in self.states.columns}, list(table))

    def __reduce__(self) -> tuple[type[Chart], tuple[object, ...]]:
        return type(self), (self.name, self.rules, dict(self.cells), self.source, self.insurance, self.attack)

    def code(self, rows: Iterable[str], column: str) -> str:
        """Look up a code.

        Args:
            rows: Labels of rows, the most specific first.
            column: The label of what the dealer shows.

        Returns:
            The code of the first of `rows` that the chart has; `S` for 21 and doubled hands where it has none.

        Raises:
            InputError: The chart has none of the rows; the message names the missing cell.
        """
        row = ""
        for row in rows:
            if (code := self.cells.get((row, column))) is not None:
                return code
        if row == "21" or "x" in row:
            return "S"
        raise InputError(f"chart {self.name} has no cell for {row} against {column}")

    def policy(self, state: HandState, column: str, legal: str) -> str:
        """The chart as a function of the state of a hand, which is how it is evaluated.

        Args:
            state: The state of the hand.
            column: The label of what the dealer shows.
            legal: The letters of the legal actions.

        Returns:
            The letter of the action to take.

        Raises:
            InputError: The chart has no cell for the hand.
        """
        if legal == INSURANCE:
            return self.insurance
        if legal == ATTACK:
            return "A" if column in self.attack else "S"
        code = self.code(self.states.rows_of(state, "P" in legal), column)
        return next(
            (action for action in actions_of(code, self.rules) if action in legal),
            "H" if state.split != SPLIT_ACES and not state.doubled else "S",
        )


def offers(chart: Chart) -> dict[str, dict[str, str]]:
    """The rows of a printed chart for what is offered before the hands are played: row -> column -> code."""
    insurance = {column: chart.insurance if column == "A" else "S" for column in chart.states.columns}
    attack = {column: chart.policy(HandState(), column, ATTACK) for column in chart.states.columns}
    rows = {INSURANCE_ROW: (chart.rules.insurance, insurance), ATTACK_ROW: (chart.rules.attack, attack)}
    return {row: cells for row, (offered, cells) in rows.items() if offered}


def chart_rows(states: States) -> tuple[str, ...]:
    """Every row that a chart for this game can have, in order; those without `:`, `/` or `x` are required."""
    rows = set()
    for state in states.reachable():
        if states.legal(state):
            rows.add(states.rows_of(state)[0])
            rows.add(states.rows_of(state, may_split=False)[-1])
            rows.add(states.rows_of(state, may_split=False)[0])
    if "P" in "".join(states.legal(state) for state in states.starts):
        rows |= {"4", "20"}
    return tuple(sorted(rows, key=row_order))


def required_rows(states: States) -> tuple[str, ...]:
    """The rows that a chart needs: hands as they are dealt, and those that are played on."""
    rows = [row for row in chart_rows(states) if parse_row(row).plain]
    dealt = {row for state in states.starts for row in states.rows_of(state)[:1]}
    played = {states.rows_of(state, may_split=False)[-1] for state in states.reachable() if states.legal(state)}
    return tuple(row for row in rows if row in dealt | played and row not in ("21", "A10"))


def splittable_rows(states: States) -> set[str]:
    """The rows of the pairs that may be split."""
    return {states.rows_of(state)[0] for state in states.reachable() if "P" in states.legal(state)}


@lru_cache(maxsize=4)
def rows_of(rules: Rules) -> tuple[States, dict[str, str], tuple[str, ...], set[str]]:
    """The states of a game, and its rows: all by their names in upper case, those that charts need, and the pairs."""
    states = States(rules)
    return states, {row.upper(): row for row in chart_rows(states)}, required_rows(states), splittable_rows(states)


def make_chart(name: str, rules: Rules, rule: Callable[[str, str], str], source: str = "") -> Chart:
    """Make a chart from `rule`, called for the rows that do not depend on the number of cards."""
    states = States(rules)
    rows = [row for row in chart_rows(states) if parse_row(row).plain and row not in ("21", "A10")]
    return Chart(name, rules, {(row, col): rule(row, col) for row in rows for col in states.columns}, source)


def format_ranges(order: Sequence[str], chosen: Collection[str]) -> str:
    """Format the chosen columns of `order`, with adjacent ones as ranges: `2-6, 9`."""
    parts: list[list[str]] = []
    previous = -2
    for index, column in enumerate(order):
        if column in chosen:
            if index == previous + 1:
                parts[-1][1:] = [column]
            else:
                parts.append([column])
            previous = index
    return ", ".join("-".join(part) for part in parts)


# --- Cells of charts: the decisions looked up in each, and what it costs if they differ from the best chart.


@dataclass(frozen=True)
class WrongCell:
    """A cell that a chart plays differently from the best chart.

    `row` is the most specific one for the hand. `cost` is the cell's share of the whole difference, in initial
    bets per settled bet; `alone` is its cost as the only wrong cell of the best chart, in the same unit, NaN if
    the value of the best chart is infinite.
    """

    row: str
    column: str
    chart: str
    best: str
    cost: float
    alone: float


class CellChoice(NamedTuple):
    """A decision of a chart next to that of the best chart; `rows` are for the hand, most specific first.

    `loss` is the expected visits per round under the chart, times the value of the best action less its own.
    """

    rows: tuple[str, ...]
    differs: bool
    loss: float


def sum_losses(choices: Iterable[CellChoice], settled: float = 1.0) -> dict[str, float]:
    """The sum of the losses of each row, per settled bet."""
    sums: dict[str, float] = {}
    for choice in choices:
        row = choice.rows[0]
        sums[row] = sums.get(row, 0.0) + (choice.loss / settled if choice.loss else 0.0)
    return sums


def make_cells(states: States) -> dict[str, list[Decision]]:
    """For every row of a chart, in order, the decisions for which it is the most specific row."""
    rows: dict[str, list[Decision]] = {}
    for state in states.reachable():
        limited = "P" in states.legal(state) and states.rules.hand_limit(aces=state.rank == 0) < float("inf")
        for decision in [Decision(state), Decision(state, False)][: 1 + limited]:
            if legal := decision.legal(states):
                rows.setdefault(states.rows_of(state, "P" in legal)[0], []).append(decision)
    return {row: rows[row] for row in sorted(rows, key=row_order)}


def chart_codes(chart: Chart) -> dict[tuple[str, str], str]:
    """A chart's code for every (row, column) of its game, with the most specific rows."""
    states = chart.states
    return {
        (row, column): chart.code(states.rows_of(first.state, "P" in first.legal(states)), column)
        for row, (first, *_) in make_cells(states).items()
        for column in states.columns
    }

"""A strategy as a table of codes: a row for each hand, a column for each card that the dealer may show.

Codes, as in [Easy]: `S` stand, `H` hit, `P` split, `Dh` and `Ds` double (else hit / stand), `Rh` and `Rs`
surrender (else hit / stand). The bare `D` and `R` of policy listings mean `Dh` and `Rh`. Other published charts also
use `Ph`, `Pd` and `Ps` (split if a split hand may double, else hit / double / stand), and `Rp` (surrender, else split).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from bjsim.arguments import names_wrong_types
from bjsim.errors import InputError
from bjsim.sim.game.actions import ATTACK, INSURANCE
from bjsim.sim.game.hand_states import SPLIT_ACES, HandState
from bjsim.sim.game.rules import Rules, need_rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.rows import parse_row, row_order
from bjsim.strategies.charts.state_player import StatePlayer
from bjsim.strategies.tabular import data_frame, html_table

if TYPE_CHECKING:
    import pandas

# The actions of every code, in order of preference: the first legal one is taken.
ACTIONS = {
    "S": "S", "H": "H", "P": "PH", "Dh": "DH", "Ds": "DS", "Rh": "RH", "Rs": "RS",
    "Ph": "PH", "Pd": "PDH", "Ps": "PS", "Rp": "RPH",
}  # fmt: skip
CODES = tuple(ACTIONS)
ELSE = {"D": "SH", "R": "SHP"}  # what a code can name for hands that may not double or surrender
INSURANCE_ROW, ATTACK_ROW = "insurance", "attack"  # in printed charts and files
IF_SPLITS_DOUBLE = ("Ph", "Pd", "Ps")  # these split only if a split hand may double


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
        InputError: A code is unknown.
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
        for (row, column), code in self.cells.items():
            if code not in CODES:
                raise InputError(
                    f"chart {self.name}: unknown code {code!r} at {row} against {column}; codes are {' '.join(CODES)}"
                )
        if self.insurance not in tuple(INSURANCE):
            raise InputError(f"chart {self.name}: unknown code {self.insurance!r} for insurance; codes are I S")
        object.__setattr__(self, "cells", MappingProxyType(dict(self.cells)))
        object.__setattr__(self, "states", States(self.rules))

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
            KeyError: The chart has none of the rows; the message names the missing cell.
        """
        row = ""
        for row in rows:
            if (code := self.cells.get((row, column))) is not None:
                return code
        if row == "21" or "x" in row:
            return "S"
        raise KeyError(f"chart {self.name} has no cell for {row} against {column}")

    def policy(self, state: HandState, column: str, legal: str) -> str:
        """The chart as a function of the state of a hand, which is how it is evaluated.

        Args:
            state: The state of the hand.
            column: The label of what the dealer shows.
            legal: The letters of the legal actions.

        Returns:
            The letter of the action to take.

        Raises:
            KeyError: The chart has no cell for the hand.
        """
        if legal == INSURANCE:
            return self.insurance
        if legal == ATTACK:
            return "A" if column in self.attack else "S"
        code = self.code(self.states.rows_of(state, "P" in legal), column)
        actions = ACTIONS[code]
        if code in IF_SPLITS_DOUBLE and not self.rules.double_after_split:
            actions = actions[1:]
        return next(
            (action for action in actions if action in legal),
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

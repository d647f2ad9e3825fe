"""The tables of the Easy Blackjack assignment ([Easy]), for any game, as `bjsim solve` prints them.

initial, stand, hit, double, split, resplit1, resplit2, optimal and strategy are `LabelledTable`s with the labels of the
assignment; dealer is a distribution of outcomes for each column. Values are conditional on no natural having ended the
round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Real

from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.course import ACE, course
from bjsim.sim.game.hand import Hand, pair_code, soft_code
from bjsim.sim.game.hand_states import DEALER_22, DEALER_NATURAL, SPLIT_HAND, HandState
from bjsim.strategies.charts.rows import parse_row, row_order
from bjsim.strategies.exact.best_play import best_code
from bjsim.strategies.exact.labelled_table import LabelledTable
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Means, Number

HARD = tuple(str(points) for points in range(4, 21))
SOFT = tuple(soft_code(points) for points in range(12, 21))
SPLIT = tuple(pair_code(rank) for rank in (*range(1, 10), 0))


def _pair_state(solver: Solver, row: str) -> HandState:
    return solver.states.hand(parse_row(row).cards)


class Tables:
    """The tables of one game, computed by its solver."""

    names = ("initial", "dealer", "stand", "hit", "double", "split", "resplit", "optimal", "strategy", "advantage")
    followed = "td"
    exceptions = ()

    def __init__(self, solver: Solver) -> None:
        self.solution = self.solver = solver
        self.columns = tuple(solver.columns)

    def _fill(
        self, rows: Iterable[str], cell: Callable[[Means, str], Number | str | None], kind: type
    ) -> LabelledTable:
        table = LabelledTable(kind, self.columns, list(rows))
        for column, means in self.solver.followed.items():
            for row in table.ylabels:
                value = cell(means, str(row))
                if value is not None:
                    table[row, column] = value
        return table

    def _values(self, rows: Iterable[str], cell: Callable[[Means, str], Number | None]) -> LabelledTable:
        return self._fill(rows, cell, Real)  # Real: an endless split may be inf, a float, among fractions

    def stand(self) -> LabelledTable:
        stand = lambda means, row: means.act(parse_row(row).hand, "S")  # noqa: E731
        return self._values((*HARD, "21", *SOFT), stand)

    def hit(self) -> LabelledTable:
        """Value of drawing one card, with best hits and stands afterwards."""
        return self._values((*HARD, *SOFT), lambda means, row: means.act(parse_row(row).hand, "H"))

    def double(self) -> LabelledTable:
        """Value of doubling; empty where the rules do not allow it."""

        def cell(means: Means, row: str) -> Number | None:
            state = parse_row(row).hand
            return means.act(state, "D") if "D" in self.solver.states.legal(state) else None

        return self._values((*HARD, *SOFT), cell)

    def split(self) -> LabelledTable:
        """Value of splitting each pair, and resplitting whenever the limit allows; empty where not allowed."""

        def cell(means: Means, row: str) -> Number | None:
            state = _pair_state(self.solver, row)
            return means.act(state, "P") if "P" in self.solver.states.legal(state) else None

        return self._values(SPLIT, cell)

    def base_split(self) -> LabelledTable:
        """Value of a split hand of two cards that is not split again: the base table of the split in [Easy]."""
        states = self.solver.states

        def cell(means: Means, row: str) -> Number | None:
            state = parse_row(row).hand._replace(split=SPLIT_HAND)
            return means.value(state) if states.legal(state) else means.act(state, "S")

        return self._values((*HARD, "21", *SOFT), cell)

    def resplit(self, more: int) -> LabelledTable:
        """Value of splitting a pair when the seat may still get `more` hands (split1 and split2 of [Easy]).

        Aces are left out, since they are not resplit. Empty if the number of hands has no limit.
        """
        limit = self.solver.rules.max_hands

        def cell(means: Means, row: str) -> Number | None:
            state = _pair_state(self.solver, row)
            if "P" not in self.solver.states.legal(state) or limit - more < 1 or limit == math.inf:
                return None
            value: Number = means.waiting(state, 2, int(limit) - more + 1)
            return value

        return self._values(SPLIT[:-1], cell)

    def _situation(self, row: str) -> HandState | None:
        if row in self.solver.situations:
            return self.solver.situations[row]
        return parse_row(row).hand if row in HARD else None

    @property
    def _situations(self) -> list[str]:
        rows = {*self.solver.situations, *HARD}
        return sorted((row for row in rows if row not in ("21", "A10")), key=row_order)

    def optimal(self) -> LabelledTable:
        def cell(means: Means, row: str) -> Number | None:
            state = self._situation(row)
            return None if state is None else means.value(state)

        return self._values(self._situations, cell)

    def strategy(self) -> LabelledTable:
        """The best first action, as chart codes."""

        def cell(means: Means, row: str) -> str | None:
            state = self._situation(row)
            return None if state is None else best_code(means, state)

        return self._fill(self._situations, cell, str)

    def initial(self) -> LabelledTable:
        """Probability of each first hand of the player against each of the dealer's, in percent."""
        number, rules = self.solver.number, self.solver.rules
        ranks = [
            (RANKS[rank], number(p)) for rank, p in enumerate((*rules.card_probabilities[:TEN], rules.ten_probability))
        ]
        if rules.dealer_shows == "up":
            weights = dict(ranks)
        else:
            weights = {label: column.probability for label, column in self.solver.columns.items()}
        columns = list(self.columns)
        if rules.dealer_shows == "both" and course(rules, ACE).looks:
            columns.append("BJ")
            weights["BJ"] = self.solver.dealers_play.peeked_natural()
        table = LabelledTable(number, columns, [*HARD[1:-1], *SPLIT, *SOFT[1:], "BJ"], unit="%")
        for first, p in ranks:
            for second, q in ranks:
                row = Hand(first, second).code()
                for column in columns:
                    before = table[row, column] or number(0)
                    table[row, column] = before + 100 * p * q * weights[column]
        return table

    @property
    def value(self) -> Number:
        return self.solver.value

    def to_json(self, tables: Mapping[str, object]) -> dict[str, object]:
        dealer = {shown: self.solver.dealer(shown) for shown in self.solver.shown}
        figures = {"dealer": dealer, "advantage": self.value, "value": self.value, "sd": self.solver.sd}
        return {"shoe": "inf", "tables": tables, **figures}

    def named(self, name: str) -> dict[str, LabelledTable]:
        """The labelled tables of a name, by title: none for the dealer and single numbers."""
        if name in ("dealer", "advantage", "value", "states"):
            return {}
        if name == "resplit":
            return {f"resplit{more}": self.resplit(more) for more in (1, 2)}
        table: LabelledTable = getattr(self, name.replace("-", "_"))()
        return {name: table}


def dealer_lines(tables: Mapping[str, Mapping[int, Number]], width: float = math.inf) -> list[str]:
    """The dealer's tables as [Easy] prints them: two lines for each column, wrapped at `width` characters."""
    lines = []
    for label, probabilities in tables.items():
        lines.append(f"Dealer {label}")
        names = {DEALER_NATURAL: "BJ", DEALER_22: "22"}
        texts = {o: f"{p:01.6f}" if isinstance(p, float) else str(p) for o, p in probabilities.items()}
        line = ""
        for outcome in (f"{names.get(o, o):>2}: {text}" for o, text in texts.items()):
            if line and len(line) + 2 + len(outcome) > width:
                lines.append(line)
                line = ""
            line += ("  " if line else "") + outcome
        lines.append(line)
    return lines

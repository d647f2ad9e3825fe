"""`Solution`: exact values, the best chart and the costs of other charts in one game, whatever its shoe."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

from bjsim.errors import InputError
from bjsim.sim.game.actions import View
from bjsim.sim.game.cards import count_points, parse_cards, parse_rank
from bjsim.sim.game.dealer import course
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import ATTACK_ROW, INSURANCE_ROW, CellChoice, Chart, WrongCell, row_order, sum_losses


class RoundPart(NamedTuple):
    """A case of a round: the value index of the player's first card, and a column.

    `column` is `BJ` where both cards of a dealer's natural are shown. `profit` is the probability times the
    expected profit in initial bets.
    """

    first: int
    column: str
    chance: float
    profit: float


def hand_ranks(cards: str) -> list[int]:
    """The rank indices of a hand. Raises: InputError: It is not two or more cards that total at most 21."""
    ranks = parse_cards(cards)
    if len(ranks) < 2 or count_points(ranks)[0] > 21:
        said = f"{cards} is not a hand" if cards else "there are no cards"
        raise InputError(f"{said} to decide on; give two or more cards that total at most 21")
    return ranks


def precedes_look(rules: Rules, hand: str, shown: str, choices: int, split: bool = False) -> bool:
    """Whether a decision comes before the dealer looks for a natural: the first one where surrender is early.

    Where a natural takes one bet in any case, all do: a finite shoe is solved as if the dealer looked (`as_peeked`).
    Two cards without a choice are a natural, which pushes.
    """
    against, is_first = course(rules, parse_rank(shown[0])), len(hand) == 2 and not split
    return not (is_first and choices < 2) and (against.takes == "original" or ("R" in against.before and is_first))


def with_natural(
    rules: Rules, hand: str, shown: str, values: dict[str, Any], chance: Any, split: bool = False
) -> dict[str, Any]:
    """Include a dealer's natural of this `chance` in values given that there is none, if it is not known yet.

    If the dealer finds one, every action but an early surrender loses the bet. The solvers add what that saves to the
    surrender's value, which is -1/2 again once the natural is included.
    """
    if not precedes_look(rules, hand, shown, len(values), split):
        return values
    return {letter: (1 - chance) * value - chance for letter, value in values.items()}


class Solution(ABC):
    """The exact solution of a game in one shoe: `Solver` in an infinite one, `ShoeSolver` in a finite one.

    Values are in initial bets, per settled bet of a freshly shuffled shoe.

    Attributes:
        rules: The game.
        infinite: Whether the shoe is infinite.
        refusal: Why the shoe is infinite although the rules have a finite one, as a message; else empty.
    """

    rules: Rules
    infinite: ClassVar[bool]
    refusal: str = ""

    @property
    @abstractmethod
    def value(self) -> float | Fraction:
        """The value of the best chart."""

    @property
    def best_value(self) -> float | Fraction:
        """The value of best play in an infinite shoe, more than `value` if a chart cannot tell all; else `value`."""
        return self.value

    @property
    def beyond_chart(self) -> str:
        """What best play tells apart and the best chart does not, as a message; empty if it gains nothing by that."""
        return ""

    @property
    @abstractmethod
    def chart(self) -> Chart:
        """The best chart."""

    @property
    def sd(self) -> float:
        """The standard deviation of a round with the best chart."""
        return self.sd_of(self.chart)

    @property
    def infinite_because(self) -> str:
        """Why the value of the game is infinite, as a message; empty if it is finite."""
        return ""

    @abstractmethod
    def value_of(self, strategy: Chart | str) -> float | Fraction:
        """Compute the value of a strategy: of a chart, or in a finite shoe of a named strategy.

        Args:
            strategy: The strategy.

        Returns:
            Expected profit per settled bet, in initial bets.

        Raises:
            InputError: The strategy has no exact value in this shoe.
        """

    @abstractmethod
    def sd_of(self, strategy: Chart | str) -> float:
        """Compute the standard deviation of a strategy; where ties are replayed, that of the return per settled bet.

        Args:
            strategy: The strategy.

        Returns:
            Standard deviation per round, in initial bets.

        Raises:
            InputError: The strategy has no exact standard deviation in this shoe.
        """

    @abstractmethod
    def hand_values(self, cards: str, shown: str, *, pair: bool = True) -> Mapping[str, float | Fraction]:
        """Return the value of each action for one hand, followed by best play.

        Args:
            cards: The hand's cards, such as `"T6"`.
            shown: The dealer's upcard, or both cards if both are shown.
            pair: Whether two equal cards may be split.

        Returns:
            Expected profit in initial bets by letter of the action, given that no dealer's natural has ended the round,
            or before the dealer looks for one: an early surrender has -1/2. A hand that stands automatically has only
            `S`.

        Raises:
            InputError: The cards are not a hand to decide on, or the dealer cannot show these.
        """

    @abstractmethod
    def values_by_strategy(self, cards: str, shown: str) -> Mapping[str, Mapping[str, float | Fraction]]:
        """Return `hand_values` of one hand by what is followed afterwards: best play, or each strategy of a shoe.

        Args:
            cards: See `hand_values`, likewise `shown`.
            shown: The dealer's cards.

        Returns:
            Expected profit in initial bets by strategy and letter of the action.
        """

    @abstractmethod
    def view_values(self, view: View) -> Mapping[str, float | Fraction]:
        """Return the value of the legal actions of a decision at a table, as `hand_values` does.

        A split hand of a finite shoe is valued without the other cards of the pair, and as if no other split hand were
        to come.

        Args:
            view: What the player sees.

        Returns:
            Expected profit in initial bets by letter of the action.

        Raises:
            InputError: The hand has no exact value.
        """

    @abstractmethod
    def unseen(self, view: View) -> Sequence[float | Fraction]:
        """Weigh the ranks by how likely each is to be drawn next.

        Args:
            view: What the player sees; only the hand, its pair and the dealer's cards count.

        Returns:
            A weight for each rank: its unseen cards, or in an infinite shoe its probability.

        Raises:
            InputError: The cards cannot be dealt from this shoe.
        """

    @abstractmethod
    def cell_values(self) -> dict[tuple[str, str], dict[str, float]]:
        """Compute the value of each legal action in each cell of the best chart.

        In a finite shoe they are means over the hands of the cell.

        Returns:
            Expected profit in initial bets by letter of the action, by row and column, given that no dealer's natural
            has ended the round; an early surrender has what it saves from one added.
        """

    @property
    @abstractmethod
    def shown(self) -> tuple[str, ...]:
        """What the dealer may show, as `dealer` takes it."""

    @abstractmethod
    def dealer(self, shown: str) -> Mapping[int, float | Fraction]:
        """Compute the distribution of the dealer's outcome before any player's card is known.

        Args:
            shown: The dealer's upcard, or both cards if both are shown.

        Returns:
            Probability by outcome: 0 is a bust, 17..21 are totals, 22 is a natural if naturals are special,
            23 is a bust with 22 if that pushes.

        Raises:
            InputError: The dealer cannot show these.
        """

    def costs(self, chart: Chart) -> list[WrongCell]:
        """Find the cells in which a chart plays differently from the best chart, and what each costs.

        The cost of a cell is

            Σ (expected visits under the chart) × (value of the best action − value of the chart's action)

        summed over the decisions that are looked up in the cell, with best play afterwards in both values. The costs
        add up to the whole difference exactly: follow the chart up to its n-th decision and the best play from there
        on; each further decision left to the chart lowers the value by one such term (the performance difference lemma,
        [Kakade]; it also holds for the branching tree of split hands, since their profits add). Where ties are
        replayed, a tied bet counts with the value of the game, and costs are divided by the share of bets that the
        chart settles, which keeps the sum exact. In a finite shoe, where the hands of a cell differ by their cards, the
        best chart takes the place of best play. A cost may then be negative: after earlier errors, an action other than
        the best chart's may suit the remaining hands better.

        The costs of cells `alone` do not add up, because wrong cells lead play to other wrong cells, or away from them.

        Args:
            chart: The chart.

        Returns:
            The cells, the most expensive first.
        """
        settled, found = self._settled_share(chart), []
        for column in self._shown_columns():
            choices = list(self._choices(chart, column))
            bets = 2 if self.rules.attack and column in chart.attack else 1
            costs = {row: bets * cost for row, cost in sum_losses(choices, settled).items()}
            codes = {choice.rows[0]: chart.code(choice.rows, column) for choice in choices if choice.differs}
            alone = self._alone(chart, column, codes)
            for row in sorted(codes, key=row_order):
                best = self.chart.cells[row, column]
                found.append(WrongCell(row, column, codes[row], best, costs[row], alone[row]))
        if self.rules.insurance and chart.insurance != self.chart.insurance:  # its profit adds to all else
            cost = float(self.value_of(replace(chart, insurance=self.chart.insurance)) - self.value_of(chart))
            found.append(WrongCell(INSURANCE_ROW, "A", chart.insurance, self.chart.insurance, cost, cost))
        attacked = self.attack_values() if self.rules.attack else {}
        for column in sorted(attacked.keys() & (set(chart.attack) ^ set(self.chart.attack))):
            taken, best = ("S", "A") if column in self.chart.attack else ("A", "S")
            cost = abs(math.prod(attacked[column]))
            found.append(WrongCell(ATTACK_ROW, column, taken, best, cost, cost))
        return sorted(found, key=lambda cell: (-cell.cost, -cell.alone))

    @abstractmethod
    def round_parts(self) -> Iterator[RoundPart]:
        """Divide a round of the best chart by first card and column.

        Yields:
            The cases; several may have the same card and column.
        """

    @abstractmethod
    def attack_values(self) -> Mapping[str, tuple[float, float]]:
        """Compute the probability of every upcard, and what one bet with the best chart wins against it.

        Returns:
            Both by upcard; doubling the bet before the deal gains where the second is positive.
        """

    @abstractmethod
    def _shown_columns(self) -> Sequence[str]:
        """The columns of charts that this shoe can show."""

    @abstractmethod
    def _settled_share(self, chart: Chart) -> float:
        """The share of bets that a chart settles; NaN if its value is infinite."""

    @abstractmethod
    def _choices(self, chart: Chart, column: str) -> Iterator[CellChoice]:
        """The decisions against a column."""

    @abstractmethod
    def _alone(self, chart: Chart, column: str, codes: Mapping[str, str]) -> dict[str, float]:
        """What the best chart loses if it plays a single cell as `chart` does; `codes` has the chart's, by row."""

    def with_rules(self, rules: Rules) -> Self:
        """Copy this solution for rules that differ only in what no value depends on.

        Args:
            rules: The rules.

        Returns:
            The copy, which shares what has been computed.
        """
        solution = object.__new__(type(self))  # `copy` would make it anew, as pickle does, and lose what is computed
        vars(solution).update(vars(self), rules=rules)
        if "chart" in vars(solution):
            vars(solution)["chart"] = replace(self.chart, rules=rules)
        return solution

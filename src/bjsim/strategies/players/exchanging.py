"""Charts in a game whose seats may exchange the second cards of their two hands."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache

from bjsim.sim.game.actions import EXCHANGE, STAND, Action, View
from bjsim.sim.running.backend import Need
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.shoe.exchange import BETTER, exchange_values


class ExchangingChart(Chart):
    """A chart whose player exchanges cards as is best in an infinite shoe, if both hands are then played their best.

    A chart has no cells for four cards. The compiled round does not play two hands of a seat.
    """

    needs = Need.DECISIONS

    def decide(self, view: View) -> Action:
        """Exchange or keep the second cards; any other decision is the chart's."""
        if view.legal != EXCHANGE:
            return super().decide(view)
        return self._exchange(view.hand, view.others, view.dealer)

    @cached_property
    def _exchange(self) -> Callable[[str, str, str], Action]:
        infinite = self.rules.replace(decks="inf")

        def exchange(hand: str, other: str, shown: str) -> Action:
            values = exchange_values(infinite, hand, other, shown)
            return Action("X") if values["X"] > values["S"] + BETTER else STAND

        return lru_cache(maxsize=1 << 16)(exchange)  # hands recur


def in_its_game(chart: Chart) -> Chart:
    """The chart as a player of its game: one that exchanges cards if the game asks for it."""
    if chart.rules.bets == 1 or isinstance(chart, ExchangingChart):
        return chart
    return ExchangingChart(chart.name, chart.rules, chart.cells, chart.source, chart.insurance, chart.attack)

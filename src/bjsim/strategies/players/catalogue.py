"""The catalogue of named strategies: each is a chart that is computed for the rules of a game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bjsim.sim.game.hand_states import DealerState
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.charts.chart import Chart, make_chart
from bjsim.strategies.charts.rows import parse_row
from bjsim.strategies.evaluation.best import best_chart


@dataclass(frozen=True)
class CatalogueEntry:
    """A named strategy: the maker of its chart for a game, a line on what it does, and where it comes from."""

    chart: Callable[[Rules], Chart]
    about: str
    source: str


def limit(stand_on: int) -> Callable[[Rules], Chart]:
    """Make the strategy that hits every total below `stand_on`, hard or soft, and stands on all others."""

    def chart(rules: Rules) -> Chart:
        def code(row: str, column: str) -> str:
            return "H" if parse_row(row).points < stand_on else "S"

        return make_chart(f"lim{stand_on}", rules, code, CATALOGUE[f"lim{stand_on}"].source)

    return chart


def _mimic(rules: Rules) -> Chart:
    states = States(rules)

    def code(row: str, column: str) -> str:
        hand = parse_row(row)
        return "S" if states.dealer_done(DealerState(hand.points, hand.soft, cards=2)) else "H"

    return make_chart("mimic", rules, code, CATALOGUE["mimic"].source)


def _hoyle(rules: Rules) -> Chart:
    def code(row: str, column: str) -> str:
        hand = parse_row(row)
        if hand.soft:
            return "S" if hand.points >= 18 else "H"
        if hand.points >= 17:
            return "S"
        return "S" if hand.points >= 13 and column in ("2", "3", "4", "5", "6") else "H"

    return make_chart("hoyle", rules, code, CATALOGUE["hoyle"].source)


CATALOGUE: dict[str, CatalogueEntry] = {
    "optimal": CatalogueEntry(
        best_chart,
        "the best chart for the rules, decks included, computed",
        "dynamic programming, bjsim.strategies.exact.solver and bjsim.strategies.shoe",
    ),
    **{
        f"lim{n}": CatalogueEntry(
            limit(n),
            f"hits below {n}, stands on {n} and more",
            "[CardShark], its example bot Lim 17",
        )
        for n in range(12, 21)
    },
    "mimic": CatalogueEntry(
        _mimic,
        "plays the dealer's own rule, soft 17 included",
        "Thorp, Beat the Dealer (1966), 'mimic the dealer'",
    ),
    "hoyle": CatalogueEntry(
        _hoyle,
        "stands on 13 to 16 against 2 to 6 only, on hard 17 and soft 18",
        "[Neller], after Hoyle's rules of games",
    ),
}

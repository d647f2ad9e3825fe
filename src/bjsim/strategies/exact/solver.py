"""`Solver`: the exact solution of a game in an infinite shoe."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import chain

from bjsim.arguments import names_wrong_types
from bjsim.errors import InputError
from bjsim.sim.game.actions import View
from bjsim.sim.game.automaton import Decision
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.cells import CellChoice, make_cells
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.best_play import BestPlay
from bjsim.strategies.exact.exchange import ExchangeAutomaton, exchange_sd
from bjsim.strategies.exact.moments import round_sd
from bjsim.strategies.exact.reach import count_decisions
from bjsim.strategies.exact.round_parts import round_parts
from bjsim.strategies.exact.values import Column, ExpectedValue, Number, Policy
from bjsim.strategies.solution import RoundPart, Solution

MERELY_ROUNDING = 1e-12  # initial bets
TOLD = {"cards": "how many cards a hand has", "risk": "whose bets are on a hand", "split": "whether a hand was split"}


@names_wrong_types
class Solver(BestPlay, Solution):
    """Exact values and best play of one game in an infinite shoe, computed on demand.

    Args:
        rules: The game; its number of decks is ignored, but for the suits of three sevens in Spanish 21.
        number: The type of all values: `float` or `fractions.Fraction`.
        refusal: Why an infinite shoe takes the place of the game's own.

    Raises:
        InputError: The rules are not `Rules`.
    """

    infinite = True

    def __init__(self, rules: Rules, number: type[float] | type[Fraction] = float, refusal: str = "") -> None:
        super().__init__(rules, number)
        self.refusal = refusal

    def __reduce__(self) -> tuple[type[Solver], tuple[Rules, type, str]]:
        return Solver, (self.rules, self.number, self.refusal)

    def __repr__(self) -> str:
        return f"Solver({self.rules}, {self.number.__name__})"

    def value_of(self, strategy: Chart | str) -> Number:
        """Compute the value of a chart; see `Solution.value_of`."""
        return self.ev(_policy(strategy)).value

    def sd_of(self, strategy: Chart | str) -> float:
        """Compute the standard deviation of a chart; see `Solution.sd_of`."""
        policy = _policy(strategy)
        if isinstance(self.states, ExchangeAutomaton):
            return exchange_sd(self.states, policy)
        ev = self.ev(policy)
        return round_sd(self.states, policy, ev.value, ev.tied)

    def hand_values(self, cards: str, shown: str, *, pair: bool = True) -> dict[str, Number]:
        """Return the value of each action for one hand, followed by best play; see `Solution.hand_values`."""
        try:
            state, label = self.chart.find_state(cards, False), self.states.column(shown)
        except ValueError as error:
            raise InputError(str(error)) from None
        if len(cards) < 2 or state.points > 21:
            raise InputError(f"{cards} is not a hand to decide on; give two or more cards that total at most 21")
        if label not in self.columns or len(shown) != 1 + (self.rules.dealer_shows == "both"):
            raise InputError(f"the dealer cannot show {shown!r} before a decision in {self.rules}")
        state = state if pair else state._replace(rank=-1)
        means = self.best[label]
        return {letter: means.act(state, letter) for letter in means.automaton.legal(state) or "S"}

    def values_by_strategy(self, cards: str, shown: str) -> dict[str, dict[str, Number]]:
        """Return the values of one hand, followed by best play; see `Solution.values_by_strategy`."""
        return {"best play": self.hand_values(cards, shown)}

    def round_parts(self) -> Iterator[RoundPart]:
        """Divide a round by first card and column; see `Solution.round_parts`."""
        return round_parts(self)

    def view_values(self, view: View) -> dict[str, Number]:
        """Return the value of the legal actions of a decision at a table; see `Solution.view_values`."""
        if view.split and self.states.one_and_busted:
            raise InputError("what a split hand may lose depends on the hands before it, which are not given")
        means = self.best.get(self.states.column(view.dealer))
        if means is None:
            raise InputError(f"the dealer cannot show {view.dealer}")
        state = self.chart.find_state(view.hand, view.split, view.free, view.doubled)
        values = {letter: means.act(state, letter) for letter in view.legal if letter in "SHDPR"}
        if "P" in values and view.split:
            endless = self.states.is_endless(self.states.split(state))  # then pending hands keep their room
            values["P"] = means.split_again(state, 0 if endless else view.pending, view.hands)
        return values

    def unseen(self, view: View) -> tuple[Fraction, ...]:
        """The probability of each rank; see `Solution.unseen`."""
        return self.rules.card_probabilities

    def cell_values(self) -> dict[tuple[str, str], dict[str, float]]:
        """Compute the value of each legal action in each cell of the best chart; see `Solution.cell_values`."""
        return {
            (row, column): {action: float(means.act(state, action)) for action in means.automaton.legal(state)}
            for column, means in self.followed.items()
            for row, state in self.situations.items()
        }

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns of a chart, which `dealer` takes like cards."""
        return tuple(self.columns)

    def dealer(self, shown: str) -> dict[int, Number]:
        """Compute the distribution of the dealer's outcome, without peeked naturals; see `Solution.dealer`."""
        try:
            return dict(self.columns[shown if shown in self.columns else self.states.column(shown)].probabilities)
        except (KeyError, ValueError):
            raise InputError(f"the dealer cannot show {shown!r} before a decision in {self.rules}") from None

    @property
    def beyond_chart(self) -> str:
        """What best play tells apart and the best chart does not, as a message; see `Solution.beyond_chart`."""
        if self.best_value - self.value <= MERELY_ROUNDING:
            return ""
        known: dict[str, None] = {}
        for column, means in self.followed.items():
            for row, decisions in self._rows.items():
                for state, may_split in decisions:
                    legal = Decision(state, may_split).legal(means.automaton)
                    taken = means.act(state, self.chart.policy(state, column, legal))
                    if means.value(state, may_split) - taken > MERELY_ROUNDING:
                        usual = self.situations[row]
                        known |= {
                            what: None for name, what in TOLD.items() if getattr(state, name) != getattr(usual, name)
                        }
        return " and ".join(known or ["which hands of a split to split again"])

    # --- the costs of cells; see `Solution.costs`

    def attack_values(self) -> dict[str, tuple[float, float]]:
        """Compute the probability and the value of each upcard; see `Solution.attack_values`."""
        return {upcard: (float(p), float(total / p)) for upcard, (p, total) in self.upcards.items()}

    def _shown_columns(self) -> list[str]:
        return list(self.columns)

    def _settled_share(self, chart: Chart) -> float:
        tied = self.ev(chart.policy).tied if self.rules.ties == "replay" else 0
        return float(1 - tied) if tied < 1 else math.nan  # an infinite value has no shares

    def _choices(self, chart: Chart, column: str) -> Iterator[CellChoice]:
        means, chance = self.followed[column], float(self.columns[column].probability)
        visits = count_decisions(self.states, self.columns[column], chart.policy)
        for decision in dict.fromkeys([*visits, *chain.from_iterable(self._rows.values())]):
            legal = decision.legal(means.automaton)
            action, best_action = (one.policy(decision.state, column, legal) for one in (chart, self.chart))
            loss = 0.0
            if visited := visits.get(decision):
                best, taken = means.value(decision.state, decision.may_split), means.act(decision.state, action)
                loss = chance * visited * float(best - taken) if best != taken else 0.0
            yield CellChoice(self.states.rows_of(decision.state, "P" in legal), action != best_action, loss)

    @cached_property
    def _rows(self) -> dict[str, list[Decision]]:
        return make_cells(self.states)

    def _alone(self, chart: Chart, column: str, codes: Mapping[str, str]) -> dict[str, float]:
        whole, before = self._best_ev, self._best_column_evs[column]

        def loss(row: str) -> float:
            def policy(state: HandState, label: str, legal: str) -> str:
                changed = self.states.rows_of(state, "P" in legal)[0] == row
                return (chart if changed else self.chart).policy(state, label, legal)

            after = self._column_ev(self.columns[column], policy)
            changed = ExpectedValue(whole.net + after.net - before.net, whole.tied + after.tied - before.tied)
            return float(whole.value - changed.value)

        return {row: loss(row) if math.isfinite(whole.value) else math.nan for row in codes}

    @cached_property
    def _best_ev(self) -> ExpectedValue:
        return self.ev(self.chart.policy)

    @cached_property
    def _best_column_evs(self) -> dict[str, ExpectedValue]:
        return {label: self._column_ev(column, self.chart.policy) for label, column in self.columns.items()}

    def _column_ev(self, column: Column, policy: Policy) -> ExpectedValue:
        net = self.column_total(column, 0.0, policy)
        tied = self.column_total(column, 1.0, policy) - net if self.rules.ties == "replay" else 0.0
        return ExpectedValue(net, tied)


def _policy(strategy: Chart | str) -> Policy:
    if isinstance(strategy, Chart):
        return strategy.policy
    raise InputError(f"{strategy!r} is not a chart; the strategies of a finite shoe need decks = 1 to 8")

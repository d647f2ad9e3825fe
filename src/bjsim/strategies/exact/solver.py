"""`Solver`: the exact solution of a game in an infinite shoe."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import chain

from bjsim.arguments import names_wrong_types
from bjsim.errors import InputError
from bjsim.sim.game.actions import ATTACK, INSURANCE, LETTERS, View
from bjsim.sim.game.automaton import START, Automaton, Decision, Finished
from bjsim.sim.game.cards import TEN
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import CellChoice, Chart, full_code, make_cells, row_order
from bjsim.strategies.exact.exchange import ExchangeAutomaton, exchange_sd
from bjsim.strategies.exact.values import (
    BestMeans,
    Column,
    Dealer,
    ExpectedValue,
    Means,
    Number,
    Policy,
    best_insurance,
    count_decisions,
    round_nodes,
    round_sd,
)
from bjsim.strategies.solution import RoundPart, Solution, hand_ranks, with_natural
from bjsim.sums import add_up

# --- Best play of a game in an infinite shoe, and the expected value of any strategy, by dynamic programming.
#
#     value = sum over columns, starts of P(column) P(start) value(start | column)
#
# where a dealer's natural found by peeking is one more column.
#
# The same code computes with `float` or `fractions.Fraction`. Where ties are replayed the value of the game is V = net
# / (1 - tied), since a tied bet has the value V per stake. The best policy for that objective is the solution of an
# outer fixed point: solve with the tie value V, take the V of the resulting policy, and repeat until V is constant
# ([Dinkelbach]; the iteration ends because V only grows and policies are finite in number). Split hands may tie more
# than the bet they came from: under a policy with tied >= 1 the number of bets never falls, and its value is infinite.
#
# Sources: [Easy]; [Griffin], chapter 11.

MERELY_ROUNDING = 1e-12  # initial bets
TOLD = {"cards": "how many cards a hand has", "risk": "whose bets are on a hand", "split": "whether a hand was split"}


@names_wrong_types
class Solver(Solution):
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
        self.rules = rules
        self.number: type = number
        self.refusal = refusal
        self.states = Automaton(rules) if rules.exchange == "none" else ExchangeAutomaton(rules)
        self.dealers_play = Dealer(self.states, number)
        self.cases = self.dealers_play.cases()  # before the first decision, dealt naturals included
        self.columns = {column.label: column for column in self.cases if column.label}
        self._best_means: dict[tuple[type, str, bool, Number], Means] = {}

    def __reduce__(self) -> tuple[type[Solver], tuple[Rules, type, str]]:
        return Solver, (self.rules, self.number, self.refusal)

    def __repr__(self) -> str:
        return f"Solver({self.rules}, {self.number.__name__})"

    def means(
        self, column: Column, tie_value: Number, policy: Policy | None = None, kind: type[Means] = Means
    ) -> Means:
        """Return the value of every hand against one column, in initial bets.

        `tie_value` is per unit of the tied stake; without a `policy`, the best one at that tie value is followed: with
        `BestMeans` best play, else that of players who split every pair again, as charts do.
        """
        if policy is not None:
            return Means(self.states, column, tie_value, policy)
        key = kind, column.label, column.insurable, tie_value
        if key not in self._best_means:
            self._best_means[key] = kind(self.states, column, tie_value)
        return self._best_means[key]

    def column_total(self, column: Column, tie_value: Number, policy: Policy | None) -> Number:
        """Expected profit against one column times its probability; arguments as for `means`."""
        bets = column.bets(policy) if policy else 1 + (column.upcard in self.attacked)
        means = self.means(column, tie_value, policy, BestMeans)
        total: Number = bets * column.probability * means.round_value()
        return total

    @cached_property
    def upcards(self) -> dict[str, tuple[Number, Number]]:
        """Where a bet may be doubled before the deal: the probability of each upcard, and that times what it wins."""
        found: dict[str, tuple[Number, Number]] = {}
        for case in self.cases if self.rules.attack else ():
            total = case.probability * self.means(case, self.number(0)).round_value()
            before = found.get(case.upcard, (0, 0))
            found[case.upcard] = before[0] + case.probability, before[1] + total
        return found

    @cached_property
    def attacked(self) -> tuple[str, ...]:
        """The upcards against which it is best to double the bet before the deal."""
        return tuple(upcard for upcard, (_, total) in self.upcards.items() if total > 0)

    def _total(self, tie_value: Number, policy: Policy | None) -> Number:
        return add_up(self.column_total(column, tie_value, policy) for column in self.cases)

    def ev(self, policy: Policy) -> ExpectedValue:
        """Expected profit and tied stake per round of a strategy, such as `chart.policy`."""
        net = self._total(self.number(0), policy)
        if self.rules.ties != "replay" or not math.isfinite(net):  # an infinite profit has no finite tied part
            return ExpectedValue(net, self.number(0))
        return ExpectedValue(net, self._total(self.number(1), policy) - net)

    @cached_property
    def value(self) -> Number:
        """The value of the best chart: expected profit per settled bet, in initial bets; it may be `inf`."""
        return self.ev(self.chart.policy).value

    @cached_property
    def best_value(self) -> Number:
        """The value of best play, which may tell apart hands that share a row of a chart; see `beyond_chart`.

        It may be `inf`. Where ties are replayed, the best strategy may differ between one replay and the next, so there
        are games of infinite value in which no single chart reaches that value.
        """
        return self._replayed[1] if self.rules.ties == "replay" else self._total(self.number(0), None)

    @cached_property
    def chart(self) -> Chart:
        """The best chart of the game in an infinite shoe."""
        return self._best_chart(self.tie_value)

    @cached_property
    def tie_value(self) -> Number:
        """Value of a tied bet under best play: `best_value` if ties are replayed, else 0.

        If that is infinite, a finite tie value at which best play ties at least as many bets as are
        dealt.
        """
        zero: Number = self.number(0)
        return self._replayed[0] if self.rules.ties == "replay" else zero

    @cached_property
    def _replayed(self) -> tuple[Number, Number]:
        """Where ties are replayed: `tie_value`, and the value of the game.

        Let f(v) be the best expected profit of a round with the tie value v; its slope is the stake tied by that play.
        If ties are replayed at most n times, the value of the game is f(f(.. f(0))), so without that limit it is the
        first fixed point of f from 0 in the direction of f(0). As f is convex, each step goes to the fixed point of a
        tangent, which is the value of one strategy and never overshoots. A tangent above v with slope 1 or more shows
        that there is no fixed point.
        """
        value, is_reached = self.number(0), False  # is_reached: some strategy has this value, so f(value) >= value
        while True:
            excess = self._total(value, None) - value
            rounding = 0 if self.number is Fraction else 1e-15 * max(1, abs(value))
            if abs(excess) <= rounding or (is_reached and excess < 0):  # excess < 0 can only be rounding
                return value, value
            if excess == math.inf:
                return value, excess
            best = self.ev(self._best_policy(value))
            if best.tied < 1:
                if is_reached and best.value <= value:  # again rounding
                    return value, value
                value, is_reached = best.value, True
            elif excess > 0:
                return value, math.inf
            else:  # these ties cost more than they return: continue at a lower tie value
                value = 2 * value - 1

    def _best_policy(self, tie_value: Number) -> Policy:
        def policy(state: HandState, label: str, legal: str) -> str:
            if legal == ATTACK:
                return "A" if label in self.attacked else "S"
            if legal == INSURANCE:
                return best_insurance(self.rules)
            means = self.means(self.columns[label], tie_value)
            return max(legal, key=lambda action: means.act(state, action))

        return policy

    @cached_property
    def best(self) -> dict[str, Means]:
        """The value of every hand under the best strategy, by column label."""
        return {label: self.means(each, self.tie_value, None, BestMeans) for label, each in self.columns.items()}

    @property
    def followed(self) -> dict[str, Means]:
        """The value of every hand under the best play of those who split every pair again, by column label."""
        return {label: self.means(column, self.tie_value) for label, column in self.columns.items()}

    def _best_chart(self, tie_value: Number) -> Chart:
        cells = {}
        for label, column in self.columns.items():
            means = self.means(column, tie_value)
            for row, state in self.situations.items():
                cells[row, label] = best_code(means, state)
        source = "computed by dynamic programming (bjsim.strategies.exact.solver)"
        return Chart("optimal", self.rules, cells, source, best_insurance(self.rules), "".join(self.attacked))

    @cached_property
    def situations(self) -> dict[str, HandState]:
        """For every row of a chart, in order, the hand with the most legal actions among those looked up there."""
        choices: dict[str, HandState] = {}
        for state in self.states.reachable():
            for known in (state, state._replace(rank=-1)):
                row = self.states.rows_of(known)[0]
                letters = self.states.legal(known)
                if letters and (row not in choices or len(letters) > len(self.states.legal(choices[row]))):
                    choices[row] = known
        return {row: choices[row] for row in sorted(choices, key=row_order)}

    @cached_property
    def infinite_because(self) -> str:
        """Why the value of the game is infinite, as a message; empty if it is finite."""
        for label, means in self.best.items() if self.rules.most_hands == math.inf else ():
            for row, state in self.situations.items():
                if means.value(state) == math.inf and "P" in self.states.legal(state):
                    return f"the value is infinite: resplitting {row} against {label} pays without limit"
        if self.best_value == math.inf:
            return "the value is infinite: split hands tie more bets than were dealt, and ties are replayed"
        return ""

    # --- what `Solution` asks for

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
        state, label = self.states.hand(hand_ranks(cards)), self.states.column(shown)
        if label not in self.columns or len(shown) != 1 + (self.rules.dealer_shows == "both"):
            raise InputError(f"the dealer cannot show {shown!r} before a decision in {self.rules}")
        state = state if pair else state._replace(rank=-1)
        means = self.best[label]
        values = {letter: means.act(state, letter) for letter in means.automaton.legal(state) or "S"}
        return with_natural(self.rules, cards, shown, values, means.column.natural_chance)

    def values_by_strategy(self, cards: str, shown: str) -> dict[str, dict[str, Number]]:
        """Return the values of one hand, followed by best play; see `Solution.values_by_strategy`."""
        return {"best play": self.hand_values(cards, shown)}

    def round_parts(self) -> Iterator[RoundPart]:
        """Divide a round by first card and column; see `Solution.round_parts`."""
        ranks, policy = self.states.ranks, self.chart.policy
        insured = any(column.insurable for column in self.cases)
        # a replayed bet is played by the chart again, whose value may be below that of best play
        tie_value = self.value if math.isfinite(self.value) else self.tie_value
        for column in self.cases:
            means, bets = self.means(column, tie_value, policy), column.bets(policy)
            insurance = round_nodes(column, self.rules, policy)[1:]
            ups = _upcards(column, self.rules, insured)
            for first, p in ranks:
                for second, q in ranks:
                    hand = self.states.hand((first, second))
                    dealt = self.states.dealt(hand) if column.start == START else Finished(self.states.result(hand))
                    chance = float(column.probability) * float(p * q) / len(ups)
                    profit = chance * bets * float(means.together((dealt, *insurance)))
                    yield from (RoundPart(min(first, TEN), up, chance, profit) for up in ups)

    def view_values(self, view: View) -> dict[str, Number]:
        """Return the value of the legal actions of a decision at a table; see `Solution.view_values`."""
        if view.split and self.states.one_and_busted:
            raise InputError("what a split hand may lose depends on the hands before it, which are not given")
        state, column, legal = self.chart.states.situation(view)
        means = self.best.get(column)
        if means is None:
            raise InputError(f"the dealer cannot show {view.dealer}")
        values = {letter: means.act(state, letter) for letter in legal if letter in LETTERS}
        if "P" in values and view.split:
            endless = self.states.is_endless(self.states.split(state))  # then pending hands keep their room
            values["P"] = means.split_again(state, 0 if endless else view.pending, view.hands)
        return with_natural(self.rules, view.hand, view.dealer, values, means.column.natural_chance, view.split)

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
        if not self.best_value - self.value > MERELY_ROUNDING:  # not a number if both are infinite
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


def best_code(means: Means, state: HandState) -> str:
    """The chart code of the best action for a hand; the first of S H D P R where some are equally good."""
    legal = means.automaton.legal(state)
    ev = {action: means.act(state, action) for action in legal}
    return full_code(max(legal, key=ev.__getitem__), ev)


def _upcards(column: Column, rules: Rules, insured: bool) -> list[str]:
    """The upcards that a case may have, each equally likely. Naturals found by peeking share one case."""
    if column.label:
        return [column.label]
    if rules.dealer_shows == "both":
        return ["BJ"]
    return ["A"] if column.insurable else ["T"] if insured else ["A", "T"]


def _policy(strategy: Chart | str) -> Policy:
    if isinstance(strategy, Chart):
        return strategy.policy
    raise InputError(f"{strategy!r} is not a chart; the strategies of a finite shoe need decks = 1 to 8")

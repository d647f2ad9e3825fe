"""A side bet next to a simulated game: its rounds are replayed with suits, which changes nothing in the game."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bjsim.arguments import argument
from bjsim.errors import InputError
from bjsim.sim.engine.compiled_rules import compile_rules
from bjsim.sim.engine.kernels.layout import payoff_parts
from bjsim.sim.game.cards import NORMAL_TENS, RANKS, SPANISH_TENS, TEN
from bjsim.sim.game.dealer_states import DealerStates
from bjsim.sim.game.hand_states import DealerState, HandState
from bjsim.sim.game.rules import Rules
from bjsim.sim.running.blocks import block_number, make_spans
from bjsim.sim.running.common_cards import CommonCards
from bjsim.sim.running.compiled_table import CompiledTable
from bjsim.sim.running.experiment import Experiment
from bjsim.sim.running.table import TracedTable
from bjsim.sim.stats.intervals import Z95
from bjsim.strategies.sidebets.bets import BUST, WITH_NATURAL, BetRules
from bjsim.strategies.sidebets.bust import bust_events
from bjsim.strategies.sidebets.exact import SideBet, chosen, solve_bet
from bjsim.strategies.sidebets.kinds import SUITS
from bjsim.strategies.sidebets.outcomes import IS_ACE, IS_TEN, outcomes
from bjsim.strategies.sidebets.suited_deal import DEALER, Kinds, SuitedDeal, deal_order, deal_suits

Floats = NDArray[np.float64]
MOST_CARDS = 24  # of a dealer's hand


@dataclass(frozen=True)
class PlayedBet:
    """The result of a side bet of one in every round of a bot in which it is offered.

    `exact` is the exact value in a fresh shoe, `covariance` that of the profits of the bet and of the game, in a
    round with the bet.
    """

    bot: str
    bet: str
    rounds: int
    mean: float
    se: float
    exact: float
    covariance: float

    @property
    def ci95(self) -> tuple[float, float]:
        return self.mean - Z95 * self.se, self.mean + Z95 * self.se

    def to_json(self) -> dict[str, object]:
        return asdict(self) | {"ci95": self.ci95}

    @property
    def z(self) -> float:
        """The difference from the exact value in standard errors; 0 if all rounds were alike."""
        return (self.mean - self.exact) / self.se if self.se else 0.0


class BetDeals:
    """The profits of a side bet in the rounds of dealt blocks."""

    def __init__(self, bet: BetRules, rules: Rules) -> None:
        self.bet, self.rules = bet, rules
        if bet.looks_at in (WITH_NATURAL, "dealer", BUST) and rules.deal.count("d") < 2:
            raise InputError(f"{argument('sidebet')}: {bet.name} needs a hole card, which {rules.name} does not deal")
        if bet.looks_at == BUST:
            self._automate(bust_events(bet, rules))
        else:
            found = outcomes(bet)
            self._pays = np.array([-1.0, *(float(pay) for _, pay in found.events)])[found.place]

    @property
    def more(self) -> int:
        """Cards that are needed behind a round."""
        return MOST_CARDS if self.bet.looks_at == BUST else 0

    def profits(self, deal: SuitedDeal, seats: int, seat: int) -> tuple[Floats, NDArray[np.bool_]]:
        """The profit of each round to a seat, and whether the bet was offered, (rounds,)."""
        places = deal_order(self.rules, seats)
        own = [deal.card(place) for place in places[seat]]
        dealer = [deal.card(place) for place in places[DEALER]]
        offered = np.ones(len(deal.start), np.bool_)
        if self.bet.looks_at == BUST:
            return self._busts(deal, dealer), offered
        if self.bet.looks_at == WITH_NATURAL:
            natural = sum(IS_ACE[card] for card in dealer) * sum(IS_TEN[card] for card in dealer)
            return self._pays[own[0], own[1], natural], offered
        if self.bet.looks_at == "dealer":
            if self.bet.upcard:
                offered = np.minimum(dealer[0] // len(SUITS), TEN) == RANKS.index(self.bet.upcard)
            return self._pays[dealer[0], dealer[1]], offered
        cards = [*own[:2], *dealer[:1]] if self._pays.ndim > 2 else own[:2]
        return self._pays[tuple(cards)], offered

    def _automate(self, events: Any) -> None:
        """The dealer's hands as numbered states: what each card leads to, and which have ended, or busted."""
        plain = Rules(dealer_stands_on=self.rules.dealer_stands_on, hit_soft_17=self.rules.hit_soft_17)
        hands, states = DealerStates(plain), {DealerState(): 0}
        after: list[list[int]] = []
        for state in (todo := [DealerState()]):
            row = []
            for rank in range(len(RANKS)):
                new = hands.dealer_add(state, rank)
                if new not in states:
                    states[new] = len(states)
                    todo.append(new)
                row.append(states[new])
            after.append([states[state]] * len(RANKS) if hands.dealer_done(state) else row)
        self._after = np.array(after)
        self._busted = np.array([state.points > 21 for state in states])
        self._by_cards = np.full(MOST_CARDS + 3, -1.0)
        for event, sizes in events:
            self._by_cards[sizes] = float(event.pays)

    def _busts(self, deal: SuitedDeal, dealer: Sequence[Kinds]) -> Floats:
        """The dealer plays the hand out with the cards behind the round, which the next round is replayed."""
        state, drawn = np.zeros(len(deal.end), np.int64), np.zeros(len(deal.end), np.int64)
        for number in range(MOST_CARDS):
            card = dealer[number] if number < 2 else deal.kinds[deal.end + number - 2]
            new = self._after[state, card // len(SUITS)]
            drawn += (new != state) | (number < 2)
            state = new
        return np.where(self._busted[state], self._by_cards[drawn], -1.0)


def play_bet(
    bet: str,
    experiment: Experiment,
    names: Sequence[str],
    rounds: Sequence[int],
) -> list[PlayedBet]:
    """Play a side bet next to the rounds of an experiment, which are replayed; one result per bot.

    `bet` is a name or a TOML file; `names` and the `rounds` that each bot has played are by seat.
    """
    deals, figures = check_bet(bet, experiment.rules)
    unit = float(experiment.rules.unit)
    found: list[PlayedBet] = []
    for number, table in _tables(experiment):
        sums = np.zeros((table.seats, 5))
        for trace, deal in deal_blocks(experiment, number, table, rounds[len(found)], deals.more):
            for own in range(table.seats):
                profit, offered = deals.profits(deal, table.seats, own)
                side, game = profit[offered], payoff_parts(trace[offered, own])[0] * unit
                sums[own] += len(side), side.sum(), side @ side, game.sum(), game @ side
        for own in range(table.seats):
            found.append(_result(names[len(found)], deals.bet.name, sums[own], figures))
    return found


def check_bet(bet: str, rules: Rules, with_what: str | None = None) -> tuple[BetDeals, SideBet]:
    """Return the profits of a bet in this game, and its exact figures; `bet` is a name or a TOML file.

    `with_what` is what is asked for too, and does not go together with a side bet.
    """
    if with_what:
        raise InputError(f"{argument('sidebet')} is not supported with {with_what}: rounds are dealt a second time")
    rules.need_one_hand("have no side bets")
    if rules.ten_probability not in (NORMAL_TENS, SPANISH_TENS):
        raise InputError(f"{argument('sidebet')} needs decks of cards, not ten_probability = {rules.ten_probability}")
    wanted, shoe, _ = chosen(bet, None, rules, None, None, None)
    return BetDeals(wanted, rules), solve_bet(wanted, shoe, rules)


def _result(bot: str, bet: str, sums: Floats, figures: SideBet) -> PlayedBet:
    count = max(sums[0], 1.0)
    mean, square, game, product = sums[1:5] / count
    se = math.sqrt(max(square - mean * mean, 0.0) / count)
    return PlayedBet(bot, bet, int(sums[0]), float(mean), se, float(figures.ev), float(product - mean * game))


def _tables(experiment: Experiment) -> Iterator[tuple[int, TracedTable]]:
    for number, group in enumerate(experiment.groups):
        for table in group.tables if isinstance(group, CommonCards) else [group]:
            yield number, table  # type: ignore[misc]


def deal_blocks(
    experiment: Experiment, group: int, table: TracedTable, rounds: int, more: int
) -> Iterator[tuple[NDArray[np.int64], SuitedDeal]]:
    """Replay the blocks that a table of a group has played; yield each one's trace and cards.

    The trace is that of `TracedTable.play_traced`. `rounds` are those that each seat has played, over all its
    tables; `more` is the number of cards needed behind the last round of each block.
    """
    rules, seed = experiment.rules, experiment.seed
    compiled = table.compiled if isinstance(table, CompiledTable) else compile_rules(rules, [_stand])
    share, rest = divmod(rounds, experiment.tables)
    for number in range(group * experiment.tables, (group + 1) * experiment.tables):
        until = share + (number % experiment.tables < rest)
        for span in make_spans(0, block_number(until - 1), until) if until else []:
            if isinstance(table, CompiledTable):  # without the luck of an adjusted table
                _, trace = CompiledTable.play_traced(table, seed, number, span)
            else:
                _, trace = table.play_traced(seed, number, span)
            used = np.diff(trace[:, -1], prepend=0)
            yield trace, deal_suits(rules, compiled, (seed, number, span.block), used, more)


def _stand(state: HandState, column: str, legal: str) -> str:
    return "S"

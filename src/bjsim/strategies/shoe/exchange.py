"""Whether to exchange the second cards of two hands: what they win each way, for the cards that are gone."""

from __future__ import annotations

from functools import lru_cache

from bjsim.errors import InputError
from bjsim.sim.game.actions import View
from bjsim.sim.game.cards import parse_rank
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.exact.exchange import ExchangeAutomaton
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.present import action_values, unseen_of


def exchange_values(rules: Rules, first: str, second: str, shown: str) -> dict[str, float]:
    """Compute what a seat wins with two hands as dealt, and once their second cards are exchanged.

    The result is the expected profit of both hands together in initial bets of one, by letter: S keeps, X
    exchanges. The hands have their cards in the order of the deal; the dealer has no natural. In a finite shoe
    each hand is played for the cards of both and the dealer's, and not for those that the other draws, which
    changes no mean.
    """
    if rules.infinite or rules.bets == 1:
        return _infinite_values(_solved(rules), first, second, shown)
    unseen = unseen_of(rules, first + second + shown)
    if len(first) != 2 or len(second) != 2 or min(unseen) < 0:
        raise InputError(f"{first} / {second} v {shown} is not accepted; give two hands of two cards of the shoe")
    plain = rules.replace(exchange="none")
    states = States(plain)
    split = plain.replace(split_by="value", split_tens_blackjack=False, split_aces_blackjack=False)

    def value(cards: str, exchanged: bool) -> float:
        hand = states.hand(map(parse_rank, cards))
        ordinary = exchanged and rules.exchange == "21" and states.is_natural(hand)  # then it is as ace and ten split
        legal = states.against(states.column(shown)).legal(hand) or "S"
        view = View.alone(split if ordinary else plain, cards, shown, legal, ordinary)
        return max(action_values(view, unseen).values())

    return {
        "S": value(first, False) + value(second, False),
        "X": value(first[0] + second[1], True) + value(second[0] + first[1], True),
    }


@lru_cache(maxsize=8)
def _solved(rules: Rules) -> Solver:
    return Solver(rules)


def _infinite_values(solver: Solver, first: str, second: str, shown: str) -> dict[str, float]:
    if not isinstance(solver.states, ExchangeAutomaton):
        raise InputError(f"{solver.rules}: cards are exchanged only with exchange = 21 or natural")
    label = solver.states.column(shown)
    if label not in solver.columns or len(first) != 2 or len(second) != 2:
        raise InputError(f"{first} / {second} v {shown} is not accepted; give two hands of two cards, and one card")
    ranks = [rank for rank, _ in solver.states.ranks]
    try:
        cards = tuple(ranks.index(min(parse_rank(card), ranks[-1])) for card in (*first, *second))
    except ValueError:
        raise InputError(f"{first} / {second} is not accepted; cards are A 2 to 9 T J Q K") from None
    keep, exchange = (float(profits[cards]) for profits in solver.states.profits(label))
    return {"S": keep, "X": exchange}


def seat_values(rules: Rules, view: View) -> dict[str, float]:
    """Compute the expected profit of the actions on one of two hands, by letter, in initial bets.

    The shoe is a full one without all cards of the seat, and the dealer's.
    """
    unseen = unseen_of(rules, view.hand + view.others + view.dealer)
    if min(unseen) < 0:
        raise InputError(f"{view.hand} / {view.others} v {view.dealer}: the shoe has fewer of these cards")
    return action_values(view._replace(rules=rules.replace(exchange="none")), unseen)

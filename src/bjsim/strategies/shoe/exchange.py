"""Whether to exchange the second cards of two hands: what they win each way, for the cards that are gone."""

from __future__ import annotations

from bjsim.errors import InputError
from bjsim.sim.game.cards import TEN, parse_rank
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.present import action_values


def exchange_values(rules: Rules, first: str, second: str, shown: str) -> dict[str, float]:
    """Compute what a seat wins with two hands as dealt, and once their second cards are exchanged.

    In a finite shoe each hand is played for the cards of both and the dealer's, and not for those that the other draws,
    which changes no mean.

    Args:
        rules: A game with an exchange.
        first: The two cards of one hand, in the order of the deal.
        second: Those of the other.
        shown: What the dealer shows, without a natural.

    Returns:
        Expected profit of both hands together in initial bets of one, by letter: S keeps, X exchanges.

    Raises:
        InputError: The game has no exchange, or these are not its cards.
    """
    if rules.infinite or rules.exchange == "none":
        return Solver(rules).exchange_values(first, second, shown)
    try:
        ranks = [parse_rank(card) for card in (*first, *second, *shown)]
    except ValueError as error:
        raise InputError(str(error)) from None
    unseen = [count - ranks.count(rank) for rank, count in enumerate(rules.shoe_counts)]
    if len(first) != 2 or len(second) != 2 or min(unseen) < 0:
        raise InputError(f"{first} / {second} v {shown} is not accepted; give two hands of two cards of the shoe")
    plain = rules.replace(exchange="none")
    states = States(plain)

    def value(cards: str, exchanged: bool) -> float:
        hand = states.hand(min(parse_rank(card), TEN) for card in cards)
        ordinary = exchanged and rules.exchange == "21" and states.is_natural(hand)  # then it is as ace and ten split
        legal = states.against(states.column(shown)).legal(hand) or "S"
        return max(action_values(plain, cards, shown, unseen, legal, split=ordinary).values())

    return {
        "S": value(first, False) + value(second, False),
        "X": value(first[0] + second[1], True) + value(second[0] + first[1], True),
    }

"""The dealer's bust by number of cards, exactly, in any shoe; the dealer always plays the hand out."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from bjsim.errors import InputError
from bjsim.sim.game.dealer_states import DealerStates
from bjsim.sim.game.hand_states import DealerState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.sidebets.bets import BetRules, Event
from bjsim.strategies.sidebets.conditions import number_range

Counts = tuple[int, ...]


class BustHand(NamedTuple):
    """Cards by value with which a dealer busts, and the number of orders in which they are drawn."""

    counts: Counts
    orders: int
    cards: int


def bust_hands(rules: Rules) -> tuple[BustHand, ...]:
    return _hands(Rules(dealer_stands_on=rules.dealer_stands_on, hit_soft_17=rules.hit_soft_17))


@lru_cache(maxsize=8)
def _hands(rules: Rules) -> tuple[BustHand, ...]:
    states = DealerStates(rules)
    found: list[BustHand] = []
    todo: dict[Counts, tuple[DealerState, int]] = {(0,) * 10: (DealerState(), 1)}
    size = 0
    while todo:
        size += 1
        drawn: dict[Counts, tuple[DealerState, int]] = {}
        for counts, (state, orders) in todo.items():
            for value in range(10):
                after = (*counts[:value], counts[value] + 1, *counts[value + 1 :])
                if after in drawn:
                    known, ways = drawn[after]
                    drawn[after] = known, ways + orders
                else:
                    drawn[after] = states.dealer_add(state, value), orders
        todo = {}
        for counts, (state, orders) in drawn.items():
            if not states.dealer_done(state):
                todo[counts] = state, orders
            elif state.points > 21:
                found.append(BustHand(counts, orders, size))
    return tuple(found)


def bust_by_cards(rules: Rules, values: Counts, replaced: bool = False) -> dict[int, Fraction]:
    """Return number of cards -> probability of a bust; `values` counts A, 2..9 and all ten-valued cards."""
    ways = [[held**n if replaced else math.perm(held, n) for n in range(30)] for held in values]
    sums: dict[int, int] = {}
    for counts, orders, cards in bust_hands(rules):
        product = orders
        for value, held in enumerate(counts):
            if held:
                product *= ways[value][held]
        sums[cards] = sums.get(cards, 0) + product
    total = sum(values)
    all_ways = {cards: total**cards if replaced else math.perm(total, cards) for cards in sums}
    return {cards: Fraction(count, all_ways[cards]) if count else Fraction(0) for cards, count in sorted(sums.items())}


def bust_events(bet: BetRules, rules: Rules) -> list[tuple[Event, list[int]]]:
    """Return the events of a bet on the dealer's bust, in order, with the numbers of cards that each takes.

    It is an error if an event can never happen, or an earlier one takes all its hands.
    """
    sizes = sorted({hand.cards for hand in bust_hands(rules)})
    taken: set[int] = set()
    found = []
    for event in bet.events:
        low, high = number_range(event.conditions["bust"], "bust", sizes[-1])
        within = {n for n in sizes if low <= n <= high}
        if not within - taken:
            why = (
                "earlier events, which it overlaps, come first"
                if within
                else f"a bust has {sizes[0]} to {sizes[-1]} cards"
            )
            raise InputError(f"{bet.name}: the event {event.name!r} can never happen: {why}")
        found.append((event, sorted(within - taken)))
        taken |= within
    return found

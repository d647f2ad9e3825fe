"""The dealer's finished hand, exactly, in any shoe: its total, cards, upcard and suits; it is always played out."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.errors import InputError
from bjsim.sim.game.cards import TEN
from bjsim.sim.game.dealer_states import DealerStates
from bjsim.sim.game.hand_states import DealerState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.sidebets.bets import BetRules
from bjsim.strategies.sidebets.conditions import number_range, switch, upcard_values
from bjsim.strategies.sidebets.kinds import SUITS, SuitedShoe

Counts = tuple[int, ...]
ONE_SUIT, ONE_COLOUR, MIXED = range(3)  # patterns of suits: of one suit, else of one colour, else of both
GROUPS = (("s", "h", "d", "c"), ("sc", "hd"), (SUITS,))  # suits of which all cards are, by pattern


class DealerHand(NamedTuple):
    """Cards by value with which a dealer ends, and the number of orders in which they are drawn, by the first one."""

    counts: Counts
    orders: tuple[int, ...]
    cards: int
    points: int


def dealer_hands(rules: Rules) -> tuple[DealerHand, ...]:
    return _hands(Rules(dealer_stands_on=rules.dealer_stands_on, hit_soft_17=rules.hit_soft_17))


@lru_cache(maxsize=8)
def _hands(rules: Rules) -> tuple[DealerHand, ...]:
    states = DealerStates(rules)
    found: list[DealerHand] = []
    unit = np.eye(TEN + 1, dtype=np.int64)
    todo: dict[Counts, tuple[DealerState, Any]] = {(0,) * (TEN + 1): (DealerState(), None)}
    size = 0
    while todo:
        size += 1
        drawn: dict[Counts, tuple[DealerState, Any]] = {}
        for counts, (state, orders) in todo.items():
            for value in range(TEN + 1):
                after = (*counts[:value], counts[value] + 1, *counts[value + 1 :])
                ways = unit[value] if orders is None else orders
                if after in drawn:
                    known, others = drawn[after]
                    drawn[after] = known, others + ways
                else:
                    drawn[after] = states.dealer_add(state, value), ways
        done = [counts for counts, (state, _) in drawn.items() if states.dealer_done(state)]
        for counts in done:  # all states beyond 21 are one
            (state, orders), hard = drawn[counts], sum(map(operator.mul, counts, range(1, TEN + 2)))
            points = state.points if state.points <= 21 else hard
            found.append(DealerHand(counts, tuple(orders.tolist()), size, points))
        todo = {counts: both for counts, both in drawn.items() if not states.dealer_done(both[0])}
    return tuple(found)


def hand_events(bet: BetRules, rules: Rules) -> NDArray[np.int64]:
    """1 + the index of the event that takes a hand, or 0, by hand, upcard and pattern of suits.

    It is an error if an event can never happen, or earlier ones take all its hands.
    """
    orders, cards, points = (np.array(each) for each in [*zip(*dealer_hands(rules), strict=True)][1:])
    place = np.zeros((len(cards), TEN + 1, 3), np.int64)
    busts = cards[points > 21]
    for number, event in enumerate(bet.events, 1):
        mask = np.repeat(orders[:, :, None] > 0, 3, axis=2)
        for name, wanted in event.conditions.items():
            if name in ("bust", "total"):
                low, high = number_range(wanted, name, int((busts if name == "bust" else points).max()))
                seen = np.where(points > 21, cards, 0) if name == "bust" else points
                mask &= ((max(low, 1) <= seen) & (seen <= high))[:, None, None]
            elif name == "upcard":
                mask &= np.isin(np.arange(TEN + 1), upcard_values(wanted))[None, :, None]
            else:
                within = np.arange(3) <= (ONE_SUIT if name == "suited" else ONE_COLOUR)
                mask &= within == switch(name, wanted)
        free = mask & (place == 0)
        if not free.any():
            why = (
                f"a bust has {busts.min()} to {busts.max()} cards" if "bust" in event.conditions else "no hand is such"
            )
            why = "earlier events, which it overlaps, come first" if mask.any() else why
            raise InputError(f"{bet.name}: the event {event.name!r} can never happen: {why}")
        place[free] = number
    return place


def event_chances(bet: BetRules, rules: Rules, shoe: SuitedShoe) -> list[Fraction]:
    """The probabilities of the events of a bet, given the upcard that it is for."""
    place, upcards = hand_events(bet, rules), upcard_values(bet.upcard or "A-10")
    total, most = shoe.size, max(hand.cards for hand in dealer_hands(rules))
    suits = bet.needs == "suits"
    sums: dict[tuple[int, int], int] = {}
    held = {group: shoe.of_suits(group) for groups in GROUPS[0 if suits else MIXED :] for group in groups}
    falling = {
        group: [[n**k if shoe.replaced else math.perm(n, k) for k in range(most + 1)] for n in values]
        for group, values in held.items()
    }
    for hand, events in zip(dealer_hands(rules), place.tolist(), strict=True):
        within = [sum(math.prod(falling[g][v][k] for v, k in enumerate(hand.counts) if k) for g in groups)
                  for groups in (GROUPS if suits else GROUPS[MIXED:])]  # fmt: skip
        ways = [within[0], within[1] - within[0], within[2] - within[1]] if suits else [0, 0, within[0]]
        for upcard in upcards:
            for event, number in zip(events[upcard], ways, strict=True):
                if event and number:
                    key = event, hand.cards
                    sums[key] = sums.get(key, 0) + hand.orders[upcard] * number
    chances = [Fraction(0)] * (len(bet.events) + 1)
    for (event, cards), number in sums.items():
        chances[event] += Fraction(number, total**cards if shoe.replaced else math.perm(total, cards))
    return [chance * Fraction(total, sum(shoe.values[upcard] for upcard in upcards)) for chance in chances[1:]]

"""How many states a game needs, and why: seed 004's "how much larger must your representation be?"

Two hands are the same state when nothing that can still happen tells them apart: the same actions are allowed, they
win the same if they stand, double or are split, and every next card leads to the same state again. The coarsest such
partition is found by refinement (Moore's algorithm for automata; Givan, Dean and Greig, 2003, for decision
processes). `kept` counts the hands that `bjsim.sim.states` tells apart, which is somewhat more.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

from bjsim.sim.rules import Rules
from bjsim.sim.states import HandState, States

# what makes a game larger: a field and the value at which it does not, and what must be remembered otherwise
REASONS: tuple[tuple[dict[str, str | bool], str], ...] = (
    ({"dealer_shows": "up"}, "both dealer cards are seen, not one"),
    ({"surrender": False}, "only the very first hand may surrender"),
    ({"double_on": "never"}, "only two cards may double"),
    ({"split_by": "never"}, "the rank of a pair that may be split, and whether a hand comes from a split"),
    ({"bonuses": "none"}, "the number of cards up to six, and the cards so far where 7-7-7 or 8-7-6 is possible"),
)


@dataclass(frozen=True)
class Size:
    """The size of a game as a decision process.

    hands: states of the player's hand with a decision to make. columns: what the dealer may show. waiting: half-hands
    of a split that wait for their second card, by how many wait and how many hands are held; nothing is decided there.
    kept: hands with a decision that the solver tells apart.
    """

    hands: int
    columns: int
    waiting: int
    kept: int

    @property
    def states(self) -> int:
        """States with a decision: hands times columns."""
        return self.hands * self.columns


@dataclass(frozen=True)
class Reason:
    """One thing that a game must remember, and its size if it need not."""

    why: str
    without: Size


def size_of(rules: Rules) -> Size:
    """How many states the game needs."""
    states = States(rules)
    classes = _classes(states)
    deciding = [state for state in classes if states.legal(state)]
    halves = {states.split(state) for state in deciding if "P" in states.legal(state)}
    return Size(
        hands=len({classes[state] for state in deciding}),
        columns=len(states.columns),
        waiting=sum(_waiting(states, half) for half in halves),
        kept=len(deciding),
    )


def reasons_of(rules: Rules) -> list[Reason]:
    """What the game must remember beyond the total of a hand and the dealer's open card."""
    found = []
    for plain, why in REASONS:
        without = rules.with_(**plain)
        if without != rules:
            found.append(Reason(why, size_of(without)))
    return found


def plain_size(rules: Rules) -> Size:
    """The size of the game without anything that makes it larger: hit or stand against one open card."""
    return size_of(rules.with_(**{name: value for plain, _ in REASONS for name, value in plain.items()}))


def _classes(states: States) -> dict[HandState, int]:
    """The number of the class of every hand that play can reach."""
    hands = list(states.reachable())
    payoffs = {hand: _payoffs(states, hand) for hand in hands}
    classes = _number({hand: (states.legal(hand), payoffs[hand]) for hand in hands})
    while True:
        finer = _number({hand: (classes[hand], _moves(states, hand, classes, payoffs)) for hand in hands})
        if len(set(finer.values())) == len(set(classes.values())):
            return classes
        classes = finer


def _number(keys: dict[HandState, Hashable]) -> dict[HandState, int]:
    numbers: dict[Hashable, int] = {}
    return {hand: numbers.setdefault(key, len(numbers)) for hand, key in keys.items()}


def _payoffs(states: States, hand: HandState) -> Hashable:
    return tuple(states.settle(states.result(hand), 1, outcome) for outcome in states.dealer_outcomes)


def _moves(
    states: States, hand: HandState, classes: dict[HandState, int], payoffs: dict[HandState, Hashable]
) -> Hashable:
    """What every action with a draw leads to."""
    legal = states.legal(hand)
    after = states.after(hand) if set("HD") & set(legal) else ()
    return (
        tuple(classes[state] for state in after) if "H" in legal else (),
        tuple(payoffs[state] for state in after) if "D" in legal else (),
        tuple(classes[state] for state in states.after(states.split(hand))) if "P" in legal else (),
    )


def _waiting(states: States, half: HandState) -> int:
    if states.rules.max_hands == math.inf:
        return 1
    again = any("P" in states.legal(state) for state in states.after(half))
    return sum(range(2, int(states.rules.max_hands) + 1)) if again else 2

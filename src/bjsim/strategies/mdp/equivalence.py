"""State equivalence: a decision process needs one state for all hands with the same choices and the same future.

Two hands are equivalent if the same actions are legal, they are paid the same when they stand, and every next card
makes them equivalent hands. As the total of a hand only grows, one recursive pass finds the classes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from functools import cache, cached_property
from typing import NamedTuple

from bjsim.sim.game.automaton import Automaton, Decision, PendingHands
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.hand_states import WHOLE, HandState, Result


class StateClass(NamedTuple):
    """A class of equivalent hands with a choice, by a representative `node`.

    `name` is the hand's row in charts, followed by the legal actions if several classes have that row, and by
    whether it was split, or its cards, if several have both.
    """

    node: Decision
    name: str


class StateEquivalence:
    """The classes of equivalent hands and results of a game."""

    def __init__(self, states: Automaton) -> None:
        self.states = states
        self.payments = cache(self._payments)
        self._number = cache(self._find_number)
        self._numbers: dict[Hashable, int] = {}

    def find_class(self, node: Decision) -> StateClass:
        """The class of a hand with a choice. Pending hands that depend on how it ends divide it further."""
        alone = self._by_number[self._number(node._replace(state=node.state._replace(rest=())))]
        if not node.state.rest:
            return alone
        name, rest, _ = self.find_pending(*node.state.rest)
        state = alone.node.state._replace(rest=(rest,))
        return StateClass(alone.node._replace(state=state), f"{alone.name}, then {name}")

    def find_pending(self, node: PendingHands) -> tuple[str, PendingHands, int]:
        """The name of pending hands, those that represent them, and how many times: all ten-valued pairs are one.

        Hands that cannot become new pairs, or have no limit, are one times their number, unless they depend on each
        other, or the first has the seat's own bet.
        """
        split_hand, count, hands = node
        times = 1
        if self.states.is_endless(split_hand):
            times, count, hands = count, 1, 1
        elif hands >= self.states.hand_limit(split_hand) and self.states.covered(split_hand) == split_hand:
            times, count = count, 1
        ten = min(rank for rank, _ in self.states.ranks if rank >= TEN)  # a Spanish deck has no rank of tens
        split_hand = split_hand._replace(rank=min(split_hand.rank, ten))
        number = "" if count == 1 == hands else f", {count} of {hands} hands"
        covered = ", covered" if split_hand.covered else ", free" if split_hand.risk == 0 else ""
        name = f"split {RANKS[split_hand.rank]}{number}{covered}"
        return name, PendingHands(split_hand, count, hands), times

    @property
    def classes(self) -> list[StateClass]:
        """All classes, in no particular order."""
        return list(self._by_number.values())

    @cached_property
    def results(self) -> dict[Hashable, Result]:
        """For each distinct payment (see `payments`), the finished hand with the greatest score that has it."""
        finished = {self.states.result(hand) for hand in self.states.reachable()}
        finished |= {self.states.doubled(result) for result in finished}
        return {self.payments(result): result for result in sorted(finished, key=lambda result: result.score)}

    def _payments(self, result: Result) -> tuple[float, ...]:
        states = self.states
        return tuple(float(x) for dealer in states.dealer_outcomes for x in states.settle(result, 1, dealer))

    def _find_number(self, node: Decision) -> int:
        return self._numbers.setdefault(self._future(node), len(self._numbers))

    def _future(self, node: Decision) -> Hashable:
        states, hand, letters = self.states, node.state, node.legal(self.states)
        ends = self.payments(states.result(hand)), states.waits(states.result(hand)), hand.doubled
        if not letters:
            return ends
        parts: list[Hashable] = [letters, ends]
        if "H" in letters or "D" in letters:
            hits = states.after(hand) if "H" in letters or not states.plays_doubled else ()
            parts.append(tuple(self._number(Decision(after)) for after in hits))
            doubled = states.after(states.bare(states.doubling(hand))) if "D" in letters else ()
            parts.append(tuple(self.payments(states.doubled(states.result(after))) for after in doubled))
            parts.append(tuple(self._number(Decision(after)) for after in doubled if states.plays_doubled))
        if "P" in letters:
            parts.append(tuple(self._number(Decision(after, False)) for after in states.after(states.split(hand))))
        return tuple(parts)

    @cached_property
    def _by_number(self) -> dict[int, StateClass]:
        members: dict[int, Decision] = {}
        for node in (Decision(hand, may_split) for hand in self.states.reachable() for may_split in (True, False)):
            if node.legal(self.states):
                members.setdefault(self._number(node), node)
        names = [
            (self.states.rows_of(*node)[0], node.legal(self.states), self._kind(node.state))
            for node in members.values()
        ]
        rows, with_letters = Counter(row for row, _, _ in names), Counter(name[:2] for name in names)
        classes = {}
        for (number, node), (row, letters, kind) in zip(members.items(), names, strict=True):
            cards = "".join(RANKS[rank] for rank in node.state.meld) or f"{node.state.cards} cards"
            cards = cards if names.count((row, letters, kind)) > 1 else ""
            why = ", ".join(filter(None, (letters, kind, cards) if with_letters[row, letters] > 1 else (letters,)))
            classes[number] = StateClass(node, row if rows[row] == 1 else f"{row} ({why})")
        return classes

    def _kind(self, hand: HandState) -> str:
        kinds = ["covered" if hand.covered else "split" if hand.split != WHOLE else "", "free" * (hand.risk == 0)]
        kinds.append("free to double" if self.states.doubles_free(hand) else "")
        return ", ".join(filter(None, kinds))

"""The round of one seat as an automaton: decisions, chance events, and ends of hands.

What computes with rounds walks this automaton, except the round table and the finite shoe; see
docs/explanation/automaton.md. Given what the dealer shows, the hands of a split are independent, so an event leads not
to one state of the whole round but to the nodes that follow separately: a draw to one, the second card of a split hand
to that hand and to the hands that are still pending. Values of the nodes add, and so do visits to them. Only where a
dealer's natural takes busted bets and one more do the pending hands depend on those before them, and follow their end.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from bjsim.sim.game.hand_states import ORIGINAL_BET, SPLIT_ACES, HandState, Result
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.sums import add_up

DEAL, PEEKED, HIT, DOUBLE, PAIR, OTHER = "deal", "peeked", "hit", "double", "pair", "other"  # purposes of a draw


class Decision(NamedTuple):
    """A hand to decide on; `may_split` is false for a pair if the limit of hands is reached."""

    state: HandState
    may_split: bool = True

    def legal(self, states: States) -> str:
        letters = states.legal(self.state)
        return letters if self.may_split else letters.replace("P", "")


class Draw(NamedTuple):
    """Cards to a hand, whose state before is `state`.

    `purpose` is HIT, DOUBLE, or DEAL for the first two cards; PEEKED for the first two if a dealer's natural
    ends the round; PAIR or OTHER for the second card of a split hand, given whether it makes a pair that may
    be split.
    """

    state: HandState
    purpose: str


class PendingHands(NamedTuple):
    """`pending` split hands that need their second card, of a seat that holds `hands` hands.

    Pairs are split again whenever the limit allows; [Easy] asks for this policy. In an infinite shoe that loses
    nothing where all hands are alike, as a split that is right the first time is right every time; see
    `Automaton.not_split_again` for where they are not. Without a limit the hands are independent, and each is
    `PendingHands(split_hand, 1, 1)`, which a pair turns into two of itself.
    """

    split_hand: HandState
    pending: int = 2
    hands: int = 2


class Finished(NamedTuple):
    """A finished hand, with its stake in initial bets."""

    result: Result
    stake: int = 1


class Ended(NamedTuple):
    """A finished hand, and the pending hands that follow it, where what they lose depends on how it ended."""

    hand: Finished
    rest: PendingHands


Chance = Draw | PendingHands
Node = Decision | Chance | Finished | Ended  # no two of these are equal as tuples
Branches = tuple[tuple[Any, tuple[Node, ...]], ...]  # (probability, nodes that follow)
START, ENDED = Draw(HandState(), DEAL), Draw(HandState(), PEEKED)


class Automaton(States):
    """The automaton of one game."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self.reached = cache(self._reached)
        self.move = cache(self._move)
        self.branches = cache(self._branches)

    def _reached(self, state: HandState, may_split: bool = True) -> Decision | Finished | Ended:
        """The node of a hand that has its cards: a decision if there is anything to decide."""
        decision = Decision(state, may_split)
        return decision if decision.legal(self) else self._ended(state, self.result(state))

    def _ended(self, state: HandState, result: Result, stake: int = 0) -> Finished | Ended:
        hand = Finished(result, stake or 2**state.doubled)
        if not state.rest:
            return hand
        (rest,) = state.rest
        return Ended(hand, rest._replace(split_hand=self.pending(rest.split_hand, result)))

    def _move(self, state: HandState, letter: str) -> Node:
        if letter == "H":
            return Draw(self.bare(state), HIT)
        if letter == "D":
            return Draw(self.bare(self.doubling(state)), HIT if self.plays_doubled else DOUBLE)
        if letter == "P":
            return PendingHands(self.split(state))
        return self._ended(state, self.ends(state, letter))

    def hand_limit(self, split_hand: HandState) -> float:
        """Hands that a seat may hold after splits into this one-card hand."""
        return self.rules.hand_limit(split_hand.split == SPLIT_ACES)

    def waiting(self, pair: HandState, pending: int = 2, hands: int = 2) -> PendingHands:
        """Split hands of a pair that need their second card: one of them, if the number of hands has no limit."""
        split_hand = self.split(pair)
        return self._one(split_hand) if self.is_endless(split_hand) else PendingHands(split_hand, pending, hands)

    def all_pending(self, split_hand: HandState) -> Iterator[PendingHands]:
        """Pending hands in every number, of a seat with every number of hands up to the limit."""
        for hands in range(2, int(self.hand_limit(split_hand)) + 1):
            for pending in range(1, hands + 1):
                yield PendingHands(split_hand, pending, hands)

    def is_endless(self, split_hand: HandState) -> bool:
        """Whether splits into this one-card hand have no limit."""
        return self.hand_limit(split_hand) == math.inf

    def _one(self, split_hand: HandState) -> PendingHands:
        return PendingHands(split_hand, 1, 1)

    def repeats(self, node: Chance) -> bool:
        """Whether a node may lead to itself: a split hand without a limit, which a pair turns into two like it."""
        return isinstance(node, PendingHands) and node.hands == 1 and self.is_endless(node.split_hand)

    def follow(self, node: Node, rank: int) -> tuple[Node, ...]:
        """The nodes that follow a card of rank index `rank` to a hand that is dealt, hits or doubles, or was split."""
        if isinstance(node, Draw):
            return (self._drawn(self.add(node.state, rank), node.purpose),)
        assert isinstance(node, PendingHands)
        split_hand, rest = self._next_hand(node)
        state = self.add(split_hand, rank)
        pair = "P" in self.legal(state)
        if pair and node.hands < self.hand_limit(split_hand):
            return self._resplit(node)
        return self.reached(state, not pair), *rest

    def _next_hand(self, node: PendingHands) -> tuple[HandState, tuple[Node, ...]]:
        """The first of pending hands, and what follows separately: nothing if it depends on how this hand ends."""
        if self.in_sequence(node):
            return node.split_hand._replace(rest=self._rest(node)), ()
        return node.split_hand, self._rest(node)

    def in_sequence(self, node: PendingHands) -> bool:
        """Whether pending hands depend on how the one before them ends."""
        return self.one_and_busted and not node.split_hand.covered

    def later(self, node: Chance) -> list[PendingHands]:
        """The pending hands to which such a node leads in sequence, each before those that lead to it; else none."""
        if not isinstance(node, PendingHands) or not self.in_sequence(node):
            return []
        most = max(int(self.hand_limit(node.split_hand)), node.hands)
        numbers = [(pending, hands) for hands in range(most, node.hands - 1, -1) for pending in range(1, hands + 1)]
        return [node._replace(pending=p, hands=h) for p, h in numbers[: numbers.index((node.pending, node.hands))]]

    def _resplit(self, node: PendingHands) -> tuple[Node, ...]:
        if self.is_endless(node.split_hand):
            more: tuple[Node, ...] = (self._one(node.split_hand),) * (node.pending + 1)
        else:
            more = (node._replace(pending=node.pending + 1, hands=node.hands + 1),)
        return more + self._original_bet(node)

    def not_split_again(self, node: Chance) -> tuple[Node, ...]:
        """What follows a pair of split hands that is kept as it is; empty where to split it is as good, or excluded.

        The hand with the player's own bet may be better kept while those that the house pays for are split, and so may
        one that a dealer's natural takes while it does not take those after it; they share the limit of hands.
        """
        unlike = self.rules.free_splits != "none" or self.one_and_busted
        if not unlike or not isinstance(node, PendingHands) or node.hands >= self.hand_limit(node.split_hand):
            return ()
        first, rest = self._next_hand(node)
        return (Draw(first, PAIR), *rest) if self.pair_again(node.split_hand) else ()

    def _rest(self, node: PendingHands) -> tuple[Node, ...]:
        after = node.split_hand if self.one_and_busted else self.covered(node.split_hand)
        rest: tuple[Node, ...] = (
            (node._replace(split_hand=after, pending=node.pending - 1),) if node.pending > 1 else ()
        )
        return rest + self._original_bet(node)

    def _original_bet(self, node: PendingHands) -> tuple[Node, ...]:
        """What a dealer's natural takes of all split hands, if not all bets: it follows the first second card."""
        return (Finished(ORIGINAL_BET),) if self.original_only and node.pending == node.hands == 2 else ()

    def _branches(self, node: Chance, number: type) -> Branches:
        """What the next card leads to, with probabilities as `number`s; equal branches are merged.

        A second card is drawn in two steps, whether it makes a pair and then which, as the latter is the same for any
        number of pending hands.
        """
        if isinstance(node, PendingHands):
            return self._second_cards(node, number)
        if node.purpose == DEAL:
            return tuple((number(p), (self.reached(state),)) for state, p in self.starts.items())
        if node.purpose == PEEKED:
            return tuple((number(p), (Finished(self.result(state)),)) for state, p in self.starts.items())
        draws = self.draws(node.state, number)
        if node.purpose in (HIT, DOUBLE):
            return tuple((p, (self._drawn(state, node.purpose),)) for p, state in draws)
        again = self.pair_again(node.state, number)
        share = again if node.purpose == PAIR else 1 - again
        of_kind = [(p, state) for p, state in draws if ("P" in self.legal(state)) == (node.purpose == PAIR)]
        return tuple((p / share, (self.reached(state, node.purpose == OTHER),)) for p, state in of_kind)

    def _drawn(self, state: HandState, purpose: str) -> Node:
        if purpose == DEAL and state.cards < 2:
            return Draw(state, DEAL)
        if purpose == DOUBLE:
            return self._ended(state, self.doubled(self.result(state)), 2)
        return self.reached(state)

    def dealt(self, state: HandState) -> Node:
        """The node of a hand of at most two cards in the deal."""
        return self._drawn(state, DEAL)

    def _second_cards(self, node: PendingHands, number: type) -> Branches:
        split_hand, limit = node.split_hand, self.hand_limit(node.split_hand)
        if limit == math.inf and node.hands > 1:
            pending = (self._one(split_hand),) * node.pending
            return ((number(1), pending + self._original_bet(node)),)
        again = self.pair_again(split_hand, number)
        more = node.hands < limit
        first, rest = self._next_hand(node)
        pair = self._resplit(node) if more else (Draw(first, PAIR), *rest)
        other = Draw(first, OTHER), *rest
        return ((again, pair), (1 - again, other)) if again else ((number(1), other),)

    def pair_again(self, split_hand: HandState, number: type = Fraction) -> Any:
        """Probability that the second card of a split hand makes a pair that may be split."""
        return add_up((p for p, state in self.draws(split_hand, number) if "P" in self.legal(state)), start=number(0))

"""One decision on the present composition: the exact value of every action with these cards unseen.

Only the hands that can follow are valued, against one start, so that a player can ask for every decision. Splits are
rare and take the whole shoe: their hands are then played as `cdp`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bjsim.errors import InputError
from bjsim.sim.game.actions import Action, View
from bjsim.sim.game.cards import HIDDEN, RANKS, TEN, rank_of
from bjsim.sim.game.rules import Rules
from bjsim.strategies.shoe import kernel
from bjsim.strategies.shoe.analysis import Analysis, Shoe
from bjsim.strategies.shoe.composition import VALUES, Composition
from bjsim.strategies.shoe.game import game_of
from bjsim.strategies.shoe.hands import keys_of
from bjsim.strategies.shoe.kernel import DOUBLE, HIT, Base, Nodes, Shown

FEWEST = 16  # cards unseen; with fewer, another shuffled deck is counted in


def action_values(
    rules: Rules, cards: str, shown: str, unseen: Sequence[int], legal: str, split: bool = False, hands: int = 1
) -> dict[str, float]:
    """Expected profit by the letter of the action, with best play afterwards, given no peeked natural.

    Args:
        cards: The hand's cards; of a split hand the pair's own first.
        shown: The dealer's known cards.
        unseen: How many cards of each of the 13 ranks may still come; the dealer's hidden card is one of them.
        legal: The letters of the actions that are allowed; a raise is left out.
        split: Whether the hand came from a split.
        hands: How many hands the seat holds.
    """
    game = game_of(rules)
    values = [min(rank_of(card), TEN) for card in cards]
    known = tuple(sorted(min(rank_of(card), TEN) for card in shown))
    if known not in game.dealer.starts:
        raise InputError(f"{shown!r} is not what the dealer shows in {rules.name}")
    start = game.dealer.starts.index(known)
    held = np.bincount(values, minlength=VALUES).astype(np.int64)
    node = np.flatnonzero((game.hands.counts >= held).all(axis=1))  # successors first: the hand itself is the last
    assert game.hands.key[node[-1]] == keys_of(held)
    size = len(node)
    place = np.full(len(game.hands.key) + 1, size)
    place[node] = np.arange(size)
    kind = game.kind_of_hand[node]
    kind[-1] = game.kind_of(values, split)
    may = game.legal[kind]
    may[-1] = 1 << HIT | 1 << DOUBLE
    counts = game.hands.counts[node]
    sizes = counts.sum(axis=1).astype(np.float64)
    nodes = Nodes(place[game.hands.child[node]], np.arange(size), kind, may, counts.astype(np.float64), sizes)
    left = np.array([*unseen[:TEN], sum(unseen[TEN:])], np.float64) + held
    shown_cards = Shown(left[None], left.sum()[None], np.array([game.ends(known)]))
    dealer = np.empty((1, size, len(game.dealer.outcomes)))
    kernel.outcomes(game.dealer.against(start), left + game.dealer.hands.known[start], counts, dealer)
    base = Base(*(np.empty((1, size + 1)) for _ in range(4)))
    kernel.prepare(nodes, shown_cards, dealer, game.pay(0.0), -1.0, base)
    value, hit, act = np.zeros(size + 1), np.empty(size), np.zeros(size, np.int8)
    kernel.best(nodes, shown_cards, base, 0, 0, size, value, hit, act)
    plays = float(base.plays[0, size - 1])
    found = {"S": base.stand[0, size - 1], "H": hit[-1], "D": base.double[0, size - 1], "R": -0.5 * plays}
    ev = {letter: float(value) / plays for letter, value in found.items() if letter in legal}
    if "P" in legal:
        limit = max(rules.max_hands - hands + 1, 2)
        ranks = [rank_of(card) for card in (*cards, *shown)]
        whole = Composition(tuple(count + ranks.count(rank) for rank, count in enumerate(unseen)))
        pair = Analysis(Shoe(game_of(rules.replace(max_hands=limit)), whole)).by_cards(start, "cdp")
        ev["P"] = float(pair.split[values[0]]) / plays
    return ev


class Perfect:
    """A player that takes the best action by all cards it can see in the round, its own and the table's.

    The exact value of every action on the composition that is left; it never raises and remembers no earlier round.

    Raises:
        InputError: For an infinite shoe, in which no card matters to the next.
    """

    name = "perfect"
    about = "plays every hand best by all cards that are open on the table; needs a shoe of cards"
    source = "exact values on the present composition (bjsim.strategies.shoe)"

    def __init__(self, rules: Rules) -> None:
        if rules.infinite:
            raise InputError("perfect counts the cards on the table, which tell nothing in an infinite shoe")
        self.rules = rules
        self._known: dict[tuple[object, ...], Action] = {}

    def __deepcopy__(self, memo: object) -> Perfect:
        return self  # it remembers nothing but what it has worked out

    def __reduce__(self) -> tuple[type[Perfect], tuple[Rules]]:
        return Perfect, (self.rules,)

    def decide(self, view: View) -> Action:
        """The action of the highest exact value."""
        key = view.hand, view.dealer, "".join(sorted(view.visible)), view.legal, view.split, view.hands
        if key not in self._known:
            values = action_values(
                self.rules, view.hand, view.dealer, self.unseen(view), view.legal, view.split, view.hands
            )
            self._known[key] = Action(max(values, key=values.__getitem__))
        return self._known[key]

    def unseen(self, view: View) -> list[int]:
        """Cards of each rank that are not on the table; with few left, another deck is shuffled in."""
        open_cards = [rank_of(card) for card in view.visible if card != HIDDEN]
        counts = [4 * int(self.rules.decks) - open_cards.count(rank) for rank in range(len(RANKS))]
        while min(counts) < 0 or sum(counts) < FEWEST:
            counts = [count + 4 for count in counts]
        return counts

"""One decision given the current composition: the exact value of every action for the unseen cards.

Only the reachable hands are evaluated, against one start, so that this is fast enough for every decision. A split
requires all hands against that start, and the split hands of that pair.

A split has its value under CDP1, which a player can play however many hands there will be: pairs are split again up to
the limit, and all split hands follow the plan that is best for the first of two. That is exact for such a player.
`perfect` chooses again with every card that it sees, those of finished split hands included, so it can win more from a
split.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Floats, Ints
from bjsim.errors import InputError
from bjsim.sim.game.actions import View
from bjsim.sim.game.cards import DECKS, TEN, parse_rank
from bjsim.sim.game.rules import Rules
from bjsim.strategies.shoe.analysis import Analysis, ShoeStates
from bjsim.strategies.shoe.game import Game, make_game
from bjsim.strategies.shoe.hands import VALUES, Composition, Removed, all_hands
from bjsim.strategies.shoe.passes import DOUBLE, HIT, Nodes, Play
from bjsim.strategies.solution import with_natural
from bjsim.sums import add_up

MIN_UNSEEN = 16  # unseen cards; with fewer, another deck is added


def action_values(view: View, unseen: Sequence[float], tie_value: float = 0.0) -> dict[str, float]:
    """Return the expected profit of each action, in initial bets by letter; see `Solution.hand_values`.

    Play afterwards is optimal, and CDP1 after a split. `unseen` counts the unseen cards of each of the 13 ranks,
    including the dealer's hidden card; `visible` of the view is not read. A raise is ignored.
    A bet that ties has the value `tie_value`.
    """
    rules, cards, shown, legal = view.rules, view.hand, view.dealer, view.legal
    game = make_game(rules)
    values = [min(parse_rank(card), TEN) for card in cards]
    known = tuple(sorted(min(parse_rank(card), TEN) for card in shown))
    if known not in game.dealer.starts:
        raise InputError(f"the dealer cannot show {shown!r} in {rules.name}")
    start = game.dealer.starts.index(known)
    hand, held = _reachable(tuple(sorted(values))), np.bincount(values, minlength=VALUES)
    nodes, block = _present_nodes(game, hand, values, view)
    size = len(nodes.gone)
    may = game.against(game.columns[start]).legal[nodes.kind]
    may[-1] |= 1 << HIT | 1 << DOUBLE
    left = np.array([*unseen[:TEN], add_up(unseen[TEN:])], np.float64) + held
    final = game.dealer.hands[start]
    dealer = final.chances(left + final.known, hand.removed, len(game.dealer.outcomes))
    against, play = game.show(nodes, may, left, start, dealer, tie_value), Play.of_stands(size)
    for low in range(0, size, block):
        against.best(play, low, low + block)
    plays = float(against.plays[size - 1])
    found = against.actions(size - 1, play.value)
    ev = {letter: float(value) / plays for letter, value in found.items() if letter in legal}
    if "P" in legal:
        ev["P"] = _split_value(view, unseen, start, values[0], tie_value) / plays
    return with_natural(rules, cards, shown, ev, 1 - plays, view.split)


def _split_value(view: View, unseen: Sequence[float], start: int, pair: int, tie_value: float) -> float:
    """The value of splitting a pair, by CDP1, with room for as many more hands as the seat may still have."""
    rules, open_cards = view.rules, [parse_rank(card) for card in view.hand + view.dealer]
    whole = Composition(tuple(count + open_cards.count(rank) for rank, count in enumerate(unseen)))
    limit = max(rules.hand_limit(pair == 0) - view.hands + 1, 2)
    shoe = ShoeStates(make_game(rules.replace(max_hands=limit, max_ace_hands="none")), whole, pair)
    if shoe.by_rank and pair == TEN:
        shoe = shoe.of_tens(unseen[open_cards[0]])
    play = Analysis(shoe, tie_value).by_cards(start, "cdp1")
    if not view.free:
        return float(play.split[pair])
    first, others = shoe.forms(start, pair)  # the bets of all hands are the house's
    return float(others.value((first.weight + others.weight).sum(axis=0), play.value))


class ReachableHands(NamedTuple):
    """A hand and those that it can become, successors first: the hand itself is the last of n.

    node: their indices in `all_hands`, (n,). child: successors, (10, n); n for a bust. gone: index into `removed` of
    their cards, (n,). counts: their cards by value, (10, n).
    """

    node: Ints
    child: Ints
    gone: Ints
    counts: Floats
    removed: Removed


def _present_nodes(game: Game, hand: ReachableHands, values: list[int], view: View) -> tuple[Nodes, int]:
    """Return the nodes of a hand and those that it can become, and their number in a block.

    There is a block for each double after which the hand may have a choice; that of the last double is the first.
    """
    split, free, doubled = view.split, view.free, view.doubled
    again = max(game.doubles - doubled, 0)
    block, size = len(hand.node), len(hand.node) * (1 + again)
    times = [doubled + more for more in range(again, -1, -1)]
    kind = np.concatenate([game.kinds_of_hands(split, free, each)[hand.node] for each in times])
    kind[-1] = game.find_kind(values, split, free, doubled)
    after = [np.where(hand.child < block, hand.child + low, size) for low in range(0, size, block)]
    bust = np.full_like(hand.child, size)
    counts = np.tile(hand.counts, 1 + again)
    nodes = Nodes(
        np.hstack([bust] * again + after[-1:]), np.tile(hand.gone, 1 + again), kind, counts,
        counts.sum(axis=0), np.hstack([bust, *after[:-1]]) if game.doubles else None,
        game.bets[kind],
    )  # fmt: skip
    return nodes, block


@lru_cache(maxsize=256)
def _reachable(values: tuple[int, ...]) -> ReachableHands:
    hands, held = all_hands(), np.bincount(values, minlength=VALUES)
    node = np.flatnonzero((hands.counts >= held).all(axis=1))
    index = np.full(len(hands.key) + 1, len(node), np.int64)
    index[node] = np.arange(len(node))
    keys, gone = np.unique(hands.key[node], return_inverse=True)
    return ReachableHands(node, index[hands.child[node].T], gone, hands.counts[node].T.astype(float), Removed(keys))


def unseen_of(rules: Rules, seen: str) -> list[int]:
    """Count the cards of each of the 13 ranks in a full shoe that are not among those `seen`."""
    ranks = [parse_rank(card) for card in seen]
    return [count - ranks.count(rank) for rank, count in enumerate(rules.shoe_counts)]


def with_fresh_decks(counts: Sequence[float], deck: str) -> Sequence[float]:
    """Add decks to the unseen cards of each rank until enough are left for a round, as `Perfect` sees them."""
    while min(counts) < 0 or add_up(counts) < MIN_UNSEEN:
        counts = [count + more for count, more in zip(counts, DECKS[deck], strict=True)]
    return counts

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
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Floats, Ints
from bjsim.errors import InputError
from bjsim.sim.game.actions import ATTACK, ENDINGS, INSURANCE, Action, View
from bjsim.sim.game.cards import DECKS, HIDDEN, TEN, parse_rank
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import MOST_KEPT
from bjsim.sim.game.support import need
from bjsim.strategies.shoe.analysis import Analysis, ShoeStates
from bjsim.strategies.shoe.game import Game, ShownGame, make_game
from bjsim.strategies.shoe.hands import VALUES, Composition, Removed, all_hands
from bjsim.strategies.shoe.passes import DOUBLE, HIT, Base, Nodes, Shown, best, double, hit
from bjsim.strategies.shoe.plays import ShoePlays
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
    nodes, block = _present_nodes(game, hand, values, start, view)
    size = len(nodes.gone)
    left = np.array([*unseen[:TEN], add_up(unseen[TEN:])], np.float64) + held
    shown_cards = Shown(left[None], left.sum()[None], np.array([game.ends(known)]))
    final = game.dealer.hands[start]
    dealer = final.chances(left + final.known, hand.removed, len(game.dealer.outcomes))
    base = Base(*(np.empty((1, size + 1)) for _ in range(4)))
    game.prepare(nodes, shown_cards, dealer[None], tie_value, base)
    value, act = np.zeros(size + 1), np.zeros(size, np.int8)
    ended = {action: np.append(paid[nodes.kind], -0.5) * base.plays for action, paid in game.endings.items()}
    for low in range(0, size, block):
        best(nodes, shown_cards, base, 0, low, low + block, ended, value, act)
    last = np.array([size - 1])
    plays = float(base.plays[0, size - 1])
    found = {
        "S": base.stand[0, size - 1],
        "H": hit(nodes, shown_cards, base, 0, last, value)[0],
        "D": double(nodes, shown_cards, base, 0, last, value)[0],
        **{letter: ended[action][0, size - 1] for letter, action in ENDINGS.items()},
    }
    if "R" in game.course(known).before:
        found["R"] += 0.5 * (1 - plays)  # saved where the dealer has a natural
    ev = {letter: float(value) / plays for letter, value in found.items() if letter in legal}
    if "P" in legal:
        ev["P"] = _split_value(view, unseen, start, values[0], tie_value) / plays
    return with_natural(rules, cards, shown, ev, 1 - plays, view.split)


def _split_value(view: View, unseen: Sequence[float], start: int, pair: int, tie_value: float) -> float:
    """The value of splitting a pair, by CDP1, with room for as many more hands as the seat may still have."""
    rules, open_cards = view.rules, [parse_rank(card) for card in view.hand + view.dealer]
    whole = Composition(tuple(count + open_cards.count(rank) for rank, count in enumerate(unseen)))
    limit = max(rules.hand_limit(pair == 0) - view.hands + 1, 2)
    shoe = ShoeStates(_pair_game(make_game(rules.replace(max_hands=limit, max_ace_hands="none")), start, pair), whole)
    if shoe.by_rank and pair == TEN:
        shoe = shoe.of_tens(unseen[open_cards[0]])
    play = Analysis(shoe, tie_value).by_cards(0, "cdp1")
    if not view.free:
        return float(play.split[pair])
    first, others = shoe.forms(0, pair)  # the bets of all hands are the house's
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


def _present_nodes(game: Game, hand: ReachableHands, values: list[int], start: int, view: View) -> tuple[Nodes, int]:
    """Return the nodes of a hand and those that it can become, and their number in a block.

    There is a block for each double after which the hand may have a choice; that of the last double is the first.
    """
    split, free, doubled = view.split, view.free, view.doubled
    again = max(game.doubles - doubled, 0)
    block, size = len(hand.node), len(hand.node) * (1 + again)
    times = [doubled + more for more in range(again, -1, -1)]
    kind = np.concatenate([game.kinds_of_hands(split, free, each)[hand.node] for each in times])
    kind[-1] = game.find_kind(values, split, free, doubled)
    may = game.against(game.columns[start]).legal[kind]
    may[-1] |= 1 << HIT | 1 << DOUBLE
    after = [np.where(hand.child < block, hand.child + low, size) for low in range(0, size, block)]
    bust = np.full_like(hand.child, size)
    counts = np.tile(hand.counts, 1 + again)
    nodes = Nodes(
        np.hstack([bust] * again + after[-1:]), np.tile(hand.gone, 1 + again), kind, may[None], counts,
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


@lru_cache(maxsize=512)
def _pair_game(game: Game, start: int, pair: int) -> Game:
    return ShownGame(game.rules, game, start, pair)


def with_fresh_decks(counts: Sequence[float], deck: str) -> Sequence[float]:
    """Add decks to the unseen cards of each rank until enough are left for a round, as `Perfect` sees them."""
    while min(counts) < 0 or add_up(counts) < MIN_UNSEEN:
        counts = [count + more for count, more in zip(counts, DECKS[deck], strict=True)]
    return counts


class Perfect:
    """A player that takes the best action given all visible cards of the round, in a finite shoe.

    It computes the value of every action for the unseen cards: exact, but for a split as the docstring of the
    module says. It never raises and does not remember earlier rounds.
    """

    name = "perfect"
    about = "plays every hand optimally for all visible cards on the table; needs a finite shoe"
    source = "exact values for the current composition (bjsim.strategies.shoe)"

    def __init__(self, rules: Rules) -> None:
        need(rules, self.name)
        self.rules = rules
        self._known: dict[tuple[object, ...], Action] = {}

    def __deepcopy__(self, memo: object) -> Perfect:
        return self  # the only state is a cache

    def __reduce__(self) -> tuple[type[Perfect], tuple[Rules]]:
        return Perfect, (self.rules,)

    def decide(self, view: View) -> Action:
        """Return the action with the highest exact value."""
        if view.legal == ATTACK:
            column = make_game(self.rules).states.column(view.dealer)
            return Action("A" if column in self._attacked else "S")
        if view.legal == INSURANCE:
            unseen = self.unseen(view)
            return Action("I" if 3 * add_up(unseen[TEN:]) > add_up(unseen) else "S")
        key = view.key, view.hands, "".join(sorted(view.visible))
        if key not in self._known:
            if len(self._known) >= MOST_KEPT:  # hands of a full table hardly recur
                self._known.clear()
            values = action_values(view._replace(rules=self.rules), self.unseen(view), self._tie_value)
            self._known[key] = Action(max(values, key=values.__getitem__))
        return self._known[key]

    @cached_property
    def _tie_value(self) -> float:
        return ShoePlays(self.rules).tie_value_of("cdp1")

    @cached_property
    def _attacked(self) -> str:
        """What is attacked in a full shoe: no card but a two has a value near 0."""
        shoe = ShoeStates(make_game(self.rules), Composition.of(self.rules, None))
        analysis = Analysis(shoe)
        values = {start: analysis.round_value(start, analysis.by_cards(start, "cdp1")) for start in shoe.live}
        return "".join(shoe.game.columns[start] for start, value in values.items() if value > 0)

    def unseen(self, view: View) -> Sequence[float]:
        """Return the number of unseen cards of each rank; if few are left, another deck is added."""
        open_cards = [parse_rank(card) for card in view.visible if card != HIDDEN]
        counts = [count - open_cards.count(rank) for rank, count in enumerate(self.rules.shoe_counts)]
        return with_fresh_decks(counts, self.rules.deck)

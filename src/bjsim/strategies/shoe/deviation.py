"""The exact standard deviation of a round, splits included.

Split hands share the dealer and the cards, so the mean square of their sum requires the mean product of each two
of them. Write a hand's profit as W - s, where s is its stake and W the amount returned, which is 0 for a bust. The
stake is paid with the second card, and again when the hand doubles. A hand is then a sum over ends, each a multiset of
cards with a number of orders and a profit for each outcome of the dealer:

    every way to stand or double   its cards       W by outcome
    every surrender                its cards       1/2
    every second card              pair and card   -1 for every outcome
    every double                   its cards then  -1 for every outcome

The mean product is a sum over pairs of ends: orders x probability of both multisets x mean product of the profits
over the dealer's outcomes, given the removed cards. Play does not depend on the pair cards removed, so the linear
forms of `splits` apply.
"""

import math
from typing import NamedTuple

import numpy as np

from bjsim.arrays import Floats, Ints
from bjsim.errors import InputError
from bjsim.sim.game.cards import TEN
from bjsim.strategies.shoe.analysis import Analysis
from bjsim.strategies.shoe.dealer import falling
from bjsim.strategies.shoe.hands import VALUES, Removed, Tree
from bjsim.strategies.shoe.passes import DOUBLE, HIT, SPLIT, STAND, Play
from bjsim.strategies.shoe.splits import product_weights
from bjsim.sums import add_up


class Ends(NamedTuple):
    """Ends of one split hand.

    key: the cards, packed. pair: 1 if the second card is a pair card, else 0.
    profit: sum over the orders of these cards, by the dealer's outcome, shape (outcomes, ends).
    """

    key: Ints
    pair: Ints
    profit: Floats


class Squares(Analysis):
    """The same nodes with squared profits; the value of a split is the sum of the mean squares of its hands."""

    def __init__(self, analysis: Analysis) -> None:
        super().__init__(analysis.shoe, analysis.tie_value, power=2)
        self.analysis = analysis

    def round_square(self, start: int, play: Play) -> float:
        """Return the mean square of a round's profit against a start, for the strategy of `play`."""
        squares = self.follow(start, play.act)
        at = self.shoe.layout.pairs
        for value in range(VALUES):
            if play.act[at + value] == SPLIT and self.shoe.forms(start, value):
                squares.value[at + value] += self.products(start, value, play)
        nodes, weights = self.shoe.dealt(start)
        natural = (1 - self.shown(start).plays[nodes]) * self.against_natural[nodes]
        square = float(weights @ (squares.value[nodes] + natural)) + self._with_insurance(start, play)
        return play.bets**2 * square

    def _with_insurance(self, start: int, play: Play) -> float:
        """Return what insurance adds to the mean square: with a profit of 1 or -1/2 for a profit X without it,
        E[X 1{natural}] 2 - E[X 1{none}] + its own square."""
        if play.insured is None or not play.insured.any():
            return 0.0
        shoe, at = self.shoe, self.shoe.dealt(start)[0]
        natural = shoe.chance_of_natural(start)[at]
        without = Analysis(shoe, self.tie_value, naturals=False).follow(start, play.act).value[at]
        whole = self.analysis.follow(start, play.act).value[at]
        against = (1 - self.shown(start).plays[at]) * self.analysis.against_natural[at]
        ev = 2 * (whole - without + against) - without + natural + (1 - natural) / 4
        return float(shoe.dealt(start)[1] @ (ev * play.insured[at]))

    def products(self, start: int, value: int, play: Play) -> float:
        """Return the expected sum of the products of profits over ordered pairs of split hands."""
        shoe, tree = self.shoe, self.shoe.layout.trees[value]
        assert tree is not None  # the caller has checked that the pair can be split
        if shoe.by_rank and value == TEN:
            raise InputError("sd: not available when tens are split by rank")
        if shoe.game.rules.free_bets:
            raise InputError("sd: not available for split hands with free bets in a finite shoe; use decks = inf")
        ends = self._ends(tree, value, play)
        first, second = np.triu_indices(len(ends.key))
        keys, union = np.unique(ends.key[first] + ends.key[second], return_inverse=True)
        held, removed = ends.pair[first] + ends.pair[second], Removed(keys)
        place = (held * len(keys) + union).astype(np.intp)
        ways = np.where((first == second) | (held == 1), 1.0, 2.0)  # of one pair card, only the order with it second
        by_union = np.array(
            [np.bincount(place, ways * profit[first] * profit[second], 3 * len(keys)) for profit in ends.profit]
        )
        ev = 0.0
        left = shoe.left[start] - 2 * (np.arange(VALUES) == value)
        limit = shoe.game.limit(value, shoe.composition)
        for share, pair_cards in shoe.pair_cases(start, value):
            weight = product_weights(pair_cards, float(left.sum()), limit)
            for gone in range(min(weight.shape[1], len(tree.starts))):
                if weight[:, gone].any():
                    chances = self._chances(start, value, gone, removed)
                    products = (by_union.reshape(len(chances), 3, -1) * chances[:, None]).sum(axis=(0, 2))
                    ev += share * float(weight[:, gone] @ products)
        return ev / shoe.share(start, value)

    def _ends(self, tree: Tree, value: int, play: Play) -> Ends:
        shoe, game, (low, high) = self.shoe, self.shoe.game, tree.span(0)
        played = np.array([not game.states.ends_round(outcome) for outcome in game.dealer.outcomes])
        bets = 2.0 ** np.array([kind.state.doubled for kind in game.kinds])[:, None]
        pay, doubled = (game.pay(self.tie_value) + bets) * played, (game.pay(self.tie_value, 1) + 1) * played
        kind, act, keys, profits, own = shoe.kind, play.act, [], [], np.arange(low, high)
        doubled_to = shoe.layout.doubled
        for pair in (0, 1):
            second = tree.second(0)[(np.arange(VALUES) == value) == bool(pair)]
            ways = np.zeros(len(kind) + 1)
            ways[second] = 1.0
            for at in shoe.nodes.by_size(own[act[own] == HIT]):
                np.add.at(ways, shoe.nodes.child[:, at].ravel(), np.tile(ways[at], VALUES))
            ends: list[tuple[Ints, Floats, Floats]] = [(second, np.ones(len(second)), -1.0 * played)]
            for block in reversed(shoe.layout.blocks):
                stand, double = (block + own[act[block + own] == one] for one in (STAND, DOUBLE))
                stake = 1.0 * game.bets[kind[block]]
                ended = [(block + own[act[block + own] == one], paid) for one, paid in game.endings.items()]
                ends += [
                    (stand, ways[stand], pay[kind[stand]]),
                    *((at, ways[at], (stake + paid[kind[at]])[:, None] * played) for at, paid in ended),
                    (double, ways[double], -stake * played),
                ]
                after = (shoe.nodes.child if doubled_to is None else doubled_to)[:, double]
                drawn, lasts = after[after < len(kind)], np.broadcast_to(ways[double], after.shape)[after < len(kind)]
                if doubled_to is None:
                    ends.append((drawn, lasts, 2 * doubled[kind[drawn]]))
                else:
                    np.add.at(ways, drawn, lasts)
            for nodes, orders, profit in ends:
                keys.append(game.hands.key[shoe.layout.hand[nodes]] * 2 + pair)
                profits.append(orders[:, None] * profit)
        distinct, index = np.unique(np.concatenate(keys), return_inverse=True)
        total = np.zeros((len(distinct), len(played)))
        np.add.at(total, index, np.concatenate(profits))
        some = total.any(axis=1)
        return Ends(distinct[some] >> 1, distinct[some] & 1, total[some].T)

    def _chances(self, start: int, value: int, gone: int, removed: Removed) -> Floats:
        """Return the joint probability of two hands' cards, in one order, and each outcome, (outcomes, G).

        `removed` are the cards of both hands, and `gone` the further pair cards removed.
        """
        shoe, known = self.shoe, np.arange(VALUES) == value
        play = shoe.game.dealer
        dealer = play.hands[start].chances(shoe.composition.values - gone * known, removed, len(play.outcomes))
        left = shoe.left[start] - (2 + gone) * known
        drawn = removed.counts - 2 * known
        chance = np.ones(len(drawn))
        for card in range(VALUES):
            chance *= falling(left[card, None], int(drawn[:, card].max()))[drawn[:, card], 0]
        sizes = drawn.sum(axis=1)
        ways = falling(left.sum(keepdims=True), int(sizes.max()))[sizes, 0]
        share = np.divide(chance, ways, out=np.zeros_like(chance), where=ways > 0)
        result: Floats = dealer * share
        return result


def round_sd(analysis: Analysis, plays: dict[int, Play], mean: float, settled: float = 1.0) -> float:
    """Return the standard deviation of a round's profit; `mean` is in initial bets.

    `plays` is the strategy by start; `settled` is the share of the stakes that are not replayed.
    """
    squares, shoe = Squares(analysis), analysis.shoe
    total = add_up(shoe.chance[start] * squares.round_square(start, play) for start, play in plays.items())
    for start, square in squares.ended():
        total += shoe.chance[start] * square
    return math.sqrt(max(total - mean * mean, 0.0)) / settled

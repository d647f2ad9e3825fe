"""Values with splits approximated as [WoO9] and [Farmer] do, to show that this explains their differences.

[WoO9]: the number of hands of a split has its exact distribution. Each of n hands is then played optimally as if n
pair cards were gone and nothing else; the cards of the other hands are ignored. If the limit is not met, no second card
is a pair card.

[Farmer]: see `TermByTerm`.
"""

from __future__ import annotations

import numpy as np

from bjsim.strategies.shoe.analysis import Analysis
from bjsim.strategies.shoe.passes import DOUBLE, Play
from bjsim.strategies.shoe.solver import ShoeSolver
from bjsim.strategies.shoe.splits import SplitForm


def approximate_value(solver: ShoeSolver) -> float:
    """Return the value of the best play by cards with approximate splits. The game must not peek."""
    shoe, analysis = solver.shoe, Analysis(solver.shoe)
    assert all(solver.game.ends(start) < 0 for start in shoe.starts), "with a peek, cards are not drawn evenly"
    ev = 0.0
    for start in shoe.live:
        shown, play = analysis.shown(start), analysis.by_cards(start, "cdp")
        nodes, weights = shoe.dealt(start)
        for node, weight in zip(nodes, weights, strict=True):
            value = float(play.value[node])
            pair = int(node) - shoe.layout.pairs
            forms = shoe.forms(start, pair) if pair >= 0 else ()
            if forms:
                options = [shown.stand[node], shown.hits(np.array([node]), play.value)[0]]
                if shown.legal[node] >> DOUBLE & 1:
                    options.append(shown.double[node])
                value = max(*options, _split(solver, analysis, play, forms[0], start, pair))
            ev += shoe.chance[start] * weight * value
    return float(ev)


class TermByTerm(Analysis):
    """CDP as [Farmer] computes it: each term of the linear form of a split is maximized on its own.

    The form (`bjsim.strategies.shoe.splits`) is an identity for one plan in all of its terms. Some have a negative
    weight, so with a plan for each the sum is too low, and the value of no strategy.
    """

    def _replan(self, start: int, play: Play, count: int, by_gone: bool) -> None:
        self.shown(start).best(play, count, self.shoe.layout.pairs)
        self.set_splits(start, play)


def value_term_by_term(solver: ShoeSolver) -> float:
    """Return the value of CDP as [Farmer] computes it."""
    shoe, analysis = solver.shoe, TermByTerm(solver.shoe)
    ended = sum(shoe.chance[start] * value for start, value in analysis.ended())
    return float(
        ended
        + sum(shoe.chance[each] * analysis.round_value(each, analysis.by_cards(each, "cdp")) for each in shoe.live)
    )


def _split(solver: ShoeSolver, analysis: Analysis, play: Play, form: SplitForm, start: int, pair: int) -> float:
    shoe = solver.shoe
    limit = solver.game.limit(pair, solver.composition)
    left = shoe.left[start]
    ev = 0.0
    for hands, chance in _hands(int(left[pair]) - 2, int(left.sum()) - 2, limit).items():
        gone = hands - 2
        low, high = form.tree.span(gone)
        analysis.shown(start).best(play, low, high)
        second = left - hands * (np.arange(len(left)) == pair)
        if hands < limit:
            second[pair] = 0
        ev += chance * hands * float(second @ play.value[form.tree.second(gone)]) / second.sum()
    return ev


def _hands(pairs: int, cards: int, limit: int) -> dict[int, float]:
    """Return the distribution of the number of hands."""
    found: dict[int, float] = {}

    def deal(hands: int, waiting: int, pairs: int, cards: int, chance: float) -> None:
        if not waiting or hands == limit:
            found[hands] = found.get(hands, 0.0) + chance
            return
        if pairs:
            deal(hands + 1, waiting + 1, pairs - 1, cards - 1, chance * pairs / cards)
        deal(hands, waiting - 1, pairs, cards - 1, chance * (1 - pairs / cards))

    deal(2, 2, pairs, cards, 1.0)
    return found

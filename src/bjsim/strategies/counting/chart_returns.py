"""The returns of a chart by count, computed instead of played: how often counts occur, and what a unit earns there.

The EV at a count is the exact value of the chart in the expected composition of the unseen cards, at the mean depth;
the variance likewise. Counts are as likely as `count_spread` says: all depths to the cut equally, and normal at each.
What is neglected is what index generation neglects (`indices`), and that fewer rounds begin at some depths.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.count_returns import CountReturns, best_ramp
from bjsim.strategies.counting.count_spread import count_spread, dealt_share, mean_unseen
from bjsim.strategies.counting.ramp import Bet, Ramp
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.typical import decks_to_count, tag_moments, typical_shoe
from bjsim.strategies.shoe.solver import ShoeSolver

COUNTS = np.arange(-14.0, 15.0, 3.5)  # the chart is evaluated at these true counts, for tags of variance 1
EDGE = 7.0  # of those for the variance, which is nearly linear and takes seconds


def chart_returns(rules: Rules, system: CountingSystem, chart: Chart) -> CountReturns:
    """Compute the returns of a chart by the count before the round, without index plays and insurance.

    They are of one unit on one spot. The shoe must be finite, and one that can be solved.
    """
    decks, dealt = decks_to_count(rules), dealt_share(rules)
    rules, system = rules.replace(insurance=False, seats=1), system.replace(deck=rules.deck)

    def at(count: float) -> ShoeSolver:
        return ShoeSolver(rules, typical_shoe(system, decks, mean_unseen(rules.shoe_size, dealt), count))

    scale = math.sqrt(tag_moments(system, system.in_deck)[1])
    evs = [at(count).value_of(chart) for count in (COUNTS * scale).tolist()]
    low, high = (at(count).sd_of(chart) ** 2 for count in (-EDGE * scale, EDGE * scale))
    spread = count_spread(system, decks, dealt)
    true = np.clip(spread.true / scale, COUNTS[0], COUNTS[-1])
    ev, var = np.interp(true, COUNTS, evs), (low + high) / 2 + (high - low) * true / (2 * EDGE)
    counts, where = np.unique(spread.before, return_inverse=True)
    shares = np.bincount(where, spread.chance).astype(np.float64)
    means, squares = (np.bincount(where, spread.chance * part) / shares for part in (ev, var + ev**2))
    return CountReturns(counts, shares, means, squares - means**2)


def highest_score(table: CountReturns, least: float, most: float) -> Ramp:
    """Return the ramp of highest SCORE between two bets, see `best_ramp`; some count must be favourable."""
    bets = best_ramp(table, least, most)
    changes = np.flatnonzero(np.diff(bets, prepend=-1.0))
    steps = [(Fraction(table.counts[at]).limit_denominator(60), Bet(Fraction(bets[at]))) for at in changes.tolist()]
    return Ramp(tuple(steps))

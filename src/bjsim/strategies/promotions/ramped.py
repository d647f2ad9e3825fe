"""The profits of a round of a counter who bets by a ramp: a mixture over the counts before the round."""

from __future__ import annotations

from fractions import Fraction

from bjsim.arguments import a_name, argument, naming
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.chart_returns import chart_returns
from bjsim.strategies.counting.ramp import Ramp
from bjsim.strategies.counting.systems import find_system
from bjsim.strategies.evaluation.best import best_chart
from bjsim.strategies.exact.payoffs import round_payoffs
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.promotions.lattice import tilt


def ramp_payoffs(rules: Rules, ramp: str, system: str) -> dict[Fraction, float]:
    """Return profit in units -> probability in a round of the best chart with the bets of a ramp.

    At each count the distribution is that of the infinite shoe, tilted to the mean that the chart has in the
    expected composition of the rest of the shoe, which is finite. Each round has a count of its own, as likely as
    it is over all rounds. `ramp` has units by count, such as `1-12` or `0:0 1:1 2:4`; `system` is the name of a
    counting system, or a TOML file with one.
    """
    with naming("ramp"):
        bets = Ramp.parse(str(ramp))
    if any(spots > 1 for _, spots in bets.spots):
        raise InputError(f"{argument('ramp')}: {ramp} is on several spots; the lattice is that of one")
    with naming("system"):
        counting = find_system(a_name("system", system))
    chart = best_chart(rules)
    table = chart_returns(rules, counting, chart)
    profits, found = round_payoffs(Solver(rules), chart), dict[Fraction, float]()
    for share, ev, units in zip(table.shares, table.ev, bets.units(table.counts), strict=True):
        size = Fraction(units).limit_denominator(1000)
        for profit, p in tilt(profits, float(ev)).items():
            found[profit * size] = found.get(profit * size, 0.0) + float(share) * p
    return found

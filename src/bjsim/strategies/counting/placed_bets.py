"""The bets of a request in the rows of a run, and what there is to remark about them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bjsim.arguments import argument
from bjsim.errors import InputError
from bjsim.strategies.counting.count_returns import RampReturns, best_ramp, kelly_ramp, ramp_returns
from bjsim.strategies.counting.count_run import CountRun
from bjsim.strategies.counting.ramp import ONE_SPOT, Ramp, spots_at
from bjsim.strategies.counting.request import CountRequest
from bjsim.strategies.counting.risk import ruin_probability

Bets = NDArray[np.float64]


def place_bets(run: CountRun, request: CountRequest) -> Bets:
    if request.limits:
        bets = _optimal(run, request, request.terms.kelly)
        if not bets.any():
            raise InputError(
                f"{argument('optimal')}: the best bet is 0 at every count; give a larger {argument('bankroll')}, or a "
                f"smaller {argument('chip')}"
            )
    else:
        bets = np.array(request.bets.units(run.returns.counts))
        if not bets.any():
            raise InputError(
                f"{argument('ramp', str(request.bets))} has no bet at the counts of the table, {run.labels[0]} to "
                f"{run.labels[-1]}; bet at one of them"
            )
    asked = np.array([spots_at(request.spots, count) for count in run.counts])
    if request.spots != ONE_SPOT and (asked != run.spots)[bets > 0].any():
        played = ", ".join(f"{spots} from a count of {count}" for count, spots in run.game.spots)
        raise InputError(f"the stored run has other spots than these bets: {played}; leave out x, or play again")
    return bets


def remarks(run: CountRun, request: CountRequest, bets: Bets, ramp: RampReturns) -> tuple[str, ...]:
    """What a caller should know about the bets; empty if nothing is unusual."""
    notes = _riskier(run, request, ramp) if request.limits else _unreached(run, request.bets, bets)
    return (*_left(run, request), *notes)


def _left(run: CountRun, request: CountRequest) -> tuple[str, ...]:
    """What leaving shoes costs in time, as a remark; none if no shoe is left."""
    if not run.left_per_round:
        return ()
    share, terms = run.left_per_round * run.rounds_per_shoe, request.terms
    left = terms.leaving(run.left_per_round).rounds_per_hour
    return (
        f"{share:.1%} of the shoes are left, at {terms.leave_minutes:g} minutes each ({argument('leave_minutes')}): "
        f"{left:.1f} rounds an hour in place of {terms.rounds_per_hour:g}; SCORE is of 100 rounds",
    )


def _optimal(run: CountRun, request: CountRequest, kelly: float) -> Bets:
    assert request.limits
    least, most, _ = request.limits
    chip = request.chip
    if chip is None:
        chip = next((size for size in (1.0, 0.5) if least % size == 0 and most % size == 0), 0.0)
    if request.has_bankroll:
        return kelly_ramp(run.returns, request.terms.bankroll, kelly, least, most, chip, run.spots)
    return best_ramp(run.returns, least, most, chip, run.spots)


def _riskier(run: CountRun, request: CountRequest, ramp: RampReturns) -> tuple[str, ...]:
    """Remarks if a Kelly fraction below 1 raises the risk of ruin, because lowest bets stay what they are."""
    terms = request.terms
    assert request.limits
    if not request.has_bankroll or terms.kelly >= 1 or not request.limits.least:
        return ()
    full = ramp_returns(run.returns, _optimal(run, request, 1.0), run.spots)
    ruin, other = (ruin_probability(one.ev, one.sd, terms.bankroll) for one in (ramp, full))
    if ruin <= other:
        return ()
    return (
        f"with a Kelly fraction of {terms.kelly:g} the risk of ruin is {ruin:.2%}, and {other:.2%} with 1: bets become "
        f"smaller at good counts, while those of {request.limits.least:g} at bad counts stay; give a larger "
        f"{argument('bankroll')}, or a lowest bet of 0",
    )


def _unreached(run: CountRun, ramp: Ramp, bets: Bets) -> tuple[str, ...]:
    """Remarks if no row of the table has one of the ramp's bets."""
    missing = sorted({float(bet.units) for _, bet in ramp.steps} - set(bets.tolist()))
    if not missing:
        return ()
    units = ", ".join(f"{bet:g}" for bet in missing)
    return (f"never bet: {units}; each row from {run.labels[0]} to {run.labels[-1]} has one bet for all its counts",)

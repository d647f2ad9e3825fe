"""`bjsim.count`: how a card counter does in a game."""

import os
from collections.abc import Callable

from bjsim.arguments import a_type, names_wrong_types
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.counting.ramp import Ramp
from bjsim.strategies.counting.request import CountRequest, Limits, play_request
from bjsim.strategies.counting.result import CountResult
from bjsim.strategies.counting.system import CountingSystem


@names_wrong_types
def count(
    rules: Rules | str | os.PathLike[str],
    system: CountingSystem | str | os.PathLike[str] = "hilo",
    ramp: Ramp | str = "1-12",
    indices: str | os.PathLike[str] = "i18",
    *,
    chart: Chart | str | os.PathLike[str] = "optimal",
    optimal: Limits | None = None,
    chip: float | None = None,
    leave: int | None = None,
    rounds: float | None = None,
    until: float | None = None,
    seed: int = 1,
    workers: int | None = 1,
    adjust_luck: bool = True,
    bankroll: float | None = None,
    unit: float | None = None,
    ror: float | None = None,
    kelly: float = 1.0,
    rounds_per_hour: float = 100.0,
    trip: float = 4.0,
    leave_minutes: float = 5.0,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    on_progress: Callable[[int, float], object] = lambda rounds, expected: None,
) -> CountResult:
    """Find out how a card counter does in a game: `bjsim count` in Python.

    Args:
        rules: The game, with a finite shoe.
        system: The counting system: its name, a TOML file, or a `CountingSystem`.
        ramp: Units to bet: a spread such as `1-12`, or units by count such as `0:0 1:1 2:4x2`; `x2` is on two spots, a
            bet of 0 watches (back-counting), and bets with a dollar sign, such as `$10-$120`, are money.
        indices: Index plays: `i18`, `fab4`, `i18+fab4`, `none`, `generate`, a file, or text such as `16vT S>=0`.
        chart: Chart for all other decisions.
        optimal: Instead of `ramp`, bet what is best for the bankroll, or of highest SCORE if none is given, between
            these units, such as `1-12`. `(1, 12)` is the same.
        chip: Bets of `optimal` are multiples of this; 0: not rounded. None is 1, or 0.5 if a limit is not whole.
        leave: Leave the shoe before a round at this count or a lower one, for a fresh shoe.
        rounds: Rounds to play, a million by default; with `until`, the most.
        until: Play until the EV per round is known to plus or minus this share of a unit (95%).
        seed: The same seed gives the same result, bit for bit.
        workers: Number of processes. None is one for each core.
        adjust_luck: Remove the luck of the cards from the returns; without, the same precision needs thousands of times
            as many rounds.
        bankroll: The bankroll in units, or in money if `unit` or `ror` is given; 1,000 units by default.
        unit: Money per unit; profits per hour are then in money.
        ror: Find the bankroll whose risk of ruin is this share; with `bankroll`, find the unit.
        kelly: Kelly fraction.
        rounds_per_hour: Rounds seen in an hour.
        trip: Hours of a trip, for its risks.
        leave_minutes: Minutes that leaving a shoe for a fresh one costs.
        checkpoint: A new file to keep what is known in, for `resume`. `CountResult.load` reads it too.
        resume: A checkpoint of this game to go on from. What `CountResult.save` wrote is one.
        on_progress: Called periodically with the rounds played, and about how many there will be.

    Returns:
        The figures of the bets with their intervals, and the returns by count. Other bets follow without playing again.

    Raises:
        InputError: If an argument is not accepted; the message names it.

    Examples:
        >>> result = count("vegas-s17", rounds=10_000)
        >>> result["score"].value > 0
        True
    """
    if not callable(on_progress):
        raise InputError(f"on_progress: {a_type(on_progress)} is not accepted; use a function")
    request = CountRequest(
        rules, system, ramp, indices, chart, optimal, chip, leave, rounds, until, seed, workers, adjust_luck, bankroll,
        unit, ror, kelly, rounds_per_hour, trip, leave_minutes,
    )  # fmt: skip
    run = play_request(request, on_progress=on_progress, checkpoint=checkpoint, resume=resume)
    return CountResult.of(run, request)

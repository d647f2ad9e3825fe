"""`bjsim.count`: how a card counter does in a game."""

from bjsim.asked.signature import function
from bjsim.errors import RunFailed
from bjsim.strategies.counting.request import CountRequest, play_request
from bjsim.strategies.counting.result import CountResult


def _counted(request: CountRequest) -> CountResult:
    """Find out how a card counter does in a game, as `bjsim count` does."""
    run = play_request(request)
    if run.failure:
        raise RunFailed(run.failure)
    return CountResult.of(run, request)


count = function(CountRequest, "count", _counted)
"""Find out how a card counter does in a game: `bjsim count` in Python.

The arguments are those of `CountRequest`.

Returns:
    CountResult: The figures of the bets with their intervals, and the returns by count. Other bets follow without
    playing again.

Raises:
    InputError: If an argument is not accepted; the message names it.
    RunFailed: If the checkpoint cannot be saved.

Examples:
    >>> result = count("vegas-s17", indices="none", rounds=10_000)
    >>> result["score"].value > 0
    True
"""

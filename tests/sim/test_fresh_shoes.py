"""Play against exact values, in shoes of one round: games of unusual rules, dealt from a fresh shoe for every round.

The cut card comes after the first card, so the luck-adjusted mean is the exact value of a fresh shoe but for chance.
The deviations of many games have mean 0 and standard deviation 1; one beyond `FAR` is expected in 3,000 games.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice

import pytest
from support.unusual import PLAIN, chosen_games, covering_array, random_games, tell

import bjsim
from bjsim.errors import InputError
from bjsim.sim.game.rules import Rules

FAR = 3.6
FEW = 12_000  # rounds, of which the error is a hundredth of a percent
MANY = 100_000


def deviation(rules: Rules, decks: int, hands: int, seed: int = 7, bot: str = "optimal") -> float:
    """Standard errors from a chart's exact value to its luck-adjusted mean; NaN where the game has no exact value.

    No seat has more than three hands, as the values after each card of an endless split take long to compute.
    """
    try:
        game = rules.replace(decks=decks, max_hands=min(rules.max_hands, 3))
        game = game.replace(cut=Fraction(1, game.shoe_size))
        (found,) = bjsim.play(game, [bot], hands=hands, seed=seed, workers=1).results
    except InputError:
        return math.nan
    if found.exact is None or found.adjusted is None:
        return math.nan
    return (found.adjusted.mean - found.exact) / found.adjusted.se


def test_play_has_the_exact_values_of_fresh_shoes() -> None:
    """Ten games in which every unusual value occurs, in one, two, six or eight decks in turn.

    A fixed chart plays here, as finding the best one takes half of the time; the nightly tests play the best.
    """
    games = enumerate(chosen_games())
    found = {tell(rules): deviation(rules, (1, 2, 6, 8)[n % 4], FEW, bot="hoyle") for n, rules in games}
    assert {game: z for game, z in found.items() if abs(z) > FAR} == {}
    assert sum(not math.isnan(z) for z in found.values()) > 0.7 * len(found)


def test_a_chart_of_other_rules_is_seen() -> None:
    """What a natural pays, told wrongly to one side, is 2% of the bets in which it matters, and 100 errors away."""
    rules = PLAIN.replace(decks=6, blackjack_pays="6/5")
    game = rules.replace(cut=Fraction(1, 312))
    (found,) = bjsim.play(game, ["optimal"], hands=FEW, seed=7, workers=1).results
    wrong = bjsim.solve(rules.replace(blackjack_pays="7/5")).value
    assert found.adjusted is not None and (wrong - found.adjusted.mean) / found.adjusted.se > 10


@pytest.mark.slow
def test_the_whole_covering_array_in_fresh_shoes() -> None:
    found = {tell(rules): deviation(rules, (1, 2, 6, 8)[n % 4], FEW) for n, rules in enumerate(covering_array())}
    assert {game: z for game, z in found.items() if abs(z) > FAR} == {}


@pytest.mark.slow
def test_random_games_in_fresh_shoes() -> None:
    """Fifty: the mean of n deviations is within 3.3 / sqrt(n), their standard deviation within .67 and 1.33.

    Each has a seed of its own: what luck leaves of the same cards is much the same in similar games.
    """
    games = islice(random_games(48, 9, finite=True), 50)
    found = {tell(rules): deviation(rules, (1, 2, 6, 8)[n % 4], MANY, seed=n) for n, rules in enumerate(games)}
    assert {game: z for game, z in found.items() if abs(z) > FAR} == {}
    known = [z for z in found.values() if not math.isnan(z)]
    mean = sum(known) / len(known)
    assert len(known) > 40 and abs(mean) < 3.3 / math.sqrt(len(known))
    assert 0.67 < math.sqrt(sum((z - mean) ** 2 for z in known) / len(known)) < 1.33

"""How well tags follow the effects of removal: betting and insurance correlation, and playing efficiency.

Betting correlation is the correlation, over the cards of a deck, of the tags with the effects of removal on the value
of the game; insurance correlation, with those on an insurance bet, which are exact by arithmetic.

Playing efficiency is the share of the gain from perfect playing decisions that a count attains, both with flat bets and
without insurance. The gain of the action that the best chart does not take, in each choice of its cells (`choices`,
splits and surrender included), is taken as linear in the unseen cards, with an effect for every card removed. With n of
N cards unseen it is then nearly normal, with the mean m of the full shoe, at most 0, and the standard deviation

    s(n) = v sqrt((N - n) / (n (N - 1))),   v^2 = the variance over cards of (N - 1) x effect of removal

A perfect player gains s psi(-m / s), with psi(z) = phi(z) - z Phi(-z), and a count whose tags have the correlation r
with the effects gains the same with r s in place of s. Both are weighted by how often a choice is faced and averaged
over depths from the full shoe to the cut. Published figures are some .05 higher for all systems: Griffin weighted fewer
decisions, and went deeper. With hits of hard 12 to 16 and doubles of hard 8 to 11 alone, in a deck without the upcard
and down to 10 unseen cards, the same computation gives his figures within .02.

Sources: Griffin, The Theory of Blackjack, chapters 4 to 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bjsim.errors import InputError
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.rules import Rules
from bjsim.strategies.counting.choices import find_choices
from bjsim.strategies.counting.system import IN_DECK, CountingSystem
from bjsim.strategies.counting.typical import decks_to_count, remaining
from bjsim.strategies.shoe.solver import ShoeSolver

Floats = NDArray[np.float64]
DEPTHS = 24
SELDOM = 1e-7  # choices faced less often per round are left out
LETTERS = RANKS[: TEN + 1]


def correlation(tags: Sequence[float | Fraction], effects: Sequence[float], deck: str = "standard") -> float:
    """Return the correlation of ten tags with ten effects of removal, weighted by the cards of a deck."""
    weights = np.array(IN_DECK[deck]) / sum(IN_DECK[deck])
    one, other = (np.array([float(value) for value in values]) for values in (tags, effects))
    one, other = one - weights @ one, other - weights @ other
    return float(weights @ (one * other) / math.sqrt((weights @ one**2) * (weights @ other**2)))


def effects_of_removal(rules: Rules, strategy: str = "td") -> tuple[float, ...]:
    """Return the effects of removal on the value of a game, in initial bets, for A, 2..9, T.

    `strategy`, one of `bjsim.strategies.shoe` except cdp, is kept when a card is removed from the finite shoe.
    """
    effects = ShoeSolver(rules).removal(strategy)
    return tuple(effects[letter] for letter in LETTERS)


def insurance_effects(decks: int, deck: str = "standard") -> tuple[float, ...]:
    """Return the exact effects of removal on an insurance bet, given the dealer's ace, for A, 2..9, T."""
    counts = remaining(decks, "A", deck)
    cards = sum(counts)
    value = 3 * counts[TEN] / cards - 1
    return tuple(3 * (counts[TEN] - (rank == TEN)) / (cards - 1) - 1 - value for rank in range(TEN + 1))


def betting_correlation(system: CountingSystem, effects: Sequence[float]) -> float:
    """Return the betting correlation by the `effects` of removal of A, 2..9, T, side count of aces included."""
    if len(effects) != TEN + 1:
        raise InputError(f"effects: give {TEN + 1} numbers, for A, 2..9 and T, not {len(effects)}")
    return correlation(system.bet_tags, effects, system.deck)


def insurance_correlation(system: CountingSystem) -> float:
    """Return the insurance correlation, which does not depend on the number of decks."""
    return correlation(system.tags, insurance_effects(6, system.deck), system.deck)


def playing_efficiency(system: CountingSystem, rules: Rules, dealt: float = 0.6) -> float:
    """Return the playing efficiency (see the docstring of the module).

    `dealt` is the share of the shoe before the cut card. The shoe must be finite.
    """
    if not 0 < dealt < 1:
        raise InputError(f"dealt = {dealt} is not accepted; use a share of the shoe above 0 and below 1")
    decks_to_count(rules)
    cards, in_deck = rules.shoe_size, np.array(IN_DECK[rules.deck])
    means, effects, weights = _choice_effects(rules)
    shares, tags = in_deck / in_deck.sum(), np.array([float(tag) for tag in system.tags])
    effects = effects - (effects @ shares)[:, None]
    tags = tags - shares @ tags
    variance = (cards - 1) ** 2 * effects**2 @ shares
    found = np.abs(effects @ (shares * tags)) / np.sqrt((effects**2 @ shares) * (shares @ tags**2))
    counted = perfect = 0.0
    for unseen in np.linspace(cards, cards * (1 - dealt), DEPTHS + 1)[1:].tolist():
        spread = np.sqrt(variance * (cards - unseen) / (unseen * (cards - 1)))
        perfect += float(weights @ _normal_gain(means, spread))
        counted += float(weights @ _normal_gain(means, found * spread))
    return counted / perfect


def _normal_gain(mean: Floats, sd: Floats) -> Floats:
    """Return E[max(X, 0)] for normal X with a mean of at most 0."""
    z = -mean / np.maximum(sd, 1e-300)
    tail = 0.5 * np.array([math.erfc(min(value, 50.0) / math.sqrt(2)) for value in z.tolist()])
    gain: Floats = sd * (np.exp(-(np.minimum(z, 50.0) ** 2) / 2) / math.sqrt(2 * math.pi) - np.minimum(z, 50.0) * tail)
    return np.maximum(gain, 0)


@lru_cache(maxsize=8)
def _choice_effects(rules: Rules) -> tuple[Floats, Floats, Floats]:
    """Return for all choices: the gain of the action not taken, its effects of removal (10 each), hands per round."""
    tags, counts = [0.0] * (TEN + 1), remaining(int(rules.decks), deck=rules.deck)
    base = find_choices(ShoeSolver(rules), tags)
    less = []
    for value in range(TEN + 1):
        left = tuple(count - (value == rank) for rank, count in enumerate(counts))
        less.append(find_choices(ShoeSolver(rules, left), tags))
    keys = [key for key, choice in base.items() if choice.decided > SELDOM and all(key in one for one in less)]
    effects = np.array([[one[key].gain - base[key].gain for one in less] for key in keys])
    means = np.array([-abs(base[key].gain) for key in keys])
    kept = (effects**2).sum(axis=1) > 0
    return means[kept], effects[kept], np.array([base[key].decided for key in keys])[kept]

"""Risk and merit of a counted game: formulas in the mean and standard deviation of a round.

With e = expected profit per round, s = standard deviation per round, B = bank and n = rounds, all in one currency:

    DI = 1000 e / s        SCORE = DI^2        N0 = s^2 / e^2        full Kelly bank = s^2 / e
    risk of ruin = exp(-2 e B / s^2)
    bank for a risk of ruin r = -ln r s^2 / (2 e)
    ahead after n rounds = Phi(e sqrt n / s)
    ruin within n rounds = Phi((-B - e n) / (s sqrt n)) + exp(-2 e B / s^2) Phi((-B + e n) / (s sqrt n))
    bank below x or lost after n rounds = Phi((x - B - e n) / (s sqrt n))
                                          + exp(-2 e B / s^2) Phi((e n - x - B) / (s sqrt n))
    certainty equivalent = e - s^2 / (2 k B), with the Kelly fraction k

Ruin is that of a Brownian motion with drift, which neglects the overshoot of the last bet.

Source: Schlesinger, Blackjack Attack, chapters 8 to 10.
"""

from __future__ import annotations

import math

from bjsim.errors import InputError


def desirability_index(ev: float, sd: float) -> float:
    """Return DI, 1000 times profit per standard deviation of a round."""
    return 1000 * ev / sd


def score(ev: float, sd: float) -> float:
    """Return SCORE: profit in 100 rounds for a bank of 10,000 at a risk of ruin of 13.5%; 0 for a losing game."""
    return desirability_index(max(ev, 0.0), sd) ** 2


def n0(ev: float, sd: float) -> float:
    """Return N0, the rounds until expected profit is one standard deviation; infinite for a losing game."""
    return (sd / ev) ** 2 if ev > 0 else math.inf


def certainty_equivalent(ev: float, sd: float, bank: float, kelly: float = 1.0) -> float:
    """Return the certain profit per round that is as good for a Kelly bettor; `kelly` is 1 for full Kelly."""
    check_positive(bank=bank, kelly=kelly)
    return ev - sd**2 / (2 * kelly * bank)


def ruin_probability(ev: float, sd: float, bank: float) -> float:
    """Return the probability of ever losing the bank with the same bets; 1 for a losing game."""
    check_positive(bank=bank)
    return math.exp(-2 * ev * bank / sd**2) if ev > 0 else 1.0


def bank_for_ruin(ev: float, sd: float, ruin: float) -> float:
    """Return the bank that these bets ever lose with a probability of `ruin`; infinite for a losing game."""
    if not 0 < ruin < 1:
        raise InputError(f"ror = {ruin} is not accepted; use a probability above 0 and below 1, such as 1%")
    return -math.log(ruin) * sd**2 / (2 * ev) if ev > 0 else math.inf


def ahead_probability(ev: float, sd: float, rounds: float) -> float:
    """Return the probability of being ahead after a number of rounds, however low the bank was: 84% after N0."""
    check_positive(rounds=rounds)
    return math.exp(_log_normal(ev * math.sqrt(rounds) / sd))


def bank_quantile(ev: float, sd: float, bank: float, rounds: float, share: float) -> float:
    """Return the bank below which a `share` of the players are after `rounds`; who lost the bank has 0."""
    check_positive(bank=bank, rounds=rounds, share=share)
    spread, mean = sd * math.sqrt(rounds), bank + ev * rounds

    def below(x: float) -> float:
        lost = -2 * ev * bank / sd**2 + _log_normal((ev * rounds - x - bank) / spread)
        return math.exp(_log_normal((x - mean) / spread)) + math.exp(min(lost, 0.0))

    low, high = 0.0, max(mean, 0.0) + 10 * spread
    if below(low) >= share:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < share else (low, middle)
    return (low + high) / 2


def trip_ruin_probability(ev: float, sd: float, bank: float, rounds: float) -> float:
    """Return the probability of losing the bank within a number of rounds; `ev` and `sd` are per round."""
    check_positive(bank=bank, rounds=rounds)
    spread = sd * math.sqrt(rounds)
    reflected = -2 * ev * bank / sd**2 + _log_normal((-bank + ev * rounds) / spread)
    return min(math.exp(_log_normal((-bank - ev * rounds) / spread)) + math.exp(min(reflected, 0.0)), 1.0)


def _log_normal(x: float) -> float:
    """Return the logarithm of the normal distribution function; by its asymptotic series far below 0."""
    if x > -30:
        return math.log(0.5 * math.erfc(-x / math.sqrt(2)))
    series = 1 - 1 / x**2 + 3 / x**4 - 15 / x**6
    return -0.5 * x * x - math.log(-x * math.sqrt(2 * math.pi)) + math.log(series)


def check_positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise InputError(f"{name} = {value} is not accepted; use a number above 0")

"""Exact insurance by count: the expected share of tens, and the thresholds that follow.

Insurance pays 2:1, so that it is fair if a third of the unseen cards are tens. The dealer's ace and the player's cards
are known; the other seen cards are known only by the running count.
"""

from __future__ import annotations

from fractions import Fraction

from bjsim.errors import InputError
from bjsim.strategies.counting.system import CountingSystem
from bjsim.strategies.counting.typical import remaining, unseen_cards


def insurance_value(
    system: CountingSystem, decks: int, seen: str, running_count: Fraction | int, unseen: int
) -> Fraction | None:
    """Compute the expected profit per unit of an insurance bet, exactly; None if no cards give this count.

    `seen` are the cards known one by one: the dealer's ace and the player's hand, such as `"A25"`. The running
    count includes them; the dealer's hidden card is one of the `unseen`.
    """
    cards = sum(remaining(decks, seen, system.deck))
    if not 1 <= unseen <= cards:
        raise InputError(f"unseen = {unseen} is not accepted; use 1 to {cards}")
    tens = unseen_cards(system, decks, seen).tens(unseen, system.pivot(decks) - running_count)
    return None if tens is None else 3 * tens / unseen - 1


def insurance_threshold(system: CountingSystem, decks: int, seen: str, running_count: Fraction | int) -> int:
    """Find the greatest number of unseen cards where a running count still insures.

    Up to it, from the least at which it insures, insurance does not lose on average; 0 if there is none, or
    unseen cards cannot have the running count. `seen` and `running_count` are those of `insurance_value`.
    """
    most = 0
    for unseen in range(1, sum(remaining(decks, seen, system.deck)) + 1):
        value = insurance_value(system, decks, seen, running_count, unseen)
        if value is not None and value >= 0:
            most = unseen
        elif value is not None and most:
            break
    return most


def insurance_index(system: CountingSystem, decks: int, unseen: int, seen: str = "A") -> Fraction | None:
    """Find the least true count, exact and not rounded, that insures with `unseen` cards; None if none does."""
    step = Fraction(1, system.scale)
    start = system.pivot(decks) - system.imbalance * unseen / system.deck_size
    running = Fraction(round(start * system.scale), system.scale)
    while running - start < system.deck_size:
        value = insurance_value(system, decks, seen, running, unseen)
        if value is not None and value >= 0:
            return (running - system.pivot(decks)) * system.deck_size / unseen + system.imbalance
        running += step
    return None

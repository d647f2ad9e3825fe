"""The value of a game to a player who knows a card, and of a bet on a predicted one."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bjsim.arguments import argument, exact_number
from bjsim.errors import InputError, shorten
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.evaluation.known_in_play import VALUES, KnownCards, know_hole, know_next, solution_of
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.solution import RoundPart, Solution

CARDS = ("first", "up", "hole", "next")


@dataclass(frozen=True)
class Prediction:
    """A bet on the prediction that the player's first card has a certain value.

    Attributes:
        value: Expected profit, in initial bets.
        break_even: The probability of the predicted card from which on a bet gains; None if no probability is enough.
        kelly: The share of the bank that maximizes its growth to second order, e / (s^2 + e^2) with e = `value`; 0 if
            that is not positive. The mean square is that of the infinite shoe.
    """

    value: float
    break_even: float | None
    kelly: float


def known(
    rules: Rules | str | os.PathLike[str], what: str = "first", *, shoe: Mapping[str, int] | None = None
) -> KnownCards:
    """Compute the value of a game to a player who knows a card.

    Args:
        rules: The game.
        what: The card: `first`, the player's first one; `up`, the dealer's upcard before the bet; `hole`, the dealer's
            hole card before the first decision; or `next`, the card that is drawn next, before the first decision.
        shoe: The cards that the round is dealt from, such as those known to come next: `{"A": 3, "2": 1, ...}`. By
            default the whole decks of the game.

    Returns:
        The values by card, and best play.

    Raises:
        InputError: An argument is not accepted, or the game has no such card.

    Examples:
        >>> f"{known('vegas-s17', 'first').values['A']:.4f}"
        '0.5087'
    """
    game = _game(rules)
    if what not in CARDS:
        raise InputError(f"{argument('what')}: {shorten(what)!r} is not accepted; use {', '.join(CARDS)}")
    if what == "next":
        return know_next(game, shoe)
    if what == "hole":
        return know_hole(game, shoe)
    solution = solution_of(game, shoe)
    parts = solution.round_parts() if what == "first" else _parts_by_upcard(solution)
    sums: dict[str, list[float]] = {card: [0.0, 0.0] for card in VALUES}
    for part in parts:
        card = VALUES[part.first] if what == "first" else part.column
        sums[card] = [sums[card][0] + part.chance, sums[card][1] + part.profit]
    chances = {card: chance for card, (chance, _) in sums.items() if chance}
    values = {card: sums[card][1] / chance for card, chance in chances.items()}
    return KnownCards(float(solution.value), chances, values, {"any": solution.chart})


def predict(
    rules: Rules | str | os.PathLike[str],
    card: str = "A",
    chance: object = 1,
    *,
    to_dealer: object = None,
    shoe: Mapping[str, int] | None = None,
) -> Prediction:
    """Compute the value of a bet on a predicted first card, such as an ace whose neighbours were seen before a shuffle.

    Where the prediction fails, the other cards keep their proportions.

    Args:
        rules: The game.
        card: The predicted card: A, 2 to 9, or T for all ten-valued cards.
        chance: The probability that it is the player's first card.
        to_dealer: The probability that it is the dealer's upcard, and not the player's first card too. By default it is
            a card like any other.
        shoe: The cards that the round is dealt from; by default the whole decks of the game.

    Returns:
        The value of the bet, and from which probability on it gains.

    Raises:
        InputError: An argument is not accepted.

    Examples:
        >>> found = predict("vegas-s17", "A", 0.4)
        >>> f"{found.value:.4f} {found.break_even:.4f}"
        '0.1775 0.0836'
    """
    game = _game(rules)
    if card not in VALUES:
        raise InputError(f"{argument('card')}: {shorten(card)!r} is not accepted; use one of {', '.join(VALUES)}")
    apart = to_dealer is not None
    lost = float(exact_number(argument("to_dealer"), to_dealer, 1, "a probability from 0 to 1")) if apart else 0.0
    hit = float(exact_number(argument("chance"), chance, 1, "a probability from 0 to 1"))
    if hit + lost > 1:
        raise InputError(f"{argument('chance')} and {argument('to_dealer')} are more than 1 together")
    solution = solution_of(game, shoe)
    parts = list(_parts_by_upcard(solution) if apart else solution.round_parts())
    first = [part for part in parts if VALUES[part.first] == card]
    others = [part for part in parts if VALUES[part.first] != card]
    dealer = [part for part in others if apart and part.column == card]
    rest = [part for part in others if not (apart and part.column == card)]
    infinite = solution if solution.infinite else Solver(game.replace(decks="inf"))
    squares = list(infinite.round_parts(squares=True))
    mean_square = [
        _mean([part._replace(profit=part.square) for part in squares if (VALUES[part.first] == card) == on])
        for on in (True, False)
    ]
    on, against, off = _mean(first), _mean(dealer), _mean(rest)
    value = hit * on + lost * against + (1 - hit - lost) * off
    least = (-off - lost * (against - off)) / (on - off) if on > off else math.nan
    square = hit * mean_square[0] + (1 - hit) * mean_square[1]
    kelly = max(value, 0.0) / square if math.isfinite(square) else 0.0
    return Prediction(value, max(least, 0.0) if least + lost <= 1 else None, kelly)


def _game(rules: Rules | str | os.PathLike[str]) -> Rules:
    game = rules if isinstance(rules, Rules) else load_rules(rules)
    game.need_one_hand("have no values for known cards")
    if game.attack:
        why = "known cards are not valued where bets are doubled before the deal; use attack = false"
        raise InputError(f"attack: {why}")
    return game


def _mean(parts: list[RoundPart]) -> float:
    chance = math.fsum(part.chance for part in parts)
    return math.fsum(part.profit for part in parts) / chance if chance else 0.0


def _parts_by_upcard(solution: Solution) -> Iterator[RoundPart]:
    if solution.rules.dealer_shows == "both":
        raise InputError(f"{solution.rules.name or 'the game'} has no upcard: the dealer shows both cards")
    return solution.round_parts()

"""Exact values of blackjack by brute force over cards: without states or codes, and without code of bjsim.

An independent computation to compare with `bjsim.strategies.exact.values`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from bjsim.sim.game.actions import Player
from bjsim.sim.game.events import Peeked
from bjsim.sim.game.round import Round
from bjsim.sim.game.rules import Rules

Cards = tuple[int, ...]  # points of cards, sorted; the ace is 1
NATURAL = "natural"


def total(cards: Cards) -> int:
    """The best total, above 21 for a bust."""
    hard = sum(cards)
    return hard + 10 if 1 in cards and hard <= 11 else hard


class Brute:
    """Hit, stand and double in an infinite shoe against one open card; naturals pay 3:2 and tie each other."""

    def __init__(self, ten: Fraction, up: int, peek: bool = False, soft_17: bool = False, number: type = float) -> None:
        self.number = number
        self.card_probabilities = {card: number((1 - ten) / 9) for card in range(1, 10)} | {10: number(ten)}
        self.soft_17 = soft_17
        self.dealer: dict[Any, Any] = {}
        for hole, p in self.card_probabilities.items():
            if peek and {up, hole} == {1, 10}:
                continue
            for outcome, q in self._dealer(tuple(sorted((up, hole)))).items():
                self.dealer[outcome] = self.dealer.get(outcome, 0) + p * q
        mass = sum(self.dealer.values())
        self.dealer = {outcome: q / mass for outcome, q in self.dealer.items()}
        self.best = cache(self._best)

    def _dealer(self, cards: Cards) -> dict[object, object]:
        points = total(cards)
        if cards == (1, 10):
            return {NATURAL: self.number(1)}
        soft = points != sum(cards)
        if points > 21 or (points >= 17 and not (points == 17 and soft and self.soft_17)):
            return {min(points, 22): self.number(1)}
        probabilities: dict[object, object] = {}
        for card, p in self.card_probabilities.items():
            for outcome, q in self._dealer(tuple(sorted((*cards, card)))).items():
                probabilities[outcome] = probabilities.get(outcome, 0) + p * q
        return probabilities

    def stand(self, cards: Cards):
        """Expected profit of standing on a hand that is not a natural."""
        points = total(cards)
        if points > 21:
            return self.number(-1)
        value = self.number(0)
        for outcome, p in self.dealer.items():
            if outcome == NATURAL:
                value -= p
            elif outcome == 22 or points > outcome:
                value += p
            elif points < outcome:
                value -= p
        return value

    def natural(self):
        """Expected profit of a natural."""
        return self.number(Fraction(3, 2)) * (1 - self.dealer.get(NATURAL, 0))

    def hit(self, cards: Cards):
        """Expected profit of one more card and the best play afterwards."""
        return sum(p * self.best(tuple(sorted((*cards, card)))) for card, p in self.card_probabilities.items())

    def double(self, cards: Cards):
        """Expected profit of doubling."""
        return sum(2 * p * self.stand((*cards, card)) for card, p in self.card_probabilities.items())

    def _best(self, cards: Cards):
        if total(cards) >= 21:
            return self.stand(cards)
        return max(self.stand(cards), self.hit(cards))

    def first(self, cards: Cards):
        """Expected profit of the first two cards without splitting."""
        if cards == (1, 10):
            return self.natural()
        if total(cards) == 21:
            return self.stand(cards)
        return max(self.best(cards), self.double(cards))

    def value(self):
        """Expected profit of a round against this card, without splitting."""
        return sum(
            p * q * self.first(tuple(sorted((one, other))))
            for one, p in self.card_probabilities.items()
            for other, q in self.card_probabilities.items()
        )


def split_leaves(p: object, limit: int, halves: int = 2, hands: int = 2) -> Iterator[tuple[object, int, int]]:
    """Enumerate the outcomes of a split: (probability, pairs that were not split again, other hands).

    Split hands get their second card one by one. A pair, of probability `p`, is split again while the seat holds fewer
    than `limit` hands.
    """
    if halves == 0:
        yield 1, 0, 0
        return
    again = hands < limit
    for q, pairs, others in split_leaves(p, limit, halves + (1 if again else -1), hands + again):
        yield p * q, pairs + (not again), others  # type: ignore[operator]
    for q, pairs, others in split_leaves(p, limit, halves - 1, hands):
        yield (1 - p) * q, pairs, others + 1  # type: ignore[operator]


class EveryShoe:
    """Deals the cards `first`, followed in turn by every sequence that a round can require, with its probability."""

    def __init__(self, first: Sequence[int], probabilities: Sequence[tuple[int, Fraction]]) -> None:
        self.first = list(first)
        self.card_probabilities = [(rank, float(p)) for rank, p in probabilities]
        self.path: list[int] = []
        self.at = 0
        self.chance = 1.0

    def begin_round(self) -> bool:
        self.at, self.chance = 0, 1.0
        return False

    def replenish(self) -> bool:
        return False

    def draw(self) -> int:
        self.at += 1
        if self.at <= len(self.first):
            return self.first[self.at - 1]
        position = self.at - len(self.first) - 1
        if position == len(self.path):
            self.path.append(0)
        rank, p = self.card_probabilities[self.path[position]]
        self.chance *= p
        return rank

    def advance(self) -> bool:
        """Advance to the next sequence. Returns: False if there is none."""
        while self.path and self.path[-1] == len(self.card_probabilities) - 1:
            self.path.pop()
        if self.path:
            self.path[-1] += 1
        return bool(self.path)


def every_round(
    rules: Rules, first: Sequence[int], probabilities: Sequence[tuple[int, Fraction]], player: Player
) -> Iterator[tuple[float, float, float]]:
    """Enumerate the rounds after the cards `first` with the readable round: (probability, profit, tied stake).

    Rounds that a dealer's natural ended before anyone acted are left out.
    """
    shoe = EveryShoe(first, probabilities)
    while True:
        result = Round(rules, shoe, 1).play([player])
        if not any(isinstance(event, Peeked) and event.natural for event in result.events):
            yield shoe.chance, float(result.net[0]), float(result.tied[0])
        if not shoe.advance():
            return

"""Rounds of Spanish 21, Super Fun 21 and Pontoon from a tiny shoe of cards with suits, in every possible way.

In exact fractions, and each suited bonus is paid by the suits of the cards: nothing is shared with bjsim but `Rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

from bjsim.sim.game.rules import Rules

POINTS = {"A": 1, **{str(n): n for n in range(2, 10)}, "T": 10, "J": 10, "Q": 10, "K": 10}
Card = str  # rank and suit, such as "7s"; "T-" if its suit cannot matter
Shoe = tuple[tuple[Card, int], ...]
Policy = Callable[[str, str, bool, int, str], str]  # (ranks, upcard, whether split, times doubled, legal) -> letter
Ended = tuple[str, int, int, Fraction]  # how it ended, points, stake, what 21 pays


def total(cards: tuple[Card, ...]) -> tuple[int, bool]:
    hard = sum(POINTS[card[0]] for card in cards)
    ace = any(card[0] == "A" for card in cards)
    return (hard + 10, True) if ace and hard <= 11 else (hard, False)


def sort(cards: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(sorted(cards))


def unsuited(shoe: Shoe) -> Shoe:
    ranks: dict[str, int] = {}
    for card, count in shoe:
        ranks[card[0]] = ranks.get(card[0], 0) + count
    return tuple(sorted(ranks.items()))


def draws(shoe: Shoe) -> Iterator[tuple[Card, Fraction, Shoe]]:
    size = sum(count for _, count in shoe)
    assert size, "the shoe has run out in the middle of a round"
    for card, count in shoe:
        rest = tuple((other, left - (other == card)) for other, left in shoe if left > (other == card))
        yield card, Fraction(count, size), rest


class SuitedShoe:
    """cards: text such as "7s 7h T- T-"."""

    def __init__(self, rules: Rules, cards: str) -> None:
        self.rules = rules
        held = sorted(cards.split())
        self.shoe: Shoe = tuple((card, held.count(card)) for card in dict.fromkeys(held))
        self.dealer = cache(self._dealer)

    def bonus(self, cards: tuple[Card, ...]) -> Fraction:
        """What a hand that has not doubled wins per bet."""
        ranks, suits, points = sorted(card[0] for card in cards), {card[1] for card in cards}, total(cards)[0]
        if points != 21:
            return Fraction(1)
        if self.rules.bonuses == "super-fun":
            return Fraction(2 if len(cards) >= 5 else 1)
        if self.rules.bonuses == "spanish":
            if ranks in (["6", "7", "8"], ["7", "7", "7"]):
                return Fraction(3, 2) if len(suits) > 1 else Fraction(3) if suits == {"s"} else Fraction(2)
            return {5: Fraction(3, 2), 6: Fraction(2), 7: Fraction(3)}.get(min(len(cards), 7), Fraction(1))
        return Fraction(1)

    def legal(self, cards: tuple[Card, ...], split: str, doubled: int, hands: int) -> str:
        rules = self.rules
        points, _ = total(cards)
        if points >= 21 or len(cards) == rules.charlie:
            return ""
        if doubled:
            letters = "S" + "D" * (doubled < rules.max_doubles) + "R" * rules.surrender_after_double
            return letters if letters != "S" else ""
        fresh = len(cards) == 2
        pair = fresh and POINTS[cards[0][0]] == POINTS[cards[1][0]] and rules.split_by != "never"
        pair = pair and hands < rules.max_hands and (split != "A" or rules.resplit_aces)
        if split == "A" and not rules.hit_split_aces:
            return "SP" if pair else ""
        letters = "SHP" if pair else "SH"
        if fresh or rules.double_cards == "any":
            letters += "D"
        if fresh or rules.surrender_cards == "any":
            letters += "R" * (rules.surrender == "late" and (not split or rules.surrender_after_split))
        return letters

    def _dealer(self, cards: tuple[Card, ...], rest: Shoe) -> dict[int, Fraction]:
        """The dealer's final points: 0 for a bust, 22 for a natural. Suits do not matter."""
        points, soft = total(cards)
        if points > 21:
            return {0: Fraction(1)}
        if points >= 17 and not (points == 17 and soft and self.rules.hit_soft_17):
            return {22 if len(cards) == 2 and points == 21 else points: Fraction(1)}
        scores: dict[int, Fraction] = {}
        for card, p, left in draws(rest):
            for score, q in self.dealer(sort((*cards, card)), left).items():
                scores[score] = scores.get(score, Fraction(0)) + p * q
        return scores

    def paid(self, hand: Ended, dealer: int) -> Fraction:
        end, points, stake, pays = hand
        rules = self.rules
        if end == "bust":
            return Fraction(-stake)
        if end == "surrendered":
            return Fraction(-stake, 2)
        if end == "natural":
            return rules.blackjack_pays if dealer != 22 or rules.natural_beats_natural else Fraction(0)
        if points == 21 and (rules.player_21_wins or pays > 1):
            return stake * pays
        if end == "charlie":
            return Fraction(stake)
        if dealer == 22:
            return Fraction(-1 if rules.no_hole_loses == "original-and-busted" else -stake)
        return Fraction(stake * ((points > dealer) - (points < dealer)))

    def value(self, policy: Policy, power: int = 1) -> Fraction:
        """The mean profit of a round, or of a power of it."""
        total_ev = Fraction(0)
        for up, p, rest in draws(self.shoe):
            for hole, q, left in draws(rest):
                total_ev += p * q * self._round(policy, up, hole, left, power)
        return total_ev

    def _round(self, policy: Policy, up: Card, hole: Card, shoe: Shoe, power: int) -> Fraction:
        rules = self.rules
        dealer_natural = total((up, hole)) == (21, True)

        @cache
        def play(
            cards: tuple[Card, ...], split: str, doubled: int, pending: tuple[Card, ...], hands: int,
            done: tuple[Ended, ...], rest: Shoe,
        ) -> Fraction:  # fmt: skip
            if len(cards) == 1:
                return sum((p * play(sort((*cards, card)), split, 0, pending, hands, done, left)
                            for card, p, left in draws(rest)), Fraction(0))  # fmt: skip
            letters = self.legal(cards, split, doubled, hands)
            ranks = split + "".join(card[0] for card in cards).replace(split, "", bool(split))
            action = policy(ranks, up[0], bool(split), doubled, letters) if letters else "S"
            assert not letters or action in letters
            if action in "HD":
                ev, more = Fraction(0), doubled + (action == "D")
                for card, p, left in draws(rest):
                    ev += p * play(sort((*cards, card)), split, more, pending, hands, done, left)
                return ev
            if action == "P":
                return play(cards[:1], cards[0][0], 0, (cards[1], *pending), hands + 1, done, rest)
            points = total(cards)[0]
            end = "bust" if points > 21 else "natural" if points == 21 and len(cards) == 2 and not split else "stood"
            end = "charlie" if len(cards) == rules.charlie and points <= 21 else end
            end = "surrendered" if action == "R" else end
            pays = Fraction(1) if doubled else self.bonus(cards)
            ended = tuple(sorted((*done, (end, points, 2**doubled, pays))))
            if pending:
                return play(pending[:1], pending[0][0], 0, pending[1:], hands, ended, rest)
            if all(each[0] in ("bust", "surrendered") for each in ended):
                return sum((self.paid(each, 0) for each in ended), Fraction(0)) ** power
            scores = self.dealer(sort((up[0], hole[0])), unsuited(rest))
            return sum((q * sum((self.paid(each, score) for each in ended), Fraction(0)) ** power
                        for score, q in scores.items()), Fraction(0))  # fmt: skip

        ev = Fraction(0)
        for one, p, rest in draws(shoe):
            for other, q, left in draws(rest):
                if rules.peek and dealer_natural:
                    natural = total((one, other)) == (21, True)
                    ev += p * q * self.paid(("natural" if natural else "stood", 0, 1, Fraction(1)), 22) ** power
                else:
                    ev += p * q * play(sort((one, other)), "", 0, (), 1, (), left)
        return ev

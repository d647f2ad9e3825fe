"""A round from a tiny shoe, dealt in every possible way in exact fractions: nothing is shared with bjsim but `Rules`.

Split hands are played one after the other, as at a table, each drawing from what the ones before have left, and the
dealer draws last. Slow, and written to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

from bjsim.sim.game.rules import Rules

POINTS = {"A": 1, **{str(n): n for n in range(2, 10)}, "T": 10, "J": 10, "Q": 10, "K": 10}
Policy = Callable[[str, str, str, str], str]  # (hand, what the dealer shows, rank it was split from, legal) -> letter
Hand = tuple[str, int, int, int]  # how it ended, points, stake, what it can lose
FREE = "+"  # after the rank that a hand was split from, if the house put up its bet


class OutOfCards(Exception):
    """The shoe has run out in the middle of a round."""


def total(cards: str) -> tuple[int, bool]:
    hard = sum(POINTS[card] for card in cards)
    return (hard + 10, True) if "A" in cards and hard <= 11 else (hard, False)


def sort(cards: str) -> str:
    return "".join(sorted(cards, key="A23456789TJQK".index))


def less(cards: str, gone: str) -> str:
    for card in gone:
        if card not in cards:
            raise OutOfCards
        cards = cards.replace(card, "", 1)
    return cards


def draws(cards: str) -> Iterator[tuple[str, Fraction]]:
    """Each card that can come next, with its probability."""
    if not cards:
        raise OutOfCards
    for card in dict.fromkeys(cards):
        yield card, Fraction(cards.count(card), len(cards))


class TinyShoe:
    """cards: all cards of the shoe, as letters. By value, T stands for every ten-valued card."""

    def __init__(self, rules: Rules, cards: str) -> None:
        self.rules = rules
        self.cards = sort(cards)
        self.dealer = cache(self._dealer)
        self.settled = cache(self._settled)
        self.best = cache(self._best)

    # --- the rules

    def natural(self, cards: str, split: str = "") -> bool:
        if self.rules.naturals == "none" or len(cards) != 2 or total(cards) != (21, True):
            return False
        return not split or (POINTS[split] == 10 and self.rules.split_tens_blackjack)

    def dealer_natural(self, cards: str) -> bool:
        return self.rules.naturals == "both" and len(cards) == 2 and total(cards) == (21, True)

    def legal(self, cards: str, split: str, hands: int) -> str:
        rules = self.rules
        points, soft = total(cards)
        if points > 21 or len(cards) == rules.charlie or self.natural(cards, split):
            return ""
        if points == 21 and rules.stand_on_21:
            return ""
        fresh = len(cards) == 2
        alike = cards[0] == cards[1] or (rules.split_by == "value" and POINTS[cards[0]] == POINTS[cards[1]])
        limit = rules.max_hands if cards[0] != "A" or rules.max_ace_hands == "none" else float(rules.max_ace_hands)
        pair = fresh and alike and rules.split_by != "never" and hands < limit
        if split == "A":
            pair = pair and rules.resplit_aces
            if not rules.hit_split_aces:
                return "SP" if pair else ""
        letters = "SHP" if pair else "SH"
        any_cards = rules.double_cards == "any"
        if (fresh or any_cards) and rules.double_on != "never" and (not split or rules.double_after_split):
            low, high = (0, 21) if rules.double_on == "any" else map(int, rules.double_on.split("-"))
            if low <= points <= high and not (soft and rules.double_on != "any"):
                letters += "D"
        if "D" not in letters and self.doubles_free(cards) and (not split or rules.double_after_split):
            letters += "D"
        if fresh and rules.surrender != "none" and (not split or rules.surrender_after_split):
            letters += "R"
        return letters

    def doubles_free(self, cards: str) -> bool:
        points, soft = total(cards)
        if self.rules.free_doubles == "none" or soft or (len(cards) > 2 and self.rules.free_double_cards == "two"):
            return False
        low, high = map(int, self.rules.free_doubles.split("-"))
        return low <= points <= high

    def early(self, shown: str) -> bool:
        """Whether a hand is surrendered before the dealer looks for a natural."""
        kinds = {"early": (1, 10), "early-ten": (10,), "early-ace": (1,)}
        return len(shown) == 1 and POINTS[shown] in kinds.get(self.rules.surrender, ())

    def ending(self, cards: str, split: str = "") -> str:
        """How a hand ends that is not drawn to."""
        if total(cards)[0] > 21:
            return "bust"
        return "natural" if self.natural(cards, split) else "charlie" if len(cards) == self.rules.charlie else "stood"

    # --- the dealer and the money

    def _dealer(self, cards: str, rest: str) -> dict[int, Fraction]:
        """Distribution of the dealer's score: 0 for a bust, 22 for a natural, -22 for a 22 that pushes."""
        points, soft = total(cards)
        if self.dealer_natural(cards):
            return {22: Fraction(1)}
        again = points == 17 and soft and self.rules.hit_soft_17
        if points >= self.rules.dealer_stands_on and not again:
            push = points == 22 and self.rules.dealer_22_pushes
            return {points if points <= 21 else -22 if push else 0: Fraction(1)}
        scores: dict[int, Fraction] = {}
        for card, p in draws(rest):
            for score, q in self.dealer(sort(cards + card), less(rest, card)).items():
                scores[score] = scores.get(score, Fraction(0)) + p * q
        return scores

    def paid(self, hand: Hand, score: int) -> Fraction:
        rules, (end, points, stake, own) = self.rules, hand
        if end == "bust":
            return Fraction(-own)
        if end == "insured":
            return Fraction(1) if score == 22 else Fraction(-1, 2)
        if end == "surrendered":
            return Fraction(-1, 2)
        if end == "charlie":
            return Fraction(stake)
        if end == "natural":
            if score != 22 or rules.natural_beats_natural:
                return rules.blackjack_pays
            points = 22
        if rules.player_21_wins and end == "stood" and points == 21:
            return Fraction(stake)
        if score == -22:
            return Fraction(0)
        if points == score:
            return Fraction(-own if rules.ties == "lose" else 0)
        return Fraction(stake if points > score else -own)

    def _settled(self, hands: tuple[Hand, ...], dealer: str, rest: str, power: int = 1) -> Fraction:
        """What finished hands win in the end; the mean of its `power`."""
        if all(end == "bust" for end, *_ in hands) and self.rules.no_hole_loses == "all":
            return Fraction(-sum(own for *_, own in hands)) ** power
        ev = Fraction(0)
        for score, p in self.dealer(dealer, rest).items():
            paid = sum((self.paid(hand, score) for hand in hands), Fraction(0))
            ev += p * (self.lost(hands) if score == 22 and self.rules.no_hole_loses == "original" else paid) ** power
        return ev

    def lost(self, hands: tuple[Hand, ...]) -> Fraction:
        """What a seat wins against a natural that takes one bet."""
        insurance = Fraction(sum(end == "insured" for end, *_ in hands))
        played = [hand for hand in hands if hand[0] != "insured"]
        if len(played) == 1 and played[0][0] in ("natural", "surrendered"):
            return insurance + self.paid(played[0], 22)
        return insurance - 1

    # --- a round with a given policy

    def starts(self) -> Iterator[tuple[str, Fraction]]:
        """What the dealer can show, with its probability."""
        for one, p in draws(self.cards):
            if self.rules.dealer_shows == "up":
                yield one, p
                continue
            for other, q in draws(less(self.cards, one)):
                yield one + other, p * q

    def value(self, policy: Policy, power: int = 1) -> Fraction:
        """Expected profit of a round, or the mean of another `power` of the profit."""
        ev = Fraction(0)
        for shown, p in self.starts():
            rest = less(self.cards, shown)
            holes = draws(rest) if self.rules.dealer_shows == "up" else [("", Fraction(1))]
            for hole, q in holes:
                bets = 2 if self.rules.attack and policy("", shown, "", "AS") == "A" else 1
                ev += p * q * bets**power * self._dealt(policy, shown, sort(shown + hole), less(rest, hole), power)
        return ev

    def _dealt(self, policy: Policy, shown: str, dealer: str, rest: str, power: int) -> Fraction:
        @cache
        def play(cards: str, split: str, pending: int, hands: int, done: tuple[Hand, ...], rest: str) -> Fraction:
            """What the hands from here on win. pending: hands of one card after this one."""
            if len(cards) == 1:
                return sum((p * play(sort(cards + card), split, pending, hands, done, less(rest, card))
                            for card, p in draws(rest)), Fraction(0))  # fmt: skip
            letters = self.legal(cards, split, hands)
            pair = "T" if split and POINTS[split] == 10 else split
            free = bool(pair) and pair in self.rules.free_splits and any(hand[0] != "insured" for hand in done)
            action = policy(cards, shown, split + FREE * free, letters) if letters else "S"
            assert not letters or action in letters
            points = total(cards)[0]
            if action == "R":
                return go_on(("surrendered", points, 1, 1), split, pending, hands, done, rest)
            if action == "P":
                return play(cards[0], cards[0], pending + 1, hands + 1, done, rest)
            if action == "S":
                end = self.ending(cards, split)
                return go_on((end, points, 1, 1 - free), split, pending, hands, done, rest)
            ev = Fraction(0)
            for card, p in draws(rest):
                after, left = sort(cards + card), less(rest, card)
                if action == "H":
                    ev += p * play(after, split, pending, hands, done, left)
                else:
                    own = 2 - free - self.doubles_free(cards)
                    hand = self.ending(after), total(after)[0], 2, own
                    ev += p * go_on(hand, split, pending, hands, done, left)
            return ev

        def go_on(hand: Hand, split: str, pending: int, hands: int, done: tuple[Hand, ...], rest: str) -> Fraction:
            done = tuple(sorted((*done, hand)))
            if pending:
                return play(split, split, pending - 1, hands, done, rest)
            return self.settled(done, dealer, rest, power)

        ev = Fraction(0)
        for one, p in draws(rest):
            for other, q in draws(less(rest, one)):
                cards = sort(one + other)
                left = less(rest, cards)
                offered = self.rules.insurance and shown == "A"
                insured = offered and policy(cards, shown, "", "IS") == "I"
                bets: tuple[Hand, ...] = (("insured", 0, 1, 1),) if insured else ()
                if self.rules.peek and self.dealer_natural(dealer):
                    letters = self.legal(cards, "", 1) if self.early(shown) else ""
                    given_up = "R" in letters and policy(cards, shown, "", letters) == "R"
                    end = "natural" if self.natural(cards) else "surrendered" if given_up else "stood"
                    won = sum((self.paid(bet, 22) for bet in (*bets, (end, total(cards)[0], 1, 1))), Fraction(0))
                    ev += p * q * won**power
                else:
                    ev += p * q * play(cards, "", 0, 1, bets, left)
        return ev

    # --- the best play of one hand by its cards

    def _best(self, cards: str, shown: str, gone: str, letters: str) -> tuple[str, dict[str, Fraction]]:
        """Return the best of stand, hit and double, and its value for each possible hole card.

        gone: further cards known to be out of the shoe, and FREE. letters: the actions allowed now.
        """
        split, free, gone = gone, FREE in gone, gone.strip(FREE)
        rest = less(self.cards, shown + cards + gone)
        holes = list(dict.fromkeys(rest)) if self.rules.dealer_shows == "up" else [""]
        holes = [hole for hole in holes if not (self.rules.peek and self.dealer_natural(shown + hole))]

        def stood(hand: str, hole: str, left: str, end: str = "stood", stake: int = 1, own: int = 1 - free) -> Fraction:
            points = total(hand)[0]
            return self.settled((("bust" if points > 21 else end, points, stake, own),), sort(shown + hole), left)

        ev: dict[str, dict[str, Fraction]] = {}
        for action in "SHD":
            if action != "S" and action not in letters:
                continue
            ev[action] = {}
            for hole in holes:
                left = less(rest, hole)
                if action == "S":
                    end = self.ending(cards) if not letters else "stood"
                    ev[action][hole] = stood(cards, hole, left, end)
                    continue
                value = Fraction(0)
                for card, p in draws(left):
                    after = sort(cards + card)
                    if action == "D":
                        own = 2 - free - self.doubles_free(cards)
                        value += p * stood(after, hole, less(left, card), self.ending(after), 2, own)
                    elif total(after)[0] > 21:
                        value -= p * (not free)
                    else:
                        more = "".join(letter for letter in "SHD" if letter in self.legal(after, gone, 99))
                        value += p * self.best(after, shown, split, more)[1][hole]
                ev[action][hole] = value
        weight = {hole: rest.count(hole) if hole else 1 for hole in holes}
        mean = {action: sum(weight[hole] * ev[action][hole] for hole in holes) for action in ev}
        action = max(ev, key=mean.__getitem__)
        naturals = sum(self.dealer_natural(shown + hole) for hole in rest) if self.early(shown) else 0
        if "R" in letters and mean[action] - naturals < Fraction(-sum(weight.values()) - naturals, 2):
            return "R", {hole: Fraction(-1, 2) for hole in holes}
        return action, ev[action]

"""A round from a tiny shoe, dealt in every possible way in exact fractions: nothing is shared with bjsim but `Rules`
and the rows of charts.

Split hands are played one after the other, as at a table, each drawing from what the ones before have left, and the
dealer draws last. Slow, and written to be read.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from bjsim.sim.game.cards import parse_rank
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart

POINTS = {"A": 1, **{str(n): n for n in range(2, 10)}, "T": 10, "J": 10, "Q": 10, "K": 10}
Policy = Callable[[str, str, str, str], str]  # (hand, what the dealer shows, rank it was split from, legal) -> letter
FREE, DOUBLED = "+", "x"  # after the rank that a hand was split from: the house put up its bet; once for each double
NATURAL = 22  # the dealer's score


class Hand(NamedTuple):
    """How a hand ended, its points, its stake, what it can lose, and how many times its stake it wins."""

    end: str
    points: int
    stake: int
    own: int
    times: Fraction | int = 1


class Account(NamedTuple):
    """What a hand wins by itself against a natural, and what is tied; `kind`: how it ended, or that it is settled."""

    kind: str
    net: Fraction | int
    tied: int


class OutOfCards(Exception):
    """The shoe has run out in the middle of a round."""


@cache
def suited_meld(cards: str, decks: int) -> Fraction:
    """What 6-7-8 and 7-7-7 win on average over the suits: 3:2, 2:1 if of one suit, 3:1 in spades; 0 decks: infinite."""
    suits = [suit for _ in range(decks or 1) for suit in "shdc"]
    hands: Iterable[tuple[str, ...]] = itertools.product(suits, repeat=3)
    if decks and cards == "777":
        hands = itertools.combinations(suits, 3)
    paid = [Fraction(3, 2) if len(set(hand)) > 1 else Fraction(3 if hand[0] == "s" else 2) for hand in hands]
    return sum(paid, Fraction(0)) / len(paid)


@cache
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


def follow(chart: Chart) -> Policy:
    """A chart as a policy; its rows are looked up by bjsim."""

    def policy(hand: str, shown: str, split: str, legal: str) -> str:
        if legal == "IS":
            return chart.insurance
        return chart.policy(find_state(hand, split) if hand else HandState(), chart.states.column(shown), legal)

    @cache
    def find_state(hand: str, split: str) -> HandState:
        split_from, ranks = split.strip(FREE + DOUBLED), map(parse_rank, hand)
        return chart.states.hand(ranks, bool(split_from), FREE in split, split.count(DOUBLED))

    return policy


class TinyShoe:
    """A shoe of a few cards, given as letters. By value, T stands for every ten-valued card.

    Where ties are replayed, `tie` is the value of a tied bet.
    """

    def __init__(self, rules: Rules, cards: str, tie: Fraction | int = 0) -> None:
        self.rules, self.tie = rules, tie
        self.cards = sort(cards)
        self.dealer = cache(self._dealer)
        self.settled = cache(self._settled)
        self.best = cache(self._best)

    def draws(self, cards: str) -> Iterator[tuple[str, Fraction]]:
        return draws(cards)

    def less(self, cards: str, gone: str) -> str:
        return less(cards, gone)

    # --- the rules

    def natural(self, cards: str, split: str = "") -> bool:
        if self.rules.naturals == "none" or len(cards) != 2 or total(cards) != (21, True):
            return False
        rules, points = self.rules, POINTS[split[0]] if split else 0
        return (
            not split or (points == 10 and rules.split_tens_blackjack) or (points == 1 and rules.split_aces_blackjack)
        )

    def dealer_natural(self, cards: str) -> bool:
        return self.rules.naturals == "both" and len(cards) == 2 and total(cards) == (21, True)

    def legal(self, cards: str, split: str, hands: int, doubled: int = 0) -> str:
        rules = self.rules
        points, soft = total(cards)
        if points > 21 or len(cards) == rules.charlie or self.natural(cards, split):
            return ""
        if points == 21 and rules.stand_on_21:
            return ""
        if doubled:
            letters = (
                "D" * (doubled < rules.max_doubles and self.doubles(points, soft)) + "R" * rules.surrender_after_double
            )
            return "S" + letters if letters else ""
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
        if (fresh or any_cards) and self.doubles(points, soft) and (not split or rules.double_after_split):
            letters += "D"
        if "D" not in letters and self.doubles_free(cards) and (not split or rules.double_after_split):
            letters += "D"
        if rules.surrender != "none" and (not split or rules.surrender_after_split):
            letters += "R" * (fresh or rules.surrender_cards == "any")
        return letters

    def doubles(self, points: int, soft: bool) -> bool:
        if self.rules.double_on in ("any", "never"):
            return self.rules.double_on == "any"
        low, high = map(int, self.rules.double_on.split("-"))
        return low <= points <= high and not soft

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

    def ended(self, cards: str, split: str = "", stake: int = 1, own: int = 1, doubled: bool = False) -> Hand:
        """How a hand ends that is not drawn to."""
        points, _ = total(cards)
        times = self.times(cards, doubled)
        at_once = self.rules.bonuses in ("at-once", "super-fun") and times > 1
        if points > 21:
            end = "bust"
        elif self.natural(cards, split):
            end = "natural"
        elif len(cards) == self.rules.charlie or at_once or (self.rules.player_21_wins and points == 21):
            end = "won"
        else:
            end = "stood"
        return Hand(end, points, stake, own, times)

    def times(self, cards: str, doubled: bool) -> Fraction | int:
        """What a hand wins per bet by its bonus."""
        rules, meld, many = self.rules, sort(cards), len(cards)
        if rules.bonuses in ("spanish", "super-fun") and (doubled or total(cards)[0] != 21):
            return 1
        if rules.bonuses == "super-fun":
            return 2 if many >= 5 else 1
        if rules.bonuses == "spanish":
            if meld in ("678", "777"):
                return suited_meld(meld, 0 if rules.infinite else int(rules.decks))
            return Fraction(3, 2) if many == 5 else 2 if many == 6 else 3 if many > 6 else 1
        if rules.bonuses in ("win", "at-once"):
            return 3 if many > 5 or meld == "777" else 2 if many == 5 or meld == "678" else 1
        return 1

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
        for card, p in self.draws(rest):
            for score, q in self.dealer(sort(cards + card), self.less(rest, card)).items():
                scores[score] = scores.get(score, Fraction(0)) + p * q
        return scores

    def paid(self, hand: Hand, score: int) -> tuple[Fraction | int, int]:
        """What a hand wins by itself, and what is tied and replayed."""
        rules, (end, points, stake, own, times) = self.rules, hand
        if end == "bust":
            return -own, 0
        if end == "insured":
            return 1 if score == NATURAL else Fraction(-1, 2), 0
        if end == "surrendered":
            return Fraction(-stake, 2), 0
        if end == "won":
            return stake * times, 0
        natural, special = end == "natural", score == NATURAL
        if natural and not (special and not rules.natural_beats_natural):
            return rules.blackjack_pays, 0
        if score == -22:
            return 0, 0
        if natural or points == score or (points == 21 and special and not rules.natural_beats_21):
            return -own if rules.ties == "lose" else 0, stake if rules.ties == "replay" else 0
        return stake * times if points > score else -own, 0

    def _settled(self, hands: tuple[Hand, ...], dealer: str, rest: str, power: int = 1) -> Fraction:
        """What finished hands win in the end; the mean of its `power`."""
        if all(hand.end == "bust" for hand in hands) and self.rules.no_hole_loses == "all":
            return Fraction(-sum(hand.own for hand in hands)) ** power
        ev = Fraction(0)
        for score, p in self.dealer(dealer, rest).items():
            net, tied = self.together(hands, score)
            ev += p * (net + tied * self.tie) ** power
        return ev

    def together(self, hands: Iterable[Hand], score: int) -> tuple[Fraction | int, int]:
        """What the hands of a seat win together, and what is tied."""
        if score == NATURAL and self.rules.no_hole_loses != "all":
            return self.taken([self.account(hand) for hand in hands])
        paid = [self.paid(hand, score) for hand in hands]
        return sum(net for net, _ in paid), sum(tied for _, tied in paid)

    def account(self, hand: Hand) -> Account:
        """What a hand wins by itself against a natural."""
        settled = hand.end in ("won", "surrendered") or (hand.end == "natural" and self.rules.natural_beats_natural)
        return Account("settled" if settled else hand.end, *self.paid(hand, NATURAL))

    def taken(self, accounts: Sequence[Account]) -> tuple[Fraction | int, int]:
        """What the hands of a seat win together against a natural that does not take all bets, and what is tied."""
        insurance = [each.net for each in accounts if each.kind == "insured"]
        hands = [each for each in accounts if each.kind != "insured"]
        nets, tied = [each.net for each in hands], sum(each.tied for each in hands)
        losing = [n for n, each in enumerate(hands) if each.kind in ("stood", "natural") and each.net < 0]
        if self.rules.no_hole_loses != "original":
            each_loses = self.rules.no_hole_loses == "original-and-busted"
            nets = [-int(each_loses or n == losing[0]) if n in losing else net for n, net in enumerate(nets)]
        elif len(hands) > 1:  # the original bet, next to what was won at once
            nets, tied = [each.net for each in hands if each.kind == "settled"] + [-1], 0
        elif hands[0].kind in ("stood", "bust"):
            nets = [-1]
        return sum(nets) + sum(insurance), tied

    # --- a round with a given policy

    def starts(self) -> Iterator[tuple[str, Fraction]]:
        """What the dealer can show, with its probability."""
        for one, p in self.draws(self.cards):
            if self.rules.dealer_shows == "up":
                yield one, p
                continue
            for other, q in self.draws(self.less(self.cards, one)):
                yield one + other, p * q

    def value(self, policy: Policy, power: int = 1) -> Fraction:
        """Expected profit of a round, or the mean of another `power` of the profit."""
        return sum((won for *_, won in self.deals(policy, power)), Fraction(0))

    def deals(
        self, policy: Policy, power: int = 1, knows_hole: bool = False
    ) -> Iterator[tuple[str, str, str, Fraction, Fraction]]:
        """What the dealer shows, its other card, the player's first, the probability, and what it adds to the value.

        If `knows_hole`, the policy is given both of the dealer's cards from the first decision on.
        """
        for shown, p in self.starts():
            rest = less(self.cards, shown)
            bets = 2 if self.rules.attack and policy("", shown, "", "AS") == "A" else 1
            for hole, q in draws(rest) if self.rules.dealer_shows == "up" else [("", Fraction(1))]:
                left = less(rest, hole)
                follow = (lambda hand, _, *more, seen=shown + hole: policy(hand, seen, *more)) if knows_hole else policy
                for first, won in self._dealt(follow, shown, sort(shown + hole), left, power).items():
                    chance = p * q * Fraction(left.count(first), len(left))
                    yield shown, hole, first, chance, p * q * bets**power * won

    def _dealt(self, policy: Policy, shown: str, dealer: str, rest: str, power: int) -> dict[str, Fraction]:
        """What the first card of the player adds to the value of a round, by card."""

        @cache
        def play(
            cards: str, split: str, pending: int, hands: int, done: tuple[Hand, ...], rest: str, doubled: int = 0
        ) -> Fraction:
            """What the hands from here on win. pending: hands of one card after this one."""
            if len(cards) == 1:
                return sum((p * play(sort(cards + card), split, pending, hands, done, less(rest, card))
                            for card, p in draws(rest)), Fraction(0))  # fmt: skip
            letters = self.legal(cards, split, hands, doubled)
            pair = "T" if split and POINTS[split] == 10 else split
            free = bool(pair) and pair in self.rules.free_splits and any(hand.end != "insured" for hand in done)
            own = 2**doubled - free
            action = policy(cards, shown, split + FREE * free + DOUBLED * doubled, letters) if letters else "S"
            assert not letters or action in letters
            if action == "R":
                return go_on(Hand("surrendered", 0, 2**doubled, own), split, pending, hands, done, rest)
            if action == "P":
                return play(cards[0], cards[0], pending + 1, hands + 1, done, rest)
            if action == "S":
                hand = self.ended(cards, split, 2**doubled, own, doubled > 0)
                return go_on(hand, split, pending, hands, done, rest)
            ev = Fraction(0)
            for card, p in draws(rest):
                after, left = sort(cards + card), less(rest, card)
                if action == "H":
                    ev += p * play(after, split, pending, hands, done, left)
                elif self.legal(after, split, hands, doubled + 1):
                    ev += p * play(after, split, pending, hands, done, left, doubled + 1)
                else:
                    stake = 2 ** (doubled + 1)
                    hand = self.ended(after, split, stake, stake - free - self.doubles_free(cards), True)
                    ev += p * go_on(hand, split, pending, hands, done, left)
            return ev

        def go_on(hand: Hand, split: str, pending: int, hands: int, done: tuple[Hand, ...], rest: str) -> Fraction:
            done = tuple(sorted((*done, hand)))
            if pending:
                return play(split, split, pending - 1, hands, done, rest)
            return self.settled(done, dealer, rest, power)

        found: dict[str, Fraction] = {}
        for one, p in draws(rest):
            found[one] = Fraction(0)
            for other, q in draws(less(rest, one)):
                cards = sort(one + other)
                left = less(rest, cards)
                offered = self.rules.insurance and shown == "A"
                insured = offered and policy(cards, shown, "", "IS") == "I"
                bets = (Hand("insured", 0, 1, 1),) if insured else ()
                if self.rules.peek and self.dealer_natural(dealer):
                    letters = self.legal(cards, "", 1) if self.early(shown) else ""
                    given_up = "R" in letters and policy(cards, shown, "", letters) == "R"
                    hand = Hand("surrendered", 0, 1, 1) if given_up else self.ended(cards)
                    net, tied = self.together((*bets, hand), NATURAL)
                    found[one] += p * q * (net + tied * self.tie) ** power
                else:
                    found[one] += p * q * play(cards, "", 0, 1, bets, left)
        return found

    # --- the best play of one hand by its cards

    def _best(self, cards: str, shown: str, gone: str, letters: str) -> tuple[str, dict[str, Fraction]]:
        """Return the best of stand, hit and double, and its value for each possible hole card.

        gone: further cards known to be out of the shoe, and FREE. letters: the actions allowed now.
        """
        split, free, gone = gone, FREE in gone, gone.strip(FREE)
        rest = less(self.cards, shown + cards + gone)
        holes = list(dict.fromkeys(rest)) if self.rules.dealer_shows == "up" else [""]
        holes = [hole for hole in holes if not (self.rules.peek and self.dealer_natural(shown + hole))]

        def settled(hand: Hand, hole: str, left: str) -> Fraction:
            return self.settled((hand,), sort(shown + hole), left)

        ev: dict[str, dict[str, Fraction]] = {}
        for action in "SHD":
            if action != "S" and action not in letters:
                continue
            ev[action] = {}
            for hole in holes:
                left = less(rest, hole)
                if action == "S":
                    stood = self.ended(cards, own=1 - free)
                    if letters and stood.end == "natural":  # a split hand that may hit
                        stood = stood._replace(end="won" if self.rules.player_21_wins else "stood")
                    ev[action][hole] = settled(stood, hole, left)
                    continue
                value = Fraction(0)
                for card, p in draws(left):
                    after = sort(cards + card)
                    if action == "D":
                        own = 2 - free - self.doubles_free(cards)
                        value += p * settled(self.ended(after, "", 2, own, True), hole, less(left, card))
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

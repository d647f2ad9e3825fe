"""The profits of a round in an infinite shoe with their probabilities, by all cards that a round can be dealt.

Nothing is shared with bjsim but `Rules` and the rows of charts. Given how the dealer's hand ends, the hands of a split
are independent, but for what a natural takes of them together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from bjsim.sim.game.rules import Rules
from support.tiny_shoe import DOUBLED, FREE, NATURAL, POINTS, Account, Hand, Policy, TinyShoe, sort

Ends = dict[Hand | None, float]  # None: the pair is split
Won = tuple[tuple[str, int], ...]  # in units, of the hands of a seat by how they ended; one without where sums do
SUITED = {Fraction(3, 2): 15 / 16, Fraction(2): 3 / 64, Fraction(3): 1 / 64}  # what 6-7-8 wins in Spanish 21


class EndlessShoe(TinyShoe):
    """Cards are drawn with replacement; ties must not be replayed, and hands need a limit."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules, "")
        tens = {"value": "T", "never": "T", "rank": "JQK" if rules.deck == "spanish" else "TJQK"}[rules.split_by]
        ten = float(rules.ten_probability)
        self.cards_drawn = {card: (1 - ten) / 9 for card in "A23456789"} | {card: ten / len(tens) for card in tens}

    def draws(self, cards: str) -> Iterator[tuple[str, float]]:  # type: ignore[override]
        yield from self.cards_drawn.items()

    def less(self, cards: str, gone: str) -> str:
        return cards

    def profits(self, policy: Policy) -> dict[Fraction | int, float]:
        """Profit of a round -> probability."""
        found: dict[Fraction | int, float] = defaultdict(float)
        for shown, p in self.starts():
            bets = 2 if self.rules.attack and policy("", shown, "", "AS") == "A" else 1
            scores: dict[int, float] = defaultdict(float)
            for hole, q in self.draws("") if self.rules.dealer_shows == "up" else [("", 1.0)]:
                if self.rules.peek and self.dealer_natural(sort(shown + hole)):
                    for net, r in self.looked(policy, shown).items():
                        found[bets * net] += p * q * r
                    continue
                for score, chance in self.dealer(sort(shown + hole), "").items():
                    scores[score] += q * float(chance)
            seat = SeatAgainst(self, policy, shown)
            for score, q in scores.items():
                for won, r in seat.round(score).items():
                    accounts = [Account(kind, Fraction(units, seat.unit), 0) for kind, units in won]
                    net = self.taken(accounts)[0] if seat.apart(score) else accounts[0].net
                    found[bets * net] += p * q * r
        return found

    def looked(self, policy: Policy, shown: str) -> dict[Fraction | int, float]:
        """Profit -> probability if the dealer has looked and has a natural."""
        found: dict[Fraction | int, float] = defaultdict(float)
        for cards, p in self.two_cards():
            letters = self.legal(cards, "", 1) if self.early(shown) else ""
            given_up = "R" in letters and policy(cards, shown, "", letters) == "R"
            hand = Hand("surrendered", 0, 1, 1) if given_up else self.ended(cards)
            found[self.together((*self.insured(policy, cards, shown), hand), NATURAL)[0]] += p
        return found

    def two_cards(self) -> Iterator[tuple[str, float]]:
        for one, p in self.draws(""):
            for other, q in self.draws(""):
                yield sort(one + other), p * q

    def insured(self, policy: Policy, cards: str, shown: str) -> tuple[Hand, ...]:
        offered = self.rules.insurance and shown == "A"
        return (Hand("insured", 0, 1, 1),) if offered and policy(cards, shown, "", "IS") == "I" else ()


class SeatAgainst:
    """The hands of a seat that follows a policy, against what the dealer shows."""

    def __init__(self, shoe: EndlessShoe, policy: Policy, shown: str) -> None:
        self.shoe, self.policy, self.shown = shoe, policy, shown
        self.unit = 4 * shoe.rules.blackjack_pays.denominator  # of a bet
        self.ends = cache(self._ends)
        self.split = cache(self._split)
        self.won = cache(self._won)
        self.add = cache(self._add)

    def apart(self, score: int) -> bool:
        """Whether what the hands win against this score depends on all of them."""
        return score == NATURAL and self.shoe.rules.no_hole_loses != "all"

    def round(self, score: int) -> dict[Won, float]:
        found: dict[Won, float] = defaultdict(float)
        for cards, p in self.shoe.two_cards():
            bets = self.shoe.insured(self.policy, cards, self.shown)
            for won, q in self.with_pairs(cards, "", 0, 1, score).items():
                for bet in bets:
                    won = self.add(won, self.won(bet, score))
                found[won] += p * q
        return found

    def _won(self, hand: Hand, score: int) -> Won:
        units = int(self.shoe.paid(hand, score)[0] * self.unit)
        return ((self.shoe.account(hand).kind, units),) if self.apart(score) else (("", units),)

    def _add(self, one: Won, other: Won) -> Won:
        both = sorted(one + other)
        return tuple(both) if both[0][0] else (("", sum(units for _, units in both)),)

    def with_pairs(self, cards: str, split: str, pending: int, hands: int, score: int) -> dict[Won, float]:
        """What two cards and the `pending` hands after them win."""
        found: dict[Won, float] = defaultdict(float)
        rest = self.split(split, pending, hands, score)
        for hand, p in self.ends(cards, split, hands).items():
            if hand is None:
                for won, q in self.split(cards[0], pending + 2, hands + 1, score).items():
                    found[won] += p * q
                continue
            own = self.won(hand, score)
            for won, q in rest.items():
                found[self.add(own, won)] += p * q
        return found

    def _split(self, split: str, pending: int, hands: int, score: int) -> dict[Won, float]:
        """What `pending` split hands of one card win."""
        if not pending:
            return {(): 1.0}
        found: dict[Won, float] = defaultdict(float)
        pair = "T" if split and POINTS[split[0]] == 10 else split[:1]
        free = pair in self.shoe.rules.free_splits and pending < hands
        for card, p in self.shoe.draws(""):
            cards = sort(split[0] + card)
            for won, q in self.with_pairs(cards, split[0] + FREE * free, pending - 1, hands, score).items():
                found[won] += p * q
        return found

    def _ends(self, cards: str, split: str, hands: int, doubled: int = 0) -> Ends:
        shoe, free = self.shoe, FREE in split
        letters = shoe.legal(cards, split.strip(FREE), hands, doubled)
        action = self.policy(cards, self.shown, split + DOUBLED * doubled, letters) if letters else "S"
        assert not letters or action in letters
        stake = 2**doubled
        if action == "R":
            return {Hand("surrendered", 0, stake, stake - free): 1.0}
        if action == "P":
            return {None: 1.0}
        if action == "S":
            return self.by_suits(shoe.ended(cards, split, stake, stake - free, doubled > 0), cards)
        found: Ends = defaultdict(float)
        for card, p in shoe.draws(""):
            after = sort(cards + card)
            if action == "H":
                ends = self.ends(after, split, hands)
            elif shoe.legal(after, split.strip(FREE), hands, doubled + 1):
                ends = self.ends(after, split, hands, doubled + 1)
            else:
                own = 2 * stake - free - shoe.doubles_free(cards)
                ends = self.by_suits(shoe.ended(after, split, 2 * stake, own, True), after)
            for hand, q in ends.items():
                found[hand] += p * q
        return found

    def by_suits(self, hand: Hand, cards: str) -> Ends:
        """Three cards that may be of one suit, as they are paid."""
        if self.shoe.rules.bonuses != "spanish" or hand.times == 1 or sort(cards) not in ("678", "777"):
            return {hand: 1.0}
        return {hand._replace(times=times): p for times, p in SUITED.items()}

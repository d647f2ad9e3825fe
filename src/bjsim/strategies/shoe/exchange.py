"""Whether to exchange the second cards of two hands: what they win each way, for the cards that are gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np

from bjsim.arrays import Floats, Ints
from bjsim.errors import InputError
from bjsim.sim.game.actions import View
from bjsim.sim.game.cards import TEN, parse_rank
from bjsim.sim.game.dealer import ACE, course
from bjsim.sim.game.hand_states import DEALER_NATURAL, Result
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.states import States
from bjsim.sim.running.workers import ForkedResult, is_fork_safe
from bjsim.strategies.exact.exchange import BETTER as BETTER
from bjsim.strategies.exact.exchange import ExchangeAutomaton
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.shoe.analysis import Analysis, ShoeStates
from bjsim.strategies.shoe.game import Game, ShownGame, make_game
from bjsim.strategies.shoe.hands import VALUES, Composition, Removed, encode_counts
from bjsim.strategies.shoe.present import action_values


def exchange_values(rules: Rules, first: str, second: str, shown: str) -> dict[str, float]:
    """Compute what a seat wins with two hands as dealt, and once their second cards are exchanged.

    The result is the expected profit of both hands together in initial bets of one, by letter: S keeps, X
    exchanges. The hands have their cards in the order of the deal; the dealer has no natural. In a finite shoe
    each hand is played for the cards of both and the dealer's, and not for those that the other draws, which
    changes no mean.
    """
    if rules.infinite or rules.bets == 1:
        return _infinite_values(_solved(rules), first, second, shown)
    try:
        ranks = [parse_rank(card) for card in (*first, *second, *shown)]
    except ValueError as error:
        raise InputError(str(error)) from None
    unseen = [count - ranks.count(rank) for rank, count in enumerate(rules.shoe_counts)]
    if len(first) != 2 or len(second) != 2 or min(unseen) < 0:
        raise InputError(f"{first} / {second} v {shown} is not accepted; give two hands of two cards of the shoe")
    plain = rules.replace(exchange="none")
    states = States(plain)

    def value(cards: str, exchanged: bool) -> float:
        hand = states.hand(min(parse_rank(card), TEN) for card in cards)
        ordinary = exchanged and rules.exchange == "21" and states.is_natural(hand)  # then it is as ace and ten split
        legal = states.against(states.column(shown)).legal(hand) or "S"
        return max(action_values(View.alone(plain, cards, shown, legal, ordinary), unseen).values())

    return {
        "S": value(first, False) + value(second, False),
        "X": value(first[0] + second[1], True) + value(second[0] + first[1], True),
    }


@lru_cache(maxsize=8)
def _solved(rules: Rules) -> Solver:
    return Solver(rules)


def _infinite_values(solver: Solver, first: str, second: str, shown: str) -> dict[str, float]:
    if not isinstance(solver.states, ExchangeAutomaton):
        raise InputError(f"{solver.rules}: cards are exchanged only with exchange = 21 or natural")
    label = solver.states.column(shown)
    if label not in solver.columns or len(first) != 2 or len(second) != 2:
        raise InputError(f"{first} / {second} v {shown} is not accepted; give two hands of two cards, and one card")
    ranks = [rank for rank, _ in solver.states.ranks]
    try:
        cards = tuple(ranks.index(min(parse_rank(card), ranks[-1])) for card in (*first, *second))
    except ValueError:
        raise InputError(f"{first} / {second} is not accepted; cards are A 2 to 9 T J Q K") from None
    keep, exchange = (float(profits[cards]) for profits in solver.states.profits(label))
    return {"S": keep, "X": exchange}


def seat_values(rules: Rules, view: View) -> dict[str, float]:
    """Compute the expected profit of the actions on one of two hands, by letter, in initial bets.

    The shoe is a full one without all cards of the seat, and the dealer's.
    """
    unseen = unseen_by(rules, view)
    if min(unseen) < 0:
        raise InputError(f"{view.hand} / {view.others} v {view.dealer}: the shoe has fewer of these cards")
    return action_values(view._replace(rules=rules.replace(exchange="none")), unseen)


def unseen_by(rules: Rules, view: View) -> list[int]:
    """The cards of each of the 13 ranks in a full shoe that a seat does not see in its hands, or the dealer's."""
    seen = [parse_rank(card) for card in view.hand + view.others + view.dealer]
    return [count - seen.count(rank) for rank, count in enumerate(rules.shoe_counts)]


def value_in_shoe(
    rules: Rules, shoe: Mapping[str, int] | None = None, progress: Callable[[float], object] = lambda done: None
) -> float:
    """Compute the value of a bet in a freshly shuffled shoe, with the best exchange.

    It takes about seven seconds on two cores. Hands are played by all their cards (cdz-) and those of the other hand
    as dealt, which are known by then; the dealer shows one card. The value is the expected profit of one of the two
    bets, in initial bets. `shoe` has the cards, if not the whole decks of `rules`; `progress` is called with the share
    that is done.
    """
    whole, game = Composition.of(rules, shoe), make_game(rules.replace(exchange="none"))
    shared = _Shared.of(game, whole, rules.exchange == "21")

    def total_of(starts: Sequence[int], progress: Callable[[float], object]) -> float:
        total = 0.0
        for done, start in enumerate(starts, 1):
            total += float(whole.values[start] / whole.values.sum()) * shared.value(start)
            progress(done / len(starts))
        return total

    halves = range(0, VALUES, 2), range(1, VALUES, 2)  # the second half runs in another process if it can
    other = ForkedResult(lambda: total_of(halves[1], lambda done: None)) if is_fork_safe() else None
    total = total_of(halves[0], progress)
    total += other.result() if other else total_of(halves[1], progress)
    if "I" in course(rules, ACE).before:  # for both bets, and by all four cards
        total += float(whole.values[0] / whole.values.sum()) * _insured(whole.values - game.dealer.known[0])
    if not course(rules, ACE).looks:
        return total
    size, (aces, tens) = whole.values.sum(), whole.values[[0, TEN]]
    natural, tie = 2 * aces * tens / (size * (size - 1)), 2 * (aces - 1) * (tens - 1) / ((size - 2) * (size - 3))
    states = game.states
    tied, lost = (game.paid(states.result(states.hand(cards)), DEALER_NATURAL, 0.0) for cards in ((0, TEN), (TEN, TEN)))
    return float(total + natural * (tie * tied + (1 - tie) * lost))


@dataclass(frozen=True)
class _Shared:
    """What does not depend on the dealer's upcard.

    By the two cards of the other hand: `shoes`, and what is `gone` as a hand is played, among `removed`.
    """

    game: Game
    whole: Composition
    ordinary: bool
    pairs: list[tuple[int, int]]
    shoes: list[Composition]
    gone: list[Ints]
    removed: Removed

    @staticmethod
    def of(game: Game, whole: Composition, ordinary: bool) -> _Shared:
        pairs = list(combinations_with_replacement(range(VALUES), 2))
        shoes = [_without(whole, pair) for pair in pairs]
        gone = [
            game.nodes(left).removed.keys + encode_counts(np.bincount(pair, minlength=VALUES))
            for pair, left in zip(pairs, shoes, strict=True)
        ]
        return _Shared(game, whole, ordinary, pairs, shoes, gone, Removed(np.unique(np.concatenate(gone))))

    def value(self, start: int) -> float:
        """The value of a bet against a card of the dealer, if there is no natural."""
        values, dealer = self.whole.values, self.game.dealer
        dealt, after = np.zeros((2, VALUES, VALUES, VALUES, VALUES))  # by the hand and the other's cards
        shown = ShownGame(self.game.rules, self.game, start)
        outcomes = dealer.hands[start].chances(values, self.removed, len(dealer.outcomes))
        for (one, other), cards, keys in zip(self.pairs, self.shoes, self.gone, strict=True):
            chances = outcomes[:, np.searchsorted(self.removed.keys, keys)]
            found = _hand_values(shown, cards, chances, self.ordinary)
            dealt[:, :, one, other] = dealt[:, :, other, one] = found[0]
            after[:, :, one, other] = after[:, :, other, one] = found[1]
        keep = dealt + dealt.transpose(2, 3, 0, 1)
        exchange = after.transpose(0, 3, 2, 1) + after.transpose(2, 1, 0, 3)  # [a, d, c, b] and [c, b, a, d]
        return float((_four_cards(values - dealer.known[start]) * np.maximum(keep, exchange)).sum()) / 2


def _without(whole: Composition, values: tuple[int, ...]) -> Composition:
    counts = list(whole.ranks)
    for value in values:
        counts[max(range(value, len(counts) if value == TEN else value + 1), key=counts.__getitem__)] -= 1
    return Composition(tuple(counts))


def _hand_values(game: Game, cards: Composition, dealer: Floats, ordinary: bool) -> tuple[Floats, Floats]:
    """The value of every two cards without a dealer's natural, dealt and after an exchange.

    The game has one start, and `dealer` are the chances of its outcomes, by what is missing from the `cards`.
    """
    shoe = ShoeStates(game, cards)
    shoe.dealer = dealer[None]
    play, two = Analysis(shoe).by_cards(0), game.hands.two
    dealt = play.value[two]
    np.fill_diagonal(dealt, play.value[shoe.layout.pairs : -1])
    after = dealt.copy()
    if ordinary:
        outcomes = game.dealer.outcomes
        paid = [0.0 if game.states.ends_round(o) else game.paid(Result("stood", 21), o, 0.0) for o in outcomes]
        after[0, TEN] = after[TEN, 0] = np.array(paid) @ shoe.dealer[0, :, shoe.nodes.gone[two[0, TEN]]]
    return dealt, after


def _insured(left: Floats) -> float:
    """What insurance wins against an ace, in bets, if it is taken where that is better."""
    tens = left[TEN] - sum((np.indices((VALUES,) * 4) == TEN).astype(int))
    return float((_four_cards(left) * np.maximum(3 * tens / (left.sum() - 4) - 1, 0)).sum()) / 2


def _four_cards(left: Floats) -> Floats:
    """The probability of four cards in order."""
    chance: Floats = np.ones((VALUES,) * 4)
    for drawn in range(4):
        counts = np.broadcast_to(left.reshape([-1 if axis == drawn else 1 for axis in range(4)]), chance.shape).copy()
        for before in range(drawn):
            same = np.eye(VALUES).reshape([VALUES if axis in (before, drawn) else 1 for axis in range(4)])
            counts -= same
        chance = chance * np.maximum(counts, 0) / (left.sum() - drawn)
    return chance

"""The exact figures of a side bet in any shoe."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.arguments import a_type, argument, names_wrong_types
from bjsim.arrays import Floats
from bjsim.errors import InputError
from bjsim.report.data import Described
from bjsim.report.parts import Bars, DataColumn, DataSeries, DataTable, Figures, Report, Value, percent, share
from bjsim.sim.game.cards import NORMAL_TENS, RANKS, TEN
from bjsim.sim.game.dealer import DealerStates
from bjsim.sim.game.presets import RulesLike, load_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.shoe.dealer import final_cards
from bjsim.strategies.sidebets.bets import (
    CONDITIONS,
    EACH,
    FINISHED,
    KINDS,
    SUITS,
    WITH_NATURAL,
    BetRules,
    Event,
    Mask,
    SuitedShoe,
    all_hands,
    load_bet,
    number_range,
    read_pays,
    switch,
    upcard_values,
)

# --- The dealer's finished hand, exactly, in any shoe: its total, cards, upcard and suits; it is always played out.


Counts = tuple[int, ...]
ONE_SUIT, ONE_COLOUR, MIXED = range(3)  # patterns of suits: of one suit, else of one colour, else of both
GROUPS = (("s", "h", "d", "c"), ("sc", "hd"), (SUITS,))  # suits of which all cards are, by pattern


class DealerHand(NamedTuple):
    """Cards by value with which a dealer ends, and the number of orders in which they are drawn, by the first one."""

    counts: Counts
    orders: tuple[int, ...]
    cards: int
    points: int


def dealer_hands(rules: Rules) -> tuple[DealerHand, ...]:
    return _hands(Rules(dealer_stands_on=rules.dealer_stands_on, hit_soft_17=rules.hit_soft_17))


@lru_cache(maxsize=8)
def _hands(rules: Rules) -> tuple[DealerHand, ...]:
    states = DealerStates(rules)
    found: dict[tuple[int, ...], tuple[int, list[int]]] = {}
    for first in range(TEN + 1):
        for cards, (state, orders) in final_cards(states, (first,)).items():
            points = state.points if state.points <= 21 else sum(cards) + len(cards)  # all states beyond 21 are one
            found.setdefault(cards, (points, [0] * (TEN + 1)))[1][first] = orders
    return tuple(
        DealerHand(tuple(map(cards.count, range(TEN + 1))), tuple(orders), len(cards), points)
        for cards, (points, orders) in found.items()
    )


def hand_events(bet: BetRules, rules: Rules) -> NDArray[np.int64]:
    """1 + the index of the event that takes a hand, or 0, by hand, upcard and pattern of suits.

    It is an error if an event can never happen, or earlier ones take all its hands.
    """
    orders, cards, points = (np.array(each) for each in [*zip(*dealer_hands(rules), strict=True)][1:])
    place = np.zeros((len(cards), TEN + 1, 3), np.int64)
    busts = cards[points > 21]
    for number, event in enumerate(bet.events, 1):
        mask = np.repeat(orders[:, :, None] > 0, 3, axis=2)
        for name, wanted in event.conditions.items():
            if name in ("bust", "total"):
                low, high = number_range(wanted, name, int((busts if name == "bust" else points).max()))
                seen = np.where(points > 21, cards, 0) if name == "bust" else points
                mask &= ((max(low, 1) <= seen) & (seen <= high))[:, None, None]
            elif name == "upcard":
                mask &= np.isin(np.arange(TEN + 1), upcard_values(wanted))[None, :, None]
            else:
                within = np.arange(3) <= (ONE_SUIT if name == "suited" else ONE_COLOUR)
                mask &= within == switch(name, wanted)
        free = mask & (place == 0)
        if not free.any():
            why = (
                f"a bust has {busts.min()} to {busts.max()} cards" if "bust" in event.conditions else "no hand is such"
            )
            why = "earlier events, which it overlaps, come first" if mask.any() else why
            raise InputError(f"{bet.name}: the event {event.name!r} can never happen: {why}")
        place[free] = number
    return place


def event_chances(bet: BetRules, rules: Rules, shoe: SuitedShoe) -> list[Fraction]:
    """The probabilities of the events of a bet, given the upcard that it is for."""
    place, upcards = hand_events(bet, rules), upcard_values(bet.upcard or "A-10")
    total, most = shoe.size, max(hand.cards for hand in dealer_hands(rules))
    shown = sum(shoe.values[upcard] for upcard in upcards)
    if not shown:
        raise InputError(f"{bet.name} needs an upcard {bet.upcard}, and the shoe has none")
    suits = bet.needs == "suits"
    sums: dict[tuple[int, int], int] = {}
    held = {group: shoe.of_suits(group) for groups in GROUPS[0 if suits else MIXED :] for group in groups}
    falling = {
        group: [[n**k if shoe.replaced else math.perm(n, k) for k in range(most + 1)] for n in values]
        for group, values in held.items()
    }
    for hand, events in zip(dealer_hands(rules), place.tolist(), strict=True):
        within = [sum(math.prod(falling[g][v][k] for v, k in enumerate(hand.counts) if k) for g in groups)
                  for groups in (GROUPS if suits else GROUPS[MIXED:])]  # fmt: skip
        ways = [within[0], within[1] - within[0], within[2] - within[1]] if suits else [0, 0, within[0]]
        for upcard in upcards:
            for event, number in zip(events[upcard], ways, strict=True):
                if event and number:
                    key = event, hand.cards
                    sums[key] = sums.get(key, 0) + hand.orders[upcard] * number
    chances = [Fraction(0)] * (len(bet.events) + 1)
    for (event, cards), number in sums.items():
        chances[event] += Fraction(number, total**cards if shoe.replaced else math.perm(total, cards))
    return [chance * Fraction(total, shown) for chance in chances[1:]]


# --- The outcomes of a side bet by the cards it looks at, and the number of ways in which a shoe deals these.


CARDS = {"player": 2, "player and upcard": 3, EACH: 3, WITH_NATURAL: 4, "dealer": 2}
RANK = np.arange(len(KINDS)) // len(SUITS)
IS_ACE, IS_TEN = (RANK == 0).astype(np.int64), (RANK >= TEN).astype(np.int64)


class BetOutcomes(NamedTuple):
    """The outcomes of a bet; `events` has names and pays of those not lost, two that win together as one.

    `place` is 1 + the index of the outcome by the cards in the order of the deal, or 0 where the bet is lost. It
    has an axis of 52 kinds for each card; where a dealer's natural matters, the last axis is whether there is one.
    """

    events: tuple[tuple[str, Fraction], ...]
    place: NDArray[np.int16]


def outcomes(bet: BetRules) -> BetOutcomes:
    """Return the outcomes of a bet on cards; for bets on the dealer's finished hand, see `event_chances`.

    It is an error if an event can never happen, or earlier ones take all its hands.
    """
    masks = [_mask(bet, event) for event in bet.events]
    index = np.zeros(masks[0].shape, np.int16)
    for place, (event, mask) in enumerate(zip(bet.events, masks, strict=True)):
        free = mask & (index == 0)
        if not free.any():
            why = _takers(bet.events[:place], masks[:place], mask)
            raise InputError(f"{bet.name}: the event {event.name!r} can never happen{why}")
        index[free] = place + 1
    events = tuple((event.name, event.pays) for event in bet.events)
    return _twice(events, index) if bet.looks_at == EACH else BetOutcomes(events, index)


def _mask(bet: BetRules, event: Event) -> Mask:
    hands = all_hands(3 if bet.looks_at == "player and upcard" else 2)
    mask = np.ones(hands.shape, np.bool_)
    for name, wanted in event.conditions.items():
        if name == "upcard":
            ranks = hands.ranks[0 if bet.looks_at == "dealer" else -1]
            mask &= np.isin(np.minimum(ranks, TEN), upcard_values(wanted))
        elif name != "dealer_natural":
            mask &= np.broadcast_to(CONDITIONS[name](hands, wanted, bet.aces), hands.shape)
    if bet.upcard:
        mask &= (np.minimum(RANK, TEN) == RANKS.index(bet.upcard))[:, None]
    if bet.looks_at != WITH_NATURAL:
        return mask
    wanted = event.conditions.get("dealer_natural")
    return np.stack([mask & (wanted in (None, natural)) for natural in (False, True)], axis=-1)


def _takers(events: Sequence[Event], masks: Sequence[Mask], mask: Mask) -> str:
    takers = [event.name for event, other in zip(events, masks, strict=True) if (other & mask).any()]
    return f": {' and '.join(takers)}, which it overlaps, come first" if takers else ""


def _twice(events: tuple[tuple[str, Fraction], ...], index: NDArray[np.int16]) -> BetOutcomes:
    """The outcomes of both of the player's cards against the upcard, from those of one."""
    numbers = np.zeros((len(events) + 1,) * 2, np.int16)
    found = []
    for one in range(len(events) + 1):
        for other in range(one, len(events) + 1):
            if other:
                names = [events[each - 1] for each in (one, other) if each]
                found.append((" + ".join(name for name, _ in names), sum((pay for _, pay in names), Fraction(0))))
                numbers[one, other] = numbers[other, one] = len(found)
    return BetOutcomes(tuple(found), numbers[index[:, None, :], index[None, :, :]])


def ways(bet: BetRules, shoe: SuitedShoe) -> NDArray[Any]:
    """Return the number of ways to draw the cards of each outcome, with the axes of `BetOutcomes.place`.

    The numbers are int64, or Python's own where these are too small.
    """
    cards = CARDS[bet.looks_at]
    kind = np.int64 if shoe.size**cards < 1 << 62 else object
    counts = np.array(shoe.counts, dtype=kind)
    taken = np.zeros_like(counts) if shoe.replaced else np.ones_like(counts)
    found = counts
    for axis in range(1, 2 if cards == 4 else cards):
        left = np.broadcast_to(counts, (len(KINDS),) * (axis + 1)).copy()
        for before in range(axis):
            shape = [len(KINDS) if each in (before, axis) else 1 for each in range(axis + 1)]
            left -= (np.eye(len(KINDS), dtype=np.int64) * taken).reshape(shape)
        found = found[..., None] * left
    if bet.upcard:
        found = found * (np.minimum(RANK, TEN) == RANKS.index(bet.upcard))[:, None]
    if cards < 4:
        return found
    aces, tens = (counts @ each - taken[0] * (each[:, None] + each) for each in (IS_ACE, IS_TEN))
    left = shoe.size - 2 * taken[0]
    natural = 2 * aces * tens
    return np.stack([found * (left * (left - taken[0]) - natural), found * natural], axis=-1)


# --- What a card that is removed from the shoe changes.


VALUE = np.minimum(RANK, TEN)
CLASSES = {"suits": np.arange(len(KINDS)), "ranks": RANK, "values": VALUE}  # kinds that a bet takes alike, by `needs`


def returns_without(bet: BetRules, shoe: SuitedShoe, rules: Rules) -> Floats:
    """Return the expected profit once a card of each kind is gone, (52,); NaN where the cards left are too few."""
    classes = CLASSES[bet.needs]
    held = np.array(shoe.counts) > 0
    found = np.full(len(KINDS), np.nan)
    if bet.looks_at == FINISHED:
        found[held] = _finished_without(bet, shoe, rules)[held]
        return found
    known = outcomes(bet)
    pays = np.array([0.0, *(float(pay) + 1 for _, pay in known.events)])[known.place]
    for one in np.unique(classes[held]):
        kinds = held & (classes == one)
        number = ways(bet, shoe.without(int(kinds.argmax())))
        if (total := number.sum()) > 0:
            found[kinds] = float((number * pays).sum() / total) - 1
    return found


def _finished_without(bet: BetRules, shoe: SuitedShoe, rules: Rules) -> Floats:
    """The same for a bet on the dealer's finished hand, by all hands at once.

    What cards of one suit are paid more than those of one colour, and these more than others, counts for every group
    of suits in which all cards of a hand are. A hand with k of the n cards of a value can be drawn in (n - k) / n of
    the ways once one of them is gone.
    """
    hands = dealer_hands(rules)
    pays = np.array([0.0, *(float(event.pays) + 1 for event in bet.events)])[hand_events(bet, rules)]
    upcards = upcard_values(bet.upcard or "A-10")
    paid = (np.array([hand.orders for hand in hands])[:, upcards, None] * pays[:, upcards]).sum(axis=1)
    paid[:, :-1] -= paid[:, 1:]
    counts, cards = np.array([hand.counts for hand in hands]), np.array([hand.cards for hand in hands])
    left, drawn = shoe.size - 1, np.arange(cards.max())
    orders = np.maximum(left - drawn, 1).astype(np.float64).cumprod()[cards - 1]
    total = np.zeros(len(KINDS))
    for pay, groups in zip(paid.T, GROUPS, strict=True):
        for group in groups if pay.any() else ():
            held = np.array(shoe.of_suits(group), np.float64)
            falls = np.hstack([np.ones((TEN + 1, 1)), np.maximum(held[:, None] - drawn, 0).cumprod(axis=1)])
            chances = pay * falls[np.arange(TEN + 1), counts].prod(axis=1) / orders
            within = np.isin(np.arange(len(KINDS)) % len(SUITS), [SUITS.index(suit) for suit in group])
            total += np.where(within, (chances @ (1 - counts / np.maximum(held, 1)))[VALUE], chances.sum())
    shown = sum(shoe.values[upcard] for upcard in upcards) - np.isin(VALUE, upcards)
    return np.where(shown > 0, total * left / np.maximum(shown, 1) - 1, np.nan)


@dataclass(frozen=True)
class SideBetEvent:
    """An event of a side bet.

    Attributes:
        event: Its name; `A + B` is two wins at once.
        pays: What it pays to one, besides the bet itself.
        probability: Its probability.
    """

    event: str
    pays: Fraction
    probability: Fraction


@dataclass(frozen=True, repr=False)
class SideBet(Described):
    """The exact figures of a side bet, for a bet of one.

    Attributes:
        bet: Its name.
        decks: The decks in words, such as `6` or `spanish 8`; empty for a shoe of single cards.
        events: Its events, with their probabilities; they exclude one another.
        removal: How much the value changes when one card of each value is removed from the shoe, by letter; for suits
            and ranks that the bet tells apart, on average.
        removal_by_kind: The same by kind of card, such as `Ah`.
    """

    bet: str
    decks: str
    events: tuple[SideBetEvent, ...]
    removal: Mapping[str, float]
    removal_by_kind: Mapping[str, float]

    def __repr__(self) -> str:
        return f"SideBet({self.bet}, decks {self.decks or 'of single cards'}, value {float(self.ev):+.6f})"

    @property
    def ev(self) -> Fraction:
        """The expected profit."""
        return sum((each.probability * (each.pays + 1) for each in self.events), Fraction(-1))

    @property
    def variance(self) -> Fraction:
        """The variance of the profit."""
        return sum((each.probability * (each.pays + 1) ** 2 for each in self.events), Fraction(0)) - (self.ev + 1) ** 2

    @property
    def sd(self) -> float:
        """The standard deviation of the profit."""
        return math.sqrt(self.variance)

    @property
    def hit_frequency(self) -> Fraction:
        """The probability of an event that pays."""
        return sum((each.probability for each in self.events if each.pays), Fraction(0))

    def describe(self) -> Report:
        """The value, the events with their probabilities, and what a removed card changes."""
        figures = [
            Value("ev", "value, of the bet", float(self.ev), partial(percent, digits=6)),
            Value("sd", "standard deviation, bets", self.sd, "{:.6f}".format),
            Value("hit_frequency", "pays in rounds", float(self.hit_frequency), partial(share, digits=6)),
        ]
        columns = [DataColumn("", "card", str, is_text=True), DataColumn("", "change", self.removal.get, percent)]
        title = "change in the return when one card is removed, % of the bet"
        changes = DataSeries(title, [*self.removal.values()], partial(percent, digits=2))
        parts = [
            Figures(figures),
            DataTable("events", EVENTS, self.events),
            DataTable("", columns, [*self.removal], title),
            *([Bars([*self.removal], [changes], "card")] if self.removal else []),
        ]
        data = {"bet": self.bet, "removal": self.removal}
        shoe = f"decks: {self.decks}" if self.decks else "the given shoe"
        return Report(f"The side bet {self.bet}", [f"{self.bet}, {shoe}"], parts, data=lambda: data)


EVENTS = (
    DataColumn("event", "event", lambda one: one.event, is_text=True),
    DataColumn("pays", "pays", lambda one: _number(one.pays), "{:g}".format),
    DataColumn("probability", "probability", lambda one: float(one.probability), "{:.10f}".format),
)


def _number(value: Fraction) -> float:
    return int(value) if value.denominator == 1 else float(value)


@names_wrong_types
def sidebet(
    bet: str | os.PathLike[str] | BetRules,
    decks: object = None,
    *,
    rules: RulesLike = "vegas-s17",
    deck: str | None = None,
    shoe: Mapping[str, int] | None = None,
    pays: Mapping[str, object] | str | None = None,
) -> SideBet:
    """The exact figures of a side bet.

    Args:
        bet: The name of a bet, or the path of a TOML file with one.
        decks: Number of decks in the shoe. By default those of the game.
        rules: The game: its decks, and how its dealer plays.
        deck: All 52 cards (`standard`), or 48 without tens (`spanish`). By default that of the game.
        shoe: The cards in the shoe by rank or kind, if not whole decks. Such as `{"A": 24, "Kh": 6}`.
        pays: The pay table, to one; other events are not paid. Such as `{"flush": 5}` or `"flush=5,straight=10"`; the
            hands of events that it omits fall to later events.

    Returns:
        The figures.

    Raises:
        InputError: An argument is not accepted.

    Examples:
        >>> found = sidebet("21+3", decks=6)
        >>> f"{100 * float(found.ev):.4f}%"
        '-3.2386%'
    """
    game, wanted = load_rules(rules), load_bet(bet)
    if shoe is not None and not isinstance(shoe, Mapping):
        raise InputError(f"{argument('shoe')}: {a_type(shoe)} is not accepted; give counts of cards, as {{'A': 24}}")
    if pays is not None and not isinstance(pays, str | Mapping):
        raise InputError(f"{argument('pays')}: {a_type(pays)} is not accepted; give pays of events, as {{'flush': 5}}")
    if shoe is not None:
        if decks is not None or deck is not None:
            raise InputError(
                f"{argument('shoe')} names all cards; leave out {argument('deck' if decks is None else 'decks')}"
            )
        cards = SuitedShoe.of(shoe, wanted.needs)
    elif decks is None and game.deck == "standard" and game.ten_probability != NORMAL_TENS:
        raise InputError(f"ten_probability: a side bet is dealt from whole decks; give {argument('decks')}")
    else:
        cards = SuitedShoe.whole(game.decks if decks is None else decks, game.deck if deck is None else deck)
    if pays is None:
        wanted = wanted.for_decks(cards.decks)
    else:
        wanted = wanted.with_pays(read_pays(pays) if isinstance(pays, str) else pays)
    return solve_bet(wanted, cards, game)


def solve_bet(bet: BetRules, shoe: SuitedShoe, rules: Rules) -> SideBet:
    """Return the exact figures of a bet with its pay table; a dealer's finished hand depends on `rules`."""
    if bet.looks_at == FINISHED:
        if sum(held * points for points, held in enumerate(shoe.values, 1)) < rules.dealer_stands_on:
            raise InputError(f"shoe: {bet.name} needs cards of at least {rules.dealer_stands_on} points")
        chances = event_chances(bet, rules, shoe)
        events = [SideBetEvent(event.name, event.pays, p) for event, p in zip(bet.events, chances, strict=True)]
    else:
        known, number = outcomes(bet), ways(bet, shoe)
        total = int(number.sum())
        if total <= 0 or shoe.size < CARDS[bet.looks_at]:
            upcard = f", and an {bet.upcard}" if bet.upcard else ""
            raise InputError(
                f"shoe: {bet.name} needs at least {CARDS[bet.looks_at]} cards{upcard}; there are {shoe.size}"
            )
        events = [
            SideBetEvent(name, pays, Fraction(int(number[known.place == place].sum()), total))
            for place, (name, pays) in enumerate(known.events, 1)
        ]
    found = SideBet(bet.name, shoe.decks, tuple(events), {}, {})
    by_letter, by_kind = removals(bet, shoe, rules, float(found.ev))
    return replace(found, removal=by_letter, removal_by_kind=by_kind)


def removals(bet: BetRules, shoe: SuitedShoe, rules: Rules, before: float) -> tuple[dict[str, float], dict[str, float]]:
    """Return the changes of the value, which is `before`, from removing one card, by letter and by kind.

    The letters are those of values, or of ranks where the bet tells tens, jacks, queens and kings apart.

    Only values and kinds in the shoe are given, and only those without which it still has the cards of a bet; nothing
    changes an infinite shoe.
    """
    counts = np.array(shoe.counts, np.float64)
    change = np.where(counts > 0, 0.0, np.nan) if shoe.replaced else returns_without(bet, shoe, rules) - before
    held = np.flatnonzero(np.isfinite(change))
    values = np.minimum(held // len(SUITS), len(bet.letters) - 1)
    by_letter = {
        RANKS[value]: float(np.average(change[held[values == value]], weights=counts[held[values == value]]))
        for value in np.unique(values).tolist()
    }
    return by_letter, {KINDS[kind]: float(change[kind]) for kind in held.tolist()}

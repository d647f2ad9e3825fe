"""The outcomes of a side bet by the cards it looks at, and the number of ways in which a shoe deals these."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bjsim.errors import InputError
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.strategies.sidebets.bets import EACH, WITH_NATURAL, BetRules, Event
from bjsim.strategies.sidebets.conditions import CONDITIONS, Mask, all_hands, upcard_values
from bjsim.strategies.sidebets.kinds import KINDS, SUITS, SuitedShoe

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
    """Return the outcomes of a bet on cards; for bets on the dealer's finished hand, see `bust.py`.

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

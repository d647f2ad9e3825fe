"""Events: what happens in a round, in order."""

from __future__ import annotations

from typing import NamedTuple

DEALER = -1  # the dealer's seat number in an event


class Event(NamedTuple):
    """Something that happened: `what` to hand number `hand` of `seat` (DEALER is -1), in `detail`.

    shuffle; card, hidden (a card, face down), shown (the hidden card turned over); peek (`natural` or `none`);
    action (as the player gave it); end (`natural`, `21`, `bust`, `stood`, `surrendered`, `move-cap`);
    paid (profit in initial bets, or `replayed`).
    """

    what: str
    seat: int = DEALER
    hand: int = 0
    detail: str = ""

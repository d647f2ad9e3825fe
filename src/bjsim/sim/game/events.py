"""Events: what happens in a round, in order."""

from __future__ import annotations

from typing import NamedTuple

DEALER = -1  # the dealer's seat number in an event


class Event(NamedTuple):
    """An event of a round.

    Attributes:
        what: `shuffle`, `card`, `hidden` (a card, face down), `shown` (the hidden card turned over), `peek`, `action`,
            `end` or `paid`.
        seat: Number of the seat, or DEALER.
        hand: Number of the seat's hand.
        detail: The card's letter for `card`, `hidden` and `shown`; `natural` or `none` for `peek`; the action as the
            player gave it; `natural`, `21`, `bust`, `stood`, `surrendered` or `move-cap` for `end`; the profit in
            initial bets or `replayed` for `paid`.
    """

    what: str
    seat: int = DEALER
    hand: int = 0
    detail: str = ""

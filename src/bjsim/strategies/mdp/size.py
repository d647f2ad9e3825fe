"""How many states a game needs, and why: seed 004's "how much larger must your representation be?"

Counted are the states of the game's decision process (`game_mdp`), in which two hands are one state when nothing that
can still happen tells them apart (`same_hands`). Where the process is the same against every card of the dealer, one
card is enough to count.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from bjsim.sim.game.rules import Rules
from bjsim.strategies.mdp.blackjack import GameProcess

# what makes a game larger: the value of a field at which it does not, and what must be remembered otherwise
REASONS: tuple[tuple[dict[str, str | bool], str], ...] = (
    ({"dealer_shows": "up"}, "both of the dealer's cards, which are seen"),
    ({"surrender": False}, "whether a hand is the very first, which alone may surrender"),
    ({"double_on": "never"}, "whether a hand has two cards, which alone may double"),
    ({"split_by": "never"}, "the rank of a pair that may be split, and whether a hand comes from a split"),
    ({"bonuses": "none"}, "the number of cards up to six, and the cards so far where 7-7-7 or 8-7-6 is possible"),
)


@dataclass(frozen=True)
class Size:
    """The size of a game as a decision process.

    columns: what the dealer may show; the other counts are against each of them. hands: states with a decision.
    results: finished hands that wait for the dealer. halves: half-hands of a split that wait for their second card.
    kept: hands with a decision as the exact solver tells them apart, which is more than it would have to.
    """

    columns: int
    hands: int
    results: int
    halves: int
    kept: int

    @property
    def decisions(self) -> int:
        """States with a decision."""
        return self.hands * self.columns

    @property
    def states(self) -> int:
        """All states, the deal and the end included."""
        return (self.hands + self.results + self.halves) * self.columns + 2

    def to_json(self) -> dict[str, int]:
        """What `bjsim solve --json` writes."""
        return {"states": self.states, "decisions": self.decisions, **asdict(self)}


@dataclass(frozen=True)
class Reason:
    """One thing that a game must remember, and its size if it need not."""

    why: str
    without: Size


def size_of(rules: Rules) -> Size:
    """How many states the game needs, in an infinite shoe."""
    process = GameProcess(rules.replace(decks="inf"))
    states = process.states_of_play
    places = process.places_against(next(iter(process.columns)))
    return Size(
        columns=len(process.columns),
        hands=sum(place.decides for place in places),
        results=sum(place.result is not None for place in places),
        halves=sum(place.waiting > 0 for place in places),
        kept=sum(bool(states.legal(hand)) for hand in states.reachable()),
    )


def reasons_of(rules: Rules) -> list[Reason]:
    """What the game must remember beyond the total of a hand and the dealer's open card."""
    found = []
    for plain, why in REASONS:
        without = rules.replace(**plain)
        if without != rules:
            found.append(Reason(why, size_of(without)))
    return found


def plain_size(rules: Rules) -> Size:
    """The size of the game without anything that makes it larger: hit or stand against one open card."""
    return size_of(rules.replace(**{name: value for plain, _ in REASONS for name, value in plain.items()}))

"""How many states a game needs, and why: "how much larger must your representation be?" ([Neller]).

The states are those of the game's decision process (`game_mdp`), in which equivalent hands are one state
(`StateEquivalence`). As the process is the same against every card of the dealer, the states against one card are
counted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from bjsim.sim.game.automaton import Finished, PendingHands
from bjsim.sim.game.rules import Rules
from bjsim.strategies.mdp.blackjack import GameProcess

# Rules that make a game larger: the value of the field at which they do not, and what must be remembered otherwise.
REASONS: tuple[tuple[dict[str, str | bool], str], ...] = (
    ({"dealer_shows": "up"}, "both of the dealer's cards, which are shown"),
    (
        {
            "surrender": "none",
            "surrender_after_split": False,
            "surrender_cards": "two",
            "surrender_after_double": False,
        },
        "whether a hand is the initial one, which alone may surrender",
    ),
    ({"double_on": "never"}, "which hands may double: those of two cards, or those that were not split"),
    ({"split_by": "never"}, "the rank of a pair that may be split, and whether a hand comes from a split"),
    ({"bonuses": "none"}, "the number of cards up to six, and the cards so far where 7-7-7 or 8-7-6 is possible"),
    ({"charlie": "none"}, "the number of cards, as enough of them win at once"),
    ({"no_hole_loses": "all"}, "whether a hand comes from a split, as a dealer's natural takes one bet of all"),
)


@dataclass(frozen=True)
class Size:
    """The size of a game as a decision process; counts other than `columns` are against one dealer column.

    Attributes:
        columns: What the dealer may show.
        hands: States with a decision.
        results: Finished hands, before the dealer plays.
        split_hands: Split hands that need their second card.
        unmerged_hands: Hands with a decision that the exact solver distinguishes, which is more than necessary.
        offers: Decisions before the deal, and on insurance.
    """

    columns: int
    hands: int
    results: int
    split_hands: int
    unmerged_hands: int
    offers: int = 0

    @property
    def decisions(self) -> int:
        return self.hands * self.columns

    @property
    def states(self) -> int:
        """All states, including the deal and the end."""
        return (self.hands + self.results + self.split_hands) * self.columns + self.offers + 2

    def to_json(self) -> dict[str, int]:
        return {"states": self.states, "decisions": self.decisions, **asdict(self)}


@dataclass(frozen=True)
class Reason:
    """A feature that the states of a game must remember, and the size of the game if it did not matter."""

    why: str
    without: Size


def measure_size(rules: Rules) -> Size:
    """The number of states of the game, in an infinite shoe."""
    process = GameProcess(rules.replace(decks="inf"))
    automaton = process.automaton
    against_one = process.states_against(next(iter(process.columns)))
    return Size(
        columns=len(process.columns),
        hands=sum(state.decides for state in against_one),
        results=sum(isinstance(state.node, Finished) for state in against_one),
        split_hands=sum(isinstance(state.node, PendingHands) for state in against_one),
        unmerged_hands=sum(bool(automaton.legal(hand)) for hand in automaton.reachable()),
        offers=len(process.columns) * rules.attack + rules.insurance,
    )


def find_reasons(rules: Rules) -> list[Reason]:
    """The features that the game must remember besides the total of a hand and the dealer's open card."""
    reasons = []
    for plain, why in REASONS:
        without = rules.replace(**plain)
        if without != rules:
            reasons.append(Reason(why, measure_size(without)))
    return reasons


def plain_size(rules: Rules) -> Size:
    """The size of the game without these features: hit or stand against one open card."""
    return measure_size(rules.replace(**{name: value for plain, _ in REASONS for name, value in plain.items()}))

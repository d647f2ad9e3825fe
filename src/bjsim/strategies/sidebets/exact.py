"""The exact figures of a side bet in any shoe."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bjsim.arguments import a_type, argument, names_wrong_types
from bjsim.errors import InputError
from bjsim.sim.game.cards import NORMAL_TENS, RANKS
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.rules import Rules
from bjsim.strategies.sidebets.bets import FINISHED, BetRules, load_bet, read_pays
from bjsim.strategies.sidebets.bust import event_chances
from bjsim.strategies.sidebets.kinds import KINDS, SUITS, SuitedShoe
from bjsim.strategies.sidebets.outcomes import CARDS, outcomes, ways
from bjsim.strategies.sidebets.returns import Returns


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
class SideBet:
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

    def to_json(self) -> dict[str, object]:
        """The figures as JSON values.

        Returns:
            bet, ev, sd, hit_frequency, events (event, pays, probability) and removal, as numbers.
        """
        events = [
            {"event": each.event, "pays": _number(each.pays), "probability": float(each.probability)}
            for each in self.events
        ]
        figures = {"ev": float(self.ev), "sd": self.sd, "hit_frequency": float(self.hit_frequency)}
        return {"bet": self.bet, **figures, "events": events, "removal": dict(self.removal)}


def _number(value: Fraction) -> float:
    return int(value) if value.denominator == 1 else float(value)


@names_wrong_types
def sidebet(
    bet: str | os.PathLike[str] | BetRules,
    decks: object = None,
    *,
    rules: Rules | str | os.PathLike[str] = "vegas-s17",
    deck: str | None = None,
    shoe: Mapping[str, int] | None = None,
    pays: Mapping[str, object] | str | None = None,
) -> SideBet:
    """The exact figures of a side bet.

    Args:
        bet: The name of a bet, or the path of a TOML file with one.
        decks: Whole decks in the shoe, or inf; by default those of the game.
        rules: The game: its decks, and how its dealer plays.
        deck: `standard`, or `spanish` without tens; by default that of the game.
        shoe: The cards in the shoe instead, by rank or kind: `{"A": 24, "Kh": 6}`.
        pays: Another pay table: what each event pays to one, such as `{"flush": 5}` or `"flush=5,straight=10"`. The
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
    wanted, cards, game = chosen(bet, decks, rules, deck, shoe, pays)
    return solve_bet(wanted, cards, game)


def chosen(
    bet: str | os.PathLike[str] | BetRules,
    decks: object,
    rules: Rules | str | os.PathLike[str],
    deck: str | None,
    shoe: Mapping[str, int] | None,
    pays: Mapping[str, object] | str | None,
) -> tuple[BetRules, SuitedShoe, Rules]:
    """The bet with its pay table, the shoe and the game of the arguments of `sidebet`. Raises: InputError."""
    game, wanted = rules if isinstance(rules, Rules) else load_rules(rules), load_bet(bet)
    if shoe is not None and not isinstance(shoe, Mapping):
        raise InputError(f"{argument('shoe')}: {a_type(shoe)} is not accepted; give counts of cards, as {{'A': 24}}")
    if pays is not None and not isinstance(pays, str | Mapping):
        raise InputError(f"{argument('pays')}: {a_type(pays)} is not accepted; give pays of events, as {{'flush': 5}}")
    if shoe is not None:
        if decks is not None or deck is not None:
            raise InputError(f"{argument('shoe')} names all cards; leave out {argument('decks')}")
        cards = SuitedShoe.of(shoe, wanted.needs)
    elif decks is None and game.deck == "standard" and game.ten_probability != NORMAL_TENS:
        raise InputError(f"ten_probability: a side bet is dealt from whole decks; give {argument('decks')}")
    else:
        cards = SuitedShoe.whole(game.decks if decks is None else decks, game.deck if deck is None else deck)
    if pays is None:
        wanted = wanted.for_decks(cards.decks)
    else:
        wanted = wanted.with_pays(read_pays(pays) if isinstance(pays, str) else pays)
    return wanted, cards, game


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
    return SideBet(bet.name, shoe.decks, tuple(events), *removals(bet, shoe, rules))


def removals(bet: BetRules, shoe: SuitedShoe, rules: Rules) -> tuple[dict[str, float], dict[str, float]]:
    """Return the changes of the value from removing one card, by letter and by kind.

    The letters are those of values, or of ranks where the bet tells tens, jacks, queens and kings apart.

    Only values and kinds in the shoe are given, and only those without which it still has the cards of a bet; nothing
    changes an infinite shoe.
    """
    counts = np.array(shoe.counts, np.float64)
    held = np.flatnonzero(counts)
    if shoe.replaced:
        change = np.zeros(len(held))
    else:
        returns = Returns(bet, rules)
        after = returns(returns.by_class(np.vstack([counts, counts - np.eye(len(KINDS))[held]])))
        change = after[1:] - after[0]
        held, change = held[np.isfinite(change)], change[np.isfinite(change)]
    values = np.minimum(held // len(SUITS), len(bet.letters) - 1)
    by_value = {
        RANKS[value]: float(np.average(change[values == value], weights=counts[held[values == value]]))
        for value in np.unique(values).tolist()
    }
    return by_value, {KINDS[kind]: float(each) for kind, each in zip(held.tolist(), change, strict=True)}

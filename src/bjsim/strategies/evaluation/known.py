"""The value of a game to a player who knows a card."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from bjsim.arguments import argument, names_wrong_types
from bjsim.asked.kinds import KINDS
from bjsim.errors import InputError, shorten
from bjsim.report.data import Described
from bjsim.report.parts import (
    Bars,
    DataColumn,
    DataSeries,
    DataTable,
    Figures,
    Report,
    Section,
    Value,
    percent,
    share,
)
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.dealer import ACE, course
from bjsim.sim.game.events import game_text
from bjsim.sim.game.hand_states import BONUSES
from bjsim.sim.game.presets import RulesLike, load_rules
from bjsim.sim.game.rules import Rules, plain
from bjsim.sim.game.support import need
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.evaluation.compare import solve_exactly
from bjsim.strategies.evaluation.valued_chart import ValuedChart
from bjsim.strategies.shoe.hands import Composition

CARDS = {"first": "your first card", "up": "the dealer's upcard", "hole": "the dealer's hole card"}
VALUES = RANKS[: TEN + 1]


@dataclass(frozen=True, repr=False)
class KnownCards(Described):
    """The value of a game to a player who knows a card, in initial bets.

    Attributes:
        game: The value of the game without that knowledge.
        chances: The probability of each card, by letter; of the dealer's two cards, if it is the hole card.
        values: The value of a round given that card. A first card or an upcard is known before the bet is made; a hole
            card, before the first decision.
        chart: Best play: of the game whose hole cards are seen, or of the game itself.
        what: The card: `first`, `up` or `hole`.
        rules: The game.
        shoe: The cards that the round is dealt from, if not the whole decks of the game.
    """

    game: float
    chances: Mapping[str, float]
    values: Mapping[str, float]
    chart: Chart
    what: str
    rules: Rules
    shoe: Mapping[str, int] | None = None

    def describe(self) -> Report:
        """The value of the game without the card and with it, by card too, and best play where the card changes it."""
        is_hole = self.what == "hole"
        figures = [
            Value("game", "the game", self.game, percent),
            Value("value", "with the hole card known" if is_hole else "", self.value, percent),
            Value("selective", "" if is_hole else "with bets only at a positive value", self.selective, percent),
        ]
        columns = [
            DataColumn("card", "card", str, is_text=True),
            DataColumn("probability", "probability", self.chances.get, share),
            DataColumn("value", "value", self.values.get, percent),
        ]
        series = DataSeries("value by card, % of the bet", [*self.values.values()], partial(percent, digits=1))
        parts: list[Any] = [
            Figures(figures),
            DataTable("", columns, [*self.values]),
            Bars([*self.values], [series], "card"),
        ]
        if is_hole:
            parts += [Section("Best play"), ValuedChart.of_chart(self.chart).part(numbers="none")]
        title = f"The value of knowing {CARDS[self.what]}"
        data = {name: getattr(self, name) for name in ("what", "shoe", "chances", "values")}
        game = game_text(self.rules, KINDS["shoe"].text(self.shoe) if self.shoe else None)
        return Report(title, [game], parts, [self.rules], data=lambda: {**data, "rules": self.rules.to_dict()})

    def __repr__(self) -> str:
        return f"KnownCards({self.rules.name}, value {self.value:+.6f}, without the card {self.game:+.6f})"

    @property
    def value(self) -> float:
        """The mean of `values`."""
        return math.fsum(self.chances[card] * value for card, value in self.values.items())

    @property
    def selective(self) -> float:
        """The expected profit of a round in which the bet is made only if its value given the card is positive."""
        return math.fsum(self.chances[card] * max(value, 0.0) for card, value in self.values.items())


@names_wrong_types
def known(rules: RulesLike, what: str = "first", *, shoe: Mapping[str, int] | None = None) -> KnownCards:
    """Compute the value of a game to a player who knows a card.

    Args:
        rules: The game.
        what: The card: `first`, the player's first one; `up`, the dealer's upcard before the bet; or `hole`, the
            dealer's hole card before the first decision.
        shoe: The cards that the round is dealt from, if not the whole decks of the game. Those known to come next, for
            example, are `{"A": 3, "2": 1, ...}`.

    Returns:
        The values by card, and best play.

    Raises:
        InputError: An argument is not accepted, or the game has no such card.

    Examples:
        >>> f"{known('vegas-s17', 'first').values['A']:.4f}"
        '0.5079'
    """
    game = load_rules(rules)
    need(game, "known")
    if what not in CARDS:
        raise InputError(f"{argument('what')}: {shorten(what)!r} is not accepted; use {', '.join(CARDS)}")
    if what == "hole":
        return _know_hole(game, shoe)
    if what == "up":
        need(game, "upcard")
    solution = solve_exactly(game, shoe)
    sums: dict[str, list[float]] = {card: [0.0, 0.0] for card in VALUES}
    for part in solution.round_parts():
        card = VALUES[part.first] if what == "first" else part.column
        sums[card] = [sums[card][0] + part.chance, sums[card][1] + part.profit]
    chances = {card: chance for card, (chance, _) in sums.items() if chance}
    values = {card: sums[card][1] / chance for card, chance in chances.items()}
    return KnownCards(float(solution.value), chances, values, solution.chart, what, game, shoe)


def _know_hole(rules: Rules, shoe: Mapping[str, int] | None) -> KnownCards:
    """Best play of the game with both of the dealer's cards open, and what is saved before a natural ends the round."""
    need(rules, "hole card")
    if rules.naturals == "both" and not rules.peek:
        _need_natural_to_count(rules, shoe)
    changes: dict[str, object] = {"dealer_shows": "both", "insurance": False, "peek": rules.naturals == "both"}
    if any("R" in course(rules, up).before for up in range(TEN + 1)):
        changes["surrender"] = "late"
    solution = solve_exactly(rules.replace(**changes, no_hole_loses="all"), shoe)
    sums: dict[str, list[float]] = {}
    for part in solution.round_parts():
        chance, profit = sums.get(part.column, (0.0, 0.0))
        sums[part.column] = [chance + part.chance, profit + part.profit]
    values = {label: profit / chance for label, (chance, profit) in sums.items() if chance}
    if "BJ" in values:
        values["BJ"] += _saved(rules, shoe)
    chances = {label: sums[label][0] for label in values}
    return KnownCards(float(solve_exactly(rules, shoe).value), chances, values, solution.chart, "hole", rules, shoe)


def _need_natural_to_count(rules: Rules, shoe: Mapping[str, int] | None) -> None:
    """Raises: InputError: Play against a natural that is known may win more than the loss of one bet."""
    needs: dict[str, object] = {"charlie": "none", "player_21_wins": False}
    if rules.scheme.at_once:
        *others, last = [name for name, scheme in BONUSES.items() if not scheme.at_once]
        needs["bonuses"] = f"{', '.join(others)} or {last}"
    for name, pair in (("split_aces_blackjack", ACE), ("split_tens_blackjack", TEN)):
        if _splits_against_natural(rules, shoe, pair):
            needs[name] = False
    for name, needed in needs.items():
        if getattr(rules, name) != needed:
            given, use = (f"{name} = {value}".lower() for value in (plain(getattr(rules, name)), needed))
            raise InputError(
                f"peek = false with {given} has no value with a known hole card; use {use}, or peek = true"
            )


def _splits_against_natural(rules: Rules, shoe: Mapping[str, int] | None, pair: int) -> bool:
    """Whether it may pay to split a pair against a natural, as a split hand that is a natural too wins or ties."""
    won = rules.blackjack_pays if rules.natural_beats_natural else 0
    if rules.no_hole_loses == "original":
        return won > 0
    if rules.no_hole_loses == "busted-plus-one" or rules.splits_free(pair):
        return True
    aces, tens, cards, gone = _against_natural(rules, shoe)
    chance = (tens if pair == ACE else aces) / max(cards - 2 * gone, 1)
    return bool(2 * (chance * won - (1 - chance)) > -1)


def _against_natural(rules: Rules, shoe: Mapping[str, int] | None) -> tuple[Any, Any, Any, int]:
    """The aces, tens and cards from which hands are dealt against a natural, and how many each of them takes."""
    if rules.infinite and shoe is None:
        return rules.card_probabilities[0], rules.ten_probability, Fraction(1), 0
    left = Composition.of(rules, shoe).values
    return left[0] - 1, left[TEN] - 1, left.sum() - 2, 1


def _saved(rules: Rules, shoe: Mapping[str, int] | None) -> float:
    """The mean gain from insurance and surrender against a natural that is known; either of its cards may be open."""
    aces, tens, cards, gone = _against_natural(rules, shoe)
    natural = float(2 * aces * tens / (cards * (cards - gone)))
    against = [course(rules, up) for up in (ACE, TEN)]
    late = [rules.surrender == "late" and not each.looks for each in against]
    surrendered = sum("R" in each.before or gives_up for each, gives_up in zip(against, late, strict=True))
    return (sum("I" in each.before for each in against) + surrendered * (1 - natural) / 2) / 2

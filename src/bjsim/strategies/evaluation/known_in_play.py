"""The value of a game to a player who knows the hole card or the next card before the first decision."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from bjsim.errors import InputError
from bjsim.sim.game.cards import RANKS, TEN
from bjsim.sim.game.course import ACE, course
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart, full_code
from bjsim.strategies.evaluation.best import solve
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.values import Dealer, Means, round_nodes
from bjsim.strategies.shoe.composition import Composition
from bjsim.strategies.shoe.solver import ShoeSolver
from bjsim.strategies.solution import Solution

VALUES = RANKS[: TEN + 1]


@dataclass(frozen=True)
class KnownCards:
    """The value of a game to a player who knows a card, in initial bets.

    Attributes:
        game: The value of the game without that knowledge.
        chances: The probability of each card, by letter; of the dealer's two cards, if it is the hole card.
        values: The value of a round given that card. A first card or an upcard is known before the bet is made; a hole
            card or a next card, before the first decision.
        charts: Best play: by next card; one for all hole cards; of the game itself, where the card is known earlier.
    """

    game: float
    chances: Mapping[str, float]
    values: Mapping[str, float]
    charts: Mapping[str, Chart]

    @property
    def value(self) -> float:
        """The mean of `values`."""
        return math.fsum(self.chances[card] * value for card, value in self.values.items())

    @property
    def selective(self) -> float:
        """The expected profit of a round in which the bet is made only if its value given the card is positive."""
        return math.fsum(self.chances[card] * max(value, 0.0) for card, value in self.values.items())


def solution_of(rules: Rules, shoe: Mapping[str, int] | None) -> Solution:
    return solve(rules) if shoe is None else ShoeSolver(rules, shoe)


def know_hole(rules: Rules, shoe: Mapping[str, int] | None) -> KnownCards:
    """Best play of the game with both of the dealer's cards open, and what is saved before a natural ends the round."""
    if rules.dealer_shows == "both" or rules.deal.count("d") < 2:
        why = "the dealer shows both cards" if rules.dealer_shows == "both" else "the dealer is dealt one card"
        raise InputError(f"{rules.name or 'the game'} has no hole card: {why}")
    changes: dict[str, object] = {"dealer_shows": "both", "insurance": False, "peek": rules.naturals == "both"}
    if any("R" in course(rules, up).before for up in range(TEN + 1)):
        changes["surrender"] = "late"
    solution = solution_of(rules.replace(**changes, no_hole_loses="all"), shoe)
    sums: dict[str, list[float]] = {}
    for part in solution.round_parts():
        chance, profit = sums.get(part.column, (0.0, 0.0))
        sums[part.column] = [chance + part.chance, profit + part.profit]
    values = {label: profit / chance for label, (chance, profit) in sums.items() if chance}
    if "BJ" in values:
        values["BJ"] += _saved(rules, shoe, solution.infinite)
    chances = {label: sums[label][0] for label in values}
    return KnownCards(float(solution_of(rules, shoe).value), chances, values, {"any": solution.chart})


def _saved(rules: Rules, shoe: Mapping[str, int] | None, infinite: bool) -> float:
    """The mean gain from insurance and surrender against a natural that is known; either of its cards may be open."""
    aces, tens, cards, gone = rules.card_probabilities[0], rules.ten_probability, Fraction(1), 0
    if not infinite:
        left = Composition.of(rules, shoe).values
        aces, tens, cards, gone = left[0] - 1, left[TEN] - 1, left.sum() - 2, 1
    natural = float(2 * aces * tens / (cards * (cards - gone)))
    against = [course(rules, up) for up in (ACE, TEN)]
    late = [rules.surrender == "late" and not each.looks for each in against]
    surrendered = sum("R" in each.before or gives_up for each, gives_up in zip(against, late, strict=True))
    return (sum("I" in each.before for each in against) + surrendered * (1 - natural) / 2) / 2


def know_next(rules: Rules, shoe: Mapping[str, int] | None) -> KnownCards:
    """Best play of each hand by the next card, which the hand draws, or else the dealer."""
    if not rules.infinite or shoe is not None:
        raise InputError("next needs decks = inf: the value of the next card is computed in an infinite shoe only")
    solver, two = Solver(rules), Solver(rules.replace(max_hands=2, max_ace_hands="none"))  # pairs need not be resplit
    ended = math.fsum(
        float(solver.column_total(each, solver.tie_value, None)) for each in solver.cases if not each.label
    )
    chances: dict[str, float] = dict.fromkeys(VALUES, 0.0)
    profits: dict[str, float] = dict.fromkeys(VALUES, 0.0)
    charts: dict[str, Chart] = {}
    for rank, p in solver.states.ranks:
        card, cells, total = VALUES[min(rank, TEN)], {}, ended
        for label, stands in Dealer(solver.states).columns(rank).items():
            draws, pairs = (Means(each.states, each.columns[label], solver.tie_value) for each in (solver, two))
            actions = _by_next(draws, pairs, Means(solver.states, stands, solver.tie_value), rank)
            hands = sum(chance * max(actions(state).values()) for state, chance in solver.states.starts.items())
            insurance = sum(map(draws.at, round_nodes(stands, rules, None)[1:]))
            total += float(stands.probability * (hands + insurance))
            for row, state in solver.situations.items():
                found = actions(state)
                cells[row, label] = full_code(max(found, key=found.__getitem__), found)
        chances[card] += float(p)
        profits[card] += float(p) * total
        charts.setdefault(card, replace(solver.chart, cells=cells, source=f"the next card is known: {card}"))
    values = {card: profits[card] / chance for card, chance in chances.items() if chance}
    return KnownCards(float(solver.value), {card: chances[card] for card in values}, values, charts)


def _by_next(draws: Means, two: Means, waits: Means, rank: int) -> Callable[[HandState], dict[str, float]]:
    """The value of each action of a hand that draws a known card.

    draws, two: Of an ordinary dealer, with the game's limit of hands and with two. waits: The dealer draws the card.
    """

    def drawn(means: Means, state: HandState, letter: str) -> float:
        return float(means.together(means.automaton.follow(means.automaton.move(state, letter), rank)))

    def values(state: HandState) -> dict[str, float]:
        legal = draws.automaton.legal(state)
        found = {letter: float(waits.act(state, letter)) for letter in legal if letter in "SR"}
        found |= {letter: drawn(draws, state, letter) for letter in legal if letter in "HD"}
        if "P" in legal:
            found["P"] = max(drawn(means, state, "P") for means in (draws, two))
        return found or {"S": float(waits.value(state))}

    return values

"""A round of best play in an infinite shoe, by the player's first card and what the dealer shows."""

from __future__ import annotations

from collections.abc import Iterator

from bjsim.sim.game.automaton import START, Finished, Node
from bjsim.sim.game.cards import TEN
from bjsim.sim.game.hand_states import HandState
from bjsim.sim.game.rules import Rules
from bjsim.strategies.exact.best_play import BestPlay
from bjsim.strategies.exact.values import Column, round_nodes
from bjsim.strategies.solution import RoundPart


def round_parts(play: BestPlay) -> Iterator[RoundPart]:
    """Divide a round of the best chart in an infinite shoe by first card and column; see `Solution.round_parts`."""
    ranks, policy = play.states.ranks, play.chart.policy
    insured = any(column.insurable for column in play.cases)
    for column in play.cases:
        means = play.means(column, play.tie_value, policy)
        insurance = round_nodes(column, play.rules, policy)[1:]
        ups = _upcards(column, play.rules, insured)
        for first, p in ranks:
            for second, q in ranks:
                nodes = (_dealt(play, play.states.hand((first, second)), column), *insurance)
                chance = float(column.probability) * float(p * q) / len(ups)
                for up in ups:
                    yield RoundPart(min(first, TEN), up, chance, chance * float(means.together(nodes)))


def _upcards(column: Column, rules: Rules, insured: bool) -> list[str]:
    """The upcards that a case may have, each equally likely. Naturals found by peeking share one case."""
    if column.label:
        return [column.label]
    if rules.dealer_shows == "both":
        return ["BJ"]
    return ["A"] if column.insurable else ["T"] if insured else ["A", "T"]


def _dealt(play: BestPlay, state: HandState, column: Column) -> Node:
    """The node of two cards: a decision, or the end of the round if the dealer's natural ends it."""
    return play.states.dealt(state) if column.start == START else Finished(play.states.result(state))

"""The round automaton: its two statements of what a card leads to agree, and every round ends."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

from hypothesis import given, settings
from support.games import rules

from bjsim.sim.game.automaton import START, Automaton, Decision, Draw, Ended, Finished, Node, PendingHands
from bjsim.sim.game.presets import named_rules
from bjsim.sim.game.rules import Rules
from bjsim.sim.values.backward import count_visits


def reachable(automaton: Automaton) -> list[Node]:
    """Every node that some play can reach."""
    found: dict[Node, None] = {START: None}
    todo: list[Node] = [START]
    while todo:
        node = todo.pop()
        if isinstance(node, Decision):
            following = [automaton.move(node.state, letter) for letter in node.legal(automaton)]
        elif isinstance(node, Finished):
            continue
        elif isinstance(node, Ended):
            following = list(node)
        else:
            following = [after for _, nodes in automaton.branches(node, Fraction) for after in nodes]
        fresh = dict.fromkeys(after for after in following if after not in found)
        found |= fresh
        todo += fresh
    return list(found)


def in_one_step(automaton: Automaton, node: PendingHands | Draw) -> dict[tuple[Node, ...], Fraction]:
    """The distribution of what a card leads to, where a second card is not drawn in two steps."""
    chances: defaultdict[tuple[Node, ...], Fraction] = defaultdict(Fraction)
    for p, nodes in automaton.branches(node, Fraction):
        if isinstance(node, PendingHands) and isinstance(nodes[0], Draw):
            for q, first in automaton.branches(nodes[0], Fraction):
                chances[*first, *nodes[1:]] += p * q
        else:
            chances[nodes] += p
    return chances


@settings(max_examples=25)
@given(game=rules())
def test_branches_are_what_single_cards_lead_to(game: Rules) -> None:
    """In exact fractions; the second card of a split hand in two steps is the same as in one."""
    automaton, two_steps = Automaton(game), 0
    for node in reachable(automaton):
        if isinstance(node, Decision | Ended | Finished) or (
            isinstance(node, Draw) and node.purpose not in ("hit", "double")
        ):
            continue
        if isinstance(node, PendingHands) and game.max_hands == math.inf and node.hands > 1:
            continue  # independent hands, of which none has drawn yet
        by_card: defaultdict[tuple[Node, ...], Fraction] = defaultdict(Fraction)
        for rank, p in automaton.ranks:
            by_card[automaton.follow(node, rank)] += p
        assert in_one_step(automaton, node) == by_card
        assert sum(by_card.values()) == 1
        two_steps += isinstance(node, PendingHands)
    assert two_steps or game.split_by == "never"


@settings(max_examples=25)
@given(game=rules())
def test_the_deal_card_by_card_leads_to_the_same_hands(game: Rules) -> None:
    automaton = Automaton(game)
    by_card: defaultdict[tuple[Node, ...], Fraction] = defaultdict(Fraction)
    for first, p in automaton.ranks:
        (one_card,) = automaton.follow(START, first)
        for second, q in automaton.ranks:
            by_card[automaton.follow(one_card, second)] += p * q
    at_once: defaultdict[tuple[Node, ...], Fraction] = defaultdict(Fraction)
    for p, nodes in automaton.branches(START, Fraction):
        at_once[nodes] += p
    assert by_card == at_once


def test_visits_by_hand() -> None:
    """Splitting every pair and standing on all else, up to two hands: each split ends two hands instead of one."""
    game = named_rules("vegas-s17").replace(decks="inf", max_hands=2)
    visits = count_visits(Automaton(game), lambda state, legal: "P" if "P" in legal else "S")
    ended = sum(n for node, n in visits.items() if isinstance(node, Finished))
    pairs = 9 * Fraction(1, 13) ** 2 + Fraction(4, 13) ** 2
    assert math.isclose(ended, float(1 + pairs), abs_tol=1e-12)
    assert math.isclose(visits[START], 1)


def test_visits_of_splits_without_a_limit() -> None:
    """A split hand becomes two with probability a = 1/13: 2 / (1 - 2 a) hands draw, all but a of them to play on."""
    game = named_rules("blackjack-p")
    automaton = Automaton(game)
    pair = automaton.add(automaton.add(START.state, 7), 7)
    visits = count_visits(automaton, lambda state, legal: "P" if state.rank == 7 and "P" in legal else "S")
    one = PendingHands(automaton.split(pair), 1, 1)
    assert math.isclose(visits[one], (1 / 13) ** 2 * 2 / (1 - 2 / 13), rel_tol=1e-12)

"""Finds what a user names: cards in the state space of a shoe, and strategies."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from bjsim.errors import InputError
from bjsim.sim.game.cards import RANKS, TEN, parse_rank
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.shoe.analysis import ShoeStates
from bjsim.strategies.shoe.composition import VALUES
from bjsim.strategies.shoe.hands import encode_counts

Name = Literal["td", "td-2c", "cdz-", "cdp1", "cdp"]
STRATEGIES: tuple[str, ...] = get_args(Name)
Strategy = str | Chart  # one of STRATEGIES, or a chart


def find_start(shoe: ShoeStates, shown: str) -> int:
    try:
        start = tuple(sorted(min(parse_rank(card), TEN) for card in shown))
        number = shoe.starts.index(start)
    except ValueError:
        wanted = "both of the dealer's cards" if shoe.game.rules.dealer_shows == "both" else "the dealer's upcard"
        raise InputError(f"{shown!r} is not {wanted}; cards are {' '.join(RANKS)}") from None
    if number not in shoe.live:
        raise InputError(f"the dealer cannot show {shown} in this shoe without ending the round")
    return number


def find_node(shoe: ShoeStates, cards: str, pair: bool) -> int:
    """Return the number of the node of a hand. pair: whether equal cards may be split. Raises: InputError."""
    try:
        ranks = [parse_rank(card) for card in cards]
    except ValueError as error:
        raise InputError(str(error)) from None
    values = [min(rank, TEN) for rank in ranks]
    counts = np.bincount(values, minlength=VALUES).astype(np.int64)
    alike = pair and len(set(ranks if shoe.by_rank else values)) == 1
    if len(cards) == 2 and alike and shoe.layout.trees[values[0]] is not None:
        return shoe.layout.pairs + values[0]
    found = np.flatnonzero(shoe.game.hands.key == encode_counts(counts))
    if not len(found):
        raise InputError(f"{cards} is not a hand to decide on; give two or more cards that total at most 21")
    return int(found[0])


def strategy_key(strategy: Strategy) -> object:
    """Return the cache key of a strategy. Raises: InputError: The name is unknown."""
    if isinstance(strategy, Chart):
        return frozenset(strategy.cells.items()), strategy.insurance, strategy.attack
    if strategy not in STRATEGIES:
        raise InputError(f"unknown strategy {strategy!r}; use {', '.join(STRATEGIES)} or a chart")
    return strategy

"""Quantities of the page of agreement on side bets and known cards; words such as `21+3: flush=5` give a pay table."""

from __future__ import annotations

import math

import bjsim
from bjsim.sim.game.rules import Rules
from bjsim.strategies.sidebets.exact import SideBet

UP_TO_TEN = "3=2,4=2,5=4,6=12,7=50,8=250,9=250,10=250"  # so that nine cards are an event of their own
SCALE = 115.81  # of the published effects of removal


def side_bet(rules: Rules, what: str) -> SideBet:
    """Return the exact figures of a bet."""
    name, _, pays = what.partition(": ")
    return bjsim.sidebet(name, rules=rules, pays=pays or None)


def returns(rules: Rules, what: str) -> list[float]:
    """Return the value in per cent."""
    return [100 * float(side_bet(rules, what).ev)]


def return_in_bets(rules: Rules, what: str) -> list[float]:
    """Return the value in bets."""
    return [float(side_bet(rules, what).ev)]


def return_sd_and_hits(rules: Rules, what: str) -> list[float]:
    """Return the value in per cent, the standard deviation in bets, and the hit frequency in per cent."""
    found = side_bet(rules, what)
    return [100 * float(found.ev), found.sd, 100 * float(found.hit_frequency)]


def three_card_hands(rules: Rules, what: str) -> list[float]:
    """Return the number of hands of three cards: all, then those of each event."""
    every = math.comb(52 * int(rules.decks), 3)
    return [every, *(float(each.probability * every) for each in side_bet(rules, what).events)]


def busts_by_cards(rules: Rules, _: str) -> list[float]:
    """Return the probabilities of no bust, and of a bust with 3 to 9 cards."""
    found = side_bet(rules, f"buster: {UP_TO_TEN}")
    return [float(1 - found.hit_frequency), *(float(each.probability) for each in found.events[:7])]


def removal(rules: Rules, what: str) -> list[float]:
    """Return the scaled effects of removal."""
    return [SCALE * each for each in side_bet(rules, what).removal.values()]


def first_cards(rules: Rules, cards: str) -> list[float]:
    """Return the values, in per cent, of a round whose player's first card is known."""
    values = bjsim.known(rules, "first").values
    return [100 * values[card] for card in cards]


def hole_card(rules: Rules, _: str) -> list[float]:
    """Return the value, in per cent, of a game whose hole card is known."""
    return [100 * bjsim.known(rules, "hole").value]


def rebate(rules: Rules, _: str) -> list[float]:
    """Return the gain with the published stops, the rounds, and the gain per round in per cent of a bet."""
    terms = {"floor": 200_000, "goal": 3_000_000, "rebate": 0.2, "rebate_from": 500_000}
    found = bjsim.bank(rules, 1_000_000, 20_000, bet=100_000, payoffs=None, **terms).rebate
    assert found is not None
    return [found.value, found.rounds, 100 * found.per_round]


QUANTITIES = {
    "side bet": returns,
    "side bet, in bets": return_in_bets,
    "side bet, with sd and hits": return_sd_and_hits,
    "side bet, three-card hands": three_card_hands,
    "side bet, busts by cards": busts_by_cards,
    "side bet, effects of removal": removal,
    "rebate": rebate,
    "first card": first_cards,
    "hole card": hole_card,
}

"""The actions that a seat of the readable round may take."""

from __future__ import annotations

from bjsim.sim.game.actions import View
from bjsim.sim.game.cards import TEN, parse_rank
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.seats import Cards, PlayedHand, Seat
from bjsim.sim.game.settlement import counts_as_natural


def legal_letters(rules: Rules, seat: Seat, hand: PlayedHand) -> str:
    """Letters of the actions that a seat may take on a hand; none if the hand has ended."""
    if len(hand.ranks) == rules.charlie:
        return ""
    if hand.points >= 21 and (hand.points > 21 or counts_as_natural(rules, hand) or rules.stand_on_21):
        return ""
    if hand.doubled:
        again = rules.doubles(hand.points, hand.soft) and hand.doubled < rules.max_doubles
        return "S" + "D" * again + "R" * rules.surrender_after_double if again or rules.surrender_after_double else ""
    first = len(hand.ranks) == 2 and hand.moves == 0
    affordable = not rules.raises or seat.chips >= hand.stake
    pair = first and affordable and _is_pair(rules, hand.ranks)
    pair = pair and len(seat.hands_of(hand.bet)) < rules.hand_limit(aces=hand.ranks[0] == 0)
    if hand.split_from == 0:
        pair = pair and rules.resplit_aces
        if not rules.hit_split_aces:
            return "SP" if pair else ""
    whole = hand.split_from < 0
    double = rules.doubles(hand.points, hand.soft) and affordable and (first or rules.double_cards == "any")
    double = (double or doubles_free(rules, hand)) and (whole or rules.double_after_split)
    surrender = rules.surrender != "none" and (first or rules.surrender_cards == "any")
    surrender = surrender and (whole or rules.surrender_after_split)
    return "SH" + "D" * double + "P" * pair + "R" * surrender + "B" * rules.raises


def doubles_free(rules: Rules, hand: Cards) -> bool:
    two = len(hand.ranks) == 2 or rules.free_double_cards == "any"
    return two and rules.doubles_free(hand.points, hand.soft)


def is_free(letter: str, view: View) -> bool:
    """Whether the house pays for the bet that an action adds."""
    hand = Cards([parse_rank(card) for card in view.hand])
    return doubles_free(view.rules, hand) if letter == "D" else letter == "P" and view.rules.splits_free(hand.ranks[0])


def _is_pair(rules: Rules, ranks: list[int]) -> bool:
    one, other = ranks
    if rules.split_by == "value":
        return min(one, TEN) == min(other, TEN)
    return rules.split_by == "rank" and one == other

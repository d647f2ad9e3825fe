"""The actions that a seat of the readable round may take."""

from __future__ import annotations

from bjsim.sim.game.actions import View
from bjsim.sim.game.cards import VALUES, parse_rank
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
    pair = (
        first
        and affordable
        and _is_pair(rules, hand.ranks)
        and len(seat.hands_of(hand.bet)) < rules.hand_limit(aces=hand.ranks[0] == 0)
        and (hand.split_from != 0 or rules.resplit_aces)
    )
    if hand.split_from == 0 and not rules.hit_split_aces:
        return "SP" if pair else ""
    letters, whole = "SH", hand.split_from < 0
    if whole or rules.double_after_split:
        paid = affordable and (first or rules.double_cards == "any") and rules.doubles(hand.points, hand.soft)
        if paid or doubles_free(rules, hand):
            letters += "D"
    if pair:
        letters += "P"
    may_surrender = rules.surrender != "none" and (whole or rules.surrender_after_split)
    if may_surrender and (first or rules.surrender_cards == "any"):
        letters += "R"
    return letters + "B" if rules.raises else letters


def doubles_free(rules: Rules, hand: Cards) -> bool:
    if rules.free_doubles == "none" or (len(hand.ranks) > 2 and rules.free_double_cards == "two"):
        return False
    return rules.doubles_free(hand.points, hand.soft)


def is_free(letter: str, view: View) -> bool:
    """Whether the house pays for the bet that an action adds."""
    hand = Cards([parse_rank(card) for card in view.hand])
    return doubles_free(view.rules, hand) if letter == "D" else letter == "P" and view.rules.splits_free(hand.ranks[0])


def _is_pair(rules: Rules, ranks: list[int]) -> bool:
    one, other = ranks
    if rules.split_by == "value":
        return VALUES[one] == VALUES[other]
    return rules.split_by == "rank" and one == other

"""The readable round: the rules of play in terms of cards.

The rules of play are implemented in two places, here and in `states.py`, and the tests compare the two. A round takes
any Player and any shoe, and records a list of events.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from bjsim.sim.game.actions import INSURANCE, Action, Player, View
from bjsim.sim.game.cards import HIDDEN, RANKS, TEN, is_natural
from bjsim.sim.game.events import (
    Acted,
    Dealt,
    Ending,
    HandEnded,
    InsuranceSettled,
    Insured,
    Peeked,
    Revealed,
    Settled,
    Shuffled,
)  # fmt: skip
from bjsim.sim.game.observers import ask_bets, record_events, show_hole_card
from bjsim.sim.game.round_result import RoundResult as RoundResult
from bjsim.sim.game.rule_parsers import EARLY_SURRENDER
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.seats import Cards, PlayedHand, Seat
from bjsim.sim.game.settlement import add_amounts, counts_as_natural, is_settled, pay_seat, risks_bet
from bjsim.sim.game.shoe import Shoe

# Frozen dataclasses are slow to make, and few different ones occur. Without the caches a round takes 1.1 times as long.
_dealt = lru_cache(maxsize=4096)(Dealt)
_acted = lru_cache(maxsize=4096)(Acted)
_hand_ended = lru_cache(maxsize=4096)(HandEnded)
_settled = lru_cache(maxsize=4096)(Settled)


class Round:
    """One round at one table.

    Args:
        rules: The rules of the game.
        shoe: The source of cards.
        players: One player for each seat, in the order of the deal.
        chips: Chips of each seat before its initial bet; `rules.chips` each by default. They limit the stakes if the
            rules allow raises.

    Attributes:
        seats: The seats with their hands and chips.
        dealer: The dealer's cards.
        open_cards: Letters of the seats' cards, in the order of the deal.
        events: What happened so far.
        bets: See `RoundResult`.
    """

    def __init__(self, rules: Rules, shoe: Shoe, players: Sequence[Player], chips: Sequence[int] | None = None) -> None:
        self.rules = rules
        self.shoe = shoe
        holds = chips or [rules.chips] * len(players)
        self.seats = [
            Seat(number, player, held - rules.buy_in, [PlayedHand(rules.buy_in)])
            for number, (player, held) in enumerate(zip(players, holds, strict=True))
        ]
        self.dealer = Cards()
        self.open_cards = ""  # the seats' cards in the order of the deal
        self.bets: tuple[int, ...] = ()
        self.events = record_events(players)

    def play(self) -> RoundResult:
        """Play the round.

        Returns:
            Profit and replayed stake of each seat in initial bets, and the events.

        Raises:
            RunFailed: A player raised an exception, or chose an action that is not legal.
            InputError: A scripted shoe ran out of cards.
        """
        if self.shoe.begin_round():
            self.events.append(Shuffled())
        self.bets = ask_bets(self.rules, self.seats)
        self._deal()
        self._offer_insurance()
        self._offer_early_surrender()
        if not self._dealer_peeks_natural():
            self._seats_act()
            self._dealer_acts()
        show_hole_card(self.events)
        return self._pay()

    # --- the deal

    def _deal(self) -> None:
        for letter in self.rules.deal:
            if letter == "p":
                for seat in self.seats:
                    self._card(seat, 0)
            else:
                self._dealer_card(face_down=bool(self.dealer.ranks) and self.rules.dealer_shows == "up")
        for seat in self.seats:
            self._to_next_decision(seat)

    def _draw(self) -> int:
        if self.shoe.replenish():
            self.events.append(Shuffled())
        return self.shoe.draw()

    def _card(self, seat: Seat, index: int) -> None:
        card = seat.hands[index].take(self._draw())
        self.open_cards += card
        self.events.append(_dealt(card, seat.number, index))

    def _dealer_card(self, face_down: bool = False) -> None:
        card = self.dealer.take(self._draw())
        self.events.append(_dealt(card, face_down=face_down))

    def _offer_insurance(self) -> None:
        """Ask every seat, also one with a natural, for an insurance bet if the dealer shows an ace."""
        if self.rules.insurance and self.dealer.ranks[0] == 0:
            for seat in self.seats:
                seat.insured = seat.ask(self._view(seat, seat.hands[0], INSURANCE)).letter == "I"
            self.events += [Insured(seat.number) for seat in self.seats if seat.insured]

    def _offer_early_surrender(self) -> None:
        """Ask every seat for its first action; one that does not surrender waits until the dealer has peeked."""
        if min(self.dealer.ranks[0], TEN) in map(RANKS.index, EARLY_SURRENDER[self.rules.surrender]):
            for seat in [seat for seat in self.seats if seat.playing]:
                seat.answer = seat.ask(self._view(seat, seat.hands[seat.turn]))
                if seat.answer.letter == "R":
                    self._move(seat)

    def _dealer_peeks_natural(self) -> bool:
        if not self.rules.peek:
            return False
        natural = is_natural(self.dealer.ranks)
        if natural or (self.rules.dealer_shows == "up" and self.dealer.ranks[0] in (0, *range(TEN, len(RANKS)))):
            self.events.append(Peeked(natural))
        return natural

    # --- the seats

    def _seats_act(self) -> None:
        round_robin = self.rules.turns == "round-robin"
        acting = self.seats
        while acting := [seat for seat in acting if seat.playing]:
            for seat in acting:
                self._move(seat)
                while seat.playing and not round_robin:
                    self._move(seat)

    def _move(self, seat: Seat) -> None:
        action, seat.answer = seat.answer or seat.ask(self._view(seat, seat.hands[seat.turn])), None
        self._act(seat, action)

    def _act(self, seat: Seat, action: Action) -> None:
        index, letter, amount = seat.turn, *action
        hand = seat.hands[index]
        hand.moves += 1
        self.events.append(_acted(seat.number, index, action))
        if letter == "S":
            self._end(seat, "stood")
        elif letter == "R":
            self._end(seat, "surrendered")
        elif letter == "H":
            self._card(seat, index)
        elif letter == "B":
            self._stake(seat, hand, amount)
        elif letter == "D":
            hand.doubled = True
            self._stake(seat, hand, hand.stake)
            self._card(seat, index)
            charlie = len(hand.ranks) == self.rules.charlie
            self._end(seat, "bust" if hand.points > 21 else "charlie" if charlie else "stood")
        elif letter == "P":
            self._split(seat, index)
        if hand.moves >= self.rules.move_cap and not hand.ending and hand.points <= 21:
            self._end(seat, "move-cap")
        self._to_next_decision(seat)

    def _stake(self, seat: Seat, hand: PlayedHand, chips: int) -> None:
        hand.stake += chips
        seat.chips -= chips

    def _split(self, seat: Seat, index: int) -> None:
        pair = seat.hands[index]
        seat.chips -= pair.stake
        seat.hands[index : index + 1] = [
            PlayedHand(pair.stake, [rank], split_from=pair.ranks[0]) for rank in pair.ranks
        ]
        self._card(seat, index)

    def _to_next_decision(self, seat: Seat) -> None:
        """End hands without a legal action, up to the first that has one, and deal second cards to split hands."""
        while seat.playing:
            hand = seat.hands[seat.turn]
            if len(hand.ranks) == 1:
                self._card(seat, seat.turn)
            hand.legal = self._legal(seat, hand)
            if hand.legal:
                return
            if hand.points > 21:
                self._end(seat, "bust")
            elif counts_as_natural(self.rules, hand):
                self._end(seat, "natural")
            elif len(hand.ranks) == self.rules.charlie:
                self._end(seat, "charlie")
            else:
                self._end(seat, "21" if hand.points == 21 else "stood")

    def _end(self, seat: Seat, ending: Ending) -> None:
        """End the hand in play."""
        seat.hands[seat.turn].ending = ending
        self.events.append(_hand_ended(seat.number, seat.turn, ending))
        seat.turn += 1

    def _legal(self, seat: Seat, hand: PlayedHand) -> str:
        rules = self.rules
        if len(hand.ranks) == rules.charlie:
            return ""
        if hand.points >= 21 and (hand.points > 21 or counts_as_natural(self.rules, hand) or rules.stand_on_21):
            return ""
        first = len(hand.ranks) == 2 and hand.moves == 0
        affordable = not rules.raises or seat.chips >= hand.stake
        pair = first and affordable and self._is_pair(hand.ranks)
        pair = pair and len(seat.hands) < rules.hand_limit(aces=hand.ranks[0] == 0)
        if hand.split_from == 0:
            pair = pair and rules.resplit_aces
            if not rules.hit_split_aces:
                return "SP" if pair else ""
        whole = hand.split_from < 0
        double = rules.doubles(hand.points, hand.soft) and (whole or rules.double_after_split)
        double = double and affordable and (first or rules.double_cards == "any")
        surrender = first and rules.surrender != "none" and (whole or rules.surrender_after_split)
        return "SH" + "D" * double + "P" * pair + "R" * surrender + "B" * rules.raises

    def _is_pair(self, ranks: list[int]) -> bool:
        one, other = ranks
        if self.rules.split_by == "value":
            return min(one, TEN) == min(other, TEN)
        return self.rules.split_by == "rank" and one == other

    def _view(self, seat: Seat, hand: PlayedHand, legal: str = "") -> View:
        dealer, backs = self.dealer.letters, ""
        if self.rules.dealer_shows != "both":
            dealer, backs = dealer[:1], HIDDEN * len(dealer[1:])
        return View(
            self.rules, seat.number, hand.letters, dealer, dealer + backs + self.open_cards,
            hand.stake, max(seat.chips, 0), legal or hand.legal, hand.split_from >= 0, len(seat.hands),
        )  # fmt: skip

    # --- the dealer

    def _dealer_acts(self) -> None:
        unsettled = [hand for seat in self.seats for hand in seat.hands if not is_settled(self.rules, hand)]
        if not unsettled and (self.rules.peek or not any(risks_bet(self.rules, seat) for seat in self.seats)):
            return
        if len(self.dealer.ranks) < 2:
            self._dealer_card()
        elif self.rules.dealer_shows == "up":
            self.events.append(Revealed(self.dealer.letters[1]))
        playing = any(hand.ending not in ("natural", "bust") for hand in unsettled)  # these need the hole card only
        while playing and self._dealer_draws():
            self._dealer_card()

    def _dealer_draws(self) -> bool:
        points, soft = self.dealer.points, self.dealer.soft
        return points < self.rules.dealer_stands_on or (points == 17 and soft and self.rules.hit_soft_17)

    # --- the money

    def _pay(self) -> RoundResult:
        net, tied = [], []
        special = self.rules.naturals == "both" and is_natural(self.dealer.ranks)
        for seat in self.seats:
            paid = pay_seat(self.rules, seat.hands, self.dealer, special)
            for index, hand in enumerate(paid):
                self.events.append(_settled(seat.number, index, hand.net, hand.tied))
            net.append(add_amounts([hand.net for hand in paid]))
            if seat.insured:
                insurance = Fraction(1) if special else Fraction(-1, 2)
                self.events.append(InsuranceSettled(seat.number, insurance))
                net[-1] += insurance
            tied.append(add_amounts([hand.tied for hand in paid]))
        return RoundResult(tuple(net), tuple(tied), tuple(self.events), self.bets)

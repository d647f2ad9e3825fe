"""The readable round: the rules of play in terms of cards.

The rules of play are implemented in two places, here and in `states.py`, and the tests compare the two. A round takes
cards from any shoe, records a list of events, and stops at every question to a seat, which anything may answer.
"""

from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

from bjsim.arguments import names_wrong_types
from bjsim.errors import EndlessSplitting, InputError, RunFailed, shorten
from bjsim.sim.game import events
from bjsim.sim.game.actions import (
    ATTACK,
    ENDLESS,
    EXCHANGE,
    INSURANCE,
    RUNAWAY,
    Action,
    IllegalAction,
    Player,
    Question,
    View,
)
from bjsim.sim.game.cards import HIDDEN, RANKS, TEN
from bjsim.sim.game.events import Event, RoundResult, as_seen
from bjsim.sim.game.rule_text import EARLY_SURRENDER
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.seats import (
    Cards,
    PlayedHand,
    Seat,
    counts_as_natural,
    doubles_free,
    is_settled,
    legal_letters,
    make_seats,
    risks_bet,
    settle_seats,
)
from bjsim.sim.game.shoe import Shoe

# --- What a round asks its players and tells them: actions, bets, and events for those that observe.


LARGEST_BET = 1_000_000  # units
Steps = Generator[Question, Action, RoundResult]  # of a round
Observers = Sequence[tuple[str, Callable[[Event], object]]]  # the names of players, and their methods `observe`


@runtime_checkable
class Bettor(Protocol):
    """A player that chooses its bet before every round."""

    def bet(self, view: View) -> int:
        """Choose a bet in units, before the deal; with 0 the round is played and seen, and pays nothing."""
        ...


@runtime_checkable
class Observer(Protocol):
    """A player that sees everything that happens in the open."""

    def observe(self, event: Event) -> None:
        """Take note of an event, of this or another seat.

        A face-down card is `#`. The hole card follows as `Revealed`, at the end of the round if not before.
        """
        ...


def drive(steps: Steps, answer: Callable[[int, View], Action]) -> RoundResult:
    """Play `Round.steps()`; `answer` takes the number of a seat and its view, and returns a legal action."""
    try:
        question = next(steps)
        while True:
            question = steps.send(answer(*question))
    except StopIteration as end:
        result: RoundResult = end.value
        return result


def ask_action(player: Player, view: View) -> Action:
    """Ask a player for an action; RunFailed: it raised an exception, IllegalAction: its answer is not legal."""
    try:
        answer: object = player.decide(view)
    except RunFailed:
        raise
    except Exception as error:
        situation = f"with {view.hand} against {view.dealer}"
        raise RunFailed(f"{player.name} failed {situation}: {type(error).__name__}: {error}") from error
    if (  # the fast path
        type(answer) is Action
        and type(answer.letter) is str
        and type(answer.amount) is int
        and not find_fault(answer, view)
    ):
        return answer
    return legal_action(player.name, answer, view)


def legal_action(name: str, answer: object, view: View) -> Action:
    action = as_action(answer)
    if action is None:
        shown = shorten(answer, form=repr)
        raise IllegalAction(f"{name} answered {shown} with {view.hand}; an Action or its letter is expected")
    if fault := find_fault(action, view):
        raise IllegalAction(
            f"{name} answered {shorten(action)} with {view.hand} against {view.dealer}; "
            f"allowed were {', '.join(view.legal)}" + (f", B up to {view.chips}" if fault == "overbet" else "")
        )
    return action


def as_action(answer: object) -> Action | None:
    """An answer, an Action or its letter, as an Action; None for anything else."""
    action = Action(answer) if isinstance(answer, str) else answer
    if isinstance(action, Action) and isinstance(action.letter, str) and type(action.amount) is int:  # not True
        return action
    return None


def find_fault(action: Action, view: View) -> str:
    """Why an action is not legal: `overbet`, or `bad-reply` if its letter is not allowed; empty for a legal action."""
    letter, amount = action
    if letter == "B" and not 0 <= amount <= view.chips:
        return "overbet"
    return "" if len(letter) == 1 and letter in view.legal else "bad-reply"


def find_observers(players: Sequence[Player]) -> Observers:
    """The players that have a method `observe`."""
    return [(player.name, observe) for player in players if (observe := getattr(player, "observe", None))]


def show_events(observers: Observers, events: Sequence[Event], first: int) -> int:
    """Show observers the events from number `first` on; return the number of events. RunFailed: one raised."""
    for event in map(as_seen, events[first:]) if observers else ():
        for name, observe in observers:
            try:
                observe(event)
            except RunFailed:
                raise
            except Exception as error:
                raise RunFailed(f"{name} failed to observe {event}: {type(error).__name__}: {error}") from error
    return len(events)


def ask_bets(rules: Rules, players: Sequence[Player], chips: Sequence[int]) -> tuple[int, ...]:
    """Ask for the bets of a round: units per seat, 1 for seats that do not choose; empty if none does."""
    if not [player for player in players if hasattr(player, "bet")]:
        return ()
    return tuple(
        _ask_bet(player, View(rules, seat, "", "", "", 0, held, ""))
        for seat, (player, held) in enumerate(zip(players, chips, strict=True))
    )


def _ask_bet(player: Any, view: View) -> int:
    if not hasattr(player, "bet"):
        return 1
    try:
        units: object = player.bet(view)
    except RunFailed:
        raise
    except Exception as error:
        raise RunFailed(f"{player.name} failed to bet: {type(error).__name__}: {error}") from error
    if isinstance(units, bool) or not isinstance(units, int) or not 0 <= units <= LARGEST_BET:
        raise RunFailed(f"{player.name} bet {units!r}; a whole number of units from 0 to {LARGEST_BET} is expected")
    return units


# Frozen dataclasses are slow to make, and few different ones occur. Without the caches a round takes 1.1 times as long.
_dealt = lru_cache(maxsize=4096)(events.Dealt)
_acted = lru_cache(maxsize=4096)(events.Acted)
_hand_ended = lru_cache(maxsize=4096)(events.HandEnded)


@names_wrong_types
class Round:
    """One round at one table. The shoe is shuffled, if it must be, when the round is made.

    Args:
        rules: The rules of the game.
        shoe: The source of cards.
        seats: The number of seats.
        chips: Chips of each seat before its bet, by default `rules.chips`; they limit the stakes if raises are legal.

    Attributes:
        seats: The seats with their hands and chips, in the order of the deal.
        dealer: The dealer's cards.
        open_cards: Letters of the seats' cards, in the order of the deal.
        events: What happened so far.
        bets: See `RoundResult`.

    Raises:
        InputError: There are chips for another number of seats.
    """

    def __init__(self, rules: Rules, shoe: Shoe, seats: int, chips: Sequence[int] | None = None) -> None:
        if chips is not None and len(chips) != seats:
            raise InputError(f"chips: those of {len(chips)} seats are given, and there are {seats}")
        self.rules, self.shoe, self._hands = rules, shoe, rules.bets
        self.seats = make_seats(rules, chips or [rules.chips] * seats)
        self.dealer = Cards()
        self.open_cards = ""
        self._face_down = ""  # the hole card, until it is turned over
        self.bets: tuple[int, ...] = ()
        self.events: list[events.Event] = [events.Shuffled()] if shoe.begin_round() else []

    def __repr__(self) -> str:
        return f"Round({self.rules.name}, {len(self.seats)} seats, {len(self.events)} events)"

    def steps(self) -> Generator[Question, Action, RoundResult]:
        """Play the round, stopping at every question.

        Yields:
            The questions. Send the action, which must be legal.

        Returns:
            Profit and replayed stake of each seat in initial bets, and the events.

        Raises:
            RunFailed: A seat reached the limit on hands.
            InputError: A scripted shoe ran out of cards.
        """
        deal = self.rules.deal
        if self.rules.attack:  # which is offered once the first card, the dealer's, is open
            self._deal(deal[:1])
            yield from self._offer(ATTACK)
            deal = deal[1:]
        self._deal(deal)
        for seat in self.seats if self._hands == 1 else ():
            self._to_next_decision(seat)
        if self.rules.insurance and self.dealer.ranks[0] == 0:  # every seat is asked, also one with a natural
            for seat in self.seats:
                action = yield Question(seat.number, self.view(seat, seat.hands[0], INSURANCE))
                seat.insured = action.letter == "I"
            self.events += [events.Insured(seat.number) for seat in self.seats if seat.insured]
        if RANKS[min(self.dealer.ranks[0], TEN)] in EARLY_SURRENDER[self.rules.surrender]:
            for seat in [seat for seat in self.seats if seat.playing]:
                answer = yield self._question(seat)
                if answer.letter == "R":
                    self._act(seat, answer)
                else:
                    seat.answer = answer  # it is carried out once the dealer has peeked
        if not self._dealer_peeks_natural():
            if self._hands > 1:
                yield from self._offer(EXCHANGE)
            yield from self._seats_act()
            self._dealer_acts()
        self._turn_over_hole_card()  # if it still lies face down: all see it when the cards are collected
        net, tied, settled = settle_seats(self.rules, self.seats, self.dealer)
        self.events += settled
        return RoundResult(net, tied, tuple(self.events), self.bets)

    def play(self, players: Sequence[Player]) -> RoundResult:
        """Play the round with a player in each seat.

        Args:
            players: One for each seat. Those that are a `Bettor` or an `Observer` bet and observe.

        Returns:
            As `steps`.

        Raises:
            RunFailed: A player raised an exception or chose an action that is not legal, or as `steps`.
            InputError: As `steps`.
        """
        shown = show_events(observers := find_observers(players), self.events, 0)
        self.bets = ask_bets(self.rules, players, [seat.chips for seat in self.seats])
        steps = self.steps()  # not by `drive`: a further call for each answer costs a twentieth of a round
        try:
            question = next(steps)
            while True:
                if observers:
                    shown = show_events(observers, self.events, shown)
                question = steps.send(ask_action(players[question.seat], question.view))
        except StopIteration as end:
            show_events(observers, self.events, shown)
            result: RoundResult = end.value
            return result

    # --- the deal

    def _deal(self, letters: str) -> None:
        for letter in letters:
            if letter == "p":
                for seat in self.seats:
                    for index in range(self._hands):
                        self._card(seat, index)
            else:
                self._dealer_card(face_down=bool(self.dealer.ranks) and self.rules.dealer_shows == "up")

    def _offer(self, legal: str) -> Generator[Question, Action, None]:
        for seat in self.seats:
            action = yield Question(seat.number, self.view(seat, seat.hands[0], legal))
            if action.letter != "S":
                self.events.append(_acted(seat.number, 0, action))
            if action.letter == "A":
                seat.stake(seat.hands[0], self.rules.buy_in)
                seat.bets = 2
            if action.letter == "X":
                seat.exchange()
            if legal == EXCHANGE:
                self._to_next_decision(seat)

    def _draw(self) -> int:
        if self.shoe.replenish():
            self.events.append(events.Shuffled())
        return self.shoe.draw()

    def _card(self, seat: Seat, index: int) -> None:
        card = seat.hands[index].take(self._draw())
        self.open_cards += card
        self.events.append(_dealt(card, seat.number, index))

    def _dealer_card(self, face_down: bool = False) -> None:
        card = self.dealer.take(self._draw())
        self.events.append(_dealt(card, events.DEALER, 0, face_down))
        if face_down:
            self._face_down = card

    def _dealer_peeks_natural(self) -> bool:
        if not self.rules.peek:
            return False
        natural, up = self.dealer.natural, self.dealer.ranks[0]
        if natural or (self.rules.dealer_shows == "up" and (up == 0 or up >= TEN)):
            self.events.append(events.Peeked(natural))
        return natural

    # --- the seats

    def _question(self, seat: Seat) -> Question:
        return Question(seat.number, self.view(seat, seat.hands[seat.turn]))

    def _seats_act(self) -> Generator[Question, Action, None]:
        round_robin = self.rules.turns == "round-robin"
        acting = self.seats
        while acting := [seat for seat in acting if seat.playing]:
            for seat in acting:
                answer, seat.answer = seat.answer, None
                self._act(seat, answer or (yield self._question(seat)))
                while seat.playing and not round_robin:
                    self._act(seat, (yield self._question(seat)))

    def _act(self, seat: Seat, action: Action) -> None:
        index, letter = seat.turn, action.letter
        hand = seat.hands[index]
        hand.moves += 1
        self.events.append(_acted(seat.number, index, action))
        if letter in events.ENDED_BY:
            self._end(seat, events.ENDED_BY[letter])
        elif letter == "H":
            self._card(seat, index)
        elif letter == "B":
            seat.stake(hand, action.amount)
        elif letter == "D":
            free = hand.stake if doubles_free(self.rules, hand) else 0
            hand.doubled += 1
            seat.stake(hand, hand.stake, free)
            self._card(seat, index)
            charlie = len(hand.ranks) == self.rules.charlie
            if not legal_letters(self.rules, seat, hand):
                self._end(seat, "bust" if hand.points > 21 else "charlie" if charlie else "stood")
        elif letter == "P":
            self._split(seat, index)
        if hand.moves >= self.rules.move_cap and not hand.ending and legal_letters(self.rules, seat, hand):
            self._end(seat, "move-cap")
        self._to_next_decision(seat)

    def _split(self, seat: Seat, index: int) -> None:
        pair = seat.hands[index]
        free = pair.stake if self.rules.splits_free(pair.ranks[0]) else 0
        seat.chips -= pair.stake - free
        seat.hands[index : index + 1] = [
            PlayedHand(pair.stake, [rank], pair.ranks[0], by_house, pair.bet)
            for rank, by_house in zip(pair.ranks, (pair.free, free), strict=True)
        ]
        if len(seat.hands) > RUNAWAY:
            raise EndlessSplitting(ENDLESS)
        self._card(seat, index)

    def _to_next_decision(self, seat: Seat) -> None:
        """End hands without a legal action, up to the first that has one, and deal second cards to split hands."""
        while seat.playing:
            hand = seat.hands[seat.turn]
            if len(hand.ranks) == 1:
                self._card(seat, seat.turn)
            hand.legal = legal_letters(self.rules, seat, hand)
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

    def _end(self, seat: Seat, ending: events.Ending) -> None:
        seat.hands[seat.turn].ending = ending
        self.events.append(_hand_ended(seat.number, seat.turn, ending))
        seat.turn += 1

    def view(self, seat: Seat, hand: PlayedHand, legal: str = "") -> View:
        """What a seat may know now.

        Args:
            seat: The seat.
            hand: The hand to decide on.
            legal: Letters of the legal actions; by default those of the hand.

        Returns:
            The view.
        """
        cards, both = self.dealer.letters, self.rules.dealer_shows == "both"
        up, hidden = (cards, "") if both else (cards[:1], HIDDEN * (len(cards) - 1))
        hands, pending, others = len(seat.hands), max(len(seat.hands) - seat.turn - 1, 0), ""
        if self._hands > 1:
            own = seat.hands_of(hand.bet)
            hands, pending, others = len(own), [len(each.ranks) for each in own].count(1), seat.others(hand)
        return View(
            self.rules, seat.number, hand.letters, up, up + hidden + self.open_cards,
            hand.stake, max(seat.chips, 0), legal or hand.legal, hand.split_from >= 0, hands,
            pending, hand.free == hand.stake, hand.doubled, others,
        )  # fmt: skip

    # --- the dealer

    def _dealer_acts(self) -> None:
        unsettled = [hand for seat in self.seats for hand in seat.hands if not is_settled(self.rules, hand)]
        if not unsettled and (self.rules.peek or not any(risks_bet(self.rules, seat) for seat in self.seats)):
            return
        if len(self.dealer.ranks) < 2:
            self._dealer_card()
        self._turn_over_hole_card()
        playing = any(hand.ending not in ("natural", "bust") for hand in unsettled)  # these need the hole card only
        while playing and self._dealer_draws():
            self._dealer_card()

    def _turn_over_hole_card(self) -> None:
        if self._face_down:
            self.events.append(events.Revealed(self._face_down))
            self._face_down = ""

    def _dealer_draws(self) -> bool:
        points, soft = self.dealer.points, self.dealer.soft
        return points < self.rules.dealer_stands_on or (points == 17 and soft and self.rules.hit_soft_17)

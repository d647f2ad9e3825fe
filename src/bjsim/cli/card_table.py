"""A session at a table: bets, rounds and the account of a person's chips; see `bjsim play`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bjsim.bots.protocol import printable
from bjsim.cli.narrator import PERSON, Narrator, format_chips
from bjsim.cli.person import HELP, QUIT, CoachTally, Person, PersonLeft
from bjsim.cli.terminal import EndOfInput, Terminal
from bjsim.errors import InputError
from bjsim.sim.game.actions import Action, Player, View
from bjsim.sim.game.observers import ask_action, drive, find_observers, show_events
from bjsim.sim.game.round import Round, RoundResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe, Shoe

if TYPE_CHECKING:
    from bjsim.cli.count_practice import CountPractice

MAX_SPLITS = 16  # hands whose stakes the rules must allow for


@dataclass(eq=False)
class CardTable:
    """A person and other players against the dealer.

    Args:
        terminal: Where the person reads and types.
        rules: The game.
        shoe: The cards.
        others: The players at the other seats.
        chips: What the person has.
        bet: Chips bet on every round; None asks for them.
        rounds: Number of rounds; None plays until the person leaves.
        tally: Of the coach, if there is one.
        practice: Asks for the count, if it is to be practised.

    Attributes:
        names: Of the players, by seat.
        holds: Chips of every seat, the person's first.
        played: Number of finished rounds.
    """

    terminal: Terminal
    rules: Rules
    shoe: Shoe
    others: Sequence[Player]
    chips: int
    bet: int | None
    rounds: int | None
    tally: CoachTally | None = None
    practice: CountPractice | None = None

    def __post_init__(self) -> None:
        self.person = Person(self.terminal, self.tally)
        self.names = _names([self.person.name, *(player.name for player in self.others)])
        self.holds = [Fraction(self.chips), *[Fraction(self.rules.chips)] * len(self.others)]
        self.played = 0
        self._usual = min(self.bet or self.rules.buy_in, self.chips)
        self._tied = 0  # chips that are bet again after a tie

    def play(self) -> None:
        """Play until the person leaves, the chips or a scripted shoe are used up, or all rounds are played.

        Raises:
            RunFailed: Another player failed.
            InputError: A scripted shoe ran out during a round.
        """
        try:
            while not (reason := self._why_over()):
                self._play_round(self._ask_bet())
            self.terminal.say(reason)
        except PersonLeft:
            pass
        except EndOfInput:
            self.terminal.say("End of input.")

    def summary(self) -> str:
        """The person's winnings, in words."""
        won = self.holds[PERSON] - self.chips
        rounds = "1 round" if self.played == 1 else f"{self.played} rounds"
        result = f"{'won' if won > 0 else 'lost'} {format_chips(abs(won))}" if won else "broke even"
        return f"You played {rounds} and {result}: you have {format_chips(self.holds[PERSON])}."

    def _why_over(self) -> str:
        if self.rounds is not None and self.played >= self.rounds and not self._tied:
            return "That was the last round."
        if isinstance(self.shoe, ScriptedShoe) and not self.shoe.left:
            return "The shoe is empty."
        if self.holds[PERSON] < (self.bet or 1):
            return f"Your chips do not cover a bet of {format_chips(self.bet or 1)}."
        return ""

    def _ask_bet(self) -> int:
        """The chips to bet on the next round. Raises: EndOfInput."""
        if self._tied:
            return self._tied
        if self.bet is not None:
            return self.bet
        most = int(self.holds[PERSON])
        usual = min(self._usual, most)
        while True:
            limits = f"1 to {format_chips(most)}, Enter for {usual}" if most > 1 else "your last chip"
            answer = self.terminal.ask(f"Bet {limits}").lower()
            if answer in QUIT:
                raise PersonLeft("left")
            text = answer.removesuffix("s").removesuffix("chip").strip()
            if not answer or (text.isascii() and text.isdigit() and len(text) <= 12 and 1 <= int(text) <= most):
                self._usual = int(text) if answer else usual
                return self._usual
            if answer in HELP:
                self.terminal.say("Type a number of chips, Enter to bet as before, or q to quit.")
            else:
                self.terminal.say(f"{answer[:20]} is not a bet: type 1 to {most}, Enter for {usual}, or q to quit.")

    def _play_round(self, bet: int) -> None:
        self._refill(bet)
        most = int(min(self.rules.most_hands, MAX_SPLITS))
        rules = self.rules.replace(buy_in=bet, chips=max(self.rules.chips, 2 * bet * most))
        game = Round(rules, self.shoe, len(self.names), [int(held) for held in self.holds])
        self.terminal.say("")
        self.terminal.say(f"Round {self.played + 1}, your bet is {format_chips(bet)}.")
        narrator = Narrator(self.names, bet, rules.naturals == "both")
        try:
            played = self._drive(game, narrator)
        except (EndOfInput, KeyboardInterrupt, InputError) as error:
            if not isinstance(error, EndOfInput):
                self._narrate(narrator, game)
            self.terminal.say("This round does not count.")
            raise
        self.played += 1
        for seat, net in enumerate(played.net):
            self.holds[seat] += net * bet
        self._tied = int(played.tied[PERSON] * bet)
        self.terminal.say(f"You have {format_chips(self.holds[PERSON])}.")
        if self.practice:
            self.practice.follow(game.events)

    def _drive(self, game: Round, narrator: Narrator) -> RoundResult:
        """Play a round, and tell the person what happens."""
        person, observers, seen = game.seats[PERSON], find_observers(self.others), 0
        self.person.insurance = 0.0

        def answer(seat: int, view: View) -> Action:
            nonlocal seen
            seen = show_events(observers, game.events, seen)
            if seat != PERSON:
                return ask_action(self.others[seat - 1], view)
            self._narrate(narrator, game)
            return self.person.ask(view, narrator.hand_name(PERSON, person.turn))

        result = drive(game.steps(), answer)
        show_events(observers, game.events, seen)
        self._narrate(narrator, game)
        return result

    def _narrate(self, narrator: Narrator, game: Round) -> None:
        for line, colour in narrator.narrate(game.events):
            self.terminal.say(line, colour)

    def _refill(self, bet: int) -> None:
        """Give other players new chips if theirs do not cover the bet."""
        for seat, name in enumerate(self.names):
            if seat != PERSON and self.holds[seat] < bet:
                self.holds[seat] = Fraction(max(self.rules.chips, bet))
                if self.rules.raises:
                    self.terminal.say(f"{name} buys {format_chips(self.holds[seat])}.")


def _names(names: Sequence[str]) -> list[str]:
    """The names of the players, with the numbers of their seats where several have the same."""
    return [
        printable(f"{name} in seat {seat}" if names.count(name) > 1 else name) for seat, name in enumerate(names, 1)
    ]

"""A session at a table: bets, rounds and the account of a person's chips; see `bjsim play`."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bjsim.errors import InputError, printable
from bjsim.report.parts import counted
from bjsim.sim.game.actions import ATTACK, INSURANCE, STAND, Action, Player, View
from bjsim.sim.game.events import Event, RoundResult
from bjsim.sim.game.round import Round, ask_action, find_observers, show_events
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import ScriptedShoe, Shoe
from bjsim.strategies.evaluation.coach import Coach
from bjsim.strategies.evaluation.drill import Drill, Record
from bjsim.table.words import (
    PERSON,
    CoachTally,
    EndOfInput,
    Narrator,
    PersonLeft,
    Say,
    describe_misses,
    format_bets,
    format_chips,
    further_stake,
)

if TYPE_CHECKING:
    from bjsim.strategies.counting.count_coach import TableCount


MAX_SPLITS = 16  # hands whose stakes the rules must allow for


class BetAsked(NamedTuple):
    """A question for a bet: at most so many chips, and what is usual. Send the number."""

    most: int
    usual: int


class MoveAsked(NamedTuple):
    """A question for a move: what the person sees, and the hand, with its name if there are several. Send the action.

    Doubles and splits that the chips do not cover are not offered.
    """

    view: View
    hand_name: str
    hand: int


@dataclass(eq=False)
class CardTable:
    """A person and other players against the dealer.

    Attributes:
        chips: What the person has.
        bet: Chips bet on every round; None asks for them.
        rounds: Number of rounds; None plays until the person leaves.
        practice: Asks for the count, if it is to be practised.
        holds: Chips of every seat, the person's first.
        narrator: Of the last round.
    """

    rules: Rules
    shoe: Shoe
    others: Sequence[Player]
    chips: int
    bet: int | None
    rounds: int | None
    say: Say
    tally: CoachTally | None = None
    practice: CountPractice | None = None
    narrator: Narrator | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.names = _names(["you", *(player.name for player in self.others)])
        self.holds = [Fraction(self.chips), *[Fraction(self.rules.chips)] * len(self.others)]
        self.played = 0
        self._usual = min(self.bet or self.rules.buy_in, self.chips // self.rules.bets)
        self._tied = 0  # chips that are bet again after a tie
        self._insurance = 0.0  # chips staked on it in this round, which the round does not take from the seat's

    def steps(self) -> Generator[BetAsked | MoveAsked | CountAsked, Any, None]:
        """Play until chips, a scripted shoe or rounds are used up, stopping at every question.

        Send the answer, or throw `EndOfInput` if the person leaves. Raise InputError if the shoe ends in a round.
        """
        try:
            while not (reason := self._why_over()):
                bet = self._tied or self.bet
                if not bet:
                    most = min(int(self.holds[PERSON] / self.rules.bets), 10**9)  # as `buy_in` may be
                    bet = self._usual = yield BetAsked(most, min(self._usual, most))
                yield from self._play_round(bet)
            self.say(reason, None)
        except PersonLeft:
            pass
        except EndOfInput:
            self.say("End of input.", None)

    def summary(self) -> str:
        """The person's winnings, in words."""
        won = self.holds[PERSON] - self.chips
        result = f"{'won' if won > 0 else 'lost'} {format_chips(abs(won))}" if won else "broke even"
        return f"You played {counted(self.played, 'round')} and {result}: you have {format_chips(self.holds[PERSON])}."

    def _why_over(self) -> str:
        if self.rounds is not None and self.played >= self.rounds and not self._tied:
            return "That was the last round."
        if isinstance(self.shoe, ScriptedShoe) and not self.shoe.left:
            return "The shoe is empty."
        if self.holds[PERSON] < (self.bet or 1) * self.rules.bets:
            bet = "a bet" if self.rules.bets == 1 else "two bets"
            return f"Your chips do not cover {bet} of {format_chips(self.bet or 1)}."
        return ""

    def _play_round(self, bet: int) -> Generator[MoveAsked | CountAsked, Any, None]:
        self._refill(bet)
        most = int(min(self.rules.most_hands, MAX_SPLITS)) * self.rules.bets
        rules = self.rules.replace(buy_in=bet, chips=max(self.rules.chips, 2 * bet * most))
        game = Round(rules, self.shoe, len(self.names), [int(held) for held in self.holds])
        self.say("", None)
        your = "your bet is" if rules.bets == 1 else "your bets are two of"
        self.say(f"Round {self.played + 1}, {your} {format_chips(bet)}.", None)
        narrator = self.narrator = Narrator(self.names, bet, rules.naturals == "both", rules.bets)
        try:
            played = yield from self._drive(game, narrator)
        except (EndOfInput, KeyboardInterrupt, InputError) as error:
            if not isinstance(error, EndOfInput):
                self._narrate(narrator, game)
            self.say("This round does not count.", None)
            raise
        self.played += 1
        for seat, net in enumerate(played.net):
            self.holds[seat] += net * bet
        self._tied = int(played.tied[PERSON] * bet)
        self.say(f"You have {format_chips(self.holds[PERSON])}.", None)
        if self.practice:
            yield from self.practice.follow(game.events)

    def _drive(self, game: Round, narrator: Narrator) -> Generator[MoveAsked, Action, RoundResult]:
        person, observers, seen = game.seats[PERSON], find_observers(self.others), 0
        self._insurance, steps = 0.0, game.steps()
        action: Any = None  # starts the generator
        while True:
            try:
                seat, view = steps.send(action)
            except StopIteration as end:
                result: RoundResult = end.value
                break
            seen = show_events(observers, game.events, seen)
            if seat == PERSON:
                self._narrate(narrator, game)
                action = yield from self._ask(view, narrator.hand_name(PERSON, person.turn), person.turn)
            else:
                action = ask_action(self.others[seat - 1], view)
        show_events(observers, game.events, seen)
        self._narrate(narrator, game)
        return result

    def _ask(self, view: View, hand_name: str, hand: int) -> Generator[MoveAsked, Action, Action]:
        chips = view.chips - self._insurance
        legal = "".join(letter for letter in view.legal if further_stake(letter, view) <= chips)
        if view.legal in (ATTACK, INSURANCE) and legal == "S":
            return STAND  # declines
        view = view._replace(legal=legal, chips=int(chips))
        action = yield MoveAsked(view, hand_name, hand)
        for line, colour in self.tally.judge(view, action) if self.tally else ():
            self.say(line, colour)
        if action.letter == "I":
            self._insurance = further_stake("I", view)
        return action

    def _narrate(self, narrator: Narrator, game: Round) -> None:
        for line, colour in narrator.narrate(game.events):
            self.say(line, colour)
        if self.practice:
            self.practice.see(game.events)

    def _refill(self, bet: int) -> None:
        """Give other players new chips if theirs do not cover the bet."""
        bet *= self.rules.bets
        for seat, name in enumerate(self.names):
            if seat != PERSON and self.holds[seat] < bet:
                self.holds[seat] = Fraction(max(self.rules.chips, bet))
                if self.rules.raises:
                    self.say(f"{name} buys {format_chips(self.holds[seat])}.", None)


def _names(names: Sequence[str]) -> list[str]:
    """The names of the players, with the numbers of their seats where several have the same."""
    return [
        printable(f"{name} in seat {seat}" if names.count(name) > 1 else name) for seat, name in enumerate(names, 1)
    ]


def drill_summary(drill: Drill) -> list[str]:
    asked, misses = drill.asked, drill.misses
    if not asked:
        return ["No questions answered."]
    right = asked - len(misses)
    lost = format_bets(sum(miss.lost for miss in misses))
    cost = f"; the {'mistake' if len(misses) == 1 else 'mistakes'} cost {lost}" if misses else ""
    return [f"{right} of {asked} right ({right / asked:.0%}){cost}.", *describe_misses(misses)]


# --- Count practice: the running and the true count are asked for between rounds.


EVERY = 3  # rounds between questions
CLOSE = Fraction(1, 20)  # an answer to one decimal is enough
NUMBER = re.compile(r"[+-]?[0-9]{1,4}(?:\.[0-9]{1,4})?")
ROUNDED = {"floor": ", rounded down", "truncate": ", rounded toward 0", "round": ", rounded", "exact": ""}


class CountAsked(NamedTuple):
    """A question for a count. Send the answer, or None if there was none in time."""

    text: str


class CountPractice:
    """Counts along the cards that the person sees, and asks; `say` gets every comment on an answer."""

    def __init__(self, count: TableCount, say: Say) -> None:
        self.count = count
        self.say = say
        self.asked = self.right = self._rounds = self._seen = 0

    def see(self, events: Sequence[Event]) -> None:
        """Count the cards of a round in progress that are new."""
        self.count.see(events[self._seen :])
        self._seen = len(events)

    def follow(self, events: Sequence[Event]) -> Generator[CountAsked, Fraction | None, None]:
        """Count the last cards of a round, and ask if it is time."""
        self.see(events)
        self._rounds, self._seen = self._rounds + 1, 0
        if self._rounds % EVERY:
            return
        count, system = self.count, self.count.system
        yield from self._ask("running count", "", count.running)
        if system.uses_true_count:
            decks = f"{float(count.decks_unseen):g}"
            unseen = f" with {decks} {'deck' if decks == '1' else 'decks'} unseen"
            yield from self._ask("true count", unseen + ROUNDED[system.rounding], count.true)

    def total(self) -> str:
        return f"{self.right} of {self.asked} counts right" if self.asked else "no counts asked"

    def tags(self) -> str:
        tags = zip("A23456789T", self.count.system.tags, strict=True)
        listed = ", ".join(f"{card} {format_count(tag)}" for card, tag in tags)
        return f"Tags of {self.count.system.full_title}: {listed}; J, Q and K count as T."

    def _ask(self, name: str, details: str, count: Fraction) -> Generator[CountAsked, Fraction | None, None]:
        answer = yield CountAsked(f"What is the {name}{details}?")
        self.asked += 1
        if answer is not None and abs(answer - count) <= CLOSE:
            self.right += 1
            self.say("Right.", "green")
        else:
            self.say(f"{'Too late' if answer is None else 'Wrong'}: the {name} is {format_count(count)}.", "yellow")


def parse_count(text: str) -> Fraction | str:
    """The count that an answer names, or what is wrong with it."""
    text = text.replace("\N{MINUS SIGN}", "-")
    if NUMBER.fullmatch(text):
        return Fraction(text)
    return f"{text[:20] or 'An empty line'} is not a count: type a number such as -2"


def format_count(count: Fraction) -> str:
    """A count with its sign, to one decimal: `+2`, `-1.5`, `0`."""
    number = round(float(count), 1)
    return f"{number:+g}" if number else "0"


# --- The coach and the practice of a session.


def record_path() -> Path | None:
    """The file with what was missed in earlier sessions; None for a user without a home folder."""
    folder = os.environ.get("XDG_DATA_HOME", "")
    path = Path(folder if os.path.isabs(folder) else os.path.expanduser("~/.local/share"))
    return path / "bjsim" / "practice.json" if path.is_absolute() else None


def hire_coach(rules: Rules, path: Path | None, practice: CountPractice | None = None) -> CoachTally:
    """The coach, which takes some seconds to solve a finite shoe, and has judged nothing yet.

    `path` None keeps the record in memory. If the person counts, the count of `practice` decides what is right.
    """
    if practice:
        from bjsim.strategies.counting.count_coach import CountCoach

        coach: Coach = CountCoach(practice.count, rules)
    else:
        coach = Coach(rules)
    return CoachTally(coach, Record(coach.chart, path))


def practise_count(system: str, rules: Rules, say: Say) -> CountPractice:
    from bjsim.strategies.counting.count_coach import TableCount
    from bjsim.strategies.counting.system import find_system

    return CountPractice(TableCount(find_system(system), rules), say)

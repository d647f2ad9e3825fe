"""Count practice of `bjsim play` and of the app: asks for the running and the true count between rounds."""

import re
from collections.abc import Generator, Sequence
from fractions import Fraction
from typing import NamedTuple

from bjsim.cli.person import HELP, QUIT, PersonLeft, Say, Terminal
from bjsim.sim.game.events import Event
from bjsim.strategies.counting.count_coach import TableCount

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
    return f"{text[:20] or 'An empty line'} is not a count: type a number such as -2, or q"


def ask_count(terminal: Terminal, asked: CountAsked, practice: CountPractice) -> Fraction:
    """Ask for a count until there is an answer. Raises: EndOfInput."""
    while True:
        answer = terminal.ask(asked.text)
        if answer.lower() in QUIT:
            raise PersonLeft("left")
        if answer.lower() in HELP:
            terminal.say(practice.tags())
            continue
        count = parse_count(answer)
        if isinstance(count, Fraction):
            return count
        terminal.say(f"{count}.")


def format_count(count: Fraction) -> str:
    """A count with its sign, to one decimal: `+2`, `-1.5`, `0`."""
    number = round(float(count), 1)
    return f"{number:+g}" if number else "0"

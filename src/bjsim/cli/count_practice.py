"""Count practice of `bjsim play`: asks for the running and the true count between rounds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from bjsim.cli.person import HELP, QUIT, PersonLeft
from bjsim.cli.terminal import Terminal
from bjsim.sim.game.events import Event
from bjsim.strategies.counting.table_count import TableCount

EVERY = 3  # rounds between questions
CLOSE = Fraction(1, 20)  # an answer to one decimal is enough
NUMBER = re.compile(r"[+-]?[0-9]{1,4}(?:\.[0-9]{1,4})?")
ROUNDED = {"floor": ", rounded down", "truncate": ", rounded toward 0", "round": ", rounded", "exact": ""}


class CountPractice:
    """Counts along, and asks.

    Args:
        terminal: Where the person is asked.
        count: Of the cards that the person sees.
    """

    def __init__(self, terminal: Terminal, count: TableCount) -> None:
        self.terminal = terminal
        self.count = count
        self.asked = self.right = self._rounds = 0

    def follow(self, events: Sequence[Event]) -> None:
        """Count the cards of a round, and ask if it is time. Raises: EndOfInput."""
        self.count.see(events)
        self._rounds += 1
        if self._rounds % EVERY:
            return
        count, system = self.count, self.count.system
        self._ask("running count", "", count.running)
        if system.uses_true_count:
            decks = f"{float(count.decks_unseen):g}"
            unseen = f" with {decks} {'deck' if decks == '1' else 'decks'} unseen"
            self._ask("true count", unseen + ROUNDED[system.rounding], count.true)

    def total(self) -> str:
        """The score in words."""
        return f"{self.right} of {self.asked} counts right" if self.asked else "no counts asked"

    def _ask(self, name: str, details: str, count: Fraction) -> None:
        while True:
            answer = self.terminal.ask(f"What is the {name}{details}?").replace("\N{MINUS SIGN}", "-")
            if answer.lower() in QUIT:
                raise PersonLeft("left")
            if NUMBER.fullmatch(answer):
                break
            if answer.lower() not in HELP:
                self.terminal.say(f"{answer[:20] or 'An empty line'} is not a count: type a number such as -2, or q.")
                continue
            tags = zip("A23456789T", self.count.system.tags, strict=True)
            listed = ", ".join(f"{card} {format_count(tag)}" for card, tag in tags)
            self.terminal.say(f"Tags of {self.count.system.full_title}: {listed}; J, Q and K count as T.")
        self.asked += 1
        if abs(Fraction(answer) - count) <= CLOSE:
            self.right += 1
            self.terminal.say("Right.", "green")
        else:
            self.terminal.say(f"Wrong: the {name} is {format_count(count)}.", "yellow")


def format_count(count: Fraction) -> str:
    """A count with its sign, to one decimal: `+2`, `-1.5`, `0`."""
    number = round(float(count), 1)
    return f"{number:+g}" if number else "0"

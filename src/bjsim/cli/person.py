"""A conversation with a person at a table, in lines of text; see `bjsim play`."""

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

import click

from bjsim.cli.waiting import end_waiting
from bjsim.errors import printable
from bjsim.sim.game.actions import Action, View
from bjsim.strategies.evaluation.drill import Drill
from bjsim.table.card_table import drill_summary
from bjsim.table.words import (
    DECLINED,
    EXPLAINED,
    HELP,
    QUIT,
    UNBROKEN,
    EndOfInput,
    PersonLeft,
    blame,
    format_bets,
    format_cards,
    format_chips,
    keys,
    move_names,
    parse_action,
    parse_bet,
    praise,
    value_table,
)

T = TypeVar("T")
LONGEST_ECHO = 40  # characters of an answer that does not come from a terminal


class Terminal:
    """Says lines and asks for lines. The width is looked up for every line, so a window may change its size."""

    def __init__(self) -> None:
        self.is_screen = sys.stdout.isatty()
        self._has_keyboard = sys.stdin.isatty()
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self._colours = self.is_screen and not plain
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="replace")

    def say(self, text: str, colour: str | None = None) -> None:
        """Print a line, folded between words if the screen is narrower."""
        for line in self._fold(text):
            click.echo(click.style(line, fg=colour) if colour and self._colours else line)

    def ask(self, question: str) -> str:
        """Print a question and read the answer. Raises: EndOfInput."""
        end_waiting()  # a conversation moves no cursor
        *lines, last = self._fold(f"{question} >")
        for line in lines:
            click.echo(line)
        try:
            click.echo(f"{last} ", nl=False)  # flushes
            answer = sys.stdin.readline()
        except KeyboardInterrupt:
            click.echo()
            raise
        text = printable(" ".join(answer.split()))
        if not self._has_keyboard or not answer:
            click.echo(text[:LONGEST_ECHO])  # a keyboard's answer is on the screen already
        if not answer:
            raise EndOfInput("end of input")
        return text

    def _fold(self, text: str) -> list[str]:
        if not self.is_screen:
            return [text.replace(UNBROKEN, " ")]
        width = max(shutil.get_terminal_size().columns, 20)
        lines = textwrap.wrap(text, width, subsequent_indent="  ", break_on_hyphens=False) or [""]
        return [line.replace(UNBROKEN, " ") for line in lines]


def ask_until(
    terminal: Terminal, question: str, read: Callable[[str], T | str], explain: Callable[[], Iterable[str]], more: str
) -> T:
    """Ask until there is an answer; of others `read` says what is wrong with them, and `more` follows.

    explain: the lines of help. Raises: EndOfInput.
    """
    while True:
        answer = terminal.ask(question)
        if answer.lower() in QUIT:
            raise PersonLeft("left")
        if answer.lower() in HELP:
            for line in explain():
                terminal.say(line)
            continue
        found = read(answer)
        if not isinstance(found, str):
            return found
        terminal.say(found + more)


def ask_move(terminal: Terminal, question: str, view: View, explain: Callable[[], Iterable[str]] = tuple) -> Action:
    """Ask for a legal action until there is one. explain: further lines of help. Raises: EndOfInput."""

    def all_help() -> Iterator[str]:
        for letter, name in move_names(view).items():
            meaning = DECLINED.get(view.legal, EXPLAINED["S"]) if letter == "S" else EXPLAINED[letter]
            yield f"  {letter.lower()} {name}: {meaning}"
        yield "  q quits. Cards are A 2 to 9 T J Q K; # is face down. An ace counts 11 if it can (soft)."
        yield from explain()

    return ask_until(terminal, f"{question}: {keys(view)}", partial(parse_action, view=view), all_help, ".")


def ask_bet(terminal: Terminal, most: int, usual: int) -> int:
    """Ask for a bet of at most so many chips until there is one. Raises: EndOfInput."""
    limits = f"1 to {format_chips(most)}, Enter for {usual}" if most > 1 else "your last chip"
    help_line = "Type a number of chips, Enter to bet as before, or q to quit."

    def read(text: str) -> int | str:
        return parse_bet(text, most, usual) if text else usual

    return ask_until(terminal, f"Bet {limits}", read, lambda: [help_line], ", or q to quit.")


def run_drill(terminal: Terminal, drill: Drill, questions: int | None) -> None:
    """Ask until the person leaves, or for this many questions."""
    stopped = False
    if drill.due:
        terminal.say(f"Due from earlier sessions: {', '.join(drill.due)}.")
    try:
        while questions is None or drill.asked < questions:
            ask_one(terminal, drill)
    except EndOfInput:
        pass
    except KeyboardInterrupt:
        terminal.say("")
        stopped = True
    for line in drill_summary(drill):
        terminal.say(line)
    if stopped:
        raise click.exceptions.Exit(130)


def ask_one(terminal: Terminal, drill: Drill) -> None:
    exercise = drill.ask()
    view = exercise.view
    terminal.say("")
    dealer = ("both cards, " if len(view.dealer) > 1 else "") + " ".join(view.dealer)
    question = f"{drill.asked + 1}. You have {format_cards(view.hand)}. The dealer shows {dealer}"
    judgement = drill.answer(exercise, ask_move(terminal, question, view))
    if judgement.is_mistake:
        terminal.say(f"Wrong: {blame(judgement)} costs {format_bets(judgement.cost)}.", "yellow")
        for line in value_table(judgement):
            terminal.say(line)
    else:
        said = praise(judgement)
        terminal.say(f"{said[0].upper()}{said[1:]}", "green")

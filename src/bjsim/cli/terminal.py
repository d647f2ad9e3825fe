"""A conversation in lines of text: no cursor movement, colour only on a terminal that wants it."""

import os
import shutil
import sys
import textwrap

import click

from bjsim.bots.protocol import printable
from bjsim.cli.waiting import end_waiting
from bjsim.errors import RunFailed

LONGEST_ECHO = 40  # characters of an answer that does not come from a terminal
UNBROKEN = "\N{NO-BREAK SPACE}"  # in a text to print: a space where the line is not folded


class EndOfInput(RunFailed):
    """There are no more answers."""


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

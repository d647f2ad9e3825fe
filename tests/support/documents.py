"""Code blocks of the documentation, fenced and indented, each with the marker that stands before it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^( *)(```+|~~~+)[ ]*([\w+-]*)")
MARKER = re.compile(r"<!-- test: (.+?) -->")


class Block(NamedTuple):
    """A block of code. marker: what an HTML comment between it and the block before says after `test:`."""

    page: str
    line: int
    language: str
    text: str
    marker: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def commands(self) -> list[list[str]]:
        """The words of every command line that starts with `bjsim` or `$ bjsim`, up to a pipe or comment."""
        joined = self.text.replace("\\\n", " ")
        lines = [line.strip().removeprefix("$ ").removeprefix("RUN ") for line in joined.splitlines()]
        return [split_words(line) for line in lines if line.startswith("bjsim ")]


def split_words(line: str) -> list[str]:
    """A command line as words, without what a shell would do with its output."""
    words = shlex.split(line, comments=True)
    ends = [place for place, word in enumerate(words) if word in ("|", ">", "<", "&", "&&", ";")]
    return words[: min(ends, default=len(words))]


def blocks(page: str, text: str) -> Iterator[Block]:
    """The blocks of a page, in order. Indented text counts where it has a command or a statement of Python."""
    lines = text.splitlines()
    number, marker = 0, ""
    while number < len(lines):
        start, line = number, lines[number]
        number += 1
        if found := MARKER.search(line):
            marker = found[1]
        fence = FENCE.match(line)
        if fence:
            while number < len(lines) and not lines[number].strip().startswith(fence[2]):
                number += 1
            body, language = lines[start + 1 : number], fence[3]
            number += 1
        elif line.startswith("    ") and (start == 0 or not lines[start - 1].strip()):
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number].strip()):
                number += 1
            body, language = lines[start:number], guess(lines[start:number])
        else:
            continue
        yield Block(page, start + 1, language, dedented(body), marker)
        marker = ""


def dedented(lines: Sequence[str]) -> str:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "".join(f"{line[indent:]}\n" for line in lines)


def guess(lines: Sequence[str]) -> str:
    """The language of an indented block."""
    words = [line.split()[0] for line in lines if line.strip()]
    if any(word in ("import", "from", ">>>") for word in words):
        return "python"
    return "sh" if "bjsim" in words else "text"


def parse_command(cli: click.Command, words: Sequence[str], parent: click.Context | None = None) -> None:
    """Check that the commands and options exist and that words are chosen of those offered; nothing is run or opened.

    Raises: click.UsageError; InputError from a type of bjsim.
    """
    context, rest = click.Context(cli, parent, "bjsim", **cli.context_settings), list(words)
    if rest and isinstance(cli, click.Group) and type(cli).resolve_command is not click.Group.resolve_command:
        _, found, rest = cli.resolve_command(context, rest)  # the group has a form without a subcommand
        assert found is not None
        return parse_command(found, rest, context)
    options, rest, _ = cli.make_parser(context).parse_args(rest)
    if isinstance(cli, click.Group):
        if not rest:
            if options:
                return  # such as bjsim --version
            raise click.UsageError("no command is named")
        command = cli.get_command(context, rest[0])
        if command is None:
            raise click.UsageError(f"there is no command {rest[0]}")
        return parse_command(command, rest[1:], context)
    if rest:
        raise click.UsageError(f"left over: {' '.join(rest)}")
    for parameter in cli.params:
        value, _ = parameter.consume_value(context, options)
        if isinstance(parameter.type, click.Choice) and isinstance(value, str | tuple | list):
            parameter.type_cast_value(context, value)

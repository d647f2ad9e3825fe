"""The field: the bots of a contest, found by name or file, identified by their content, and opened to play."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bjsim.bots.contest.config import name_and_source
from bjsim.bots.programs import need_programs
from bjsim.bots.protocol import printable
from bjsim.bots.sandbox.languages import BuildError, NoToolchain, language_of
from bjsim.bots.sandbox.sources import check_name, read_bot
from bjsim.errors import InputError
from bjsim.sim.game.actions import Player
from bjsim.sim.game.rules import Rules
from bjsim.strategies.formats.files import read_chart
from bjsim.strategies.formats.parser import ChartError
from bjsim.strategies.players.find import find_player, is_python, python_file

IN_PROCESS = "in process"
logger = logging.getLogger(__name__)


class FieldError(InputError):
    """A bot that cannot take part, or one that has changed since the contest began."""


class NoBot(FieldError):
    """A file that is neither a bot nor a chart."""


@dataclass(frozen=True)
class Entrant:
    """A bot of a contest. source: the name or file it was written as; language: IN_PROCESS for a player that runs in
    this process; sha256: of the file, or of the chart for a named strategy ("" where there is neither)."""

    name: str
    source: str
    language: str
    sha256: str

    @property
    def timed(self) -> bool:
        """Whether its moves are timed: they are where they are another process's."""
        return self.language != IN_PROCESS

    def to_dict(self) -> dict[str, str]:
        return {"name": self.name, "source": self.source, "language": self.language, "sha256": self.sha256}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Entrant:
        return Entrant(**{key: str(values[key]) for key in ("name", "source", "language", "sha256")})


def gather(texts: Sequence[str], rules: Rules) -> list[Entrant]:
    """The entrants that are written so: names of strategies, files, and folders of files, `NAME=` before any of them.

    Bots of the same name get numbers. Raises: FieldError, and what finding a player raises.
    """
    found: list[Entrant] = []
    for text in texts:
        name, source = ("", text) if Path(text).is_file() else name_and_source(text)
        path = Path(source)
        if path.is_dir() and name:
            raise FieldError(f"{text}: a folder of bots takes no name; its bots have those of their files")
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
            if not files:
                raise FieldError(f"the folder {source} holds no bots")
            found += [entrant for file in files if (entrant := _bot_in_folder(file, rules))]
        else:
            found.append(identify(source, rules, name))
    if len(found) < 2:
        raise FieldError(f"a contest needs two bots or more, not {len(found)}")
    return _numbered(found)


def _bot_in_folder(file: Path, rules: Rules) -> Entrant | None:
    """The entrant in a file of a folder of bots; None, with a warning, for one that is no bot."""
    try:
        return identify(str(file), rules)
    except (NoBot, ChartError, OSError) as error:
        logger.warning("left out: %s", error)
        return None


def identify(source: str, rules: Rules, name: str = "") -> Entrant:
    """The entrant at `source`."""
    path = Path(source)
    try:
        source.encode()
    except UnicodeEncodeError:
        raise NoBot(f"the file name {printable(source)} is no UTF-8, which the journal is; rename it") from None
    if path.is_file():
        language, digest = _file(path, rules)
        return Entrant(name or path.stem, str(path.parent.resolve() / path.name), language, digest)
    player = find_player(source, rules)
    if file := python_file(source):
        digest = _digest(file)
        source = f"{file.resolve()}:{source.rpartition(':')[2]}"
    else:
        cells = getattr(player, "cells", None)
        digest = hashlib.sha256(repr(sorted(cells.items())).encode()).hexdigest() if cells else ""
    return Entrant(name or player.name, source, IN_PROCESS, digest)


def _file(path: Path, rules: Rules) -> tuple[str, str]:
    """The language of a bot's file, or of a chart's, and its sha256."""
    try:
        check_name(path)
        content = read_bot(path)
        if _is_chart(content, path, rules):
            language = IN_PROCESS
        else:
            known = language_of(path)
            language = known.name if known else "executable"
    except (BuildError, OSError) as error:
        raise NoBot(str(error)) from None
    return language, hashlib.sha256(content).hexdigest()


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _is_chart(content: bytes, path: Path, rules: Rules) -> bool:
    """Whether the file is a strategy chart."""
    try:
        read_chart(content, str(path), rules)
    except ChartError:
        if path.suffix in (".txt", ".chart"):
            raise
        return False
    return True


def _numbered(found: list[Entrant]) -> list[Entrant]:
    taken: set[str] = set()
    unique = []
    for entrant in found:
        # a name is written NAME=SOURCE in commands, and must not look like an option there
        given = name = re.sub("^-+|=", "_", printable(entrant.name))
        number = 1
        while name in taken:
            number += 1
            name = f"{given}-{number}"
        taken.add(name)
        unique.append(Entrant(name, entrant.source, entrant.language, entrant.sha256))
    return unique


def check_unchanged(entrants: Sequence[Entrant], rules: Rules) -> None:
    """Raises: FieldError if a bot is not what it was when the contest began. A Python file is not run to find out."""
    for entrant in entrants:
        if file := python_file(entrant.source):
            now = Entrant(entrant.name, entrant.source, IN_PROCESS, _digest(file))
        else:
            now = identify(entrant.source, rules, entrant.name)
        if (now.language, now.sha256) != (entrant.language, entrant.sha256):
            raise FieldError(f"the bot {entrant.name} ({entrant.source}) has changed since the contest began")


def check_trusted(entrants: Sequence[Entrant], folder: Path) -> None:
    """Refuse to go on with a contest that somebody else may have begun, and that has Python run in this process.

    Raises: FieldError.
    """
    for entrant in entrants:
        if is_python(entrant.source):
            raise FieldError(
                f"the contest in {folder} runs {entrant.source} in this process, outside any sandbox; "
                "give --trust if that code is yours"
            )


@contextmanager
def opened(entrants: Sequence[Entrant], rules: Rules, **options: Any) -> Iterator[list[Player]]:
    """The entrants' players, ready to play; bots in other processes are closed in the end. options: for `open_bot`.

    A bot that cannot be made to run is a DeadBot: it takes part, and stands. Raises: FieldError where the fault is this
    machine's.
    """
    for entrant in entrants:
        if entrant.timed:
            need_programs(entrant.source)
    if any(entrant.timed for entrant in entrants):
        from bjsim.bots.player import SandboxError, UnstartableBot, open_bot
    with ExitStack() as stack:
        players: list[Player] = []
        for entrant in entrants:
            if entrant.timed:
                check_unchanged([entrant], rules)  # since the host looked; what is opened is what the journal says
                try:
                    bot = open_bot(entrant.source, name=entrant.name, **options)
                except (NoToolchain, SandboxError) as error:
                    raise FieldError(f"the bot {entrant.name} cannot play: {error}") from None
                except BuildError as error:
                    players.append(UnstartableBot(entrant.name, error))
                    continue
                stack.callback(bot.close)
                players.append(bot)
            else:
                players.append(find_player(entrant.source, rules))
        yield players

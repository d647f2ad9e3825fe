"""The entrants of a contest: bots found by name or file, identified by their content, and opened to play."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bjsim.bots.contest.config import name_and_source
from bjsim.bots.programs import need_programs
from bjsim.bots.protocol import printable
from bjsim.bots.sandbox.folders import is_bot_folder, read_folder
from bjsim.bots.sandbox.languages import ENDINGS, BuildError, MissingToolchain, find_language
from bjsim.bots.sandbox.sources import check_name, read_bot, read_protocol
from bjsim.errors import InputError
from bjsim.sim.game.actions import Player
from bjsim.sim.game.rules import Rules
from bjsim.strategies.formats.files import read_chart
from bjsim.strategies.formats.parser import ChartError
from bjsim.strategies.players.find import find_player, is_python, python_file

IN_PROCESS = "in process"
logger = logging.getLogger(__name__)


class EntrantError(InputError):
    """A bot cannot take part, or has changed since the contest began."""


class NotABot(EntrantError):
    """A file is neither a bot nor a chart."""


@dataclass(frozen=True)
class Entrant:
    """A bot of a contest.

    Attributes:
        name: Its unique name in the contest.
        source: The strategy name or file.
        language: The language of a program, or IN_PROCESS for a player that runs in this process.
        sha256: Hash of the file, or of the chart of a named strategy; "" if there is neither.
        protocol: Of a program: `argv` or `line`.
    """

    name: str
    source: str
    language: str
    sha256: str
    protocol: str = "argv"

    @property
    def timed(self) -> bool:
        """Whether its moves are timed: it runs in another process."""
        return self.language != IN_PROCESS

    def to_dict(self) -> dict[str, str]:
        """The entrant as JSON values."""
        return {
            "name": self.name, "source": self.source, "language": self.language, "sha256": self.sha256,
            "protocol": self.protocol,
        }  # fmt: skip

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Entrant:
        """The entrant that `to_dict` returned."""
        fields = {"protocol": "argv", **values}
        return Entrant(**{key: str(fields[key]) for key in ("name", "source", "language", "sha256", "protocol")})


def gather(texts: Sequence[str], rules: Rules, fewest: int = 2) -> list[Entrant]:
    """Find the bots of a contest.

    Args:
        texts: Names of strategies, files, and folders of files; `NAME=` may precede a name or file.
        rules: The rules of the contest.
        fewest: Least number of them.

    Returns:
        The entrants. Duplicate names are numbered.

    Raises:
        EntrantError: A bot cannot take part, or there are fewer than two.
        InputError: A name is not known.
    """
    entrants: list[Entrant] = []
    for text in texts:
        name, source = ("", text) if Path(text).exists() else name_and_source(text)
        path = Path(source)
        if not source:
            raise EntrantError(f"{text!r} names no bot; give a strategy, a file or a folder, or NAME=BOT")
        if path.is_dir() and not is_bot_folder(path):
            if name:
                raise EntrantError(f"{text}: a folder of bots takes no name; its bots are named after their files")
            if not (found := bots_in_folder(path, rules)):
                raise EntrantError(f"the folder {source} contains no bots")
            entrants += found
        else:
            entrants.append(identify(source, rules, name))
    if len(entrants) < fewest:
        raise EntrantError(f"a contest needs two bots or more, not {len(entrants)}")
    return with_unique_names(entrants)


def bots_in_folder(folder: Path, rules: Rules) -> list[Entrant]:
    """The bots in a folder, by name of the file; other files are left out with a warning. Hidden files are ignored."""
    found = (file for file in folder.iterdir() if file.is_file() or is_bot_folder(file))
    files = sorted(file for file in found if not file.name.startswith("."))
    return [entrant for file in files if (entrant := _bot_in_folder(file, rules))]


def _bot_in_folder(file: Path, rules: Rules) -> Entrant | None:
    """The entrant in a file of a folder; None, with a warning, if the file is not a bot."""
    try:
        return identify(str(file), rules)
    except (NotABot, ChartError, OSError) as error:
        logger.warning("left out: %s", error)
        return None


def identify(source: str, rules: Rules, name: str = "") -> Entrant:
    """Identify a bot by its content.

    Args:
        source: The name of a strategy, or a file.
        rules: The rules of the contest.
        name: Its name; by default that of the file or strategy.

    Returns:
        The entrant.

    Raises:
        NotABot: The file is not a bot.
        InputError: The name is not known.
    """
    path = Path(source)
    try:
        source.encode()
    except UnicodeEncodeError:
        raise NotABot(
            f"the file name {printable(source)} is not valid UTF-8, as the journal requires; rename it"
        ) from None
    if is_bot_folder(path):
        try:
            folder = read_folder(path)
        except BuildError as error:
            raise NotABot(str(error)) from None
        return Entrant(
            name or folder.name, str(path.resolve()), folder.language.name, folder.sha256, folder.protocol
        )  # fmt: skip
    if path.is_file():
        found = _file(path, rules)
        return Entrant(name or path.stem, str(path.parent.resolve() / path.name), *found)
    player = find_player(source, rules)
    if file := python_file(source):
        digest = _digest(file)
        source = f"{file.resolve()}:{source.rpartition(':')[2]}"
    else:
        cells = getattr(player, "cells", None)
        digest = hashlib.sha256(repr(sorted(cells.items())).encode()).hexdigest() if cells else ""
    return Entrant(name or player.name, source, IN_PROCESS, digest)


def _file(path: Path, rules: Rules) -> tuple[str, str, str]:
    """The language of a bot's or chart's file, its sha256, and its protocol."""
    try:
        check_name(path)
        content = read_bot(path)
        if path.suffix.lower() not in ENDINGS and _is_chart(content, path, rules):
            language = IN_PROCESS
        else:
            detected = find_language(path)
            language = detected.name if detected else "executable"
    except (BuildError, OSError) as error:
        raise NotABot(str(error)) from None
    return language, hashlib.sha256(content).hexdigest(), read_protocol(content)


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


def with_unique_names(entrants: Sequence[Entrant], others: Iterable[str] = ()) -> list[Entrant]:
    """Number duplicate names. others: names that are taken."""
    taken = set(others)
    unique = []
    for entrant in entrants:
        # Names appear as NAME=SOURCE in commands, and must not look like options there.
        base = name = re.sub("^-+|=", "_", printable(entrant.name))
        number = 1
        while name in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name)
        unique.append(replace(entrant, name=name))
    return unique


def check_unchanged(entrants: Sequence[Entrant], rules: Rules) -> None:
    """Check that no bot has changed since the contest began, without running Python files. Raises: EntrantError."""
    for entrant in entrants:
        if file := python_file(entrant.source):
            now = Entrant(entrant.name, entrant.source, IN_PROCESS, _digest(file))
        else:
            now = identify(entrant.source, rules, entrant.name)
        if (now.language, now.sha256) != (entrant.language, entrant.sha256):
            raise EntrantError(f"the bot {entrant.name} ({entrant.source}) has changed since the contest began")


def check_protocols(entrants: Sequence[Entrant], protocols: Sequence[str]) -> None:
    """Check that the contest plays these protocols. Raises: EntrantError, which names a program that may not play."""
    for entrant in entrants:
        if entrant.timed and entrant.protocol not in protocols:
            raise EntrantError(
                f"{entrant.source} speaks the protocol {entrant.protocol}, and this contest plays "
                f"{' and '.join(protocols)}; set protocols in the contest's file (--config)"
            )


def check_toolchains(entrants: Sequence[Entrant]) -> None:
    """Check that this machine has what these programs need to be built and run. Raises: EntrantError."""
    for entrant in entrants:
        path = Path(entrant.source)
        try:
            language = read_folder(path).language if is_bot_folder(path) else find_language(path)
            if language:
                language.need_tools(entrant.name)
        except BuildError as error:
            raise EntrantError(f"the bot {entrant.name} cannot play: {error}") from None
        except OSError as error:
            raise EntrantError(f"{entrant.source}: {error.strerror}") from None


def check_trusted(entrants: Sequence[Entrant], folder: Path) -> None:
    """Reject a contest from elsewhere that would run Python code in this process. Raises: EntrantError."""
    for entrant in entrants:
        if is_python(entrant.source):
            raise EntrantError(
                f"the contest in {folder} runs {entrant.source} in this process, outside any sandbox; "
                "trust it only if the code is yours"
            )


@contextmanager
def opened(entrants: Sequence[Entrant], rules: Rules, **options: Any) -> Iterator[list[Player]]:
    """Open the players of a contest, and close programs at the end.

    Args:
        entrants: The bots.
        rules: The rules of the contest.
        **options: Arguments of `open_bot`.

    Returns:
        A context manager that gives the players. A program that cannot be started is an UnstartableBot, which stands.

    Raises:
        EntrantError: This machine lacks a compiler, an interpreter or the sandbox.
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
                check_unchanged([entrant], rules)  # it may have changed after the header was written
                try:
                    bot = open_bot(entrant.source, name=entrant.name, **options)
                except (MissingToolchain, SandboxError) as error:
                    raise EntrantError(f"the bot {entrant.name} cannot play: {error}") from None
                except BuildError as error:
                    players.append(UnstartableBot(entrant.name, error))
                    continue
                stack.callback(bot.close)
                players.append(bot)
            else:
                players.append(find_player(entrant.source, rules))
        yield players

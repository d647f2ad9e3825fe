"""The entrants of a contest: bots found by name or file, identified by their content, and opened to play."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bjsim.bots.contest.config import name_and_source
from bjsim.bots.contest.submissions import submissions, unpack
from bjsim.bots.programs import need_programs
from bjsim.bots.protocol import printable
from bjsim.bots.sandbox.folders import LONGEST, BotSource, is_bot_folder, read_bot, read_file, single_file
from bjsim.bots.sandbox.languages import ENDINGS, BuildError, MissingToolchain
from bjsim.bots.sandbox.sources import check_name
from bjsim.errors import InputError
from bjsim.files import read_bytes
from bjsim.sim.game.actions import Player
from bjsim.sim.game.round import Bettor, Observer
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.formats.files import read_chart
from bjsim.strategies.formats.lines import ChartError
from bjsim.strategies.players.catalogue import find_player, player_names, python_file

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer

IN_PROCESS = "in process"
logger = logging.getLogger(__name__)


class EntrantError(InputError):
    """A bot cannot take part, or has changed since the contest began."""


class NotABot(EntrantError):
    """A file is neither a bot nor a chart."""


@dataclass(frozen=True)
class Entrant:
    """A bot of a contest, with a unique name.

    `source` is the strategy name or file; `language` is IN_PROCESS for a player that runs in this process;
    `sha256` is the hash of the file, or of the chart of a named strategy, "" if there is neither.
    """

    name: str
    source: str
    language: str
    sha256: str
    protocol: str = "argv"
    author: str = ""

    @property
    def timed(self) -> bool:
        """Whether its moves are timed: it runs in another process."""
        return self.language != IN_PROCESS

    @property
    def by_name(self) -> bool:
        """Whether its source names a strategy or a Python object. The name of a bot's file has no colon."""
        if self.timed:
            return False
        return ":" in os.path.basename(self.source) or self.source in player_names()

    def to_dict(self) -> dict[str, str]:
        """The entrant as JSON values; an author only if it has one."""
        return {key: value for key, value in asdict(self).items() if key != "author" or value}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Entrant:
        return Entrant(**{field.name: str(values[field.name]) for field in fields(Entrant) if field.name in values})


def gather(
    texts: Sequence[str], rules: Rules, fewest: int = 2, left_out: dict[str, str] | None = None
) -> list[Entrant]:
    """Find the bots of a contest, at least `fewest`; duplicate names are numbered.

    `texts` are names of strategies, files, and folders or zip archives of files, which may be in a folder for each
    student; `NAME=` may precede a name or file. `left_out` receives the students without a bot, with the reason.
    """
    entrants: list[Entrant] = []
    for text in texts:
        exists = Path(text).exists()
        name, source = ("", text) if exists else name_and_source(text)
        path = Path(source)
        if not source:
            raise EntrantError(f"{text!r} names no bot; give a strategy, a file or a folder, or NAME=BOT")
        if path.suffix.lower() == ".zip" and path.is_file():
            path = unpack(path)
        if path.is_dir() and not is_bot_folder(path):
            if name:
                raise EntrantError(f"{text}: a folder of bots takes no name; its bots are named after their files")
            if not (found := bots_in_folder(path, rules, left_out)):
                raise EntrantError(f"the folder {path} contains no bots")
            entrants += found
        else:
            entrants.append(_read_file(path, rules)[0] if exists else identify(source, rules, name))
    if len(entrants) < fewest:
        raise EntrantError(f"a contest needs two bots or more, not {len(entrants)}")
    return with_unique_names(entrants)


def bots_in_folder(folder: Path, rules: Rules, left_out: dict[str, str] | None = None) -> list[Entrant]:
    """The bots in a folder, by name of the file; other files are left out with a warning. Hidden files are ignored."""
    files = sorted(file for file in folder.iterdir() if not file.name.startswith("."))
    left = {} if left_out is None else left_out
    return [entrant for file, name in submissions(files, left) if (entrant := _bot_in_folder(file, rules, name, left))]


def _bot_in_folder(file: Path, rules: Rules, name: str, left_out: dict[str, str]) -> Entrant | None:
    """The entrant in a file of a folder; None, with a warning, if the file is not a bot."""
    try:
        return _read_file(file, rules, name)[0] if is_bot_folder(file) or not file.is_dir() else None
    except Exception as error:  # whatever a stranger's file does to its reader, the other bots play on
        why = str(error) if isinstance(error, InputError) else f"{printable(str(file))}: {error!r}"
        logger.warning("left out: %s", why)
        if name:
            left_out[name] = why
        return None


def identify(source: str, rules: Rules, name: str = "") -> Entrant:
    """Identify a bot by its content; `source` is the name of a strategy or a Python object, or a file."""
    path = Path(source)
    if path.is_file() or is_bot_folder(path):
        return _read_file(path, rules, name)[0]
    return _find_named(source, rules, name)[0]


def _find_named(source: str, rules: Rules, name: str) -> tuple[Entrant, Player]:
    """Identify a strategy or a Python object. This imports the module of the object."""
    player = find_player(source, rules)
    if isinstance(player, Bettor | Observer):
        method = "bet" if isinstance(player, Bettor) else "observe"
        raise NotABot(f"the player {source} has a method {method}, which contests do not call; `bjsim run` does")
    if file := python_file(source):
        digest = hashlib.sha256(read_bytes(file)).hexdigest()
        source = f"{file.resolve()}:{source.rpartition(':')[2]}"
    else:
        cells = getattr(player, "cells", None)
        digest = hashlib.sha256(repr(sorted(cells.items())).encode()).hexdigest() if cells else ""
    return Entrant(name or player.name, source, IN_PROCESS, digest), player


def _read_file(path: Path, rules: Rules, name: str = "") -> tuple[Entrant, Chart | BotSource]:
    """Read the file or folder of a bot or chart, once. Nothing of it runs. Raises: NotABot, ChartError."""
    source = str(path.parent.resolve() / path.name)
    try:
        source.encode()
    except UnicodeEncodeError:
        raise NotABot(
            f"the file name {printable(source)} is not valid UTF-8, as the journal requires; rename it"
        ) from None
    try:
        check_name(path)
        if is_bot_folder(path):
            bot = read_bot(path)
        else:
            content, executable = read_file(path)
            if chart := _find_chart(content, path, rules):
                return Entrant(name or path.stem, source, IN_PROCESS, hashlib.sha256(content).hexdigest()), chart
            bot = single_file(path, content, executable)
    except BuildError as error:
        raise NotABot(str(error)) from None
    except OSError as error:
        raise NotABot(f"{printable(source)}: {error.strerror}") from None
    if not name and bot.name not in (path.name, path.stem) and bot.name in player_names():
        raise NotABot(f"{path}: the name {bot.name} in its bot.toml is that of a strategy; choose another")
    language = bot.language.name if bot.language else "executable"
    return Entrant(name or bot.name, source, language, bot.sha256, bot.protocol, printable(bot.author)), bot


def _find_chart(content: bytes, path: Path, rules: Rules) -> Chart | None:
    """The strategy chart in a file; None if it has none."""
    if path.suffix.lower() in ENDINGS:
        return None
    try:
        return read_chart(content, str(path), rules)
    except ChartError:
        if path.suffix in (".txt", ".chart"):
            raise
        return None


def with_unique_names(entrants: Sequence[Entrant], others: Iterable[str] = ()) -> list[Entrant]:
    """Cut long names, and number duplicate ones. others: names that are taken."""
    taken = set(others)
    unique = []
    for entrant in entrants:
        # Names appear as NAME=SOURCE in commands, and must not look like options there.
        base = name = re.sub("^-+|=", "_", printable(entrant.name))[: LONGEST["name"]]
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
        read_unchanged(entrant, rules)


def read_unchanged(entrant: Entrant, rules: Rules) -> Player | BotSource | None:
    """The entrant as it was when the contest began; None for a Python file, which is not run."""
    played: Player | BotSource | None = None
    try:
        if file := python_file(entrant.source) if entrant.by_name else None:
            now = replace(entrant, sha256=hashlib.sha256(read_bytes(file)).hexdigest())
        elif entrant.by_name:
            now, played = _find_named(entrant.source, rules, entrant.name)
        else:
            now, played = _read_file(Path(entrant.source), rules, entrant.name)
        if (now.language, now.sha256) == (entrant.language, entrant.sha256):
            return played
        why = "has changed since the contest began"
    except (NotABot, ChartError) as error:
        why = f"cannot play any more: {error}"
    raise EntrantError(f"the bot {entrant.name} ({entrant.source}) {why}")


@contextmanager
def opened(
    entrants: Sequence[Entrant], rules: Rules, warn: Callable[[str], object] = logger.warning, **options: Any
) -> Iterator[list[Player]]:
    """Open players with `open_bot(**options)`; close programs at the end. One that cannot be started stands."""
    for entrant in entrants:
        if entrant.timed:
            need_programs(entrant.source)
    with ExitStack() as stack:
        players: list[Player] = []
        for entrant in entrants:
            played = read_unchanged(entrant, rules)  # it may have changed after the header was written
            if isinstance(played, BotSource):
                players.append(_start(entrant, played, options, stack, warn))
            else:
                players.append(played or find_player(entrant.source, rules))
        yield players


def _start(
    entrant: Entrant, bot: BotSource, options: Mapping[str, Any], stack: ExitStack, warn: Callable[[str], object]
) -> BotPlayer:
    from bjsim.bots.player import SandboxError, open_bot, unstartable  # these need Linux

    try:
        return stack.enter_context(open_bot(bot, name=entrant.name, **options))
    except (MissingToolchain, SandboxError) as error:
        raise EntrantError(f"the bot {entrant.name} cannot play: {error}") from None
    except BuildError as error:
        warn(f"{entrant.name} cannot be started and will stand on every hand: {error}")
        return unstartable(entrant.name, error)

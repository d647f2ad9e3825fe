"""Find the player for a seat: a strategy in this process, or a bot's program."""

import logging
import os
import pickle
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bjsim.arguments import argument, names_wrong_types
from bjsim.asked.kinds import check_fields
from bjsim.bots.protocol import TIMEOUT, need_programs
from bjsim.bots.sandbox.folders import is_bot_folder, read_bot
from bjsim.bots.sandbox.languages import ENDINGS
from bjsim.errors import InputError, printable
from bjsim.files import open_file
from bjsim.sim.game.actions import Player
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import GUESSABLE
from bjsim.sim.game.support import need
from bjsim.sim.running.table import Backend, Need
from bjsim.strategies.players.catalogue import as_player, find_needs

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer

logger = logging.getLogger(__name__)


@names_wrong_types
@dataclass(frozen=True)
class BotOptions:
    """How bots that are programs are run.

    Args:
        sandbox: `required` (a box that keeps the machine and other bots from harm) or `auto` (the best there is).
        timeout: Seconds for a move.
        cold: Start programs afresh for each move, the slow way.
        strikes: Faults after which a program is no longer asked, and only stands. None is no limit.

    Raises:
        InputError: If a value is not accepted.
    """

    sandbox: str = "auto"
    timeout: float = TIMEOUT
    cold: bool = False
    strikes: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class ProgramFile:
    """A program that is to play and is not started yet."""

    path: str
    needs = Need.DECISIONS | Need.PROGRAMS

    @property
    def name(self) -> str:
        return printable(os.path.basename(os.path.abspath(self.path)))

    @property
    def digest(self) -> str:
        """The hash of its file, or of its manifest and the files that this names."""
        return read_bot(Path(self.path), links=True).sha256

    def start(self, options: BotOptions) -> "BotPlayer":
        """The program in its sandbox, compiled if need be. Raises: as `open_bot`."""
        need_programs(self.path)
        from bjsim.bots.player import open_bot

        return open_bot(self.path, name=self.name, **asdict(options))


def warn_of_guessable(seed: int) -> None:
    """Warn if programs can guess this seed. Call it only where programs play."""
    if seed < GUESSABLE:
        logger.warning("a program can try all seeds below 2^40, and then knows every card; play without a seed")


def is_program(text: str) -> bool:
    """Whether the text is the path of a bot: a file with a language's ending, an executable one, or a bot's folder."""
    path = Path(text)
    if not path.is_file():
        return is_bot_folder(path)
    return path.suffix.lower() in ENDINGS or (bool(path.stat().st_mode & 0o111) and not _cannot_run(path))


def _cannot_run(path: Path) -> bool:
    """Whether Linux cannot run the file, such as a chart on a disk where all files are executable."""
    if not os.access(path, os.R_OK):
        return False
    with open_file(path) as file:
        head = file.read(256)
    return not head.startswith(b"#!") and (b"\0" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff")))


class Seated(NamedTuple):
    """A player with its specification and the features it requires of a backend."""

    bot: str
    player: Player | ProgramFile
    needs: Need


def find_seated(bot: object, rules: Rules) -> Seated:
    """The entry for `bot`: a player (see `as_player`), or a program's file. Raises: InputError for neither."""
    text = os.fspath(bot) if isinstance(bot, str | os.PathLike) else None
    if text is not None and is_program(text):
        need(rules, "bots")
        player: Player | ProgramFile = ProgramFile(text)
    else:
        player = as_player(bot, rules)
    return Seated(player.name if text is None else text, player, find_needs(player))


def check_needs(seated: Iterable[Seated], place: Backend, executor: str, workers: int | None) -> None:
    """Raise InputError if a player needs more than a place offers. `executor` is empty for this machine."""
    for bot, player, needs in seated:
        lacking = needs & ~place.offers
        if Need.PROGRAMS in lacking:
            raise InputError(f"{bot} is a program, which cannot travel to the workers of {executor}")
        if Need.MODULES in lacking and not executor:
            raise InputError(
                f"{argument('workers', workers)} with a player from a file: other processes do not know it on this "
                f"system; give it as module:object, or {argument('workers', 1)}"
            )
        if Need.MODULES in lacking:
            raise InputError(
                f"{bot} is a player from a file, which cannot travel to the workers of {executor}; "
                "give it as module:object, of a module installed there"
            )
        if Need.OBJECTS in lacking:
            try:
                pickle.dumps(player)
            except Exception as error:
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                raise InputError(
                    f"{player.name} cannot be sent to a worker process ({reason}); define it at the top of a module, "
                    "or play with workers=1"
                ) from None

"""Who takes a seat: a strategy in this process, or a program in its box."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from bjsim.bots.programs import need_programs
from bjsim.bots.protocol import printable
from bjsim.bots.sandbox.languages import ENDINGS
from bjsim.sim.game.actions import Player
from bjsim.sim.game.random_stream import GUESSABLE
from bjsim.sim.game.rules import Rules
from bjsim.strategies.players.find import find_player

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class BotOptions:
    """How programs are run; see `open_bot`."""

    sandbox: str = "auto"
    timeout: float = 1.0
    cold: bool = False
    strikes: int | None = None


def warn_of_guessable(seed: int) -> None:
    """Say that programs can find out this seed, where they can."""
    if seed < GUESSABLE:
        logger.warning("a program can try all seeds below 2^40, and then knows every card; leave --seed out")


def is_program(text: str) -> bool:
    """Whether the text names a bot's file: one with a language's ending, or an executable one."""
    path = Path(text)
    return path.is_file() and (path.suffix.lower() in ENDINGS or bool(path.stat().st_mode & 0o111))


def find_any_player(text: str, rules: Rules, options: BotOptions) -> Player:
    """The player that `text` names: as `find_player`, or a BotPlayer where it is a program's file. Raises: as both."""
    if not is_program(text):
        return find_player(text, rules)
    need_programs(text)
    from bjsim.bots.player import open_bot

    return open_bot(
        text,
        sandbox=options.sandbox,
        timeout=options.timeout,
        cold=options.cold,
        strikes=options.strikes,
        name=printable(Path(text).name),
    )

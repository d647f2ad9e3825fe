"""Find the player for a seat: a strategy in this process, or a bot's program."""

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
    """How programs are run; the fields are arguments of `bjsim.bots.player.open_bot`."""

    sandbox: str = "auto"
    timeout: float = 1.0
    cold: bool = False
    strikes: int | None = None


def warn_of_guessable(seed: int) -> None:
    """Warn if programs can guess this seed. Call it only where programs play."""
    if seed < GUESSABLE:
        logger.warning("a program can try all seeds below 2^40, and then knows every card; play without a seed")


def is_program(text: str) -> bool:
    """Whether the text is the path of a bot: a file with a language's ending, or an executable one."""
    path = Path(text)
    return path.is_file() and (path.suffix.lower() in ENDINGS or bool(path.stat().st_mode & 0o111))


def find_any_player(text: str, rules: Rules, options: BotOptions) -> Player:
    """The player that `text` names.

    Args:
        text: the path of a program, or anything that `find_player` accepts.
        rules: the game to play.
        options: how programs are run.

    Raises:
        InputError: nothing has this name, programs cannot run here, or the bot cannot be compiled.
        SandboxError: see `open_bot`.
    """
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

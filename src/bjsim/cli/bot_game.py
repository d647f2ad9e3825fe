"""What the commands of `bjsim bot` share: the game and the bot that their arguments name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bjsim.bots.programs import need_programs
from bjsim.bots.sandbox.folders import read_bot
from bjsim.bots.sandbox.languages import BuildError, find_tool
from bjsim.cli.options import RulesName
from bjsim.errors import RunFailed

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer


def bot_rules(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose a game; the default is cardshark, the game of contests."""
    command = click.option(
        "--set", "settings", multiple=True, metavar="FIELD=VALUE", help="Change a rule; repeatable."
    )(command)
    return click.option(
        "--rules", "rules_name", type=RulesName(), default="cardshark", show_default=True, metavar="NAME|FILE.toml",
        help="Game to play: a preset (see `bjsim rules`) or a TOML file.",
    )(command)  # fmt: skip


def expect_bot(path: Path) -> None:
    """Check that the file exists, can be a bot, and has a compiler or interpreter here. Raises: InputError."""
    language = read_bot(path, links=True).language
    need_programs(str(path))
    if language:
        find_tool(language)


def open_player(path: Path, write: Callable[[str], None], **options: Any) -> BotPlayer:
    """Open a bot.

    Args:
        path: Its file or folder.
        write: Called with the compiler's output if it cannot be compiled.
        options: Those of `open_bot`.

    Raises:
        InputError: There is nothing to open.
        RunFailed: It cannot be compiled or loaded.
    """
    expect_bot(path)
    from bjsim.bots.player import open_bot

    try:
        return open_bot(path, **options)
    except BuildError as error:
        if error.log:
            write("\n".join(f"| {line}" for line in error.log.splitlines()))  # no command of a forge begins a line
        raise RunFailed(str(error)) from None  # a failed check, not bad input

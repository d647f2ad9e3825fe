"""Shared by the commands of `bjsim bot`: the game and the bot that their arguments name."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bjsim.bots.contest.config import PROTOCOLS, Contest, load_config
from bjsim.bots.contest.entrants import check_protocols, gather
from bjsim.bots.programs import need_programs
from bjsim.bots.sandbox.folders import read_bot
from bjsim.bots.sandbox.languages import LANGUAGES, BuildError, find_tool
from bjsim.cli.options import rules_option, set_option, the_rules
from bjsim.errors import RunFailed
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.support import need

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer


def bot_rules(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that become the arguments `rules` and `contest`, whose settings apply; by default cardshark."""

    @wraps(command)
    def with_rules(contest: Contest, rules_name: str | None, settings: tuple[str, ...], **others: Any) -> None:
        rules = the_rules(rules_name or contest.rules, settings)
        need(rules, "bots")
        command(contest=contest, rules=rules, **others)

    with_rules = rules_option("  [default: cardshark]")(set_option(with_rules))
    return click.option(
        "--config",
        "contest",
        metavar="FILE.toml",
        callback=_load_contest,
        is_eager=True,
        help="Contest whose rules, timeout, strikes and protocols apply.",
    )(with_rules)


def _load_contest(context: click.Context, param: click.Parameter, path: str | None) -> Contest:
    """The contest of `--config`; its timeout becomes the default of `--timeout`."""
    if path is None:
        return Contest(load_rules("cardshark"))
    contest, _ = load_config(path)
    context.default_map = {**(context.default_map or {}), "timeout": contest.timeout}
    return contest


def expect_bot(path: Path) -> None:
    """Check that the file exists, can be a bot, and has a compiler or interpreter here. Raises: InputError."""
    language = read_bot(path, links=True).language
    need_programs(str(path))
    if language:
        find_tool(language)


def open_player(path: Path, contest: Contest, write: Callable[[str], None], **options: Any) -> BotPlayer:
    """Open a bot with `open_bot(**options)`; `write` gets the compiler's output if it cannot be compiled."""
    expect_bot(path)
    if contest.protocols != PROTOCOLS:
        check_protocols(gather([str(path)], contest.rules, fewest=1), contest.protocols)
    from bjsim.bots.player import open_bot

    try:
        return open_bot(path, **options)
    except BuildError as error:
        if error.log:
            write("\n".join(f"| {line}" for line in error.log.splitlines()))  # no command of a forge begins a line
        raise RunFailed(str(error)) from None  # a failed check, not bad input


def slow_hint(language: str, protocol: str) -> str:
    """A hint for the author of a bot that is slow to start for each move; "" for others."""
    gain = next((row.line_gain for row in LANGUAGES if row.name == language), 0)
    if protocol != "argv" or not gain:
        return ""
    return (
        f"each move starts {language} afresh; a line bot (bjsim bot new --protocol line) is started once a match, "
        f"and plays about {gain} times as many hands a second"
    )

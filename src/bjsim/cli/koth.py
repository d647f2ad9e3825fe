"""`bjsim koth`: host a contest of bots. Its subcommands are in the modules `koth_*`."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from bjsim.cli.koth_change import add, close, drop, extend, replace, sync
from bjsim.cli.koth_new import new
from bjsim.cli.koth_play import play, resume
from bjsim.cli.koth_show import show, verify
from bjsim.cli.koth_trace import trace
from bjsim.errors import InputError
from bjsim.strategies.players.find import player_names


class KothGroup(click.Group):
    """A group with a form that has no subcommand: `bjsim koth BOT...` is `bjsim koth play BOT...`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["--", *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        near = difflib.get_close_matches(args[0], self.commands, 1)
        if near and args[0] not in player_names() and not Path(args[0]).exists():
            raise InputError(f"no command and no bot is called {args[0]}; did you mean `bjsim koth {near[0]}`?")
        return play.name, play, args


@click.group(cls=KothGroup)
def koth() -> None:
    """Host a king-of-the-hill contest of bots.

    `bjsim koth BOT...` is short for `bjsim koth play BOT...`.
    """


for command in (new, play, resume, show, trace, verify, add, replace, drop, extend, sync, close):
    koth.add_command(command)

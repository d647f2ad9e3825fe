"""`bjsim koth`: host a contest of bots. Its subcommands are in the modules `koth_*`."""

import click

from bjsim.cli.koth_change import add, close, drop, extend, replace, sync
from bjsim.cli.koth_new import new
from bjsim.cli.koth_play import play, resume
from bjsim.cli.koth_show import show, trace, verify


class KothGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of a contest, not of the alphabet


@click.group(cls=KothGroup)
def koth() -> None:
    """Host a king-of-the-hill contest of bots."""


for command in (new, play, resume, show, trace, verify, add, replace, drop, extend, sync, close):
    koth.add_command(command)

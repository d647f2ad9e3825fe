"""`bjsim koth`: host a contest of bots. Its subcommands are in the modules `koth_*`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bjsim.bots.contest.play import journal
from bjsim.cli.koth_change import add, drop, extend, replace
from bjsim.cli.koth_new import new
from bjsim.cli.koth_play import begin, contest_options, host_options, play, play_contest, resume, resume_contest
from bjsim.cli.koth_show import show, show_contest, verify, verify_contest
from bjsim.cli.koth_trace import show_questions, trace
from bjsim.cli.options import check_writable
from bjsim.errors import InputError


class KothGroup(click.Group):
    """A group with a form that has no subcommand: `bjsim koth BOT...` and `bjsim koth --show DIR`."""

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
        return plain.name, plain, args


@click.group(cls=KothGroup)
def koth() -> None:
    """Host a king-of-the-hill contest of bots.

    `bjsim koth BOT...` is short for `bjsim koth play BOT...`.
    """


@click.command("koth")
@contest_options
@host_options
@click.option("--resume", "resume_dir", metavar="DIR")
@click.option("--trust", is_flag=True)
@click.option("--show", "show_dir", metavar="DIR")
@click.option("--hand", metavar="MATCH.TABLE.ROUND")
@click.option("--asked", "show_asked", is_flag=True)
@click.option("--verify", "verify_dir", metavar="DIR")
def plain(
    workers: int, sandbox: str, watch_dir: Path | None, url: str | None, json_path: str | None,
    resume_dir: str | None, trust: bool, show_dir: str | None,
    hand: str | None, show_asked: bool, verify_dir: str | None, **asked: Any,
) -> None:  # fmt: skip
    """The form without a subcommand."""
    chosen = [("--resume", resume_dir), ("--show", show_dir), ("--verify", verify_dir)]
    chosen = [(option, folder) for option, folder in chosen if folder]
    if len(chosen) > 1 or (chosen and any(value not in (None, (), "") for value in asked.values())):
        raise InputError(f"{chosen[0][0]} uses the contest's own settings; give no bots and no other settings")
    if trust and not resume_dir:
        raise InputError("--trust needs --resume DIR")
    if hand and not show_dir:
        raise InputError("--hand needs --show DIR")
    if show_asked and not hand:
        raise InputError("--asked needs --hand MATCH.TABLE.ROUND")
    if json_path and (hand or verify_dir):
        raise InputError("--json writes the standings; it cannot be combined with --hand or --verify")
    check_writable(json_path)  # fails now, not after hours of play
    if not chosen:
        play_contest(begin(workers=workers, sandbox=sandbox, watch_dir=watch_dir, **asked), json_path, watch_dir, url)
        return
    folder = Path(str(chosen[0][1]))
    with journal.sensible(folder):
        if show_dir:
            show_contest(folder, hand, json_path)
            if show_asked and hand:
                show_questions(folder, hand)
        elif verify_dir:
            verify_contest(folder)
        else:
            resume_contest(folder, workers, sandbox, trust, json_path, watch_dir, url)


for command in (new, play, resume, show, trace, verify, add, replace, drop, extend):
    koth.add_command(command)

"""`bjsim koth submit`: send a bot to a contest that takes bots by pull request."""

from __future__ import annotations

from pathlib import Path

import click

from bjsim.bots.contest.pull_request import submit as submit_bot
from bjsim.bots.protocol import printable_lines
from bjsim.cli.waiting import waiting


@click.command(short_help="Send a bot to a contest by pull request.")
@click.argument("bot", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--to", "repository", required=True, metavar="OWNER/REPO", help="The contest's repository.")
@click.option("--dry-run", is_flag=True, help="Only check the bot, as the host would.")
def submit(bot: Path, repository: str, dry_run: bool) -> None:
    """Check the bot in FILE as the host of a contest would, and open a pull request for it.

    FILE may be a folder with a bot.toml. The branch is pushed to a fork of yours with git, and the pull request is
    opened with gh, the command-line tool of GitHub. --to also takes the address of any repository that you may push to;
    the branch is then pushed there, without a pull request.
    """

    def say(text: str) -> None:
        click.echo(printable_lines(text))

    with waiting("checking the bot"):
        submit_bot(bot, repository, say, dry_run)

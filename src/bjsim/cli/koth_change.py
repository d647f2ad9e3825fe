"""`bjsim koth add`, `replace`, `drop`, `extend`, `sync` and `close`: change a contest, and play it on."""

import dataclasses
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from bjsim.asked.kinds import Count
from bjsim.bots.contest import journal
from bjsim.bots.contest.config import name_and_source
from bjsim.bots.contest.entrants import Entrant, bots_in_folder, gather, with_unique_names
from bjsim.bots.contest.host import Host
from bjsim.bots.contest.page import close as close_contest
from bjsim.bots.contest.page import write_results
from bjsim.cli.asked import AskedType
from bjsim.cli.koth_play import resume_contest, resume_options
from bjsim.errors import BjsimError, InputError, printable

logger = logging.getLogger(__name__)


def change_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument CONTEST and the options of a command that changes a contest."""
    option = click.option("--no-play", is_flag=True, help="Only record the change; `koth resume` plays on.")
    return resume_options(option(command))


@click.command(short_help="Let bots join a contest.")
@change_options
@click.argument("bots", nargs=-1, required=True, metavar="BOT...")
def add(bots: tuple[str, ...], **options: Any) -> None:
    """Let bots join the contest in the folder CONTEST, and play their matches.

    A newcomer plays all matches from the same shoes as the others, with house players in the other seats. The results
    of the other bots do not change.
    """

    def apply(host: Host) -> None:
        host.change(join=gather(bots, host.contest.rules, fewest=1, course=bool(host.contest.against)))

    resume_contest(change=apply, **options)


@click.command(short_help="Replace bots of a contest with new versions.")
@change_options
@click.argument("bots", nargs=-1, required=True, metavar="NAME|NAME=BOT...")
def replace(bots: tuple[str, ...], **options: Any) -> None:
    """Replace bots of the contest in the folder CONTEST with new versions, and play their matches.

    NAME is a bot of the contest whose file has changed; NAME=BOT gives another file. The results of the old version
    remain in the journal, and are listed apart from the standings.
    """

    def apply(host: Host) -> None:
        old, new = new_versions(host, bots)
        host.change(leave=old, join=new)

    resume_contest(change=apply, **options)


@click.command(short_help="Let bots leave a contest.")
@change_options
@click.argument("bots", nargs=-1, required=True, metavar="NAME...")
def drop(bots: tuple[str, ...], **options: Any) -> None:
    """Let bots leave the contest in the folder CONTEST.

    Their results remain in the journal, and are listed apart from the standings. House players take their seats in
    the remaining matches.
    """
    resume_contest(
        change=lambda host: host.change(leave=[number_of(host, name) for name in dict.fromkeys(bots)]), **options
    )


@click.command(short_help="Add matches to a contest.")
@change_options
@click.argument("matches", type=AskedType("matches", Count(), tuple))
def extend(matches: int, **options: Any) -> None:
    """Add MATCHES matches to the contest in the folder CONTEST, and play them."""
    resume_contest(change=lambda host: host.change(matches=host.contest.matches + matches), **options)


@click.command(short_help="Bring a contest up to date with a folder of bots.")
@change_options
@click.argument("bots", metavar="BOTS_DIR", type=click.Path(path_type=Path, file_okay=False, exists=True))
def sync(bots: Path, **options: Any) -> None:
    """Bring the contest in the folder CONTEST up to date with the folder BOTS_DIR, and play it on.

    Bots of BOTS_DIR join (as with `add`), are replaced if their files have changed, and are dropped if they are gone.
    """
    resume_contest(change=lambda host: follow(host, bots.resolve()), **options)


@click.command(short_help="Close a contest, and show its seed.")
@click.argument("folder", metavar="CONTEST", type=click.Path(path_type=Path))
def close(folder: Path) -> None:
    """Close the contest in the folder CONTEST, which has ended: no bot may join any more.

    Only now the page shows the seed, which reveals all cards, the command that reproduces the contest, and a link to
    the journal, in which the files of the bots have relative paths.
    """
    with journal.sensible(folder):
        close_contest(folder)
        host = Host.resume(folder, trust=True)  # as the contest has ended, no bot is looked at
        host.close()
        write_results(folder, host.standings, host.page, host.logs)
    click.echo(f"closed; seed {host.contest.seed}; page: {printable(str(folder))}/index.html")


def new_versions(host: Host, texts: Sequence[str]) -> tuple[list[int], list[Entrant]]:
    """The numbers of the bots that are replaced, and their new versions. Raises: InputError."""
    old: list[int] = []
    sources: list[str] = []
    for text in texts:
        name, source = name_and_source(text)
        number = number_of(host, name or source)
        if number in old:
            raise InputError(f"{name or source} is given twice")
        old.append(number)
        sources.append(f"{host.entrants[number].name}={source if name else host.entrants[number].source}")
    new = []
    for number, entrant in zip(old, gather(sources, host.contest.rules, fewest=1), strict=True):
        before = host.entrants[number]
        if (entrant.language, entrant.sha256, entrant.source) == (before.language, before.sha256, before.source):
            raise InputError(f"the bot {before.name} ({before.source}) has not changed")
        new.append(dataclasses.replace(entrant, name=before.name))  # also a long one that has a number
    return old, new


def number_of(host: Host, name: str) -> int:
    """The number of the bot of this name that takes part. Raises: InputError."""
    number = host.roster.find(name)
    if number is None:
        names = ", ".join(entrant.name for entrant in host.present)
        raise InputError(f"the contest has no bot {name}; its bots are {names}")
    return number


def follow(host: Host, folder: Path) -> None:
    """Let the bots of a folder join, change and leave a contest, with a line for each.

    A change that is not possible is left out with a warning; a bot whose new file cannot play leaves.
    """
    found = {bot.source: bot for bot in bots_in_folder(folder, host.contest.rules, course=bool(host.contest.against))}
    playing = [(host.entrants[bot].source, bot) for bot in host.roster.present]  # several bots may have one file
    mine = [(source, bot) for source, bot in playing if folder in Path(source).parents]
    sources = {source for source, _ in mine}
    removed = [bot for source, bot in mine if source not in found]
    names = [host.entrants[bot].name for bot in host.roster.present if bot not in removed]
    added = with_unique_names([bot for source, bot in found.items() if source not in sources], names)
    leaving = {host.entrants[bot].name: [bot] for bot in removed}  # one that is there in another form is replaced
    changes: list[tuple[list[int], list[Entrant]]] = [(leaving.pop(bot.name, []), [bot]) for bot in added]
    for source, number in mine:
        old, new = host.entrants[number], found.get(source)
        if new and (new.language, new.sha256, new.protocol) != (old.language, old.sha256, old.protocol):
            changes.append(([number], [dataclasses.replace(new, name=old.name)]))
    changes += [(bots, []) for bots in leaving.values()]
    for leave, join in changes:
        name = (join or [host.entrants[bot] for bot in leave])[0].name
        try:
            try:
                host.change(leave, join)
            except BjsimError as error:
                if not (leave and join):
                    raise
                logger.warning("the new version of %s does not join: %s", name, error)
                join = []  # the old one, whose file is gone, cannot play on either
                host.change(leave)
        except BjsimError as error:
            logger.warning("%s is left as it was: %s", name, error)
            continue
        verb = "joins" if not leave else "leaves" if not join else f"is now version {host.roster.versions[-1]}"
        click.echo(printable(f"{name} {verb}"))

"""`--watch DIR`: bots that are added to, changed in or removed from a folder join and leave the contest."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click

from bjsim.bots.contest.entrants import Entrant, bots_in_folder, with_unique_names
from bjsim.bots.contest.host import Host
from bjsim.bots.protocol import printable
from bjsim.bots.sandbox.sources import Parts, list_files
from bjsim.errors import BjsimError

SETTLE_S = 2.0  # a file is read when the folder has not changed for so long: it may still be copied
logger = logging.getLogger(__name__)
Listing = frozenset[tuple[str, int, int, int]]


class FolderWatch:
    """Lets the bots of a folder join, change and leave a contest. Called between matches, and while it waits."""

    def __init__(
        self, folder: Path, say: Callable[[str], object] = click.echo, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.say = say
        self.folder = folder.resolve()
        self.clock = clock
        self._taken: Listing | None = None  # the last listing that was acted upon
        self._seen: tuple[Listing, float] | None = None  # the last listing, and when it was first seen

    def __call__(self, host: Host) -> bool:
        """Change the contest if the folder has changed and settled; returns whether it has."""
        listing, now = self._listing(), self.clock()
        if listing == self._taken:
            return False
        if self._seen is None or self._seen[0] != listing:
            self._seen = listing, now
        if now - self._seen[1] < SETTLE_S:
            return False
        return self.scan(host)

    def scan(self, host: Host) -> bool:
        """Compare the folder with the contest, and change the contest; returns whether it has changed."""
        self._taken = self._listing()
        try:
            found = {bot.source: bot for bot in bots_in_folder(self.folder, host.contest.rules)}
        except OSError as error:
            logger.warning("cannot read the folder %s: %s", self.folder, error.strerror)
            return False
        numbers = {host.entrants[bot].source: bot for bot in host.roster.present}
        mine = {source: bot for source, bot in numbers.items() if self.folder in Path(source).parents}
        removed = [bot for source, bot in mine.items() if source not in found]
        changed = [bot for source, bot in mine.items() if source in found and is_new(found[source], host.entrants[bot])]
        names = [host.entrants[bot].name for bot in host.roster.present if bot not in removed]
        added = with_unique_names([bot for source, bot in found.items() if source not in mine], names)
        changes: list[tuple[list[int], list[Entrant]]] = [([], [bot]) for bot in added]
        for bot in changed:
            old, new = host.entrants[bot], found[host.entrants[bot].source]
            changes.append(([bot], [Entrant(old.name, new.source, new.language, new.sha256, new.protocol)]))
        changes += [([bot], []) for bot in removed]
        return any([self._change(host, leave, join) for leave, join in changes])

    def _change(self, host: Host, leave: list[int], join: list[Entrant]) -> bool:
        """Change the contest, or warn why that is not possible."""
        name = (join or [host.entrants[bot] for bot in leave])[0].name
        try:
            host.change(leave, join)
        except BjsimError as error:
            logger.warning("%s is left as it was: %s", name, error)
            return False
        verb = "joins" if not leave else "leaves" if not join else f"is now version {host.roster.versions[-1]}"
        self.say(printable(f"{name} {verb}"))
        return True

    def _listing(self) -> Listing:
        found = set()
        with suppress(OSError):
            for path in self.folder.iterdir():
                files: list[Parts] = [()]
                with suppress(OSError, ValueError):  # as one file, if it has disappeared
                    files = list_files(path) if path.is_dir() and not path.is_symlink() else files
                for file in (path.joinpath(*parts) for parts in files if not path.name.startswith(".")):
                    with suppress(OSError):
                        stat = file.lstat()
                        found.add((str(file), stat.st_size, stat.st_mtime_ns, stat.st_ino))
        return frozenset(found)


def is_new(now: Entrant, before: Entrant) -> bool:
    """Whether a bot's file has changed."""
    return (now.language, now.sha256, now.protocol) != (before.language, before.sha256, before.protocol)

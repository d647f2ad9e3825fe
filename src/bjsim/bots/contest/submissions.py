"""Submissions from a learning platform: an archive is unpacked, and in the folder of each student the bot is found."""

from __future__ import annotations

import logging
import re
import shutil
import stat
import zipfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from bjsim.bots.protocol import printable
from bjsim.bots.sandbox.folders import MANIFEST, is_bot_folder
from bjsim.bots.sandbox.languages import ENDINGS
from bjsim.errors import InputError

MOST_FILES = 20_000  # of an archive
MOST_BYTES = 1 << 30  # of an archive when it is unpacked
MOST_OF_A_STUDENT = 1000  # files
PLATFORM = re.compile(r"_\d+_assignsubmission_.*")  # what Moodle appends to the name of a student
logger = logging.getLogger(__name__)


def unpack(archive: Path) -> Path:
    """Unpack an archive into a new folder next to it, of its name; an InputError leaves nothing behind."""
    folder = archive.with_suffix("")
    try:
        folder.mkdir()
    except OSError as error:
        raise InputError(f"cannot unpack {archive} as {folder}: {error.strerror}; give or remove that folder") from None
    try:
        with zipfile.ZipFile(archive) as file:
            _extract(file, folder)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, Exception):  # a stranger may have made the archive
            raise InputError(f"{archive} cannot be unpacked: {error}") from None
        raise
    return folder


def _extract(archive: zipfile.ZipFile, folder: Path) -> None:
    """Extract all regular files; all names and sizes are checked first, and the sizes once more when they are read."""
    left = MOST_BYTES
    files = [info for info in archive.infolist() if not info.is_dir() and not _is_hidden(info.filename)]
    if len(files) > MOST_FILES or sum(info.file_size for info in files) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_FILES:,} files or {MOST_BYTES >> 30} GiB")
    for info in files:
        parts = info.filename.split("/")
        if "\\" in info.filename or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"the name {printable(info.filename)} in it leads out of its folder")
    for info in files:
        path, mode = folder / info.filename, info.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            logger.warning("left out: %s is no regular file", printable(info.filename))
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(info) as source, path.open("xb") as target:
            while part := source.read(min(left + 1, 1 << 20)):
                if (left := left - len(part)) < 0:
                    raise ValueError(f"it has more than {MOST_BYTES >> 30} GiB")
                target.write(part)
        path.chmod(0o755 if mode & stat.S_IXUSR else 0o644)


def submissions(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """The files and folders of bots among the contents of a folder, each with a name for the bot.

    The name is "" unless the bot is in the folder of a student. A student's folder without exactly one bot is left
    out, with a warning.
    """
    for path in paths:
        if not path.is_dir() or is_bot_folder(path):
            yield path, ""
        elif not path.is_symlink() and not _is_hidden(path.name):
            bots = [*_bots_of(path)]
            if len(bots) == 1:
                yield bots[0], PLATFORM.sub("", path.name)
            else:
                names = ", ".join(bot.name for bot in bots) or "none"
                logger.warning("left out: the folder %s should have one bot, and has %s", path, names)


def _bots_of(folder: Path) -> Iterator[Path]:
    """The bots of a student: a folder with a manifest, or else the sources."""
    found = sorted(islice(folder.rglob("*"), MOST_OF_A_STUDENT))
    files = [path for path in found if not _is_hidden(path.relative_to(folder).as_posix())]
    manifests = [path.parent for path in files if path.name == MANIFEST]
    return iter(manifests or [path for path in files if path.suffix.lower() in ENDINGS and path.is_file()])


def _is_hidden(name: str) -> bool:
    """Whether a file, or a folder that it is in, is hidden or an addition of the system that packed it."""
    return any(part.startswith((".", "__")) and part != ".." for part in Path(name).parts)

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
LONGEST_NAME = 1000  # of a file with its folders
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
    """Extract regular files and folders; names and sizes are checked first, and sizes once more when they are read."""
    left = MOST_BYTES
    files = [info for info in archive.infolist() if not _is_hidden(info.filename)]
    if len(files) > MOST_FILES or sum(info.file_size for info in files) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_FILES:,} files or {MOST_BYTES >> 30} GiB")
    for info in files:
        parts = info.filename.removesuffix("/").split("/")
        if "\\" in info.filename or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"the name {printable(info.filename)} in it leads out of its folder")
        if len(info.filename) > LONGEST_NAME:
            raise ValueError(f"the name {info.filename[:40]}... in it has more than {LONGEST_NAME} characters")
    for info in files:
        path, mode = folder / info.filename, info.external_attr >> 16
        if info.is_dir():  # of a student who has submitted nothing, perhaps
            path.mkdir(parents=True, exist_ok=True)
            continue
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


def submissions(paths: Iterable[Path], left_out: dict[str, str]) -> Iterator[tuple[Path, str]]:
    """The files and folders of bots among the contents of a folder, each with a name for the bot.

    The name is "" unless the bot is in the folder of a student, where an archive is unpacked if there is no other bot.
    A student's folder without exactly one bot is left out with a warning, and its reason noted by name in `left_out`.
    """
    for path in paths:
        if not path.is_dir() or is_bot_folder(path):
            yield path, ""
        elif not path.is_symlink() and not _is_hidden(path.name):
            student = PLATFORM.sub("", path.name)
            try:
                bots = [*_bots_of(path)] or [
                    bot for archive in _files(path, ".zip") for bot in _bots_of(unpack(archive))
                ]
            except InputError as error:
                left_out[student] = str(error)
                logger.warning("left out: %s", error)
                continue
            if len(bots) == 1:
                yield bots[0], student
            else:
                left_out[student] = f"should have one bot, and has {', '.join(bot.name for bot in bots) or 'none'}"
                logger.warning("left out: the folder %s %s", path, left_out[student])


def _bots_of(folder: Path) -> Iterator[Path]:
    """The bots of a student: a folder with a manifest, or else the sources."""
    return iter([path.parent for path in _files(folder) if path.name == MANIFEST] or _files(folder, *ENDINGS))


def _files(folder: Path, *endings: str) -> list[Path]:
    """The files of a student that are not hidden, with one of these endings if any are given."""
    found = sorted(islice(folder.rglob("*"), MOST_OF_A_STUDENT))
    shown = [path for path in found if path.is_file() and not _is_hidden(path.relative_to(folder).as_posix())]
    return [path for path in shown if not endings or path.suffix.lower() in endings]


def _is_hidden(name: str) -> bool:
    """Whether a file, or a folder that it is in, is hidden or an addition of the system that packed it."""
    return any(part.startswith((".", "__")) and part != ".." for part in Path(name).parts)

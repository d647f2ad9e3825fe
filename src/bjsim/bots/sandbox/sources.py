"""Reading bots' files, which come from strangers: limits on their size, their names and their number.

A stranger may exchange a file, or a folder above it, for a symbolic link at any time. So each part of a path is opened
from the folder before it, without following links, and only the open file is examined.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bjsim.bots.protocol import printable
from bjsim.bots.sandbox.languages import BuildError

MAX_SOURCE = 1 << 20  # bytes of a source
DECLARED = 10  # lines of a file in which it may declare its protocol
MAX_PROGRAM = 1 << 26  # bytes of an executable
MAX_ENTRIES = 2000  # files and folders in a bot's folder
MAX_DEPTH = 16  # folders above a file in it
Parts = tuple[str, ...]  # of a path below a folder


@contextmanager
def open_folder(path: str | Path, inner: Sequence[str] = ()) -> Iterator[int]:
    """Open a folder, and from it one inner folder after another; none may be a symbolic link. Raises: OSError."""
    flags = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
    folder = os.open(path, flags)
    try:
        for name in inner:
            above, folder = folder, os.open(name, flags, dir_fd=folder)
            os.close(above)
        yield folder
    finally:
        os.close(folder)


def list_files(folder: Path) -> list[Parts]:
    """The files and links in a folder and its folders, in order, not hidden; too many are a ValueError."""
    files: list[Parts] = []
    folders: list[Parts] = [()]
    entries = 0
    while folders:
        above = folders.pop()
        with open_folder(folder, above) as opened, os.scandir(opened) as found:
            for entry in found:
                entries += 1
                if entries > MAX_ENTRIES:
                    raise ValueError(f"is in a folder of more than {MAX_ENTRIES} files and folders")
                if entry.name.startswith(".") or entry.name == "__pycache__":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if len(above) == MAX_DEPTH:
                        raise ValueError(f"is in a folder with more than {MAX_DEPTH} folders inside each other")
                    folders.append((*above, entry.name))
                elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
                    files.append((*above, entry.name))
    return sorted(files)


def read_protocol(content: bytes) -> str:
    """The protocol that a bot's file declares: `line` if the words `bjsim: line 1` are in its first ten lines."""
    first = content.split(b"\n", DECLARED)[:DECLARED]
    return "line" if any(re.search(rb"\bbjsim: line 1\b", text) for text in first) else "argv"


def check_name(path: Path, folder: Path | None = None) -> None:
    """Check that a file's name (and folders in the bot's `folder`) is safe to print, and to use in a list of bots.

    A BuildError is a colon (which separates a Python file from a name in it), a control character or bytes that
    are not UTF-8, or a symbolic link, which may point to a file that must not be published.
    """
    shown = printable(str(path))
    names = str(path.relative_to(folder)) if folder else path.name
    if not names.isprintable() or ":" in names:
        raise BuildError(f"the file name {shown} has a colon or a control character, or is not UTF-8; rename it")
    if path.is_symlink():
        raise BuildError(f"{shown} is a symbolic link; give the file itself")

"""Reading bots' files, which strangers wrote: how large they may be, and how they may be called."""

from __future__ import annotations

import os
from pathlib import Path

from bjsim.bots.protocol import printable
from bjsim.bots.sandbox.languages import ENDINGS, BuildError

MOST_SOURCE = 1 << 20  # bytes of a source
MOST_PROGRAM = 1 << 26  # bytes of a program that runs as it is


def read_bot(path: Path) -> bytes:
    """The content of a bot's file. Raises: BuildError where it is larger than a bot may be; OSError."""
    program = path.suffix.lower() not in ENDINGS and os.access(path, os.X_OK)
    most = MOST_PROGRAM if program else MOST_SOURCE
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size <= most and len(content := file.read(most + 1)) <= most:
            return content
    kind = "a program" if program else "a source"
    raise BuildError(f"{path} is larger than {most >> 20} MiB, which {kind} may have")


def check_name(path: Path) -> None:
    """Refuse a file that a command would name as something else than it is.

    Raises: BuildError for a name with a colon, as of an object in a file, or with what no terminal prints; and for a
    symbolic link, which may lead to a file that is nobody's to see.
    """
    shown = printable(str(path))
    if not path.name.isprintable() or ":" in path.name:
        raise BuildError(f"the file name {shown} has a colon or a control character; rename it")
    if path.is_symlink():
        raise BuildError(f"{shown} is a symbolic link; give the file itself")

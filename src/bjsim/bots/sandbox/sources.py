"""Reading bots' files, which come from strangers: limits on their size and their names."""

from __future__ import annotations

import os
import re
from pathlib import Path

from bjsim.bots.protocol import printable
from bjsim.bots.sandbox.languages import ENDINGS, BuildError

MAX_SOURCE = 1 << 20  # bytes of a source
DECLARED = 10  # lines of a file in which it may declare its protocol
MAX_PROGRAM = 1 << 26  # bytes of an executable


def read_bot(path: Path) -> bytes:
    """The content of a bot's file.

    Raises:
        BuildError: the file is too large.
        OSError: the file cannot be read.
    """
    executable = path.suffix.lower() not in ENDINGS and os.access(path, os.X_OK)
    limit = MAX_PROGRAM if executable else MAX_SOURCE
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size <= limit and len(content := file.read(limit + 1)) <= limit:
            return content
    kind = "program" if executable else "source"
    raise BuildError(f"{path} is larger than {limit >> 20} MiB, the limit for a {kind}")


def read_protocol(content: bytes) -> str:
    """The protocol that a bot's file declares: `line` if the words `bjsim: line 1` are in its first ten lines."""
    first = content.split(b"\n", DECLARED)[:DECLARED]
    return "line" if any(re.search(rb"\bbjsim: line 1\b", text) for text in first) else "argv"


def check_name(path: Path) -> None:
    """Check that a file's name is safe to print, and to use in a list of bots.

    Raises:
        BuildError: the name has a colon (which separates a Python file from a name in it) or a control character, or
            the file is a symbolic link, which may point to a file that must not be published.
    """
    shown = printable(str(path))
    if not path.name.isprintable() or ":" in path.name:
        raise BuildError(f"the file name {shown} has a colon or a control character; rename it")
    if path.is_symlink():
        raise BuildError(f"{shown} is a symbolic link; give the file itself")

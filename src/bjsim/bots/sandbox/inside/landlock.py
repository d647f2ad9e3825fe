"""Rules on the files that a bot's programs can reach (Landlock), where bubblewrap does not work.

The kernel checks them wherever a file is opened, made, renamed, linked, removed or cut, without any privilege. From its
sixth version on, Landlock also keeps signals inside. What it leaves out is refused by the filter (`seccomp.py`).

Source: the kernel's Documentation/userspace-api/landlock.rst.
"""

import ctypes
import os
import struct
from collections.abc import Iterable

from bjsim.bots.sandbox.inside.seccomp import PR_SET_NO_NEW_PRIVS

CREATE, ADD, RESTRICT = 444, 445, 446  # the same numbers on all machines
VERSION, PATH_BENEATH = 1, 1
EXECUTE, WRITE, READ, LIST, REMOVE_FOLDER, REMOVE_FILE = 1, 2, 4, 8, 16, 32
MAKE_FOLDER, MAKE_FILE, MAKE_FIFO, MAKE_LINK, REFER, TRUNCATE = 128, 256, 1024, 4096, 8192, 16384
ALL = 2 * TRUNCATE - 1  # on files; making sockets and devices, which no rule allows, is among them
ON_FILES = EXECUTE | WRITE | READ | TRUNCATE  # the rest means something for folders only
SCOPES = 1 | 2  # sockets without a file, and signals
FIRST, WHOLE = 3, 6  # the versions that know TRUNCATE and SCOPES: Linux 6.2 and 6.12
# What a rule may allow.
READING, RUNNING, DEVICE = READ | LIST, READ | LIST | EXECUTE, READ | WRITE
WRITING = (
    RUNNING | WRITE | REMOVE_FOLDER | REMOVE_FILE | MAKE_FOLDER | MAKE_FILE | MAKE_FIFO | MAKE_LINK | REFER | TRUNCATE
)
libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """The version of Landlock of this kernel; 0 if it has none that knows what is needed."""
    known: int = libc.syscall(CREATE, None, ctypes.c_size_t(0), VERSION)
    return known if known >= FIRST else 0


def enter(rules: Iterable[tuple[str, int]]) -> None:
    """Put this thread, and all that it starts, under rules: what is allowed with a file, or all files in a folder.

    What does not exist is left out.
    """
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    attributes = struct.pack("QQQ", ALL, 0, SCOPES if version() >= WHOLE else 0)
    ruleset = _checked(libc.syscall(CREATE, attributes, ctypes.c_size_t(len(attributes)), 0))
    for name, allowed in rules:
        try:
            path = os.open(name, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        rule = struct.pack("=Qi", allowed if os.path.isdir(name) else allowed & ON_FILES, path)
        _checked(libc.syscall(ADD, ruleset, PATH_BENEATH, rule, 0))
        os.close(path)
    _checked(libc.syscall(RESTRICT, ruleset, 0))
    os.close(ruleset)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "Landlock refuses a rule")
    return result

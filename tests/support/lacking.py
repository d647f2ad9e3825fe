"""A machine that lacks something: the kernel refuses this process, and all that it starts, what is named.

As a program: lacking.py namespaces,landlock COMMAND ...
"""

import errno
import os
import sys

from bjsim.bots.sandbox.inside import seccomp
from bjsim.bots.sandbox.inside.landlock import CREATE

WITHOUT = {
    "namespaces": [("unshare", seccomp.REFUSE), ("clone3", seccomp.MISSING)],  # as in Docker
    "landlock": [("landlock", seccomp.MISSING)],  # as before Linux 5.13
    "filters": [("prctl", seccomp.ERROR | errno.EINVAL)],  # as in a kernel that was built without them
}
NUMBERS = {"unshare": (272, 97), "clone3": (435, 435), "landlock": (CREATE, CREATE)}
CLONE_NEWUSER = 0x10000000


def instructions(names):
    """Instructions of the filter: each call is refused, of clone the one with a namespace, of prctl the filters."""
    column = seccomp.MACHINES[os.uname().machine][1]
    yield seccomp.LOAD, 0, 0, seccomp.NUMBER
    for call, verdict in [each for name in names for each in WITHOUT[name]]:
        if call == "prctl":
            filters = [(seccomp.IF_EQUAL, seccomp.PR_SET_SECCOMP)]
            yield from seccomp._check((157, 167)[column], seccomp.FIRST, filters, verdict, seccomp.ALLOW)
        else:
            yield seccomp.IF_EQUAL, 0, 1, NUMBERS[call][column]
            yield seccomp.RETURN, 0, 0, verdict
    if "namespaces" in names:
        flags = [(seccomp.IF_ANY_BIT, CLONE_NEWUSER)]
        yield from seccomp._check(seccomp.CLONE[column], seccomp.FIRST, flags, seccomp.REFUSE, seccomp.ALLOW)
    yield seccomp.RETURN, 0, 0, seccomp.ALLOW


def refuse(*names):
    """Refuse it from now on."""
    seccomp.load(instructions(names))


if __name__ == "__main__":
    refuse(*sys.argv[1].split(","))
    os.execvp(sys.argv[2], sys.argv[2:])

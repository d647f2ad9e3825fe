"""Whether programs can be bots on this system.

Programs need Linux. The modules that run them are imported only where one is used, because the import fails elsewhere.
"""

import os
from functools import cache

from bjsim.errors import InputError

NEEDED = ("fork", "memfd_create", "pidfd_open", "sched_getaffinity")  # functions of `os`


@cache
def can_run_programs() -> bool:
    return all(hasattr(os, name) for name in NEEDED)


def need_programs(bot: str) -> None:
    """Check that programs can run here. Raises: InputError that names this bot."""
    if not can_run_programs():
        raise InputError(f"{bot} is a program, and such bots need Linux; strategies, charts and Python players do not")

"""Whether programs can be bots on this system, and which players are programs.

Programs need Linux. The modules that run them are imported only where one is used, because the import fails elsewhere.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, TypeGuard

from bjsim.errors import InputError
from bjsim.sim.game.actions import Player

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer, UnstartableBot

NEEDED = ("fork", "memfd_create", "pidfd_open", "sched_getaffinity")  # functions of `os`


@cache
def can_run_programs() -> bool:
    """Whether bots can be programs on this system."""
    return all(hasattr(os, name) for name in NEEDED)


def need_programs(bot: str) -> None:
    """Check that programs can run here. Raises: InputError that names this bot."""
    if not can_run_programs():
        raise InputError(f"{bot} is a program, and such bots need Linux; strategies, charts and Python players do not")


def is_bot(player: Player) -> TypeGuard[BotPlayer]:
    """Whether the player runs a program."""
    if not can_run_programs():
        return False
    from bjsim.bots.player import BotPlayer

    return isinstance(player, BotPlayer)


def is_unstartable(player: Player) -> TypeGuard[UnstartableBot]:
    """Whether the player takes the seat of a program that cannot be started."""
    if not can_run_programs():
        return False
    from bjsim.bots.player import UnstartableBot

    return isinstance(player, UnstartableBot)

"""Programs as bots, which need Linux. What runs them is imported where one is named only: elsewhere it cannot be."""

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
    """Raises: InputError where this bot, a program, cannot be run."""
    if not can_run_programs():
        raise InputError(f"{bot} is a program, and such bots need Linux; strategies, charts and Python players do not")


def is_bot(player: Player) -> TypeGuard[BotPlayer]:
    """Whether the player is a program in its box."""
    if not can_run_programs():
        return False
    from bjsim.bots.player import BotPlayer

    return isinstance(player, BotPlayer)


def is_dead(player: Player) -> TypeGuard[UnstartableBot]:
    """Whether the player stands in for a program that cannot be made to run."""
    if not can_run_programs():
        return False
    from bjsim.bots.player import UnstartableBot

    return isinstance(player, UnstartableBot)

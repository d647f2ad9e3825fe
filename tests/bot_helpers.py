"""What the tests of the bots share: situations to ask in, tables to play at, and what this machine lacks."""

import os
import shutil
from pathlib import Path

import pytest

from bjsim.bots import sandbox
from bjsim.sim.hand import Hand
from bjsim.sim.play import HIT, STAND, View
from bjsim.sim.presets import named_rules
from bjsim.sim.round import Round
from bjsim.sim.shoe import open_shoe
from bjsim.sim.stream import Stream

SAMPLES = Path(__file__).resolve().parents[1] / "bots" / "samples"
TOOLS = {".py": ("python3", "python3"), ".c": ("cc", "gcc"), ".cpp": ("c++", "g++"),
         ".java": ("javac", "default-jdk-headless"), ".lisp": ("sbcl", "sbcl")}  # fmt: skip

needs_sandbox = pytest.mark.skipif(bool(sandbox.trouble()), reason=sandbox.trouble() or "none")


def needs(ending):
    """Skips where the program for files with this ending is missing."""
    tool, package = TOOLS[ending]
    return pytest.mark.skipif(not shutil.which(tool), reason=f"no {tool} (Debian: {package})")


def a_view(hand="K2", legal="SHDB", stake=10, chips=190, rules=None):
    """A seat's view at a table of cardshark, the dealer showing a nine."""
    return View(rules or named_rules("cardshark"), 0, hand, "9", f"9#{hand}A38", stake, chips, legal)


def processes():
    """The processes that this one has started and that still exist, through all generations. Returns: a set of ids."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                parents[int(pid)] = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, new = set(), {os.getpid()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - found
        found |= new
    return found


class Scripted:
    """A player in this process: decides as a function of the view says."""

    def __init__(self, rule):
        self.name = "scripted"
        self.decide = rule


def lim17(view):
    """The decision of Lim 17."""
    return HIT if Hand(*view.hand).points < 17 else STAND


def play(players, rounds, rules=None, seed=5):
    """The event logs of some rounds at one table of cardshark."""
    rules = rules or named_rules("cardshark")
    shoe = open_shoe(rules, Stream(seed))
    return [Round(rules, shoe, players).play().events for _ in range(rounds)]

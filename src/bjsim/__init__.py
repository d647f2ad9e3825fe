"""bjsim: simulate, solve and judge blackjack, and run contests of blackjack bots.

The public names are imported from their rooms when they are first used.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Rules": "bjsim.sim.rules",
    "load_rules": "bjsim.sim.presets",
    "PRESETS": "bjsim.sim.presets",
    "Hand": "bjsim.sim.hand",
    "Action": "bjsim.sim.play",
    "View": "bjsim.sim.play",
    "Player": "bjsim.sim.play",
    "Round": "bjsim.sim.round",
    "ScriptedShoe": "bjsim.sim.shoe",
    "Driver": "bjsim.sim.driver",
    "Chart": "bjsim.strategies.chart",
    "Table": "bjsim.strategies.table",
    "Solver": "bjsim.strategies.exact",
    "find_player": "bjsim.strategies.players",
    "play": "bjsim.strategies.experiment",
}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'bjsim' has no attribute {name!r}")

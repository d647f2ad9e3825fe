"""bjsim: simulate, solve and judge blackjack, and run contests of blackjack bots.

The public names are imported from their rooms when they are first used.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Rules": "bjsim.sim.game.rules",
    "load_rules": "bjsim.sim.game.presets",
    "PRESETS": "bjsim.sim.game.presets",
    "Hand": "bjsim.sim.game.hand",
    "Action": "bjsim.sim.game.actions",
    "View": "bjsim.sim.game.actions",
    "Player": "bjsim.sim.game.actions",
    "Round": "bjsim.sim.game.round",
    "ScriptedShoe": "bjsim.sim.game.shoe",
    "Driver": "bjsim.sim.running.driver",
    "Chart": "bjsim.strategies.charts.chart",
    "Table": "bjsim.strategies.exact.labelled_table",
    "Solver": "bjsim.strategies.exact.solver",
    "find_player": "bjsim.strategies.players.find",
    "play": "bjsim.strategies.experiment",
}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'bjsim' has no attribute {name!r}")

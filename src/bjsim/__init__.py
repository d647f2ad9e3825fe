"""bjsim: simulate, solve and judge blackjack, and run contests of blackjack bots.

>>> import bjsim
>>> rules = bjsim.load_rules("easy")
>>> f"{bjsim.solve(rules).value:.6f}"
'0.116685'

Public names and `bjsim.gym` are imported when they are first used, so that `import bjsim` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bjsim.api import compare as compare
    from bjsim.api import contest as contest
    from bjsim.api import evaluate as evaluate
    from bjsim.api import learn as learn
    from bjsim.api import play as play
    from bjsim.api import solve as solve
    from bjsim.bots.contest.scoring.standings import Standings as Standings
    from bjsim.bots.seats import BotOptions as BotOptions
    from bjsim.errors import BjsimError as BjsimError
    from bjsim.errors import InputError as InputError
    from bjsim.errors import RunFailed as RunFailed
    from bjsim.request import RunRequest as RunRequest
    from bjsim.run_result import RunResult as RunResult
    from bjsim.sim.game.actions import Action as Action
    from bjsim.sim.game.actions import Player as Player
    from bjsim.sim.game.actions import View as View
    from bjsim.sim.game.hand import Hand as Hand
    from bjsim.sim.game.presets import PRESETS as PRESETS
    from bjsim.sim.game.presets import load_rules as load_rules
    from bjsim.sim.game.round import Round as Round
    from bjsim.sim.game.rules import Rules as Rules
    from bjsim.sim.game.shoe import ScriptedShoe as ScriptedShoe
    from bjsim.sim.running.driver import Driver as Driver
    from bjsim.sim.running.experiment import Point as Point
    from bjsim.sim.running.experiment import Progress as Progress
    from bjsim.sim.stats.luck_tally import LuckTally as LuckTally
    from bjsim.sim.stats.paired import PairedTally as PairedTally
    from bjsim.sim.stats.tally import Tally as Tally
    from bjsim.strategies.charts.chart import Chart as Chart
    from bjsim.strategies.evaluation.compare import Compared as Compared
    from bjsim.strategies.evaluation.evaluate import Evaluation as Evaluation
    from bjsim.strategies.exact.labelled_table import LabelledTable as LabelledTable
    from bjsim.strategies.exact.solver import Solver as Solver
    from bjsim.strategies.learning.report import LearnedGame as LearnedGame
    from bjsim.strategies.learning.study import Study as Study
    from bjsim.strategies.players.find import find_player as find_player
    from bjsim.strategies.results import BotResult as BotResult
    from bjsim.strategies.results import Difference as Difference
    from bjsim.strategies.shoe.solver import ShoeSolver as ShoeSolver
    from bjsim.strategies.solution import Solution as Solution

__version__ = "0.2.0"

__all__ = [
    "PRESETS",
    "Action",
    "BjsimError",
    "BotOptions",
    "BotResult",
    "Chart",
    "Compared",
    "Difference",
    "Driver",
    "Evaluation",
    "Hand",
    "InputError",
    "LabelledTable",
    "LearnedGame",
    "LuckTally",
    "PairedTally",
    "Player",
    "Point",
    "Progress",
    "Round",
    "Rules",
    "RunFailed",
    "RunRequest",
    "RunResult",
    "ScriptedShoe",
    "ShoeSolver",
    "Solution",
    "Solver",
    "Standings",
    "Study",
    "Tally",
    "View",
    "__version__",
    "compare",
    "contest",
    "evaluate",
    "find_player",
    "learn",
    "load_rules",
    "play",
    "solve",
]

# Where each name is defined; a test holds this against the imports above.
_HOMES = {
    "PRESETS": "sim.game.presets",
    "Action": "sim.game.actions",
    "BjsimError": "errors",
    "BotOptions": "bots.seats",
    "BotResult": "strategies.results",
    "Chart": "strategies.charts.chart",
    "Compared": "strategies.evaluation.compare",
    "Difference": "strategies.results",
    "Driver": "sim.running.driver",
    "Evaluation": "strategies.evaluation.evaluate",
    "Hand": "sim.game.hand",
    "InputError": "errors",
    "LabelledTable": "strategies.exact.labelled_table",
    "LearnedGame": "strategies.learning.report",
    "LuckTally": "sim.stats.luck_tally",
    "PairedTally": "sim.stats.paired",
    "Player": "sim.game.actions",
    "Point": "sim.running.experiment",
    "Progress": "sim.running.experiment",
    "Round": "sim.game.round",
    "Rules": "sim.game.rules",
    "RunFailed": "errors",
    "RunRequest": "request",
    "RunResult": "run_result",
    "ScriptedShoe": "sim.game.shoe",
    "ShoeSolver": "strategies.shoe.solver",
    "Solution": "strategies.solution",
    "Solver": "strategies.exact.solver",
    "Standings": "bots.contest.scoring.standings",
    "Study": "strategies.learning.study",
    "Tally": "sim.stats.tally",
    "View": "sim.game.actions",
    "compare": "api",
    "contest": "api",
    "evaluate": "api",
    "find_player": "strategies.players.find",
    "learn": "api",
    "load_rules": "sim.game.presets",
    "play": "api",
    "solve": "api",
}


def __getattr__(name: str) -> object:
    if name == "gym":
        try:
            return import_module("bjsim.gym")
        except ImportError as error:
            raise AttributeError(f"bjsim.gym: {error}; pip install 'bjsim[gym]'") from error
    if name not in _HOMES:
        raise AttributeError(f"module 'bjsim' has no attribute {name!r}")
    return getattr(import_module(f"bjsim.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__

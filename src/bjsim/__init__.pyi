# The public names of this package, in one list: `lazy_names` reads it at run time, and type checkers read it too.

from bjsim.api import compare as compare
from bjsim.api import contest as contest
from bjsim.api import evaluate as evaluate
from bjsim.api import learn as learn
from bjsim.api import solve as solve
from bjsim.bots.contest.standings import Standings as Standings
from bjsim.bots.seats import BotOptions as BotOptions
from bjsim.errors import BjsimError as BjsimError
from bjsim.errors import InputError as InputError
from bjsim.errors import RunFailed as RunFailed
from bjsim.request import RunRequest as RunRequest
from bjsim.request import play as play
from bjsim.run_result import RunResult as RunResult
from bjsim.sim.game.actions import Action as Action
from bjsim.sim.game.actions import Player as Player
from bjsim.sim.game.actions import View as View
from bjsim.sim.game.cards import Hand as Hand
from bjsim.sim.game.presets import PRESETS as PRESETS
from bjsim.sim.game.presets import load_rules as load_rules
from bjsim.sim.game.round import Round as Round
from bjsim.sim.game.rules import Rules as Rules
from bjsim.sim.game.shoe import ScriptedShoe as ScriptedShoe
from bjsim.sim.running.experiment import Point as Point
from bjsim.sim.running.experiment import Progress as Progress
from bjsim.sim.stats.tally import Tally as Tally
from bjsim.strategies.charts.chart import Chart as Chart
from bjsim.strategies.counting.count import count as count
from bjsim.strategies.counting.request import CountRequest as CountRequest
from bjsim.strategies.counting.result import CountComparison as CountComparison
from bjsim.strategies.counting.result import CountResult as CountResult
from bjsim.strategies.counting.returns import Figure as Figure
from bjsim.strategies.evaluation.compare import Compared as Compared
from bjsim.strategies.evaluation.compare import Evaluation as Evaluation
from bjsim.strategies.evaluation.known import KnownCards as KnownCards
from bjsim.strategies.evaluation.known import known as known
from bjsim.strategies.exact.tables import LabelledTable as LabelledTable
from bjsim.strategies.learning.learn import Study as Study
from bjsim.strategies.learning.report import LearnedGame as LearnedGame
from bjsim.strategies.players.catalogue import find_player as find_player
from bjsim.strategies.promotions.bank import BankResult as BankResult
from bjsim.strategies.promotions.bank import Bonus as Bonus
from bjsim.strategies.promotions.bank import Rebate as Rebate
from bjsim.strategies.promotions.bank import bank as bank
from bjsim.strategies.results import BotResult as BotResult
from bjsim.strategies.sidebets.exact import SideBet as SideBet
from bjsim.strategies.sidebets.exact import SideBetEvent as SideBetEvent
from bjsim.strategies.sidebets.exact import sidebet as sidebet
from bjsim.strategies.solution import Solution as Solution

from . import gym as gym

__all__: list[str]
__version__: str

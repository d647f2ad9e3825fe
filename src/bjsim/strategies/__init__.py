"""Players that decide in process: charts, the exact solver, the learner."""

from bjsim.sim.game.cards import Hand
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.solver import Solver
from bjsim.strategies.exact.tables import LabelledTable

__all__ = ["Chart", "Hand", "LabelledTable", "Solver"]

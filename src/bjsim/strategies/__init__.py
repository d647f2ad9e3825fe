"""Players that decide in process: charts, the exact solver, the learner."""

from bjsim.sim.game.hand import Hand
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.exact.labelled_table import LabelledTable
from bjsim.strategies.exact.solver import Solver

__all__ = ["Chart", "Hand", "LabelledTable", "Solver"]

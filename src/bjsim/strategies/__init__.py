"""Who decides in process: charts, the exact solver, the learner."""

from bjsim.sim.hand import Hand
from bjsim.strategies.chart import Chart
from bjsim.strategies.exact import Solver
from bjsim.strategies.table import Table

__all__ = ["Chart", "Hand", "Solver", "Table"]

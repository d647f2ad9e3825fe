"""Payoff codes taken apart in kernels, by the formula that Python uses."""

from bjsim.sim.engine.jit import compiled
from bjsim.sim.engine.kernels.layout import payoff_parts

split_payoff = compiled(_nrt=False, forceinline=True)(payoff_parts)

"""Blackjack: a Monte Carlo simulator, an exact solver and a host for bot contests."""

__version__ = "0.1.0"

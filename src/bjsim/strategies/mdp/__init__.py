"""Finite Markov decision processes, and blackjack as one."""

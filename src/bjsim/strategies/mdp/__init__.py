"""Finite Markov decision processes, and games of blackjack as such processes."""

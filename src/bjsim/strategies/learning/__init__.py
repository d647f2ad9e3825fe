"""Reinforcement learning of decision processes, and of blackjack."""

"""The game: cards, rules, rounds, statistics, and the driver that plays many tables."""

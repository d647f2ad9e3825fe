"""The game itself: cards, rules, rounds, tallies and the driver that plays many tables."""

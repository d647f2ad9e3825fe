"""Shared test support: random games, shoes that deal every sequence of cards, and the chi-square test."""

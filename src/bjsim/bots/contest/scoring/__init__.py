"""Standings and their intervals."""

"""Luck adjustment of contest results."""

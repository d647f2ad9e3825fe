"""Exact values by dynamic programming, and charts evaluated with them."""

"""Exact values by dynamic programming, and charts judged by them."""

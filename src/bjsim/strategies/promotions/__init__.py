"""Promotions: a bank under flat bets, and rebates on losses."""

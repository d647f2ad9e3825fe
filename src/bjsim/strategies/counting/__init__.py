"""Card counting: systems, index plays, bet ramps, and the risk of a counted game."""

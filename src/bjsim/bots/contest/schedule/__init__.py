"""The schedule of a contest: pairings and seating."""

"""Statistics: tallies and confidence intervals."""

"""Statistics: tallies, paired comparisons and confidence intervals."""

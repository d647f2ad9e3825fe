"""Playing a contest: matches, workers, journal, verification."""

"""Playing a contest: host, workers, matches, journal."""

"""What a contest publishes: page, replays, files, the command that repeats it."""

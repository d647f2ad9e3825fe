"""Published results of a contest: page, replays, files, the command that reproduces it."""

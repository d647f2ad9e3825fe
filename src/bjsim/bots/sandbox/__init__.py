"""The sandbox for bots, and the compilation of their sources."""

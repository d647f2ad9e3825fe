"""Who meets whom, and who sits where."""

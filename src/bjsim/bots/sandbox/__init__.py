"""The sandbox that bots run in, and how their sources are compiled."""

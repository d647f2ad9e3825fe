"""Bots that run as separate processes: the protocol, the sandbox and the contest."""

"""Who decides out of process: the bot protocol, the sandbox and the contest."""

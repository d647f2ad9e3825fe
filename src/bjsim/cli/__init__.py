"""The command line: one module per command, and the rendering of results."""

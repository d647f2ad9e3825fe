"""The command line: one file per command, and rendering."""

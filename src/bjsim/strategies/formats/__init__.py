"""Reading and writing charts as files."""

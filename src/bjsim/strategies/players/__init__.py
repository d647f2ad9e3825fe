"""Players that decide in process, by name."""

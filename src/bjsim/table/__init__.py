"""A person at a table: what is asked and answered, in the terminal and in the browser."""

"""The engine: compiled rules, and the compiled code that plays them."""

"""What a result says of itself, in parts, and the renderers that show these: terminal, page, picture and data."""

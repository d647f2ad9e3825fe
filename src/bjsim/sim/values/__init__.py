"""Values of the states of a round, and how often play reaches them."""

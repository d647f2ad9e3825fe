"""Questions about a game, answered for its own shoe: the best chart, the cost of wrong cells, the effect of a rule."""

"""Strategy charts."""

"""Side bets: what they look at, what they pay, and their exact figures."""

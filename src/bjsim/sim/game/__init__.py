"""The game: cards, hands, rules, one round, shoes and their random streams."""

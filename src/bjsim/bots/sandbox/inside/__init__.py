"""What runs inside a bot's box: programs of their own, for the box's interpreter. They import nothing of bjsim."""

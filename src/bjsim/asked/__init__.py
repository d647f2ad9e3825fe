"""What is asked of functions and requests: the parameters that they declare, and what each name stands for."""

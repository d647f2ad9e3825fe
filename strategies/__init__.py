"""Who decides in process: charts, the exact solver and the learner."""

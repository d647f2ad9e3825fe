"""Running a simulation: tables, experiments, the driver, and the backends that play blocks."""

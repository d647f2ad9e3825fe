"""Running a simulation: tables, the driver, workers and other backends."""

"""Running a simulation: tables, experiments, the driver, and the backends on which blocks are played."""

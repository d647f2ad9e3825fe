"""The contest: a pure schedule, an append-only journal, and standings and page computed from the journal alone."""

"""Long runs of the engine, for hours rather than for every change: ``python -m tests.soak``."""

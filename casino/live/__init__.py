"""Live state: hints that a table, a drawer or the house has changed, sent to consoles as they happen."""

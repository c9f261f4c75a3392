"""Players, under pseudonymous references."""

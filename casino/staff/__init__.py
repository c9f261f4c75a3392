"""Staff, their roles, and the terminals they sign in at."""

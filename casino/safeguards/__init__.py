"""Duties of the house to players: exclusions, limits, admission of adults, interactions with players."""

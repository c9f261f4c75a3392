"""Backups with pgBackRest, and the drill that restores the newest of them into a cluster of its own."""

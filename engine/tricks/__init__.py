"""Trick games: cards are played from hands to tricks, and points are settled between seats."""

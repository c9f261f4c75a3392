"""Vying games: a hand is bet on, and shown or given up. Each module here holds one concern or one game."""

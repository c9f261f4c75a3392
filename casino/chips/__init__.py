"""Chip sets, racks, and working out which chips go where."""

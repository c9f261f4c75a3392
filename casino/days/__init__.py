"""Gaming days: opened and closed by the floor, in the order of their dates."""

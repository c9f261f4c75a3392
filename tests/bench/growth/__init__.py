"""What a house costs when it is a month, a year and five years old."""

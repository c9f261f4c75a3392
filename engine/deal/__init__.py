"""Electronic deals: committed seeds and shuffles, card commitments and openings, deals made again."""

"""What proof costs: the chain in the acting transaction, the log behind it, verification."""

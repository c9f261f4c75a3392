"""Chips and cash between cage and tables: fills and credits, soft counts, the tronc."""

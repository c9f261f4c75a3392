"""Hands: the only room where the engine and the ledger meet."""

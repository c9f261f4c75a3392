"""How fast the ledger settles, how large it grows and how quickly it tells a balance, against named references."""

"""How fast the ledger settles, how large it grows and how quickly it records a balance, against named references."""

"""Reports about books, hands and chains, for people."""

"""Reports: what the books, the hands and the chains say, read by people."""

"""Games whose cards move from hand to hand until one seat is left with them: it loses and pays each of the others."""

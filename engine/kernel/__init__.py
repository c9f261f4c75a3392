"""What every game shares: cards, grammar, options, money, events, and the protocol of a hand."""

"""What every operation shares: input, identity, refusals, pages, the schema."""

"""What every app of the house shares: writing, locks, SQL, errors, canonical JSON, outbox, triggers and rights."""

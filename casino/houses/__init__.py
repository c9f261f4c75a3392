"""The house itself: its identity, its chart of accounts, its books and its outbox."""

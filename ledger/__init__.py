"""Double entry in any commodity, defended by PostgreSQL itself; the guarantees are on the README's first page."""

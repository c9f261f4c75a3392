"""Tests of the ledger, on a real PostgreSQL; every test makes a book of its own and commits for real."""

"""Tests of the pure engine: no database, no Django."""

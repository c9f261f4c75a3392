"""Measurements: `make bench`. Ratios from alternating runs in one session, with medians; no test depends on them."""

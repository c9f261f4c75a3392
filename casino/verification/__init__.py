"""Live verification: the trail, hands replayed, postings that nothing explains."""

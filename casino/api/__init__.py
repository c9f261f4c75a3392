"""The HTTP API under /api/v1/: thin views, one per operation."""

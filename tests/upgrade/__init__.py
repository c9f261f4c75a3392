"""Two releases on one schema: the release before on that of this one, and an upgrade under play."""

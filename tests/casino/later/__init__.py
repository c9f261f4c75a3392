"""Migrations of a release that does not exist, for tests: each package has an app's own migrations and more."""

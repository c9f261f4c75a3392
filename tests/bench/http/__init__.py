"""What an accepted action of a table costs over HTTP, against a bare view of the same framework on the same servers."""

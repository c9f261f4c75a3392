"""Pictures of what the house prints."""

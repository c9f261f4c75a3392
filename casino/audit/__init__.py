"""The audit trail: hash chains that are written in the acting transaction."""

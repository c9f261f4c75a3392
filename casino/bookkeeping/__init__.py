"""The chart of accounts, the posting rules as data, and the one way to post."""

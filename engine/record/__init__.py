"""Hand records ``chr/1``: the format, strict replay, older versions, and the Poker Hand History format."""

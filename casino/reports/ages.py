"""Age bands of money that waits for its owner."""

#: Days up to which money is of an age band, and the band; None: what is older.
_BANDS = ((1, "0-1"), (7, "2-7"), (30, "8-30"), (90, "31-90"), (None, "over-90"))
#: The bands, the youngest first.
BANDS = tuple(name for _, name in _BANDS)


def band(days: int) -> str:
    """The age band of so many days."""
    return next(name for most, name in _BANDS if most is None or days <= most)

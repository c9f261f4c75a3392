"""Sensitive reads."""

from casino.audit.events.registry import Told, event, told


@event("book.exported", chain="house")
def book_exported(*, layout: str, since: str | None = None, until: str | None = None) -> Told:
    """The whole book was downloaded, in this layout and for this stretch of time."""
    return told(layout=layout, since=since, until=until)

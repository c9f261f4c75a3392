"""Texts of events that were put away, read back from their archives in the order of the log.

What the database still has of them, an excerpt, must be one of the text that was hashed, and of an event that may be
put away: reports would not find what another one says.
"""

import json
from collections.abc import Iterator

from casino.audit import archives
from casino.audit.verifier import Unusable, json_text
from casino.core.errors import ArchiveUnreadable
from casino.houses.models import House

#: Of an event that was put away the columns end with the number of its archive, one more than of any other.
_COLUMNS = 5


def filled_in(
    house: House, stored: Iterator[tuple[list[bytes], list[bytes]]]
) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Payloads and columns as `Moment.leaves` reads them, with the whole texts; where an excerpt is not of its text the
    columns say so, and differ. Raises Unusable where an archive cannot be read."""
    found = archives.Texts(house)
    for payloads, columns in stored:
        away: dict[int, dict[int, int]] = {}
        for at, column in enumerate(columns):
            if column.count(b" ") == _COLUMNS:
                columns[at], _, number = column.rpartition(b" ")
                away.setdefault(int(number), {})[int(columns[at].rpartition(b" ")[2])] = at
        for archive, places in away.items():
            hashes = {leaf: columns[at].partition(b" ")[0].decode() for leaf, at in places.items()}
            for leaf, text in _texts(found, archive, hashes):
                at = places[leaf]
                if _excerpt(text) != payloads[at]:
                    columns[at] += b", and the excerpt of another text"
                payloads[at] = text
        yield payloads, columns


def _texts(found: archives.Texts, archive: int, hashes: dict[int, str]) -> Iterator[tuple[int, bytes]]:
    """Texts of an archive. One that is not what was hashed is given as well: it is a finding."""
    try:
        yield from found.copies(archive).of_leaves(hashes, checked=False)
    except ArchiveUnreadable as error:
        raise Unusable(error.detail) from error


def _excerpt(text: bytes) -> bytes:
    """What stays of an event in the database: `audit_excerpt` of `casino/audit/sql/archives.sql`; nothing where
    `audit_may_be_put_away` lets it not go."""
    try:
        doc = json.loads(text)
        if doc["kind"] != "hand.acted" or "log" in doc["data"]:
            return b""
        kept = {name: doc[name] for name in ("actor", "at", "chain", "kind", "role", "seq", "terminal")}
        data = {name: doc["data"][name] for name in ("hand", "table_version")}
        if postings := [_posting(one) for one in doc.get("postings", ())]:
            kept["postings"] = postings
        return json_text(kept | {"data": data}).encode()
    except (ValueError, LookupError, TypeError, AttributeError):
        return b""


def _posting(posting: dict[str, object]) -> dict[str, object]:
    return {name: posting[name] for name in ("legs", "reverses", "tx") if posting.get(name)}

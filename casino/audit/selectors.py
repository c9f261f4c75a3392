"""Reading the log: checkpoints, an event's place, proofs, the events in the order of the log."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.audit import archives, guard, outside
from casino.audit.models import Event, KeyRotation, Leaf, Log, SignedCheckpoint
from casino.audit.notes import joined
from casino.audit.proofs import Hashes
from casino.audit.services import Receipt
from casino.core import sql
from casino.core.errors import Conflict, NotFound
from casino.houses.models import House

#: Rows read at a time.
CHUNK = 1000
_IN_ORDER = """
SELECT leaf.leaf_index, event.payload, event.archive, event.leaf_hash
FROM audit_leaf leaf JOIN audit_event event ON event.id = leaf.event_id
WHERE leaf.house_id = %s AND leaf.epoch = %s AND leaf.leaf_index >= %s AND leaf.leaf_index < %s
ORDER BY leaf.leaf_index
"""
#: By chain the oldest event that is not in the log yet; by house the oldest of these, where it is too old.
_BEHIND = """
SELECT house.code, extract(epoch FROM clock_timestamp() - min((event.doc ->> 'at')::timestamptz))::float
FROM audit_chainhead head
JOIN houses_house house ON house.id = head.house_id
LEFT JOIN audit_mark mark ON mark.chain_id = head.id
JOIN audit_event event ON event.house_id = head.house_id AND event.chain_id = head.id
    AND event.seq = coalesce(mark.seq, 0) + 1
WHERE head.seq > coalesce(mark.seq, 0)
GROUP BY house.code HAVING min((event.doc ->> 'at')::timestamptz) < clock_timestamp() - make_interval(secs => %s)
ORDER BY house.code
"""
_SIGNED = """
SELECT EXISTS (
    SELECT FROM audit_chainhead head
    JOIN audit_event event ON event.house_id = head.house_id AND event.chain_id = head.id
    JOIN audit_leaf leaf ON leaf.event_id = event.id
    JOIN audit_checkpoint signed ON signed.house_id = leaf.house_id AND signed.epoch = leaf.epoch
        AND signed.size > leaf.leaf_index
    WHERE head.house_id = %s AND head.name = %s AND event.seq = %s)
"""


#: An event that no log has yet: it lies behind the mark of its chain.
_WAITING = """
SELECT EXISTS (
    SELECT FROM audit_chainhead head
    LEFT JOIN audit_mark mark ON mark.chain_id = head.id
    JOIN audit_event event ON event.house_id = head.house_id AND event.chain_id = head.id
        AND event.seq > coalesce(mark.seq, 0)
    WHERE head.seq > coalesce(mark.seq, 0) AND event.leaf_hash = %s)
"""


_NEWEST_ACTOR = """
SELECT doc ->> 'actor' FROM audit_event
WHERE house_id = %s AND doc ->> 'kind' = %s AND doc -> 'data' @> %s::jsonb ORDER BY id DESC LIMIT 1
"""


def newest_actor(house: House, kind: str, **data: Any) -> str | None:
    """Who acted in the house's newest event of this kind with these members in its data; None where there is none."""
    return next((actor for (actor,) in sql.read(asking_newest_actor(house, kind, **data))), None)


def asking_newest_actor(house: House, kind: str, **data: Any) -> sql.Statement:
    """What `newest_actor` reads, for who reads it with something else."""
    return _NEWEST_ACTOR, [house.id, kind, json.dumps(data)]


#: As payloads have times: text that sorts by time. A minute earlier, since the row's clock is not the event's.
_OF_HAND = """
SELECT event.seq, event.leaf_hash, event.doc ->> 'kind', event.doc ->> 'at', event.payload, event.id, event.archive
FROM audit_chainhead chain JOIN audit_event event ON event.house_id = chain.house_id AND event.chain_id = chain.id
WHERE chain.house_id = %s AND chain.name = %s AND event.doc -> 'data' ->> 'hand' = %s
    AND event.doc ->> 'kind' LIKE 'hand.%%' AND event.doc ->> 'at' >= to_char(
        %s::timestamptz AT TIME ZONE 'UTC' - interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
ORDER BY event.seq
"""


def of_hand(
    house: House, chain: str, hand: str, since: datetime, *, whole: bool = True
) -> list[tuple[int, str, str, str, str]]:
    """The events of a hand in the chain of its table, the oldest first: number, hash, kind, time and the text that is
    hashed; unless it shall be `whole`, of what was put away only an excerpt. `since`: when it was dealt. Raises
    ArchiveUnreadable."""
    rows = sql.rows(_OF_HAND, [house.id, chain, hand, since])
    events = [Event(id=id_, leaf_hash=leaf, payload=text, archive=away) for _, leaf, _, _, text, id_, away in rows]
    if whole:
        archives.fill_in(house, events)
    return [(*row[:4], event.payload) for row, event in zip(rows, events, strict=True)]


@dataclass(frozen=True, slots=True)
class Inclusion:
    """An event's place in the log, and the proof that the tree of a checkpoint has it there."""

    leaf: Leaf
    path: list[bytes]
    checkpoint: SignedCheckpoint


def log_of(house: House, epoch: int | None = None) -> Log:
    """A log of this house, the newest one unless its epoch is named. Raises NotFound."""
    logs = Log.objects.filter(house=house, **({} if epoch is None else {"epoch": epoch})).order_by("-epoch")
    log = logs.first()
    if log is None:
        raise NotFound(f"This house's log has no epoch {epoch}." if epoch else "This house's log has not begun yet.")
    return log


def keys_of(log: Log) -> list[str]:
    """The keys of a log (vkeys), the one that signs now last."""
    rotations = KeyRotation.objects.filter(house=log.house_id, epoch=log.epoch).order_by("size")
    return [log.vkey, *rotations.values_list("vkey", flat=True)]


def checkpoint(house: House, epoch: int | None = None, size: int | None = None) -> SignedCheckpoint:
    """The newest checkpoint of an epoch (by default of the newest that has one), or the one of this size.

    Raises NotFound.
    """
    wanted = {name: value for name, value in (("epoch", epoch), ("size", size)) if value is not None}
    found = SignedCheckpoint.objects.filter(house=house, **wanted).order_by("-epoch", "-size").first()
    if found is None:
        said = ", ".join(f"{name} {value}" for name, value in wanted.items())
        raise NotFound(f"This house has no checkpoint of {said}." if said else "This house has no checkpoint yet.")
    return found


def inclusion(house: House, chain: str, seq: int, size: int | None = None) -> Inclusion:
    """Prove that an event is in the log, by default up to its epoch's newest checkpoint.

    Raises NotFound for an event or a checkpoint that does not exist, Conflict `not_in_the_log_yet`.
    """
    event = (
        Event.objects.filter(house=house, chain__house=house, chain__name=chain, seq=seq).select_related("leaf").first()
    )
    if event is None:
        raise NotFound(f"Chain {chain} of this house has no event {seq}.")
    leaf: Leaf | None = getattr(event, "leaf", None)
    if leaf is None:
        raise _not_yet()
    return _proved(leaf, house, size)


def inclusion_of_hash(leaf_hash: bytes, size: int | None = None) -> Inclusion:
    """Prove that the event of a leaf hash (32 bytes) is in the log of its house, by default up to its epoch's newest
    checkpoint.

    Raises NotFound for a hash or a checkpoint that no house has, Conflict `not_in_the_log_yet`.
    """
    leaf = Leaf.objects.filter(leaf_hash=leaf_hash).select_related("house").first()
    if leaf is not None:
        return _proved(leaf, leaf.house, size)
    [(waiting,)] = sql.rows(_WAITING, [leaf_hash.hex()])
    if waiting:
        raise _not_yet()
    raise NotFound("No event has this hash.")


def _not_yet() -> Conflict:
    return Conflict("The event is not in the log yet; ask again in a moment.", code="not_in_the_log_yet")


def _proved(leaf: Leaf, house: House, size: int | None) -> Inclusion:
    against = checkpoint(house, leaf.epoch, size)
    if leaf.leaf_index >= against.size:
        raise Conflict(
            f"The event is leaf {leaf.leaf_index}, and the checkpoint is of size {against.size}.",
            code="not_in_the_log_yet",
        )
    return Inclusion(leaf, Hashes(house.id, leaf.epoch).inclusion(leaf.leaf_index, against.size), against)


def of_event(house: House, chain: str, kind: str, **data: Any) -> Receipt:
    """The receipt of the newest event of a chain that is of this kind and has these members in its data, which the
    caller knows to be there, and not far back. Raises Event.DoesNotExist."""
    events = Event.objects.filter(house=house, chain__house=house, chain__name=chain)
    members = {f"doc__data__{name}": value for name, value in data.items()}
    found = events.filter(doc__kind=kind, **members).order_by("-seq")[:1].get()
    return Receipt(chain, found.seq, found.leaf_hash)


def newest(house: House, chain: str, kinds: Collection[str], **data: Any) -> Receipt | None:
    """The receipt of the newest event of a chain that is of one of these kinds and has these members in its data."""
    members = {f"doc__data__{name}": value for name, value in data.items()}
    events = Event.objects.filter(house=house, chain__house=house, chain__name=chain, doc__kind__in=kinds, **members)
    found = events.order_by("-seq").first()
    return None if found is None else Receipt(chain, found.seq, found.leaf_hash)


def is_signed(house: House, receipt: Receipt) -> bool:
    """Whether a checkpoint covers an event."""
    [(found,)] = sql.rows(_SIGNED, [house.id, receipt.chain, receipt.seq])
    return bool(found)


def consistency(old: SignedCheckpoint, new: SignedCheckpoint) -> list[bytes]:
    """Proof that the tree of one checkpoint begins with that of an earlier one of the same epoch."""
    return Hashes(new.house_id, new.epoch).consistency(old.size, new.size)


def notes(house: House) -> Iterator[str]:
    """Every checkpoint of a house, oldest first, in the format of the files outside, in pieces."""
    return map(joined, outside.stored(house))


def payloads(house: House, epoch: int, size: int) -> Iterator[str]:
    """The first `size` events of a log, a line each, in pieces: line n is leaf n - 1. A log is never changed,
    so the pieces need no common snapshot. Raises ArchiveUnreadable, for an archive that is not there at once."""
    for archive in archives.put_away_of(house.id, epoch):
        if archive.first < size:
            archives.require_copy(archive)
    return _payloads(house, epoch, size)


def _payloads(house: House, epoch: int, size: int) -> Iterator[str]:
    away = archives.Texts(house)
    for start in range(0, size, CHUNK):
        found: dict[int, str] = {}
        hashes: dict[int, dict[int, str]] = {}
        for leaf, payload, archive, leaf_hash in sql.rows(
            _IN_ORDER, [house.id, epoch, start, min(start + CHUNK, size)]
        ):
            found[leaf] = payload
            if archive is not None:
                hashes.setdefault(archive, {})[leaf] = leaf_hash
        for archive, asked in hashes.items():
            found |= away.of(archive, asked)
        yield "".join(f"{payload}\n" for payload in found.values())


def behind(seconds: float) -> dict[str, float]:
    """Houses whose log is further behind their events than so many seconds, by code, with how many it is."""
    return dict(sql.rows(_BEHIND, [seconds]))


def refusals() -> list[dict[str, str]]:
    """Houses that may not write because of their log: code, refusal, detail."""
    found = []
    for house in House.objects.order_by("code"):
        refused = guard.refusal(house)
        if refused is not None:
            found.append({"house": house.code, "code": refused.code, "detail": refused.detail})
    return found

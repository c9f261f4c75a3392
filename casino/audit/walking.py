"""Verifying chains: numbers without gaps, links, hashes, canonical text, and the head that names the last event."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from casino import canonical
from casino.audit.models import ChainHead, Event
from casino.house.models import House

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class Finding:
    """The first place where a chain is not what it must be."""

    chain: str
    seq: int
    problem: str


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What verifying one chain gave: how many events were checked, and the first bad place if there is one."""

    chain: str
    events: int
    finding: Finding | None


def leaf_hash(payload: str) -> str:
    """SHA-256(0x00 || payload), RFC 6962's leaf hash, as 64 hex digits."""
    return hashlib.sha256(b"\x00" + payload.encode()).hexdigest()


def verify_house(house: House) -> Iterator[ChainReport]:
    """Verify every chain of a house, one report each, streaming the events."""
    for head in ChainHead.objects.filter(house=house).order_by("name"):
        yield verify_chain(head)


def verify_chain(head: ChainHead) -> ChainReport:
    """Walk one chain from its first event and stop at the first bad place."""
    prev, seq = GENESIS, 0
    events = Event.objects.filter(chain=head).order_by("seq").values_list("seq", "payload", "leaf_hash")
    for row_seq, payload, stored_hash in events.iterator(chunk_size=2000):
        problem = _problem(head, row_seq, seq + 1, prev, payload, stored_hash)
        if problem:
            return ChainReport(head.name, seq, Finding(head.name, seq + 1, problem))
        prev, seq = stored_hash, row_seq
    # The head was read before the events: a chain may have grown since, but never shrunk.
    if seq < head.seq:
        return ChainReport(head.name, seq, Finding(head.name, seq + 1, f"the chain's head names event {head.seq}"))
    if seq == head.seq and prev != head.hash:
        return ChainReport(head.name, seq, Finding(head.name, seq, "the chain's head holds another hash"))
    return ChainReport(head.name, seq, None)


def _problem(head: ChainHead, seq: int, wanted: int, prev: str, payload: str, stored_hash: str) -> str | None:
    if seq != wanted:
        return f"event {wanted} is missing, {seq} follows"
    if leaf_hash(payload) != stored_hash:
        return "the payload does not give the stored hash"
    doc = json.loads(payload)
    if canonical.dumps(doc) != payload:
        return "the payload is not canonical"
    if doc["prev"] != prev:
        return "the link to the event before is broken"
    if doc["seq"] != seq or doc["chain"] != head.name:
        return "the payload names another place"
    return None

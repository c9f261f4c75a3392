"""What a hint says, and reading hints out of the audit trail.

The trail is the source: numbers in a chain are gapless and given under its lock, so a reader that sees an event sees
every earlier one of its chain. A hint can be made again at any time; none can be lost.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from casino.core import sql

#: Hints that a reader is sent at a time.
AT_A_TIME = 200

_HEADS = """
SELECT id, house_id, name, seq FROM audit_chainhead
WHERE house_id = ANY(%s::uuid[]) OR id = ANY(%s::bigint[]) ORDER BY id
"""
_NAMED = "SELECT id, house_id, name, seq FROM audit_chainhead WHERE house_id = %s::uuid AND name = %s::text"
_AFTER = """
SELECT wanted.chain_id, wanted.after, event.seq, event.kind, event.version
FROM unnest(%s::uuid[], %s::bigint[], %s::bigint[]) AS wanted (house_id, chain_id, after)
CROSS JOIN LATERAL (
    SELECT seq, doc ->> 'kind' AS kind,
        coalesce(doc #>> '{data,table_version}', doc #>> '{data,drawer_version}')::bigint AS version
    FROM audit_event
    WHERE house_id = wanted.house_id AND chain_id = wanted.chain_id AND seq > wanted.after
    ORDER BY seq LIMIT %s::bigint) AS event
ORDER BY wanted.chain_id, wanted.after, event.seq
"""


@dataclass(frozen=True, slots=True)
class Head:
    """A chain as it stands: its id, its house, its name (`table/T1`), the number of its last event."""

    id: int
    house: UUID
    name: str
    seq: int


@dataclass(frozen=True, slots=True)
class Hint:
    """That an event was recorded: its chain and number there, its kind, the version that its table or drawer has since,
    None where it changed none."""

    chain: str
    seq: int
    kind: str
    version: int | None

    def shown(self, *, whole: bool) -> dict[str, Any]:
        """The hint as it is sent. Events that change no table or drawer, such as refusals and reads of the trail, name
        their kind only to those who may read the trail (`whole`)."""
        kind = self.kind if whole or self.version is not None else None
        return {"chain": self.chain, "seq": self.seq, "version": self.version, "kind": kind}


#: What hints are wanted of: a chain, and the number after which.
Wanted = tuple[Head, int]


def heads(houses: Iterable[UUID], chains: Iterable[int]) -> list[Head]:
    """Every chain of these houses, and the chains of these ids."""
    return [Head(*row) for row in sql.bound(_HEADS, [list(houses), list(chains)])]


def head(house: UUID, name: str) -> Head | None:
    """One chain of a house by its name."""
    return next((Head(*row) for row in sql.bound(_NAMED, [house, name])), None)


def after(wanted: Iterable[Wanted], each: int) -> dict[tuple[int, int], list[Hint]]:
    """By chain id and number: the next hints after it, `each` at most."""
    asked = list(dict.fromkeys(wanted))
    names = {head.id: head.name for head, _ in asked}
    columns = [[head.house for head, _ in asked], [head.id for head, _ in asked], [seq for _, seq in asked]]
    found: dict[tuple[int, int], list[Hint]] = defaultdict(list)
    for chain, seq_before, seq, kind, version in sql.bound(_AFTER, [*columns, each]):
        found[chain, seq_before].append(Hint(names[chain], seq, kind, version))
    return found


def event_of(hint: Hint, position: str, *, whole: bool) -> bytes:
    """A hint as a server-sent event; `position` is where a reader stands that has got it."""
    text = json.dumps(hint.shown(whole=whole), separators=(",", ":"))
    return f"id: {position}\nevent: hint\ndata: {text}\n\n".encode()


def answer_of(hints: Iterable[Mapping[str, Any]], position: str, *, reset: bool = False) -> bytes:
    """The body of an answer to a request that waited for hints, each as it is `shown`."""
    return json.dumps({"position": position, "reset": reset, "hints": list(hints)}).encode()

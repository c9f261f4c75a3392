"""Evidence of a complaint as it was when the complaint was opened: which hand or entry, the hash of its record, the
events about it, and where the video shows it.

A hand: `hand`, `chain`, `first_seq` and `last_seq` of its events so far, `leaf_hash` of the last of these, and
`record_sha256` (null while it is not over). An entry of a drawer: `drawer`, `chain`, `first_seq` and `last_seq` (its
event), `kind`, `leaf_hash`, `player` (null where it names none). Both have `video`. A chain's event holds the hash of
the one before it, so that `leaf_hash` freezes everything up to there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from casino.core import sql
from casino.core.errors import NotFound
from casino.houses.models import House

#: Of a hand: its chain, the numbers of its first and last event, the leaf hash of the last, the hash of its record.
_HAND = """
SELECT chain.name, min(event.seq), max(event.seq), (array_agg(event.leaf_hash ORDER BY event.seq DESC))[1],
    max(event.doc -> 'data' ->> 'record_hash')
FROM hands_hand hand
JOIN tables_table place ON place.id = hand.table_id
JOIN audit_chainhead chain ON chain.house_id = hand.house_id AND chain.name = 'table/' || place.code
JOIN audit_event event ON event.house_id = hand.house_id AND event.chain_id = chain.id
WHERE hand.house_id = %s AND hand.name = %s AND event.doc -> 'data' ->> 'hand' = hand.name
    AND event.doc ->> 'kind' LIKE 'hand.%%' AND event.doc ->> 'at' >= to_char(
        hand.started_at AT TIME ZONE 'UTC' - interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
GROUP BY chain.name
"""
_ENTRY = """
SELECT chain.name, event.leaf_hash, event.doc ->> 'kind', event.doc -> 'data' ->> 'player'
FROM cage_drawer drawer
JOIN audit_chainhead chain ON chain.house_id = drawer.house_id AND chain.name = 'drawer/' || drawer.code
JOIN audit_event event ON event.house_id = drawer.house_id AND event.chain_id = chain.id
WHERE drawer.house_id = %s AND drawer.code = %s AND event.seq = %s
"""
Named = Sequence[Mapping[str, Any]]


def reading(house: House, hands: Named, entries: Named) -> list[sql.Statement]:
    """What is read of the evidence that is named, for who reads it with something else; `frozen` takes what that has
    found. Hands are named by `hand`, entries of drawers by `drawer` and `seq` of their event."""
    of_hands = [(_HAND, [house.id, one["hand"]]) for one in hands]
    return of_hands + [(_ENTRY, [house.id, one["drawer"], one["seq"]]) for one in entries]


def frozen(hands: Named, entries: Named, found: Sequence[list[tuple[Any, ...]]]) -> list[dict[str, Any]]:
    """The evidence that is named, both kinds with `video`. Raises NotFound for what is not there."""
    pairs = zip([*hands, *entries], found, strict=True)
    return [_hand(one, rows) if "hand" in one else _entry(one, rows) for one, rows in pairs]


def _hand(named: Mapping[str, Any], rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    for chain, first, last, leaf, record in rows:
        return {
            "hand": named["hand"], "chain": chain, "first_seq": first, "last_seq": last, "leaf_hash": leaf,
            "record_sha256": record, "video": named.get("video", ""),
        }  # fmt: skip
    raise NotFound(f"This house has no hand {named['hand']}.")


def _entry(named: Mapping[str, Any], rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    for chain, leaf, kind, player in rows:
        return {
            "drawer": named["drawer"], "chain": chain, "first_seq": named["seq"], "last_seq": named["seq"],
            "leaf_hash": leaf, "kind": kind, "player": player, "video": named.get("video", ""),
        }  # fmt: skip
    raise NotFound(f"This house has no drawer {named['drawer']} with an event {named['seq']}.")

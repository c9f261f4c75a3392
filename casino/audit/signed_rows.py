"""What a checkpoint is about to sign, computed again from the rows: nothing is signed because it was in memory.

Every new leaf is the hash of its event's payload as it is now, and the payload names house, chain, number and the hash
of the event before it, which stands in the row before it. The tree that was signed last is read from its stored hashes.
"""

import hashlib
import json
import uuid
from collections.abc import Iterator
from typing import Any

from casino.audit.merkle import Frontier
from casino.audit.proofs import Hashes
from casino.core import sql
from casino.core.errors import LogDamaged

_GENESIS = "0" * 64
#: Names in full: this connection is the one that signs. Each row is looked up along an index, once for each new leaf:
#: joined freely, the planner may read the whole log for them.
_LEAVES = """
SELECT leaf.leaf_index, leaf.leaf_hash, event.payload, event.leaf_hash, chain.name, event.seq,
    CASE WHEN event.seq = 1 THEN %s ELSE before.leaf_hash END
FROM public.audit_leaf leaf
LEFT JOIN LATERAL (
    SELECT chain_id, seq, payload, leaf_hash FROM public.audit_event
    WHERE id = leaf.event_id AND house_id = leaf.house_id LIMIT 1) event ON true
LEFT JOIN LATERAL (
    SELECT name FROM public.audit_chainhead
    WHERE id = event.chain_id AND house_id = leaf.house_id LIMIT 1) chain ON true
LEFT JOIN LATERAL (
    SELECT leaf_hash FROM public.audit_event
    WHERE house_id = leaf.house_id AND chain_id = event.chain_id AND seq = event.seq - 1 LIMIT 1) before ON true
WHERE leaf.house_id = %s AND leaf.epoch = %s AND leaf.leaf_index >= %s ORDER BY leaf.leaf_index
"""
#: Chains whose last event is among the new leaves, and whose head names another hash.
_HEADS = """
SELECT chain.name FROM public.audit_chainhead chain
CROSS JOIN LATERAL (
    SELECT id, leaf_hash FROM public.audit_event
    WHERE house_id = chain.house_id AND chain_id = chain.id AND seq = chain.seq LIMIT 1) event
CROSS JOIN LATERAL (SELECT epoch, leaf_index FROM public.audit_leaf WHERE event_id = event.id LIMIT 1) leaf
WHERE chain.house_id = %s AND leaf.epoch = %s AND leaf.leaf_index >= %s AND chain.hash <> event.leaf_hash
"""


class RowsDiffer(LogDamaged):
    """Rows that were to be signed are not what the chains and the tree say; nothing is signed."""


def require_rows(house: uuid.UUID, epoch: int, signed: tuple[int, bytes | None], grown: Frontier, using: str) -> None:
    """Refuse to sign the tree `grown` unless the rows give it. `signed` is the size that was signed last, with its
    root (None before the first). Raises RowsDiffer, HashesMissing."""
    size, root = signed
    tree = Hashes(house, epoch, using).frontier(size)
    if root is not None and tree.root() != root:
        raise RowsDiffer(f"The stored hashes of the first {size} leaves do not have the root that was signed.")
    tree.extend(_leaves(house, epoch, size, using))
    if (tree.size, tree.root()) != (grown.size, grown.root()):
        raise RowsDiffer(
            f"The rows give another tree of {tree.size} leaves than the {grown.size} that were to be signed."
        )
    for (chain,) in sql.rows(_HEADS, [house, epoch, size], using):
        raise RowsDiffer(f"The head of the chain {chain} does not name the hash of its last event.")


def _leaves(house: uuid.UUID, epoch: int, begin: int, using: str) -> Iterator[bytes]:
    """The leaf hashes from number `begin` on, each computed from its event. Raises RowsDiffer."""
    for index, stored, payload, column, chain, seq, before in sql.rows(_LEAVES, [_GENESIS, house, epoch, begin], using):
        if payload is None or chain is None:
            raise RowsDiffer(f"Leaf {index} of epoch {epoch} has no event of a chain of this house.")
        leaf = hashlib.sha256(b"\x00" + payload.encode()).digest()
        if (bytes(stored), column) != (leaf, leaf.hex()):
            raise RowsDiffer(f"The payload of {chain}#{seq} does not have the hash that is stored for it.")
        named = _named(payload)
        if named != (str(house), chain, seq, before):
            raise RowsDiffer(f"The payload of {chain}#{seq} names house, chain, number or predecessor otherwise.")
        yield leaf


def _named(payload: str) -> tuple[Any, ...]:
    """House, chain, number and hash of the event before, as a payload names them."""
    doc = json.loads(payload)
    return doc.get("house"), doc.get("chain"), doc.get("seq"), doc.get("prev")

"""Posting by account code: services speak of codes and (debit, credit, amount), the ledger of ids and signed legs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.house import chart
from casino.house.models import House
from ledger.models import Transaction
from ledger.posting import Leg, post, reverse

#: One line of a posting as the chart writes it, `Dr/Cr amount`: (debited code, credited code, minor units > 0).
Line = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Entered:
    """A ledger transaction's id and the balances it left, by account code."""

    transaction_id: int
    balances: dict[str, int]


def enter(
    house: House,
    *,
    key: str,
    kind: str,
    lines: Iterable[Line],
    metadata: Mapping[str, Any],
    occurred_at: datetime | None = None,
) -> Entered:
    """Post one ledger transaction; returns its id and the balances it left, by account code, on their normal sides.

    `key` is unique in the house: the same key and content again posts nothing. Raises the ledger's typed errors.
    """
    lines = list(lines)
    ids = chart.ids(house, {code for debit, credit, _ in lines for code in (debit, credit)})
    legs = [leg for debit, credit, amount in lines for leg in (Leg(ids[debit], amount), Leg(ids[credit], -amount))]
    posted = post(book=house.id, key=key, kind=kind, legs=legs, metadata=metadata, occurred_at=occurred_at)
    return Entered(posted.transaction_id, {code: posted.balances[id_].balance for code, id_ in ids.items()})


def reverse_all(house: House, *, keys: str, metadata: Mapping[str, Any]) -> dict[str, int]:
    """Reverse every transaction whose key begins with `keys`, the newest first so that no account is overdrawn.

    Returns the mirrors' ids by the key they undo. Raises the ledger's typed errors.
    """
    found = Transaction.objects.filter(book=house.id, idempotency_key__startswith=keys, reverses=None).order_by("-id")
    return {
        key: reverse(house.id, f"{key}:void", id_, metadata).transaction_id
        for id_, key in found.values_list("id", "idempotency_key")
    }

"""Reading counts of the vault, and bags of cash between it and the bank."""

from typing import Any

from casino.cage.models import BankBag, VaultCount, VaultCountState
from casino.houses.models import House


def describe_count(found: VaultCount) -> dict[str, Any]:
    """A count of the vault; figures once two counts agree or a supervisor has decided: before that who counts must
    not know them."""
    described: dict[str, Any] = {
        "vault_count": found.number,
        "state": found.state,
        "differing_rounds": found.differing_rounds,
        "decided_by": found.decided_by.login if found.decided_by else None,
        "signed_by": found.signed_by.login if found.signed_by else None,
        "corrects": found.corrects,
    }
    if found.state != VaultCountState.COUNTING:
        entries = found.entries.select_related("counted_by").order_by("round", "counted_at", "id")
        described |= {
            "count": found.count,
            "over": found.over,
            "counts": [
                {"round": one.round, "by": one.counted_by.login, **one.count, "over": one.over} for one in entries
            ],
        }
    return described


def corrected_by(house: House, drawer: str | None, count: int) -> int | None:
    """Number of the count of the vault that has corrected a shift's count, or, without a drawer, one of the vault."""
    found = VaultCount.objects.filter(house=house, corrects={"drawer": drawer, "count": count})
    return found.values_list("number", flat=True).first()


def describe_bag(found: BankBag) -> dict[str, Any]:
    """A bag of cash; `difference` is what was counted less what was sent, in minor units."""
    return {
        "number": found.number,
        "way": found.way,
        "bag": found.bag,
        "amount": found.amount,
        "state": found.state,
        "sent_by": found.sent_by.login,
        "counted": found.counted,
        "difference": None if found.counted is None else found.counted - found.amount,
        "note": found.note,
        "ended_by": found.ended_by.login if found.ended_by else None,
    }

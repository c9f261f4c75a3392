"""What `prepared` writes past the requests is what the requests write."""

import json
import re
from typing import Any

import pytest

from casino.audit.models import Event
from casino.bookkeeping import chart
from casino.cage.models import Handover, Shift
from casino.reports.verifying import verification
from casino.staff.models import Role, TerminalKind
from casino.tables.models import Seating
from ledger.models import Entry
from tests.casino.kit import CASH, PIECES, Desk, Kit

STACKS = (20_000, 15_000, 9_000, 30_000)
REFS = [f"T1-u{number}" for number in range(1, 5)]
#: What differs from house to house, and from one request to the next.
_OWN = {"about", "at", "prev", "house", "request", "expires", "token_sha256", "tx"}


def asked(kit: Kit, pieces: dict[int, int] | None) -> None:
    """The steps of `Kit.seated`, by requests."""
    kit.players(*REFS)
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=CASH, pieces={str(value): count // 2 for value, count in PIECES.items()})
    named = {} if pieces is None else {"pieces": {str(value): count for value, count in pieces.items()}}
    for ref in REFS:
        cashier.ok("buy-ins", {"player": ref, "amount": 30_000, **named})
    dealer = Desk(kit.http(kit.token(Role.DEALER, TerminalKind.TABLE, "T1")), "/api/v1/tables/T1")
    dealer.refresh()
    dealer.ok("open")
    for seat, (ref, amount) in enumerate(zip(REFS, STACKS, strict=True), start=1):
        dealer.ok("seats", {"seat": seat, "player": ref, "amount": amount})


def left(kit: Kit) -> dict[str, Any]:
    """All that the steps have left in a house, but for what differs from one to the next."""
    entries = Entry.objects.filter(account__book=kit.house.id).order_by("transaction_id", "account__code", "amount")
    docs = list(Event.objects.filter(house=kit.house).order_by("id").values_list("doc", flat=True))
    while docs[0]["kind"] != "player.registered":
        del docs[0]
    written = {
        "events": list(map(own, docs)),
        "entries": list(
            entries.values_list(
                "transaction__kind", "transaction__metadata", "account__code", "account__commodity", "amount",
                "balance_after", "version",
            )
        ),
        "balances": chart.balances(kit.house, [f"2010/{ref}" for ref in REFS]),
        "shifts": list(rows(Shift, kit, "number", "opened_by__login", "float_cash", "float_chips", "float_pieces")),
        "handovers": list(
            rows(
                Handover, kit, "number", "kind", "state", "cash", "pieces", "offered_by__login", "offered_as",
                "ended_by__login", "reason",
            )
        ),
        "seatings": list(rows(Seating, kit, "session__number", "seat", "player__ref", "left_at")),
        "drawer": kit.cashier(another=True).refresh(),
        "table": kit.dealer().refresh(),
    }  # fmt: skip
    text = json.dumps(written, default=str, sort_keys=True).replace(kit.house.code, "HOUSE")
    return dict(json.loads(re.sub(r'"(since|sat_at|opened_at)": "[^"]*"', '"\\1": ""', text)))


def rows(model: Any, kit: Kit, *names: str) -> Any:
    return model.objects.filter(house=kit.house).order_by("id").values_list(*names)


def own(node: Any) -> Any:
    """A document without the members that differ."""
    if isinstance(node, dict):
        return {name: own(value) for name, value in node.items() if name not in _OWN}
    return [own(item) for item in node] if isinstance(node, list) else node


@pytest.mark.parametrize("pieces", [None, {1_000: 10, 5_000: 4}], ids=["the largest", "named"])
def test_it_leaves_what_the_requests_leave(kit: Kit, pieces: dict[int, int] | None) -> None:
    other = Kit.found()
    kit.table()
    other.table()
    asked(kit, pieces)
    if pieces is None:
        other.seated(stacks=STACKS)
    else:
        players = other.players(*REFS, pieces=pieces)
        other.sit_down(players, STACKS)
    by_requests, at_once = left(kit), left(other)
    assert by_requests.keys() == at_once.keys()
    for name, value in by_requests.items():
        assert at_once[name] == value, name
    assert verification(other.house)["ok"]
    other.close()

"""Counterfeit notes and chips leave a drawer or the vault, approved by a second person."""

from typing import Any

import pytest

from casino.reports.selectors import custody, racks
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.kit import Kit
from tests.casino.transfers.test_transfers import refusal

FAKES: dict[str, Any] = {"cash": 500, "pieces": {"100": 2}, "evidence": "E-1", "reason": "the ultraviolet lamp"}


@pytest.fixture
def room(kit: Kit) -> Kit:
    """A house with an open drawer."""
    kit.players("anna", chips=5_000)
    return kit


def whole(kit: Kit) -> None:
    """Chips and money agree, and books and chains are whole."""
    assert custody(kit.house)["equal"]
    assert all(row["equal"] for row in racks(kit.house)["denominations"])
    assert verification(kit.house)["ok"]


def test_counterfeits_leave_a_drawer(room: Kit) -> None:
    cashier, codes = room.cashier(), ("1020/C1", "9120/C1", "2015/C1", "5240")
    before = room.balance(*codes)
    assert refusal(cashier.post("counterfeits", FAKES)) == (409, "approval_required")
    assert room.balance(*codes) == before
    done = room.approved(cashier, "counterfeits", FAKES, by=Role.CAGE_SUPERVISOR)["last_event"]
    assert (done["counterfeits"]["amount"], done["evidence"]) == (700, "E-1")
    assert [now - then for now, then in zip(room.balance(*codes), before, strict=True)] == [-500, -200, 200, 700]
    # The drawer closes as if they had never been there.
    room.close_drawer(cashier)
    assert room.balance("5200/C1", "5210/C1") == [0, 0]
    whole(room)


def test_counterfeits_leave_the_vault(room: Kit) -> None:
    keeper, codes = room.office(Role.CAGE_SUPERVISOR), ("1010", "9110", "2015/vault", "5240")
    before = room.balance(*codes)
    assert refusal(keeper.post("vault/counterfeits", FAKES)) == (409, "approval_required")
    done = room.approved(keeper, "vault/counterfeits", FAKES | {"evidence": "E-2"})
    assert done["counterfeits"] == {"cash": 500, "pieces": {"100": 2}, "amount": 700}
    assert [now - then for now, then in zip(room.balance(*codes), before, strict=True)] == [-500, -200, 200, 700]
    whole(room)


def test_counterfeit_chips_leave_a_tray(room: Kit) -> None:
    room.table()
    dealer, codes = room.dealer(), ("9130/T1", "2015/T1", "9170/T1", "5240")
    fakes = {name: FAKES[name] for name in ("pieces", "evidence", "reason")}
    before = room.balance(*codes)
    for wrong, refused in (
        (fakes | {"pieces": {}}, (422, "no_counterfeits")),
        (fakes | {"pieces": {"7": 1}}, (422, "unknown_denomination")),
        (fakes | {"pieces": {"100": 401}}, (409, "insufficient_funds")),
        (fakes | {"cash": 500}, (400, "invalid_request")),
        (fakes, (409, "approval_required")),
    ):
        assert refusal(dealer.post("counterfeits", wrong)) == refused
    assert room.balance(*codes) == before
    done = room.approved(dealer, "counterfeits", fakes)["last_event"]
    assert done["kind"] == "table.counterfeits_found"
    assert (done["counterfeits"], done["evidence"]) == ({"cash": 0, "pieces": {"100": 2}, "amount": 200}, "E-1")
    assert [now - then for now, then in zip(room.balance(*codes), before, strict=True)] == [-200, 200, 200, 200]
    whole(room)
    assert verify_house(room.house).findings == []


def test_what_is_not_there_or_not_named_is_refused(room: Kit) -> None:
    cashier, keeper = room.cashier(), room.office(Role.CAGE_SUPERVISOR)
    for desk, path in ((cashier, "counterfeits"), (keeper, "vault/counterfeits")):
        assert refusal(desk.post(path, FAKES | {"cash": 0, "pieces": {}})) == (422, "no_counterfeits")
        assert refusal(desk.post(path, FAKES | {"pieces": {"7": 1}})) == (422, "unknown_denomination")
    many = FAKES | {"pieces": {"100000": 4_000}}
    assert refusal(cashier.post("counterfeits", many)) == (409, "drawer_short")
    for more in (many, FAKES | {"cash": 10**12}):
        headers = room.approval(keeper, "vault/counterfeits", more)
        assert refusal(keeper.post("vault/counterfeits", more, headers=headers)) == (409, "insufficient_funds")
    much = FAKES | {"cash": 10**12}
    refused = cashier.post("counterfeits", much, headers=room.approval(cashier, "counterfeits", much))
    assert refusal(refused) == (409, "drawer_short")
    whole(room)

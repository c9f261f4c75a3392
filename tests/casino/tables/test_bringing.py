"""A player puts down chips that are not booked: bought without a name, or brought by somebody else."""

from typing import Any

import pytest

from casino.approvals.control_points import set_at_founding
from casino.audit.models import Event
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.verification.auditing import verify_house
from tests.casino.busy import PERSON
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.transfers.test_transfers import refusal

FROM = 5_000


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A cashier who has sold chips worth 8,000 without a name and 3,000 to Anna, of a house that asks for names from
    5,000 on."""
    kit.table()
    set_at_founding(house=kit.house, points={"identity_from": FROM}, actor=ACTOR)
    kit.players("anna", "bela")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=500_000, pieces={"1000": 20, "100": 20})
    for _ in range(2):
        desk.ok("bearer-buy-ins", {"amount": 4_000})
    desk.ok("buy-ins", {"player": "anna", "amount": 3_000})
    return desk


@pytest.fixture
def dealer(kit: Kit, cashier: Desk) -> Desk:
    """An open table."""
    desk = kit.dealer()
    desk.ok("open")
    return desk


def sit(amount: int, brought: int | None = None, player: str = "anna", seat: int = 1) -> dict[str, Any]:
    """What a dealer asks for."""
    return {"seat": seat, "player": player, "amount": amount} | ({} if brought is None else {"brought": brought})


def test_chips_without_a_name_come_to_the_table(kit: Kit, cashier: Desk, dealer: Desk) -> None:
    assert refusal(dealer.post("seats", sit(4_000))) == (409, "insufficient_funds")
    event = dealer.ok("seats", sit(4_000, 1_000))["last_event"]
    assert (event["kind"], event["amount"], event["brought"]) == ("table.sat_down", 4_000, 1_000)
    assert kit.balance("2010/anna", "2015/T1", "2020/T1/anna") == [0, -1_000, 4_000]
    event = dealer.ok("seats/1/chips", {"amount": 500, "brought": 500})["last_event"]
    assert (event["kind"], event["brought"]) == ("table.chips_added", 500)
    dealer.ok("seats", sit(2_000, 2_000, "bela", 2))
    assert kit.balance("2010/bela", "2015/T1", "2015/C1", "2020/T1/bela") == [0, -3_500, 8_000, 2_000]
    assert custody(kit.house)["equal"]
    # From now on they are the player's.
    dealer.ok("seats/2/leave")
    cashier.ok("cash-outs", {"player": "bela", "amount": 2_000})
    assert kit.balance("2010/bela") == 0
    assert verification(kit.house)["ok"]
    assert verify_house(kit.house).findings == []


def test_nothing_is_brought_silently(kit: Kit, dealer: Desk) -> None:
    dealer.ok("seats", sit(3_000))
    assert refusal(dealer.post("seats/1/chips", {"amount": 500})) == (409, "insufficient_funds")
    doc = Event.objects.filter(chain__house=kit.house, doc__kind="table.sat_down").get().doc
    assert "brought" not in doc["data"]


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (sit(4_000, 4_001), (400, "invalid_request")),
        (sit(4_000, 0), (400, "invalid_request")),
        (sit(8_000, FROM), (409, "identity_required")),
        # 11,000 are out, all of them in hands.
        (sit(11_500, 4_500), (409, "chips_not_in_circulation")),
    ],
)
def test_what_cannot_be_brought(kit: Kit, dealer: Desk, body: dict[str, Any], refused: tuple[int, str]) -> None:
    assert refusal(dealer.post("seats", body)) == refused
    assert kit.balance("2015/T1", "2010/anna") == [0, 3_000]
    assert dealer.refresh()["seats"] == []


def test_chips_that_lie_on_tables_are_brought_by_nobody(kit: Kit, dealer: Desk) -> None:
    dealer.ok("seats", sit(7_000, 4_000))
    problem = assert_problem(dealer.post("seats", sit(4_500, 4_500, "bela", 2)), 409, "chips_not_in_circulation")
    assert problem["available"] == 4_000
    dealer.ok("seats", sit(4_000, 4_000, "bela", 2))


def test_who_is_known_may_bring_more(kit: Kit, cashier: Desk, dealer: Desk) -> None:
    body = sit(FROM, FROM, "bela")
    assert refusal(dealer.post("seats", body)) == (409, "identity_required")
    cashier.ok("/api/v1/players/bela/person", {"person": PERSON, "reason": "first_record"}, version=1)
    dealer.ok("seats", body)
    assert verify_house(kit.house).findings == []

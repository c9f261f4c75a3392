"""A22 through HTTP: what one ruling is, what is no denial, and whose overrides are found."""

from casino.api import sealed
from casino.reports.frame.denials import SEALED_OPERATIONS
from casino.staff.models import Role
from tests.casino.days.test_days import opened
from tests.casino.hands.test_disputes import DISPUTE, in_play, ruling
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue import made, rows


def test_one_ruling_is_one_in_its_day_though_the_hand_was_dealt_before(kit: Kit) -> None:
    office = opened(kit, "2020-02-28")
    _, floor = in_play(kit)
    pot = kit.balance("2030/T1")
    office.ok("days", {"day": "2020-02-29"})
    floor.version = 1
    floor.ok("hand/dispute", DISPUTE)
    kit.approved(floor, "hand/ruling", ruling(pot))
    found = made(kit, "overrides", **{"from": "2020-02-29"})
    assert found["sections"][0]["totals"]["amount"] == pot
    [table] = rows(found, 1)
    assert (table["place"], table["hands"], table["rulings"], table["disputes"]) == ("T1", 0, 1, 1)
    assert table["per_thousand"] is None
    [whole] = rows(made(kit, "overrides"), 1)
    assert (whole["hands"], whole["rulings"], whole["per_thousand"]) == (1, 1, 1_000_000_000)
    # Who has approved it is found as who has asked for it is.
    [ruled] = [row for row in rows(found) if row["kind"] == "hand.ruled"]
    approved = rows(made(kit, "overrides", person=ruled["approver"]))
    assert [row["kind"] for row in approved] == ["hand.ruled"]


def test_what_waited_for_its_approval_was_not_denied(kit: Kit) -> None:
    _, floor = in_play(kit)
    floor.version = 1
    floor.ok("hand/dispute", DISPUTE)
    kit.approved(floor, "hand/ruling", ruling(kit.balance("2070/T1")))
    assert rows(made(kit, "overrides"), 3) == []
    people = rows(made(kit, "access-review"))
    assert sum(row["asked"] for row in people) == 1
    sources = {row["source"]: row["exceptions"] for row in rows(made(kit, "exceptions"))}
    assert sources["refused"] == sum(row["denied"] for row in people) == 0


def test_the_sealed_register_shows_in_no_report(kit: Kit) -> None:
    kit.players("anna")
    desk = kit.office(Role.COMPLIANCE)
    desk.ok("sealed", {"what": "case", "player": "anna", "text": "odd"})
    assert desk.post("sealed", {"what": "case", "text": "odd", "no": 1}).status_code == 400
    assert desk.get("sealed").status_code == 200
    for name, by in (("access-review", Role.AUDITOR), ("overrides", Role.FLOOR), ("exceptions", Role.AUDITOR)):
        assert "sealed" not in str(made(kit, name, by)).lower(), name


def test_every_operation_of_the_sealed_register_is_left_out() -> None:
    views = [route.callback.view_class for route in sealed.urls]
    assert {one.id for view in views for one in view.operations.values()} == set(SEALED_OPERATIONS)

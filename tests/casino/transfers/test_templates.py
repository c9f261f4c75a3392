"""Templates of floats and trays: dated versions, what they propose, and fills that leave the drawer its change."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from casino.approvals.control_points import set_at_founding
from casino.chips.models import Template
from casino.reports.alarms import alarms
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.devices import events
from tests.casino.kit import ACTOR, TRAY, Desk, Kit
from tests.casino.scene import assert_problem
from tests.casino.superuser import unguarded

REASON = {"reason": "as the floor plan says"}
FLOAT = {"cash": 30_000, "pieces": {"500": 40, "100": 100, "25": 80}}
#: A tray that should have twenty chips of 500 and five of 100 more than it was stocked with.
FULL = {str(value): count for value, count in TRAY.items()} | {"500": TRAY[500] + 20, "100": TRAY[100] + 5}
LACKS = {"500": 20, "100": 5}


@pytest.fixture
def admin(kit: Kit) -> Desk:
    return kit.office(Role.ADMIN)


def put(admin: Desk, place: str, **body: Any) -> dict[str, Any]:
    """Set a template and insist on success."""
    return admin.ok(f"{place}/template", REASON | body)


def opened(kit: Kit, **pieces: int) -> Desk:
    """The cashier of C1, open with these chips: `d500=40`."""
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=30_000, pieces={name[1:]: count for name, count in pieces.items()})
    return cashier


def proposed(kit: Kit, role: Role = Role.MANAGER) -> Any:
    """The proposal of a fill."""
    return kit.office(role).get("tables/T1/fill-proposal/C1")


def soon() -> str:
    return (datetime.now(UTC) + timedelta(hours=1)).isoformat()


def whole(kit: Kit) -> None:
    """The verifier agrees with everything."""
    assert verify_house(kit.house).findings == []


# --- Versions --------------------------------------------------------------------------------------------------------


def test_templates_are_versions_with_a_start(kit: Kit, admin: Desk) -> None:
    kit.table()
    first = put(admin, "drawers/C1", **FLOAT, least={"25": 40}, ceiling=60_000)
    assert (first["template"], first["kind"], first["place"], first["chip_set"]) == (1, "drawer", "C1", "MAIN")
    put(admin, "drawers/C1", **FLOAT | {"cash": 20_000}, valid_from=soon())
    put(admin, "tables/T1", pieces=FULL)
    rows = kit.office().get("templates?kind=drawer&place=C1").json()["results"]
    assert [(row["template"], row["cash"], row["least"], row["ceiling"]) for row in rows] == [
        (1, 30_000, {"25": 40}, 60_000), (2, 20_000, {}, None),
    ]  # fmt: skip
    # The one to come is not in force: the float is that of the first.
    [place] = kit.office(Role.CAGE_SUPERVISOR).get("templates/proposals").json()["places"]
    assert (place["template"], place["cash"], place["value"]) == (1, 30_000, 30_000 + 20_000 + 10_000 + 2_000)
    assert [event["chain"] for event in events(kit, "drawer.template_set")] == ["drawer/C1"] * 2
    assert [event["chain"] for event in events(kit, "table.template_set")] == ["table/T1"]
    whole(kit)


def test_a_version_begins_at_its_moment(kit: Kit, admin: Desk) -> None:
    put(admin, "drawers/C1", **FLOAT)
    begins = datetime.now(UTC) + timedelta(seconds=1)
    put(admin, "drawers/C1", **FLOAT | {"cash": 12_345}, valid_from=begins.isoformat())
    keeper = kit.office(Role.CAGE_SUPERVISOR)
    while keeper.get("templates/proposals").json()["places"][0]["template"] == 1:
        time.sleep(0.1)
    assert datetime.now(UTC) >= begins
    assert keeper.get("templates/proposals").json()["places"][0]["cash"] == 12_345


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (FLOAT | {"pieces": {"7": 1}}, 422, "unknown_denomination"),
        (FLOAT | {"least": {"25": 81}}, 422, "least_above_template"),
        (FLOAT | {"ceiling": 29_999}, 422, "ceiling_below_float"),
        (FLOAT | {"valid_from": "2020-01-01T00:00:00Z"}, 422, "template_in_the_past"),
        (FLOAT | {"cash": 200_000_000}, 409, "float_too_large"),
        (FLOAT | {"cash": -1}, 400, "invalid_request"),
        ({"pieces": {}}, 400, "invalid_request"),
    ],
)
def test_a_wrong_template_is_refused_and_changes_nothing(
    kit: Kit, admin: Desk, body: dict[str, Any], status: int, code: str
) -> None:
    assert_problem(admin.post("drawers/C1/template", REASON | body), status, code)
    assert not Template.objects.filter(house=kit.house).exists()


def test_who_is_refused(kit: Kit, admin: Desk) -> None:
    kit.table()
    put(admin, "drawers/C1", **FLOAT)
    assert_problem(admin.post("drawers/C1/template", REASON | FLOAT), 409, "no_change")
    assert_problem(admin.post("drawers/X9/template", REASON | FLOAT), 404, "not_found")
    assert_problem(kit.office(Role.CAGE_SUPERVISOR).post("drawers/C1/template", REASON | FLOAT), 403, "forbidden")
    admin.ok("drawers/C1/retire", REASON, version=kit.cashier().version)
    assert_problem(admin.post("drawers/C1/template", REASON | FLOAT | {"cash": 1}), 409, "drawer_retired")
    # Who counts a float or a tray without knowing reads no template.
    for role in (Role.CASHIER, Role.DEALER, Role.FLOOR):
        assert_problem(kit.office(role).get("templates"), 403, "forbidden")
        assert_problem(kit.office(role).get("templates/proposals"), 403, "forbidden")


def test_a_live_house_asks_for_an_approval(live_db: None) -> None:
    kit = Kit.found(sandbox=False)
    with unguarded("houses_house") as cursor:
        cursor.execute("UPDATE houses_house SET stage = 'live' WHERE id = %s", [kit.house.id])
    admin, manager = kit.office(Role.ADMIN), kit.office(Role.MANAGER)
    asked = admin.post("drawers/C1/template", REASON | FLOAT)
    assert_problem(asked, 409, "approval_required")
    approval = asked.json()["approval"]
    assert (approval["kind"], approval["roles"]) == ("settings", ["manager"])
    assert not Template.objects.filter(house=kit.house).exists()
    manager.ok(f"approvals/{approval['approval']}/approve", {})
    made = admin.ok("drawers/C1/template", REASON | FLOAT, headers={"Approval": str(approval["approval"])})
    assert (made["template"], made["approval"]) == (1, approval["approval"])
    kit.close()


# --- Floats and first chips ------------------------------------------------------------------------------------------


def test_a_float_is_issued_by_the_template(kit: Kit, admin: Desk) -> None:
    supervisor, cashier = kit.supervisor(), kit.cashier()
    assert_problem(supervisor.post("handovers", {"kind": "float", "by_template": True}), 409, "no_template")
    put(admin, "drawers/C1", **FLOAT)
    wrong = {"kind": "float", "by_template": True, "cash": 5}
    assert_problem(supervisor.post("handovers", wrong), 400, "invalid_request")
    assert_problem(supervisor.post("handovers", {"kind": "float", "cash": 5}), 400, "invalid_request")
    skim = {"kind": "replenishment", "by_template": True}
    assert_problem(supervisor.post("handovers", skim), 400, "invalid_request")
    offered = supervisor.ok("handovers", {"kind": "float", "by_template": True})["last_event"]["handover"]
    assert (offered["cash"], offered["pieces"]) == (30_000, FLOAT["pieces"])
    cashier.refresh()
    cashier.ok("open", FLOAT)
    assert kit.held() == FLOAT | {"foreign": 0}
    whole(kit)


def test_a_template_can_be_taken_away(kit: Kit, admin: Desk) -> None:
    put(admin, "drawers/C1", **FLOAT)
    put(admin, "drawers/C1", cash=0, pieces={})
    body = {"kind": "float", "by_template": True}
    assert_problem(kit.supervisor().post("handovers", body), 409, "no_template")
    assert kit.office(Role.MANAGER).get("templates/proposals").json()["places"] == []


def test_a_tray_is_stocked_by_the_template(kit: Kit, admin: Desk) -> None:
    kit.table_for("ferbli", {"vizi": 100, "table_max": 100_000, "tax_bps": 500, "tax_cap": 5_000}, code="T1", seats=4,
                  tray=0)  # fmt: skip
    keeper = kit.office(Role.CAGE_SUPERVISOR)
    assert_problem(keeper.post("tables/T1/tray", {"by_template": True}), 409, "no_template")
    put(admin, "tables/T1", pieces=FULL)
    assert_problem(keeper.post("tables/T1/tray", {"by_template": True, "amount": 5}), 400, "invalid_request")
    assert_problem(keeper.post("tables/T1/tray", {}), 400, "invalid_request")
    [waiting] = keeper.get("templates/proposals").json()["places"]
    assert (waiting["kind"], waiting["place"], waiting["pieces"]) == ("table", "T1", FULL)
    assert keeper.ok("tables/T1/tray", {"by_template": True})["pieces"] == FULL
    assert keeper.get("templates/proposals").json()["places"] == []
    whole(kit)


# --- Fills -----------------------------------------------------------------------------------------------------------


def test_a_fill_brings_the_tray_to_its_template(kit: Kit, admin: Desk) -> None:
    kit.table()
    cashier = opened(kit, d500=40, d100=50)
    dealer = kit.dealer()
    ask = {"drawer": "C1", "by_template": True}
    assert_problem(dealer.post("fills", ask), 409, "no_template")
    put(admin, "tables/T1", pieces=FULL)
    # The table asks and does not learn what its tray lacks.
    asked = dealer.ok("fills", ask)["last_event"]["transfer"]
    assert (asked["requested"], asked["sent"], asked["reservation"]) == ({"template": 1}, None, "")
    number, carrier = asked["serial"], kit.runner()
    cashier.refresh()
    sent = cashier.ok(f"fills/{number}/send", {"carrier": carrier})["last_event"]["transfer"]
    assert (sent["sent"], sent["value"]) == (LACKS, 10_500)
    # What is on its way counts as there.
    found = proposed(kit).json()
    assert (found["needed"], found["pieces"], found["value"]) == ({}, {}, 0)
    again = {"table": "T1", "by_template": True}
    cashier.refresh()
    assert_problem(cashier.post("fills", again), 409, "tray_at_template")
    dealer.refresh()
    dealer.ok(f"fills/{number}/receive", {"pieces": LACKS})
    chips = kit.office().get("tables/T1/chips").json()
    assert chips["tray"]["pieces"] == dict(sorted(FULL.items(), key=lambda one: -int(one[0])))
    whole(kit)


def test_the_proposal_leaves_the_drawer_what_its_template_says(kit: Kit, admin: Desk) -> None:
    kit.table()
    cashier = opened(kit, d500=25, d100=50)
    put(admin, "tables/T1", pieces=FULL)
    put(admin, "drawers/C1", cash=30_000, pieces={"500": 25, "100": 50}, least={"500": 10, "100": 50})
    found = proposed(kit).json()
    assert (found["needed"], found["needed_value"]) == (LACKS, 10_500)
    assert (found["pieces"], found["value"], found["template"]) == ({"500": 15}, 7_500, 1)
    # Who counts the drawer does not read what it can give, and who counts the tray reads nothing of it.
    blind = proposed(kit, Role.CASHIER).json()
    assert (blind["needed"], blind["pieces"], blind["value"]) == (LACKS, None, None)
    for role in (Role.DEALER, Role.FLOOR):
        assert_problem(proposed(kit, role), 403, "forbidden")
    cashier.refresh()
    sent = cashier.ok("fills", {"table": "T1", "by_template": True})["last_event"]
    assert (sent["transfer"]["sent"], "approval" in sent) == ({"500": 15}, False)
    # Nothing is left that can be given.
    cashier.refresh()
    assert_problem(cashier.post("fills", {"table": "T1", "by_template": True}), 409, "drawer_short")
    whole(kit)


def test_a_fill_that_leaves_the_cage_without_change_takes_an_approval(kit: Kit, admin: Desk) -> None:
    kit.table()
    cashier = opened(kit, d500=25, d100=50)
    put(admin, "drawers/C1", cash=30_000, pieces={"500": 25, "100": 50}, least={"100": 45})
    fill = {"table": "T1", "pieces": {"100": 6}}
    before = kit.held()
    asked = cashier.post("fills", fill)
    assert_problem(asked, 409, "approval_required")
    approval = asked.json()["approval"]
    assert (approval["kind"], approval["roles"]) == ("transfer", ["cage_supervisor", "manager"])
    assert kit.held() == before
    supervisor = kit.supervisor()
    supervisor.ok(f"/api/v1/approvals/{approval['approval']}/approve", {}, version=None)
    sent = cashier.ok("fills", fill, headers={"Approval": str(approval["approval"])})["last_event"]
    assert (sent["approval"], sent["transfer"]["sent"]) == (approval["approval"], {"100": 6})
    # Of a chip of which the template keeps nothing, everything can go.
    cashier.ok("fills", {"table": "T1", "pieces": {"500": 25}})
    # What is not there at all needs no approval to be refused.
    short = {"table": "T1", "pieces": {"500": 1}}
    assert_problem(cashier.post("fills", short), 409, "drawer_short")
    whole(kit)


def test_a_fill_by_worth_spares_what_the_drawer_keeps(kit: Kit, admin: Desk) -> None:
    kit.table()
    cashier = opened(kit, d500=20, d100=50, d25=40)
    put(admin, "drawers/C1", cash=0, pieces={"25": 40, "100": 50}, least={"25": 40, "100": 20})
    sent = cashier.ok("fills", {"table": "T1", "amount": 8_000})["last_event"]["transfer"]["sent"]
    assert "25" not in sent
    assert sent.get("100", 0) <= 30
    # A worth that only those chips make takes an approval.
    cashier.refresh()
    assert_problem(cashier.post("fills", {"table": "T1", "amount": 25}), 409, "approval_required")
    whole(kit)


def test_only_a_fill_has_a_template(kit: Kit, admin: Desk) -> None:
    kit.table()
    cashier = opened(kit, d500=20)
    put(admin, "tables/T1", pieces=FULL)
    assert_problem(cashier.post("credits", {"table": "T1", "by_template": True}), 400, "invalid_request")
    both = {"table": "T1", "by_template": True, "amount": 500}
    assert_problem(cashier.post("fills", both), 400, "invalid_request")
    assert_problem(cashier.post("fills", {"table": "T1"}), 400, "invalid_request")


# --- The verifier ----------------------------------------------------------------------------------------------------


def test_a_fill_past_the_template_without_an_approval_is_found(
    kit: Kit, admin: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.table()
    cashier = opened(kit, d500=25, d100=50)
    put(admin, "drawers/C1", cash=30_000, pieces={"500": 25, "100": 50}, least={"100": 45})
    # The rule has begun so long ago that the write must have known it.
    monkeypatch.setattr("casino.audit.verifier.state_templates.TOLERANCE", 0.0)
    monkeypatch.setattr("casino.transfers.choosing.templates.least_of", lambda *_: _none())
    cashier.ok("fills", {"table": "T1", "pieces": {"100": 6}})
    found = [(finding.code, finding.place) for finding in verify_house(kit.house).findings]
    # Without tolerance the template's own beginning is one, too.
    assert {code for code, _ in found} == {"approval_missing", "template_in_the_past"}
    [place] = [place for code, place in found if code == "approval_missing"]
    assert place.startswith("drawer/C1#")


def _none() -> Any:
    from casino.core.denominations import Chips

    return Chips("MAIN")


def test_a_template_that_was_changed_behind_the_house_is_found(kit: Kit, admin: Desk) -> None:
    put(admin, "drawers/C1", **FLOAT, least={"25": 40})
    with unguarded("chips_template") as cursor:
        cursor.execute("UPDATE chips_template SET least = '{}' WHERE house_id = %s", [kit.house.id])
    [finding] = verify_house(kit.house).findings
    assert (finding.code, finding.place) == ("state_differs", "chips.Template drawer/C1/1, least")


# --- Readiness and ceilings ------------------------------------------------------------------------------------------


def test_floats_and_trays_must_be_in_the_vault(kit: Kit, admin: Desk) -> None:
    kit.table_for("ferbli", {"vizi": 100, "table_max": 100_000, "tax_bps": 500, "tax_cap": 5_000}, code="T1", seats=4,
                  tray=0)  # fmt: skip
    admin.ok("drawers", {"drawer": "C2"})

    def lacking() -> list[str]:
        items = kit.office().get("house/readiness").json()["items"]
        [found] = [one for one in items if one["item"] == "floats"]
        assert found["who"] == ["admin", "cage_supervisor"]
        missing: list[str] = found["missing"]
        return missing

    put(admin, "drawers/C1", cash=60_000_000, pieces={"500": 15_000})
    assert lacking() == []
    put(admin, "drawers/C2", cash=40_000_001, pieces={"500": 5_000})
    assert lacking() == ["cash in the vault for all floats, by their templates"]
    put(admin, "tables/T1", pieces={"500": 1, "100": 50})
    put(admin, "drawers/C2", cash=40_000_000, pieces={"500": 5_000})
    assert lacking() == ["chips of 500 in the vault for all floats and trays, by their templates"]
    found = kit.office().get("templates/proposals").json()
    assert (found["cash_lacking"], found["denominations_lacking"]) == (False, [500])
    # A float that was issued is in the vault no more, and no more to come.
    kit.open_drawer(kit.cashier(), cash=60_000_000, pieces={"500": 15_000})
    assert [one["place"] for one in kit.office().get("templates/proposals").json()["places"]] == ["C2", "T1"]
    assert lacking() == ["chips of 500 in the vault for all floats and trays, by their templates"]


def test_a_drawer_has_a_ceiling_of_its_own(kit: Kit, admin: Desk) -> None:
    set_at_founding(house=kit.house, points={"skim_above": 50_000}, actor=ACTOR)
    cashier = opened(kit, d500=40)
    assert cashier.refresh()["skim_due"] is False
    put(admin, "drawers/C1", cash=20_000, pieces={}, ceiling=29_999)
    assert cashier.refresh()["skim_due"] is True
    [alarm] = [one for one in alarms(kit.house) if one.kind == "skim_due"]
    assert (alarm.name, alarm.amount) == ("drawer C1", None)
    assert any(one["alarm"] == "skim_due" for one in kit.office().get("reports/house").json()["alarms"])
    cashier.ok("handovers", {"kind": "skim", "cash": 10_000, "pieces": {}})
    kit.supervisor().ok("handovers/2/take", {"cash": 10_000, "pieces": {}})
    assert [one for one in alarms(kit.house) if one.kind == "skim_due"] == []
    assert cashier.refresh()["skim_due"] is False
    whole(kit)

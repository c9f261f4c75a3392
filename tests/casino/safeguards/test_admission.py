"""Players are admitted by the gaming day, where the house asks for that."""

import pytest

from casino.approvals import identity
from casino.approvals.control_points import set_at_founding
from casino.audit.verifier import state_safeguards
from casino.staff.models import Role, TerminalKind
from casino.verification.auditing import verify_house
from tests.casino.kit import ACTOR, IDENTITY, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.transfers.test_transfers import floor_at

SEEN = {"document": "passport", "age_band": "35-49"}


def test_without_an_admission_nobody_plays_where_the_house_asks_for_it(kit: Kit) -> None:
    kit.table()
    kit.players("anna", "bela", chips=20_000)
    manager, cashier, dealer = kit.office(Role.MANAGER), kit.cashier(), kit.dealer()
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    dealer.ok("open")
    assert_problem(cashier.post("/api/v1/players/anna/admission", SEEN), 409, "no_day_open")
    manager.ok("days", {"day": "2020-02-28"})
    cashier.ok("buy-ins", {"player": "anna", "amount": 500})
    dealer.ok("seats", {"seat": 2, "player": "bela", "amount": 5_000})
    set_at_founding(house=kit.house, points={"admission_required": 1}, actor=ACTOR)
    sits = {"seat": 1, "player": "anna", "amount": 5_000}
    for desk, path, body in (
        (cashier, "buy-ins", {"player": "anna", "amount": 500}),
        (dealer, "seats", sits),
        (dealer, "buy-ins", sits),
        (dealer, "tips", {"seat": 2, "amount": 100}),
        (dealer, "seats/2/key", {}),
        (dealer, "seats/2/chips", {"amount": 100}),
    ):
        last = last_event()
        desk.refresh()
        assert_problem(desk.post(path, body), 409, "not_admitted")
        (event,) = recorded_since(last, "attempt.refused")
        assert event["data"]["player"] in ("anna", "bela")
    assert not cashier.get("/api/v1/players/anna/admission").json()["may_play"]
    cashier.ok("cash-outs", {"player": "anna", "amount": 500})
    last = last_event()
    floor.ok("/api/v1/players/anna/admission", SEEN)
    (event,) = recorded_since(last, "player.admitted")
    assert event["data"] == {"player": "anna", "day": "2020-02-28"} | SEEN
    assert_problem(floor.post("/api/v1/players/anna/admission", SEEN), 409, "admitted_already")
    assert cashier.get("/api/v1/players/anna/admission").json()["may_play"]
    cashier.refresh()
    cashier.ok("buy-ins", {"player": "anna", "amount": 500})
    dealer.refresh()
    dealer.ok("seats", sits)
    assert verify_house(kit.house).findings == []
    manager.ok("days", {"day": "2020-02-29"})
    assert_problem(cashier.post("buy-ins", {"player": "anna", "amount": 500}), 409, "not_admitted")


def test_who_is_excluded_from_the_house_is_not_admitted(kit: Kit) -> None:
    kit.players("anna")
    kit.office(Role.MANAGER).ok("days", {"day": "2020-02-28"})
    floor, compliance = kit.office(Role.FLOOR), kit.office(Role.COMPLIANCE)
    ban = {"kind": "house", "asked_by": "house", "in_person": False, "until": None}
    compliance.ok("players/anna/exclusions", ban | {"scope": "play"})
    floor.ok("players/anna/admission", SEEN)
    kit.office(Role.MANAGER).ok("days", {"day": "2020-02-29"})
    compliance.ok("players/anna/exclusions", ban | {"scope": "house"})
    assert_problem(floor.post("players/anna/admission", SEEN), 409, "player_excluded")
    assert_problem(floor.post("players/anna/admission", SEEN | {"age_band": "16"}), 400, "invalid_request")


def test_a_legal_profile_that_demands_it_keeps_a_house_from_going_live(live_db: None) -> None:
    kit = Kit.found(sandbox=False)

    def lacking() -> list[str]:
        items = kit.office().get("house/readiness").json()["items"]
        return [missing for item in items if item["item"] == "identity" for missing in item["missing"]]

    assert lacking() == []
    identity.set_at_founding(house=kit.house, parts=IDENTITY | {"legal_profile": "AT"}, actor=ACTOR)
    (missing,) = lacking()
    assert "admission_required" in missing
    set_at_founding(house=kit.house, points={"admission_required": 1}, actor=ACTOR)
    assert lacking() == []
    kit.close()


def test_the_verifier_finds_who_played_without_an_admission(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    from casino.safeguards import standing

    monkeypatch.setattr(state_safeguards, "LET_PASS", 0.0)
    kit.players("anna", chips=1_000)
    set_at_founding(house=kit.house, points={"admission_required": 1}, actor=ACTOR)
    monkeypatch.setattr(standing, "require_play", lambda *_: None)
    monkeypatch.setattr("casino.audit.verifier.state_approvals.TOLERANCE", 0.0)
    kit.cashier().ok("buy-ins", {"player": "anna", "amount": 500})
    assert "not_admitted" in [finding.code for finding in verify_house(kit.house).findings]

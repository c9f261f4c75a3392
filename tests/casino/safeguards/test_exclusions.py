"""An excluded player does not play, and is paid out; who excludes, and how that ends."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from casino.audit.verifier import state_safeguards
from casino.safeguards.models import Exclusion
from casino.staff.models import Role, TerminalKind
from casino.verification.auditing import verify_house
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.superuser import unguarded
from tests.casino.transfers.test_transfers import floor_at

SELF = {"kind": "self", "scope": "house", "asked_by": "player", "in_person": True, "until": None}
BAN = {"kind": "house", "scope": "play", "asked_by": "house", "in_person": False, "until": None}


def from_now(days: float) -> str:
    """A moment so many days from now."""
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


class Scene:
    """A house with an open drawer and a table where T1-u1 .. T1-u3 sit, and anna, who holds chips."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        kit.table()
        self.dealer = kit.seated(stacks=(5_000, 5_000, 5_000))
        kit.players("anna", "bela", chips=20_000)
        self.cashier, self.compliance = kit.cashier(), kit.office(Role.COMPLIANCE)
        self.floor = floor_at(kit, TerminalKind.TABLE, "T1")

    def exclude(self, ref: str, by: Desk | None = None, **changed: Any) -> dict[str, Any]:
        return (by or self.compliance).ok(f"/api/v1/players/{ref}/exclusions", BAN | changed)

    def lift(self, number: int, cause: str = "wrong_entry") -> dict[str, Any]:
        return self.kit.approved(self.compliance, f"exclusions/{number}/lift", {"cause": cause})

    def at(self, desk: Desk, path: str, body: Any = None) -> httpx.Response:
        desk.refresh()
        return desk.post(path, body)

    def age(self, number: int, **spans: str) -> None:
        """Let an exclusion have happened earlier, by so much for each column."""
        with unguarded("safeguards_exclusion") as cursor:
            for column, span in spans.items():
                cursor.execute(
                    f"UPDATE safeguards_exclusion SET {column} = {column} - interval '{span}'"
                    " WHERE house_id = %s AND number = %s",
                    [self.kit.house.id, number],
                )


@pytest.fixture
def scene(kit: Kit) -> Scene:
    return Scene(kit)


def test_an_excluded_player_is_sold_no_chips_and_given_no_seat(scene: Scene) -> None:
    scene.exclude("anna", by=scene.floor, **SELF)
    anna = {"player": "anna", "amount": 1_000}
    tried = (
        (scene.cashier, "buy-ins", anna),
        (scene.cashier, "noncash-buy-ins", anna | {"means": "card", "reference": "T-1"}),
        (scene.cashier, "deposits", anna),
        (scene.dealer, "seats", {"seat": 4, "player": "anna", "amount": 5_000}),
        (scene.dealer, "buy-ins", {"seat": 4, "player": "anna", "amount": 5_000}),
        (scene.floor, "/api/v1/waiting-list", {"player": "anna", "game": "ferbli"}),
    )
    for desk, path, body in tried:
        last = last_event()
        problem = assert_problem(scene.at(desk, path, body), 409, "player_excluded")
        assert problem["player"] == "anna"
        assert "self" not in str(problem)
        (event,) = recorded_since(last, "attempt.refused")
        assert (event["data"]["code"], event["data"]["player"]) == ("player_excluded", "anna")
    scene.cashier.refresh()
    scene.cashier.ok("buy-ins", {"player": "bela", "amount": 1_000})
    assert verify_house(scene.kit.house).findings == []


def test_an_excluded_player_is_paid_out(scene: Scene) -> None:
    persons = {"person": {"name": "A", "born": "1970-01-01", "document": "X1"}, "reason": "first_record"}
    scene.cashier.post("/api/v1/players/anna/person", persons, version=1)
    scene.cashier.refresh()
    scene.cashier.ok("deposits", {"player": "anna", "amount": 3_000})
    scene.exclude("anna")
    assert_problem(
        scene.at(scene.cashier, "deposits/draw", {"player": "anna", "amount": 1_000}), 409, "player_excluded"
    )
    scene.cashier.refresh()
    scene.cashier.ok("deposits/return", {"player": "anna", "amount": 3_000})
    scene.cashier.ok("cash-outs", {"player": "anna", "amount": 15_000})
    held = {"player": "anna", "amount": 5_000, "pieces": {"5000": 1}, "cause": "identity_pending"}
    scene.kit.approved(scene.cashier, "held-payouts", held, by=Role.COMPLIANCE)
    scene.kit.approved(scene.cashier, "held-payouts/1/release", {}, by=Role.COMPLIANCE)
    assert scene.kit.balance("2010/anna", "2085/anna", "2090/anna") == [0, 0, 0]
    assert verify_house(scene.kit.house).findings == []


def test_one_who_sits_is_dealt_no_further_hand_and_leaves_with_all_chips(scene: Scene) -> None:
    scene.dealer.refresh()
    scene.dealer.ok("hands", {"mode": "physical", "button": 3})
    scene.exclude("T1-u1")
    scene.dealer.act("p1 po 100", "d dh p1 ????", "d dh p2 ????", "d dh p3 ????", "p2 f", "p3 f")
    scene.kit.settle()
    refused = assert_problem(scene.at(scene.dealer, "hands", {"mode": "physical"}), 409, "player_excluded")
    assert (refused["player"], refused["seats"]) == ("T1-u1", [1])
    for path, body in (
        ("deal", {}),
        ("buy-ins", {"seat": 1, "amount": 500}),
        ("seats/1/chips", {"amount": 500}),
        ("tips", {"seat": 1, "amount": 100}),
        ("seats/1/key", {}),
        ("seats/1/change", {"to_seat": 4}),
    ):
        assert_problem(scene.at(scene.dealer, path, body), 409, "player_excluded")
    scene.dealer.refresh()
    scene.dealer.ok("hands", {"mode": "physical", "sitting_out": [1]})
    scene.dealer.act("p1 po 100", "d dh p1 ????", "d dh p2 ????", "p2 f")
    scene.kit.settle()
    scene.dealer.refresh()
    before = scene.kit.balance("2020/T1/T1-u1", "2010/T1-u1")
    scene.dealer.ok("seats/1/leave")
    assert scene.kit.balance("2020/T1/T1-u1", "2010/T1-u1") == [0, sum(before)]
    assert verify_house(scene.kit.house).findings == []


def test_a_prepared_deal_is_not_dealt_to_who_was_excluded_since(scene: Scene) -> None:
    scene.dealer.refresh()
    scene.dealer.ok("deal")
    scene.exclude("T1-u2")
    assert_problem(scene.at(scene.dealer, "hands", {"mode": "electronic"}), 409, "player_excluded")
    scene.floor.refresh()
    scene.floor.ok("deal/abandon", {"reason": "a player was excluded"})
    scene.dealer.refresh()
    scene.dealer.deal(sitting_out=[2])


def test_who_waits_is_not_called_and_who_moves_stays(scene: Scene) -> None:
    scene.floor.ok("/api/v1/waiting-list", {"player": "anna", "game": "ferbli"}, version=1)
    scene.kit.table("T2")
    scene.kit.dealer("T2").ok("open")
    scene.exclude("anna"), scene.exclude("T1-u3")
    called = scene.floor.post("/api/v1/waiting-list/1/call", {"table": "T1"}, version=1)
    assert_problem(called, 409, "player_excluded")
    assert_problem(scene.at(scene.floor, "seats/3/move", {"table": "T2", "to_seat": 1}), 409, "player_excluded")


def test_staff_reads_yes_or_no_and_compliance_all_of_it(scene: Scene) -> None:
    scene.exclude("anna", **SELF, note="afraid of losing the flat")
    seen = scene.cashier.get("/api/v1/players/anna/admission").json()
    assert seen == {
        "player": "anna", "may_enter": False, "may_play": False, "excluded": True, "admitted": False,
        "admission_required": False,
    }  # fmt: skip
    scene.exclude("bela")
    seen = scene.dealer.get("/api/v1/players/bela/admission").json()
    assert (seen["may_enter"], seen["may_play"]) == (True, False)
    assert scene.cashier.get("/api/v1/players/nobody/admission").status_code == 404
    for desk in (scene.cashier, scene.floor, scene.kit.office(), scene.kit.office(Role.MANAGER)):
        assert desk.get("/api/v1/exclusions").status_code == 403
    (anna, bela) = scene.compliance.get("exclusions").json()["results"]
    assert (anna["kind"], anna["note"], bela["note"]) == ("self", "afraid of losing the flat", "")


def test_what_was_said_stands_nowhere_in_clear(scene: Scene) -> None:
    last = last_event()
    said = "afraid of losing the flat"
    scene.exclude("anna", **SELF, note=said)
    scene.compliance.post("players/anna/exclusions", BAN | {"note": said, "until": from_now(-1)})
    scene.compliance.post("players/nobody/exclusions", BAN | {"note": said})
    events = recorded_since(last, "exclusion.set") + recorded_since(last, "attempt.refused")
    assert len(events) == 3
    assert "flat" not in str(events)
    assert said.encode() not in bytes(Exclusion.objects.get(house=scene.kit.house).note)


def test_an_own_wish_lasts_six_months_or_longer(scene: Scene) -> None:
    short = scene.compliance.post("players/anna/exclusions", SELF | {"until": from_now(170)})
    assert_problem(short, 422, "exclusion_too_short")
    scene.exclude("anna", **SELF | {"until": from_now(190)})
    past = scene.compliance.post("players/bela/exclusions", BAN | {"until": from_now(-1)})
    assert_problem(past, 422, "exclusion_in_the_past")
    other = scene.compliance.post("players/bela/exclusions", BAN | {"asked_by": "player"})
    assert_problem(other, 400, "invalid_request")
    scene.exclude("bela", until=from_now(1))
    assert verify_house(scene.kit.house).findings == []


def test_a_ban_ends_by_itself_and_an_own_wish_when_it_is_lifted(scene: Scene) -> None:
    scene.exclude("anna", until=from_now(1))
    scene.exclude("bela", **SELF | {"until": from_now(190)})
    scene.age(1, until="2 days")
    scene.age(2, until="200 days", set_at="200 days")
    scene.cashier.refresh()
    scene.cashier.ok("buy-ins", {"player": "anna", "amount": 1_000})
    assert_problem(scene.cashier.post("buy-ins", {"player": "bela", "amount": 1_000}), 409, "player_excluded")


def test_lifting_takes_two_people_a_day_and_the_term(scene: Scene) -> None:
    scene.exclude("anna", **SELF | {"until": from_now(190)})

    def refused(code: str) -> dict[str, Any]:
        return assert_problem(scene.compliance.post("exclusions/1/lift", {"cause": "revoked"}), 409, code)

    refused("lift_not_asked")
    scene.floor.ok("/api/v1/exclusions/1/lift-request")
    assert_problem(scene.compliance.post("exclusions/1/lift-request"), 409, "lift_asked_already")
    refused("lift_too_early")
    scene.age(1, lift_asked_at="25 hours")
    until = refused("lift_too_early")["until"]
    assert datetime.fromisoformat(until) > datetime.now(UTC) + timedelta(days=180)
    scene.age(1, until="191 days", set_at="191 days")
    assert scene.floor.post("/api/v1/exclusions/1/lift", {"cause": "revoked"}).status_code == 403
    assert scene.lift(1, "revoked")["lift_cause"] == "revoked"
    assert_problem(scene.compliance.post("exclusions/1/lift", {"cause": "revoked"}), 409, "exclusion_lifted")
    scene.cashier.refresh()
    scene.cashier.ok("buy-ins", {"player": "anna", "amount": 1_000})
    # The rows were made older than their events say, and the verifier says so.
    found = {finding.code for finding in verify_house(scene.kit.house).findings}
    assert {"state_differs", "safeguard_differs"} <= found


def test_a_wrong_entry_is_lifted_at_once_and_stays_on_record(scene: Scene) -> None:
    scene.exclude("anna"), scene.exclude("anna", **SELF)
    scene.lift(1)
    assert_problem(scene.at(scene.cashier, "buy-ins", {"player": "anna", "amount": 1_000}), 409, "player_excluded")
    scene.lift(2)
    scene.cashier.refresh()
    scene.cashier.ok("buy-ins", {"player": "anna", "amount": 1_000})
    rows = scene.compliance.get("exclusions?player=anna&lifted=true").json()["results"]
    assert [row["lift_cause"] for row in rows] == ["wrong_entry"] * 2
    assert verify_house(scene.kit.house).findings == []


def test_the_verifier_finds_an_excluded_player_who_bought_in(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    from casino.safeguards import standing

    monkeypatch.setattr(state_safeguards, "LET_PASS", 0.0)
    scene.exclude("anna")
    monkeypatch.setattr(standing, "require_not_excluded", lambda *_: None)
    scene.cashier.refresh()
    scene.cashier.ok("buy-ins", {"player": "anna", "amount": 1_000})
    found = [finding.code for finding in verify_house(scene.kit.house).findings]
    assert "player_excluded" in found

"""The copy of a player's data: everything of the player, nothing of anybody else, and not a word of a suspicion."""

import hashlib
import json
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from casino.reports.personal_data import LEFT_OUT
from casino.safeguards import reality
from casino.staff.models import Role, Staff, TerminalKind
from tests.casino.evidence.test_complaints import held
from tests.casino.kit import Desk, Kit
from tests.casino.papers import words
from tests.casino.players.test_persons import ANNA, recorded
from tests.casino.reports.test_catalogue import rows
from tests.casino.scene import assert_problem, last_event, recorded_since

OWN = {"kind": "self", "scope": "house", "asked_by": "player", "in_person": True, "until": None}
SAID = {"limit": "I lose too much.", "own": "I stop.", "other": "A relative says so.", "talk": "We have spoken."}
COMPLAINT = "The pot went to the wrong seat."


@pytest.fixture
def house(kit: Kit) -> Kit:
    """The worked hand; of T1-u2 everything that a house can hold."""
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    kit.worked_hand()
    assert kit.settle() == ["settled"]
    cashier, compliance = kit.cashier(), kit.office(Role.COMPLIANCE)
    there = [replace(one, since=120) for one in reality.sitting(kit.house) if one.player == "T1-u2"]
    with mock.patch.object(reality, "sitting", return_value=there):
        assert reality.raise_due(kit.house) == [1]
    recorded(Desk(cashier.http, "/api/v1/players/T1-u2/person", version=1), "T1-u2")
    for path, body in (
        ("admission", {"document": "passport", "age_band": "35-49"}),
        ("limits", {"limit": "loss", "span": "week", "most": 200_000}),
        ("interactions", {"interaction": "talk", "note": SAID["talk"]}),
    ):
        cashier.ok(f"/api/v1/players/T1-u2/{path}", body)
    compliance.ok("players/T1-u2/exclusions", OWN | {"note": SAID["own"]})
    other = {"kind": "house", "asked_by": "relative", "scope": "play", "until": None, "in_person": False}
    compliance.ok("players/T1-u2/exclusions", other | {"note": SAID["other"]})
    compliance.ok("complaints", {"kind": "hand", "player": "T1-u2", "text": COMPLAINT})
    compliance.ok("complaints/1/answer", {"text": "It did not."}, version=1)
    compliance.ok("complaints/1/close", {"outcome": "rejected", "text": "A difficult guest."}, version=2)
    return kit


def copied(kit: Kit, ref: str = "T1-u2") -> Any:
    answer = kit.office(Role.COMPLIANCE).get(f"players/{ref}/personal-data")
    assert answer.status_code == 200, answer.text
    return answer


def section(report: dict[str, Any], name: str) -> list[dict[str, Any]]:
    names = [one["section"] for one in report["sections"]]
    return rows(report, names.index(name))


def test_everything_of_the_player_is_in_it(house: Kit) -> None:
    report = copied(house).json()
    assert {row["field"]: row["value"] for row in section(report, "person")} == ANNA
    assert [(row["limit"], row["amount"]) for row in section(report, "limits")] == [("loss", 200_000)]
    assert [(row["kind"], row["note"], row["in_force"]) for row in section(report, "exclusions")] == [
        ("self", SAID["own"], True), ("house", "", True),
    ]  # fmt: skip
    assert [row["note"] for row in section(report, "interactions")] == [SAID["talk"]]
    assert [(row["table"], row["seat"]) for row in section(report, "reality_checks")] == [("T1", 2)]
    assert [row["document"] for row in section(report, "admissions")] == ["passport"]
    assert [row["text"] for row in section(report, "complaints")] == [COMPLAINT, "It did not."]
    assert [(row["table"], row["seat"]) for row in section(report, "sessions")] == [("T1", 2)]
    assert [(row["hand"], row["seat"]) for row in section(report, "hands")] == [("T1-000001", 2)]
    assert {row["hand"] for row in section(report, "statement")} >= {"T1-000001"}
    receipts = section(report, "receipts")
    assert {"player.registered", "cage.buy_in", "table.sat_down", "player.person_recorded", "exclusion.set"} <= {
        row["kind"] for row in receipts
    }
    receipt = next(row for row in receipts if row["kind"] == "cage.buy_in")
    assert house.office().get(f"receipts/{receipt['hash']}").status_code in (200, 409), "it can be looked up"
    assert [(row["what"], row["why"]) for row in section(report, "left_out")] == list(LEFT_OUT)
    assert report["equalities"] and all(one["holds"] for one in report["equalities"])


def test_it_names_nobody_else(house: Kit) -> None:
    text = copied(house).text
    for other in ("T1-u1", "T1-u3", "T1-u4", SAID["other"], "A difficult guest."):
        assert other not in text
    officer = {row["login"] for row in house.office(Role.ADMIN).get("staff?page_size=100").json()["results"]}
    head = json.loads(text)
    named = {login for login in officer if login in json.dumps(head["sections"])}
    assert named == set()


def test_a_suspicion_does_not_show_in_it(house: Kit) -> None:
    """The copies before and after differ in nothing but when and by whom they were made, and the receipts that are not
    of suspicion."""

    def without_moment() -> Any:
        report = copied(house).json()
        return [rows(report, number) for number in range(len(report["sections"]))]

    before = without_moment()
    compliance = house.office(Role.COMPLIANCE)
    compliance.ok("sealed", {"what": "case", "player": "T1-u2", "text": "Three times below the limit."})
    held(house, {"scope": "player", "player": "T1-u2", "reason": "letter of the unit"})
    assert compliance.get("players/T1-u2/person").status_code == 200
    after = without_moment()
    new = [row for row in after[-1] if row not in before[-1]]
    assert (after[:-1], [row["kind"] for row in new]) == (before[:-1], ["player.data_copied"])


def test_who_may_and_that_it_is_an_event_with_the_hash(house: Kit) -> None:
    for role in Role:
        if role != Role.COMPLIANCE:
            assert_problem(house.office(role).get("players/T1-u2/personal-data"), 403, "forbidden")
    at_cage = house.hire(Role.COMPLIANCE, TerminalKind.CAGE, "C1")[1]
    for path in ("personal-data", "personal-data/file"):
        refused = Desk(house.http(at_cage), "/api/v1/players/T1-u2").get(path)
        assert_problem(refused, 403, "wrong_terminal")
    last = last_event()
    answer = copied(house)
    digest = hashlib.sha256(answer.content).hexdigest()
    assert answer.headers["File-SHA256"] == digest and answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Disposition"].endswith('-T1-u2.json"')
    read, noted = recorded_since(last, "data.read", "player.data_copied")
    assert (read["kind"], read["data"]["operation"]) == ("data.read", "copyPersonalData")
    assert (noted["kind"], noted["data"]) == (
        "player.data_copied",
        {"player": "T1-u2", "format": "json", "file_sha256": digest, "size": len(answer.content)},
    )
    pdf = house.office(Role.COMPLIANCE).get("players/T1-u2/personal-data/file")
    assert (pdf.status_code, pdf.content[:5], pdf.headers["Content-Type"]) == (200, b"%PDF-", "application/pdf")
    for query, title in (
        ("", "Copy of personal data"), ("?language=de", "Kopie der persönlichen Daten"),
        ("?language=hu", "Személyes adatok másolata"),
    ):  # fmt: skip
        pdf = house.office(Role.COMPLIANCE).get(f"players/T1-u2/personal-data/file{query}")
        assert title in words(pdf.content)
    assert_problem(house.office(Role.COMPLIANCE).get("players/nobody/personal-data"), 404, "not_found")
    assert Staff.objects.filter(house=house.house).exists()


def test_of_who_was_forgotten_it_has_what_is_left(kit: Kit, settings: Any) -> None:
    kit.keep_nobody(settings)
    kit.players("anna")
    desk = Desk(kit.office(Role.COMPLIANCE).http, "/api/v1/players/anna", version=2)
    assert section(copied(kit, "anna").json(), "player")[0]["person"] == "never recorded"
    recorded(Desk(kit.cashier().http, "/api/v1/players/anna/person", version=1))
    kit.approved(desk, "forget", {"reason": "asked_by_player"}, by=Role.AUDITOR)
    report = copied(kit, "anna").json()
    assert section(report, "player")[0]["person"] == "forgotten"
    assert section(report, "person") == []
    assert ANNA["name"] not in json.dumps(report, ensure_ascii=False)

"""Packages of days, stored answers, the sealed register and marks end with retention, and that is proved; of the sealed
register nothing shows, and no case is lost that goes on."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from casino.core import canonical
from casino.days.models import Package, PackageContent
from casino.evidence import register
from casino.evidence.models import RetentionRun, SealedEntry
from casino.reports import retention
from casino.safeguards.models import ExclusionMark
from casino.staff.models import AnsweredRequest, Role
from tests.casino.evidence.test_complaints import findings, held
from tests.casino.evidence.test_retention import ran
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.superuser import unguarded

DAY = "2024-05-01"
HER = {"name": "Anna Kiss", "born": "1980-01-01"}
REGISTER = {"kind": "register", "scope": "house", "asked_by": "authority", "in_person": False, "until": None}


def older(kit: Kit, table: str, column: str, span: str, where: str = "true") -> None:
    """Rows of this table are so much older."""
    with unguarded(table) as cursor:
        cursor.execute(
            f"UPDATE {table} SET {column} = {column} - interval '{span}' WHERE house_id = %s AND {where}",
            [kit.house.id],
        )


def kinds(said: list[dict[str, Any]]) -> set[str]:
    return {kind for one in said for kind in one["deleted"]}


def officer(kit: Kit) -> Desk:
    return kit.office(Role.COMPLIANCE)


# --- Packages of gaming days ----------------------------------------------------------------------------------------


@pytest.fixture
def closed(kit: Kit) -> Kit:
    """A house with the package of a closed day."""
    manager = kit.office(Role.MANAGER)
    manager.ok("days", {"day": DAY})
    kit.close_day(manager, DAY)
    kit.package()
    return kit


def test_the_package_of_a_day_goes_after_its_years_and_its_hash_stays(closed: Kit) -> None:
    auditor = closed.office()
    assert auditor.get(f"days/{DAY}/package").status_code == 200
    [package] = Package.objects.filter(house=closed.house)
    older(closed, "days_package", "made_at", "3652 days")
    assert ran(closed, "--dry-run") == []
    older(closed, "days_package", "made_at", "2 days")
    [due] = ran(closed, "--dry-run")
    assert (due["kind"], due["name"], due["days"]) == ("day_package", DAY, 3653)
    last = last_event()
    assert kinds(ran(closed)) == {"day_package"}
    assert not PackageContent.objects.filter(house=closed.house).exists()
    (event,) = recorded_since(last, "retention.ran")
    [item] = event["data"]["items"]
    assert (item["name"], item["sha256"], item["size"]) == (DAY, package.sha256, package.size)
    assert_problem(auditor.get(f"days/{DAY}/package"), 410, "file_deleted")
    assert auditor.get(f"days/{DAY}").json()["package"]["sha256"] == package.sha256
    # Only what the test has made older is not as the events say.
    assert findings(closed.house) == {
        ("state_differs", f"days.Package {DAY}, made_at"), ("retention_differs", "evidence.RetentionRun 1"),
    }  # fmt: skip


def test_a_hold_on_the_day_keeps_its_package(closed: Kit) -> None:
    held(closed, {"scope": "days", "first_day": DAY, "last_day": DAY, "reason": "the authority asks"})
    older(closed, "days_package", "made_at", "11 years")
    assert [one["held_by"] for one in ran(closed, "--dry-run")] == [[1]]
    assert ran(closed) == []
    assert PackageContent.objects.filter(house=closed.house).exists()


def test_bytes_of_a_package_that_went_without_a_run_are_found(closed: Kit) -> None:
    PackageContent.objects.filter(house=closed.house).delete()
    assert findings(closed.house) == {("state_missing", f"days.PackageContent {DAY}")}


# --- Stored answers -------------------------------------------------------------------------------------------------


def test_answers_go_after_the_days_that_the_house_has_set(kit: Kit) -> None:
    kit.players("anna")
    cashier = kit.cashier()
    limit = {"limit": "loss", "span": "week", "most": 1_000}
    first = cashier.post("/api/v1/players/anna/limits", limit, key="once")
    assert first.status_code == 201
    again = cashier.post("/api/v1/players/anna/limits", limit, key="once")
    assert again.headers["Idempotency-Replayed"] == "true"
    older(kit, "staff_answeredrequest", "at", "80 days")
    assert ran(kit, "--dry-run") == []
    less = {"points": {"retain_answers_days": 6}, "reason": "less paper"}
    assert_problem(kit.office(Role.ADMIN).post("limits", less), 400, "invalid_request")
    set_to = {"points": {"retain_answers_days": 30}, "reason": "less paper"}
    kit.approved(kit.office(Role.ADMIN), "limits", set_to)
    young = AnsweredRequest.objects.filter(house=kit.house).order_by("-at").first()
    [due] = ran(kit, "--dry-run")
    begin = datetime.fromisoformat(due["name"]).replace(tzinfo=UTC)
    old = AnsweredRequest.objects.filter(house=kit.house, at__gte=begin, at__lt=begin + timedelta(minutes=10))
    size, count = sum(len(one.answer.encode()) for one in old), old.count()
    assert (due["kind"], due["days"], due["size"], count > 0) == ("answers", 30, size, True)
    [said] = ran(kit)
    assert said["deleted"]["answers"]["size"] == size
    assert not old.all().exists() and young is not None
    assert AnsweredRequest.objects.filter(pk=young.pk).exists()
    # The key is a new one: the request is carried out again, and refused for what it is.
    assert_problem(cashier.post("/api/v1/players/anna/limits", limit, key="once"), 409, "no_change")
    assert findings(kit.house) == set()


def test_the_verifier_finds_answers_that_went_too_early(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    kit.office(Role.MANAGER).ok("days", {"day": DAY})
    older(kit, "staff_answeredrequest", "at", "10 days")
    monkeypatch.setattr("casino.reports.due.control_points.in_force", _days_of(kit, 8))
    assert kinds(ran(kit)) == {"answers"}
    monkeypatch.undo()
    assert findings(kit.house) == {("retention_differs", "evidence.RetentionRun 1")}


def _days_of(kit: Kit, days: int) -> Any:
    from dataclasses import replace

    from casino.houses import control_points

    points = replace(control_points.in_force(kit.house), retain_answers_days=days)
    return lambda house: points


# --- The sealed register --------------------------------------------------------------------------------------------


def case(desk: Desk, *steps: str, player: str = "") -> int:
    """A case with these steps."""
    about = {"player": player} if player else {}
    number: int = desk.ok("sealed", {"what": "case", "text": "Three times below the limit."} | about)["entry"]
    for step in steps:
        desk.ok("sealed", {"what": "step", "case": number, "step": step, "text": f"It is {step}."})
    return number


def test_entries_go_by_months_and_cases_that_go_on_are_carried(kit: Kit) -> None:
    desk = officer(kit)
    closed, open_ = case(desk, "filed", "closed"), case(desk, "decision")
    desk.ok("sealed", {"what": "note", "text": "Training on Monday."})
    before = desk.get(f"sealed/{open_}").json()
    older(kit, "evidence_sealedentry", "at", "7 years")
    assert ran(kit, "--dry-run") == []
    older(kit, "evidence_sealedentry", "at", "14 months")
    count = SealedEntry.objects.filter(house=kit.house).count()
    [due] = ran(kit, "--dry-run")
    assert (due["kind"], due["name"], due["days"]) == ("sealed_entries", f"1-{count}", 2922)
    hashes = list(
        SealedEntry.objects.filter(house=kit.house).order_by("number").values_list("sealed_sha256", flat=True)
    )
    assert due["sha256"] == canonical.sha256(hashes)
    last = last_event()
    assert kinds(ran(kit)) == {"sealed_entries"}
    [carrying] = SealedEntry.objects.filter(house=kit.house)
    assert carrying.number == count + 1
    written = recorded_since(last)
    assert [one["kind"] for one in written] == ["sealed.entry", "retention.ran"]
    assert (written[0]["role"], set(written[0]["data"])) == ("system", {"entry", "sealed_sha256"})
    # The case that is open is as it was, and can be gone on with; the one that was closed is gone, and the note.
    after = desk.get(f"sealed/{open_}").json()
    said = [[(one["entry"], one["text"]) for one in each["steps"]] for each in (before, after)]
    assert said[0] == said[1] != [] and after["text"] == before["text"]
    assert_problem(desk.get(f"sealed/{closed}"), 404, "not_found")
    desk.ok("sealed", {"what": "step", "case": open_, "step": "closed", "text": "Nothing more."})
    found = desk.get("sealed").json()
    assert ([one["case"] for one in found["cases"]], found["notes"]) == ([open_], [])
    assert ran(kit) == [], "nothing more is due"


def test_it_is_carried_as_long_as_it_goes_on_and_no_longer(kit: Kit) -> None:
    desk, ages = officer(kit), ("7 years", "14 months")
    number = case(desk)
    for _ in range(3):
        for age in ages:
            older(kit, "evidence_sealedentry", "at", age)
        assert kinds(ran(kit)) == {"sealed_entries"}
        assert [one.number for one in register.opened(kit.house) if one.what == "case"] == [number]
    desk.ok("sealed", {"what": "step", "case": number, "step": "closed", "text": "Nothing more."})
    for age in ages:
        older(kit, "evidence_sealedentry", "at", age)
    assert kinds(ran(kit)) == {"sealed_entries"}
    assert register.opened(kit.house) == []


@pytest.mark.parametrize("steps", [(), ("closed",)])
def test_from_outside_a_month_with_a_case_goes_as_one_without(kit: Kit, steps: tuple[str, ...]) -> None:
    """What the trail and the rows say is the same whether something is carried or nothing."""
    desk = officer(kit)
    case(desk, *steps)
    for _ in range(2 - len(steps)):
        desk.ok("sealed", {"what": "note", "text": "Nothing of note."})
    for age in ("7 years", "14 months"):
        older(kit, "evidence_sealedentry", "at", age)
    last = last_event()
    ran(kit)
    [carrying] = SealedEntry.objects.filter(house=kit.house)
    shape = [(one["kind"], sorted(one["data"])) for one in recorded_since(last)]
    assert shape[0] == ("sealed.entry", ["entry", "sealed_sha256"]) and len(shape) == 2
    assert len(bytes(carrying.sealed)) == 65_536 + 28
    [run] = RetentionRun.objects.filter(house=kit.house)
    assert "case" not in json.dumps(run.deleted)


def test_holds_keep_the_register_or_what_it_says_of_who_is_held(kit: Kit) -> None:
    kit.players("anna", "bela")
    desk = officer(kit)
    hers, other = case(desk, "closed", player="anna"), case(desk, "closed", player="bela")
    held(kit, {"scope": "house", "reason": "the authority asks"})
    for age in ("7 years", "14 months"):
        older(kit, "evidence_sealedentry", "at", age)
    assert [one["held_by"] for one in ran(kit, "--dry-run")] == [[1]]
    assert ran(kit) == []
    held(kit, {"scope": "player", "player": "anna", "reason": "letter of the court"})
    lifting = {"reason": "the authority is done"}
    kit.approved(Desk(desk.http, "/api/v1", version=1), "legal-holds/1/lift", lifting)
    # The hold on her keeps nothing from going that one could see, and her case goes on unseen.
    assert kinds(ran(kit)) == {"sealed_entries"}
    cases = [one.number for one in register.opened(kit.house) if one.what == "case"]
    assert cases == [hers] and other not in cases


def test_entries_that_went_without_a_run_are_found(kit: Kit) -> None:
    desk = officer(kit)
    desk.ok("sealed", {"what": "note", "text": "One."})
    desk.ok("sealed", {"what": "note", "text": "Two."})
    SealedEntry.objects.filter(house=kit.house, number=1).delete()
    assert findings(kit.house) == {("state_missing", "evidence.SealedEntry 1")}


def test_a_run_that_leaves_entries_fails_whole(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    case(officer(kit))
    for age in ("7 years", "14 months"):
        older(kit, "evidence_sealedentry", "at", age)
    with unguarded("evidence_sealedentry") as cursor:
        cursor.execute("CREATE RULE keeps AS ON DELETE TO evidence_sealedentry DO INSTEAD NOTHING")
    try:
        with pytest.raises(retention.StillThereError, match="sealed_entries 1-1"):
            retention.run(kit.house, "test")
    finally:
        with unguarded("evidence_sealedentry") as cursor:
            cursor.execute("DROP RULE keeps ON evidence_sealedentry")
    assert SealedEntry.objects.filter(house=kit.house).count() == 1


# --- Marks of exclusions --------------------------------------------------------------------------------------------


def test_marks_go_when_the_exclusion_is_over(kit: Kit) -> None:
    desk = officer(kit)
    desk.ok("exclusions", REGISTER | {"person": HER})
    desk.ok("exclusions", REGISTER | {"person": HER | {"document": "A-1"}})
    assert ran(kit, "--dry-run") == []
    kit.approved(desk, "exclusions/1/lift", {"cause": "wrong_entry"})
    assert kinds(ran(kit)) == {"exclusion_marks"}
    left = ExclusionMark.objects.filter(house=kit.house).values_list("exclusion__number", flat=True)
    assert set(left) == {2}
    assert findings(kit.house) == set()
    held(kit, {"scope": "house", "reason": "the authority asks"})
    kit.approved(desk, "exclusions/2/lift", {"cause": "wrong_entry"})
    assert [one["held_by"] for one in ran(kit, "--dry-run")] == [[1]]

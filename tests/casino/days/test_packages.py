"""The package of a closed gaming day: made once, the same bytes again, downloaded, signed by a second person."""

import hashlib
import io
import json
import zipfile
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from casino.approvals import identity
from casino.audit.models import Event
from casino.core.outbox import StrayHint
from casino.days import packages
from casino.days.models import Package
from casino.houses import days
from casino.houses.models import OutboxMessage
from casino.reports import package, package_reports
from casino.reports.frame import as_of, registry
from casino.reports.frame.filters import PERSON
from casino.reports.frame.report import Sensitivity
from casino.reports.tasks import package_day
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.days.test_days import FIRST, SECOND, close, count_drawer, events, opened, play, refusal
from tests.casino.kit import ACTOR, IDENTITY, Desk, Kit
from tests.casino.papers import words
from tests.casino.superuser import unguarded


def closed(kit: Kit) -> Desk:
    """A day with a hand, a shift and a duty that needed an approval, closed by the returned manager's desk."""
    office = opened(kit, FIRST)
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical"})
    play(dealer)
    assert kit.settle() == ["settled"]
    keeper, duty = kit.office(Role.CAGE_SUPERVISOR), {"amount": 5, "reason": "November"}
    keeper.ok("duty", duty, headers=kit.approval(keeper, "duty", duty))
    count_drawer(kit)
    done = close(kit, office, FIRST)
    assert done["package"] == "coming"
    return office


def content(answer: Any) -> dict[str, Any]:
    """The files of a downloaded package, and its manifest under its name."""
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == sorted(archive.namelist())
        return {name: json.loads(archive.read(name)) for name in archive.namelist() if name.endswith(".json")}


def test_a_package_comes_after_the_close_and_holds_what_the_day_was(kit: Kit) -> None:
    office = closed(kit)
    assert refusal(office.get(f"days/{FIRST}/package")) == (409, "package_not_ready")
    assert office.get(f"days/{FIRST}").json()["package"] == {"state": "coming"}
    assert package_day(str(kit.house.id), OutboxMessage.objects.get(house=kit.house, task=packages.TASK).pk)
    answer = office.get(f"days/{FIRST}/package")
    digest = hashlib.sha256(answer.content).hexdigest()
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/zip")
    assert answer.headers["Package-SHA256"] == digest
    [made] = events(kit, "day.packaged")
    assert (made["data"]["sha256"], made["data"]["size"]) == (digest, len(answer.content))
    files = content(answer)
    manifest = files.pop("manifest.json")
    [end] = events(kit, "day.closed")
    assert (manifest["day"], manifest["snapshot"], manifest["closed_by"]) == (FIRST, f"period {FIRST}", end["actor"])
    event = manifest["as_of"]["event"]
    assert (event["chain"], event["seq"]) == (end["chain"], end["seq"])
    named = [one["name"] for one in manifest["files"]]
    assert named == sorted(named) and [one for one in named if one.endswith(".json")] == sorted(files)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        for one in manifest["files"]:
            written = archive.read(one["name"])
            assert (one["size"], one["sha256"]) == (len(written), hashlib.sha256(written).hexdigest())
    assert manifest["equalities"]
    assert all(one["holds"] for one in manifest["equalities"])
    assert [(one["hand"], one["state"]) for one in files["hands.json"]] == [("T1-000001", "settled")]
    assert [(one["kind"], one["state"]) for one in files["approvals.json"]] == [("duty", "used"), ("day", "used")]
    assert files["report.json"]["turnover"]["hand_count"] == 1
    assert files["trial_balance.json"]["balanced"]
    assert files["open_items.json"] == end["data"]["carried"]
    assert all(one["commissioned"] for one in files["chip_inventory.json"])
    assert "T1-u1" not in json.dumps(files["hands.json"])
    assert (files["verification.json"]["ok"], manifest["verified"]) == (True, True)
    numbers = [one["number"] for one in manifest["reports"]]
    assert {"A2", "A4", "A5", "A8", "A10", "A11", "A12", "A13", "A14", "A22", "A24", "A33"} <= set(numbers)
    assert (manifest["as_of"]["checkpoint"], manifest["broken"]) == (manifest["checkpoint"], [])
    assert manifest["equality_count"] > len(manifest["equalities"])
    for report in manifest["reports"]:
        kinds = {name.rpartition(".")[2] for name in report["files"]}
        # Of a report that manager and auditor may not both read there are sums only, in the manifest.
        of_rows = set() if report["number"] in package_reports.COUNTED else {"pdf", "csv", "json"}
        assert (kinds, set(report["files"]) <= set(named)) == (of_rows, True)
        assert report["filters"] in ({}, {"from": FIRST, "until": FIRST})
    # A house that has not said which languages its room has gets English papers.
    assert manifest["languages"] == ["en"] and "reports/z-slips.en.pdf" in named
    slips = files["reports/z-slips.json"]
    assert [row[:3] for row in slips["sections"][0]["rows"]] == [["C1", 1, FIRST]]
    assert slips["head"]["requested_by"] == manifest["closed_by"]
    found = verification(kit.house)
    assert found["ok"], found["audit_findings"]


def test_papers_are_in_the_languages_that_the_house_had_when_the_day_was_closed(kit: Kit) -> None:
    identity.set_at_founding(house=kit.house, parts=IDENTITY | {"languages": ["hu", "de"]}, actor=ACTOR)
    office = closed(kit)
    kit.office(Role.ADMIN).ok("house/identity", {"languages": ["en"], "reason": "another room"})
    kit.package()
    answer = office.get(f"days/{FIRST}/package")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        papers = {one: words(archive.read(f"reports/z-slips.{one}.pdf")) for one in manifest["languages"]}
        slips = json.loads(archive.read("reports/z-slips.json"))
    assert list(papers) == ["hu", "de"]
    titles = {language: text[:2_000] for language, text in papers.items()}
    for language, said in (("hu", "Játéknap"), ("de", "Spieltag")):
        assert [one for one, text in titles.items() if said in text] == [language]
    # What programs read is in one language.
    assert (slips["head"]["language"], manifest["reports"][0]["title"]) == ("en", "Z slips")
    kept = Package.objects.get(house=kit.house)
    again = package.make(kit.house, FIRST, kept.checkpoint, package.verified_in(answer.content))
    assert again.content == answer.content


def test_the_z_slips_are_those_of_the_shifts_that_began_in_the_day(kit: Kit) -> None:
    office = opened(kit, FIRST)
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=1_000, pieces={"100": 5})
    kit.close_drawer(cashier)
    close(kit, office, FIRST)
    office.ok("days", {"day": SECOND})
    kit.open_drawer(cashier, cash=1_000, pieces={"100": 5})
    kit.close_drawer(cashier)
    close(kit, office, SECOND)
    kit.package()
    for day, z in ((FIRST, 1), (SECOND, 2)):
        files = content(office.get(f"days/{day}/package"))
        slips = [name for name in files if name.startswith("z/")]
        assert slips == [f"z/C1-{z:06}.json"]
        assert files[slips[0]] == office.get(f"drawers/C1/shifts/{z}/z").json()


def test_a_package_is_the_same_again_whatever_was_booked_later(kit: Kit) -> None:
    office = closed(kit)
    [digest] = kit.package()
    before = office.get(f"days/{FIRST}/package").content
    office.ok("days", {"day": SECOND})
    kit.table("T2")
    dealer = kit.seated("T2")
    dealer.ok("hands", {"mode": "physical"})
    kept = Package.objects.select_related("bytes").get(house=kit.house)
    verified = package.verified_in(bytes(kept.bytes.content))
    assert package.make(kit.house, FIRST, kept.checkpoint, verified).content == before
    message = OutboxMessage.objects.get(house=kit.house, task=packages.TASK)
    assert package_day(str(kit.house.id), message.pk) == digest
    assert office.get(f"days/{FIRST}/package").content == before
    assert len(events(kit, "day.packaged")) == 1


def test_an_auditor_signs_what_was_read_and_once(kit: Kit) -> None:
    office, auditor = closed(kit), kit.office(Role.AUDITOR)
    path = f"days/{FIRST}/package/sign"
    assert refusal(auditor.post(path, {"sha256": "0" * 64})) == (409, "package_not_ready")
    [digest] = kit.package()
    assert refusal(auditor.post(path, {"sha256": "0" * 64})) == (409, "package_differs")
    assert refusal(office.post(path, {"sha256": digest})) == (403, "forbidden")
    assert refusal(kit.office(Role.CAGE_SUPERVISOR).get(f"days/{FIRST}/package")) == (403, "forbidden")
    signed = auditor.ok(path, {"sha256": digest})
    [event] = events(kit, "day.package_signed")
    assert (event["data"], event["actor"]) == ({"day": FIRST, "sha256": digest}, signed["signed_by"])
    assert refusal(kit.office(Role.AUDITOR).post(path, {"sha256": digest})) == (409, "package_signed")
    assert office.get(f"days/{FIRST}").json()["package"] == {
        name: value for name, value in signed.items() if name not in ("day", "audit")
    }
    found = verification(kit.house)
    assert found["ok"], found["audit_findings"]


def test_a_hint_of_another_house_makes_nothing(kit: Kit) -> None:
    closed(kit)
    other = Kit.found(bare=True)
    message = OutboxMessage.objects.get(house=kit.house, task=packages.TASK)
    with pytest.raises(StrayHint):
        package_day(str(other.house.id), message.pk)
    assert not Package.objects.filter(house=kit.house).exists()
    other.close()


def test_a_package_that_was_altered_is_found(kit: Kit) -> None:
    closed(kit)
    kit.package()
    with unguarded("days_packagecontent") as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "UPDATE days_packagecontent SET content = content || '\\x00'::bytea WHERE house_id = %s", [kit.house.id]
        )
    found = verification(kit.house)["audit_findings"]
    assert [(one["code"], one["place"]) for one in found] == [
        ("state_differs", f"days.PackageContent {FIRST}, content")
    ]


def test_what_goes_in_follows_from_the_catalogue(kit: Kit) -> None:
    """What both who download it may read goes in with its rows; what others read with its sums, or not at all."""
    overrides = registry.get("overrides")
    sealed = replace(overrides, id="sealed", sensitivity=Sensitivity.SEALED)
    counts = replace(overrides, id="thresholds", number="A17", roles=(Role.COMPLIANCE,))
    stranger = replace(overrides, id="stranger", roles=(Role.COMPLIANCE,))
    needs = replace(overrides, id="needs", filters=(replace(PERSON, required=True),))
    found = {one.id: one for one in (overrides, sealed, counts, stranger, needs)}
    assert [one.id for one in package_reports.chosen(found)] == ["overrides", "thresholds"]
    closed(kit)
    closing = Event.objects.get(house=kit.house, doc__kind="day.closed")
    at = datetime.fromisoformat(closing.doc["at"])
    moment = as_of.of_event(kit.house, closing.pk, at, None)
    assert moment.transaction and moment == as_of.of_event(kit.house, closing.pk, at, None)
    [day] = days.days(kit.house)
    made = package_reports.Parts()
    closed_day = package_reports.Closed(kit.house, day, moment, "u1", ["de"])
    for report in package_reports.chosen(found):
        package_reports.add(made, closed_day, report)
    assert {name.rpartition("/")[2] for name in made.files} >= {"overrides.de.pdf", "overrides.json"}
    assert not any("thresholds" in name for name in made.files)
    summed = made.reports[1]
    assert (summed["number"], summed["files"]) == ("A17", []) and summed["sections"] and summed["equalities"]

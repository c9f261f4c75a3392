"""Archives of closed periods: written between two signed checkpoints, proved by themselves, and read where texts of
events were put away."""

import gzip
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connections, transaction

from casino.audit import archives, outside, verifier, zipapp
from casino.audit.models import Archive, Event, SignedCheckpoint
from casino.audit.verifier.archives import Archive as Folder
from casino.audit.verifier.archives import verify_archives
from casino.core import sql
from casino.core.errors import ArchiveUnreadable, Conflict, Forbidden, ProofFailed
from casino.doctor import outside as doctor
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.verification import archiving, auditing, exporting
from casino.verification.putting_away import bring_back, put_away
from tests.bench.reports.generated import SHORT_HAND
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.signers import APPROVER, TWO, two_people, typed
from tests.casino.superuser import unguarded

DAYS = ("2024-05-30", "2024-05-31", "2024-06-01")
REASON = "the disk is small"


class House:
    """A house with days of hands, and two folders for archives."""

    def __init__(self, kit: Kit, folders: list[Path]) -> None:
        self.kit, self.house, self.folders = kit, kit.house, folders
        self.manager = kit.office(Role.MANAGER)
        two_people(kit)

    def day(self, name: str, *, hands: int = 2) -> None:
        """A gaming day with hands, closed at its end."""
        self.manager.ok("days", {"day": name})
        kit = self.kit
        code = f"T{name[-2:]}"
        kit.table(code, seats=2)
        dealer = kit.seated(code, stacks=(20_000, 20_000))
        for number in range(hands):
            dealer.refresh()
            dealer.ok("hands", {"mode": "physical"} | ({} if number else {"button": 2}))
            for lines in SHORT_HAND:
                dealer.act(*lines)
            assert kit.settle() == ["settled"]
        kit.close_drawer(kit.cashier())
        kit.close_day(self.manager, name)
        kit.sequence()

    def voided(self, name: str) -> None:
        """A hand of an open day that the floor voids in its middle; the day is closed then."""
        kit = self.kit
        self.manager.ok("days", {"day": name})
        kit.table("V1", seats=2)
        dealer = kit.seated("V1", stacks=(20_000, 20_000))
        dealer.refresh()
        dealer.ok("hands", {"mode": "physical", "button": 2})
        for lines in SHORT_HAND[:2]:
            dealer.act(*lines)
        floor = kit.dealer("V1", role=Role.FLOOR)
        kit.approved(floor, "hand/void", {"cause": "misdeal", "reason": "a misdeal"})
        dealer.refresh()
        kit.close_drawer(kit.cashier())
        kit.close_day(self.manager, name)
        kit.package()
        kit.sequence()

    def archive(self, **options: Any) -> str:
        """What the command says."""
        said = io.StringIO()
        call_command("archive", self.house.code, stdout=said, stderr=said, **options)
        return said.getvalue()

    def place(self, number: int, copy: int = 0) -> Path:
        return archives.folder_of(self.folders[copy], self.house, number)

    def keys(self) -> list[verifier.Key]:
        [folder] = outside.folders()
        return verifier.parse_keys(outside.key_file(folder, self.house).read_text())

    def put_away(self, number: int = 1) -> int:
        return put_away(house=self.house, number=number, actor=TWO, approver=APPROVER, reason=REASON)

    def judged(self, *numbers: int) -> verifier.Report:
        """Archives verified as somebody else would, with the house's key."""
        return verify_archives([Folder(self.place(number)) for number in numbers], self.keys())


@pytest.fixture
def house(kit: Kit, tmp_path: Path, settings: Any) -> House:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    settings.CASINO_ARCHIVE_DIRS = folders
    return House(kit, folders)


@pytest.fixture
def archived(house: House) -> House:
    """Two days of May in an archive, and one of June that is open."""
    for day in DAYS[:2]:
        house.day(day)
    house.manager.ok("days", {"day": DAYS[2]})
    house.kit.sequence()
    assert house.archive().count("archive 1 of 2024-05-30 to 2024-05-31") == 1
    house.kit.sequence()
    return house


def test_a_month_is_archived_when_its_days_are_closed_and_the_next_has_begun(house: House) -> None:
    assert "nothing to archive" in house.archive()
    house.day(DAYS[0])
    house.manager.ok("days", {"day": DAYS[1]})
    house.kit.sequence()
    assert "nothing to archive" in house.archive()
    with pytest.raises(Conflict) as refused:
        archiving.due(house.house, DAYS[1])
    assert refused.value.code == "day_open"
    house.kit.close_day(house.manager, DAYS[1])
    with pytest.raises(Conflict) as refused:
        archiving.due(house.house, DAYS[1])
    assert refused.value.code == "not_in_the_log_yet"
    house.kit.sequence()
    assert "nothing to archive" in house.archive()  # the month may have more days
    house.manager.ok("days", {"day": DAYS[2]})
    house.kit.sequence()
    assert "archive 1 of 2024-05-30 to 2024-05-31" in house.archive()
    assert "nothing to archive" in house.archive()
    assert (found := verification(house.house))["ok"], found["audit_findings"]


def test_archives_follow_each_other_and_each_proves_itself_with_the_houses_key_alone(archived: House) -> None:
    archived.kit.close_day(archived.manager, DAYS[2])
    archived.kit.sequence()
    assert "archive 2 of 2024-06-01 to 2024-06-01" in archived.archive(until=DAYS[2])
    first, second = Archive.objects.filter(house=archived.house).order_by("number")
    assert (first.first, first.size) == (0, second.first) and second.size > second.first
    report = archived.judged(1, 2)
    assert report.findings == [] and report.counts["events"] == second.size
    assert report.counts["transactions"] > 0
    assert {one.folder for one in archives.copies(first)} == {archived.place(1, 0), archived.place(1, 1)}
    [gap] = verify_archives([Folder(archived.place(2)), Folder(archived.place(2))], archived.keys()).findings
    assert gap.code == "archive_missing"
    assert (found := verification(archived.house))["ok"], found["audit_findings"]


def test_the_verifier_by_itself_says_what_an_archive_is(archived: House, tmp_path: Path) -> None:
    program = tmp_path / "verify.pyz"
    program.write_bytes(zipapp.built())
    [folder] = outside.folders()
    recorded = Archive.objects.get(house=archived.house).sha256
    arguments = [
        str(archived.place(1)), "--key", str(outside.key_file(folder, archived.house)),
        "--checkpoints", str(outside.notes_file(folder, archived.house)), "--sha256", recorded,
    ]  # fmt: skip
    done = run(program, *arguments)
    assert done.returncode == 0 and "nothing found" in done.stdout, done.stdout + done.stderr
    assert f"archive 1 of {archived.house.code}, 2024-05-30 to 2024-05-31" in done.stdout and recorded in done.stdout
    done = run(program, str(archived.place(1)), "--sha256", "0" * 64)
    assert done.returncode == 1 and "archive_differs" in done.stdout and "no key was given" in done.stdout


def run(program: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-I", str(program), "archive", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rewritten(place: Path, name: str, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Alter the lines of a file, and let the manifest name what was made of it."""
    lines = change(gzip.decompress((place / name).read_bytes()).splitlines(keepends=True))
    (place / name).write_bytes(gzip.compress(b"".join(lines), mtime=0))
    manifest = json.loads((place / archives.MANIFEST).read_text())
    manifest["files"][name] = archiving._described(place / name)
    (place / archives.MANIFEST).write_text(verifier.json_text(manifest) + "\n")


def with_manifest(place: Path, **members: Any) -> None:
    manifest = json.loads((place / archives.MANIFEST).read_text()) | members
    (place / archives.MANIFEST).write_text(verifier.json_text(manifest) + "\n")


def _without_an_event(house: House, place: Path) -> None:
    rewritten(place, archives.EVENTS, lambda lines: lines[:5] + lines[6:])


def _with_an_event_altered(house: House, place: Path) -> None:
    rewritten(place, archives.EVENTS, lambda lines: [*lines[:-1], lines[-1].replace(b'"role":"', b'"role":"x')])


def _without_a_transaction(house: House, place: Path) -> None:
    rewritten(place, archives.LEDGER, lambda lines: lines[1:])


def _with_a_transaction_altered(house: House, place: Path) -> None:
    def more(lines: list[bytes]) -> list[bytes]:
        row = json.loads(lines[0])
        for leg in row["legs"]:
            leg[3] *= 2
        return [verifier.json_text(row).encode() + b"\n", *lines[1:]]

    rewritten(place, archives.LEDGER, more)


def _with_another_frontier(house: House, place: Path) -> None:
    with_manifest(place, first=1, frontier=["0" * 64])


def _of_an_unsigned_checkpoint(house: House, place: Path) -> None:
    text = json.loads((place / archives.MANIFEST).read_text())["notes"][1]
    head, _, tail = text.rpartition(" ")
    with_manifest(place, notes=[None, f"{head} {tail[:8]}AAAA{tail[12:]}"])


def _of_another_checkpoint(house: House, place: Path) -> None:
    note = SignedCheckpoint.objects.filter(house=house.house).order_by("size")[0].note
    with_manifest(place, notes=[None, note])


ALTERED: dict[Callable[[House, Path], None], set[str]] = {
    _without_an_event: {"event_missing", "leaves_differ"},
    _with_an_event_altered: {"leaves_differ"},
    _without_a_transaction: {"transaction_missing"},
    _with_a_transaction_altered: {"transaction_differs"},
    _of_an_unsigned_checkpoint: {"note_not_signed"},
    _of_another_checkpoint: {"leaves_differ", "note_of_another_log"},
}


def test_no_alteration_of_an_archive_goes_unfound(archived: House) -> None:
    kept = archived.place(1).with_name("kept")
    shutil.copytree(archived.place(1), kept)
    for alter, codes in ALTERED.items():
        alter(archived, archived.place(1))
        found = {one.code for one in archived.judged(1).findings}
        assert codes <= found and found <= codes | {"link_broken", "event_missing", "transaction_missing"}, (
            alter.__name__
        )
        held = archives.copies(Archive.objects.get(house=archived.house))
        assert [one.folder for one in held] == [archived.place(1, 1)], alter.__name__
        shutil.rmtree(archived.place(1))
        shutil.copytree(kept, archived.place(1))
    assert archived.judged(1).findings == []
    _with_another_frontier(archived, archived.place(1))
    with pytest.raises(verifier.Unusable):
        archived.judged(1)
    (kept / archives.LEDGER).write_bytes(b"")
    with pytest.raises(verifier.Unusable, match="is not the file that the manifest names"):
        verify_archives([Folder(kept)], archived.keys())


def test_what_was_put_away_is_read_from_the_archive(archived: House, tmp_path: Path) -> None:
    auditor = archived.kit.office(Role.AUDITOR)
    before = everything(archived, auditor)
    size = length(archived)
    count = archived.put_away()
    assert count == Event.objects.filter(house=archived.house, archive=1).count() > 0
    assert length(archived) < size
    archived.kit.sequence()
    assert everything(archived, auditor) == before
    found = verification(archived.house)
    assert found["ok"], found
    exporting.export_house(archived.house, tmp_path / "export")
    assert verifier.verify_export(tmp_path / "export", keys=archived.keys()).findings == []
    # Every event that is found by who, when and what still is.
    acted = auditor.get("audit/events?kind=hand.acted&page_size=1000").json()["results"]
    assert len(acted) >= count and all(json.loads(one["payload"])["data"]["lines"] for one in acted)


def length(house: House) -> int:
    """Characters of all events in the database."""
    [(found,)] = sql.rows("SELECT sum(length(payload)) FROM audit_event WHERE house_id = %s", [house.house.id])
    return int(found)


def everything(house: House, auditor: Desk) -> list[Any]:
    """Whole events by every way that gives them, of what was there when the archive was made."""
    archive = Archive.objects.get(house=house.house)
    listed = auditor.get(f"audit/events?page_size=1000&until={at(house, archive)}").json()["results"]
    exported = auditor.get(f"audit/export?epoch=1&size={archive.size}").content
    hands = auditor.get("hands").json()["results"]
    replay = auditor.get(f"hands/{hands[-1]['hand']}/replay").json()
    return [listed, exported, replay["events"]]


def at(house: House, archive: Archive) -> str:
    """When the last event of an archive was recorded."""
    last = Event.objects.get(leaf__house=house.house, leaf__epoch=archive.epoch, leaf__leaf_index=archive.size - 1)
    return str(last.doc["at"])


def test_putting_away_needs_two_people_two_good_copies_and_the_owner(archived: House) -> None:
    with typed():
        call_command("put_away", archived.house.code, 1, reason=REASON, stdout=(said := io.StringIO()))
    assert "are in archive 1 only" in said.getvalue()
    event = Event.objects.get(house=archived.house, doc__kind="log.put_away")
    assert (event.doc["actor"], event.doc["approver"], event.doc["reason"]) == ("alma", "bea", REASON)
    assert event.doc["data"] == {"number": 1, "events": Event.objects.filter(archive=1, house=archived.house).count()}
    with typed(), pytest.raises(CommandError, match="no_change"):
        call_command("put_away", archived.house.code, 1, reason=REASON)
    call_command("bring_back", archived.house.code, 1, reason="it is read a great deal")
    shutil.rmtree(archived.place(1, 1))
    with pytest.raises(Conflict) as refused:
        archived.put_away()
    assert refused.value.code == "archive_copies"
    assert Event.objects.filter(house=archived.house).exclude(archive=None).count() == 0


def test_a_damaged_copy_is_no_copy(archived: House) -> None:
    events = archived.place(1, 1) / archives.EVENTS
    text = events.read_bytes()
    events.write_bytes(text[:-1])
    with pytest.raises(Conflict) as refused:
        archived.put_away()
    assert refused.value.code == "archive_copies"
    events.write_bytes(text[:-1] + bytes([text[-1] ^ 1]))
    with pytest.raises(ProofFailed):
        archived.put_away()


def test_what_is_brought_back_is_what_was_there(archived: House) -> None:
    before = payloads(archived)
    count = archived.put_away()
    assert payloads(archived) != before
    assert bring_back(house=archived.house, number=1, actor=ACTOR, reason=REASON) == count
    assert payloads(archived) == before
    with pytest.raises(Conflict):
        bring_back(house=archived.house, number=1, actor=ACTOR, reason=REASON)
    archived.kit.sequence()
    assert (found := verification(archived.house))["ok"], found["audit_findings"]
    assert archived.put_away() == count


def payloads(house: House) -> list[str]:
    archive = Archive.objects.get(house=house.house)
    rows = Event.objects.filter(house=house.house, leaf__leaf_index__lt=archive.size)
    return list(rows.order_by("id").values_list("payload", flat=True))


def test_without_its_archive_an_event_is_refused_and_nothing_is_verified(archived: House) -> None:
    archived.put_away()
    archived.kit.sequence()
    for copy in (0, 1):
        archived.place(1, copy).rename(archived.place(1, copy).with_name("away"))
    assert {one.code for one in doctor.archived(archived.house.code)} == {"one_disk", "archive_unreadable"}
    auditor = archived.kit.office(Role.AUDITOR)
    refused = auditor.get("audit/events?kind=hand.acted")
    assert (refused.status_code, refused.json()["code"]) == (503, "archive_unreadable")
    assert str(archived.place(1)) in refused.json()["detail"]
    assert auditor.get("audit/export").status_code == 503
    assert auditor.get("audit/events?kind=day.closed").status_code == 200
    with pytest.raises(verifier.Unusable, match="is in none of the folders"):
        auditing.verify_house(archived.house)
    with pytest.raises(ArchiveUnreadable):
        bring_back(house=archived.house, number=1, actor=ACTOR, reason=REASON)
    archived.place(1, 1).with_name("away").rename(archived.place(1, 1))
    assert {one.code for one in doctor.archived(archived.house.code)} == {"one_disk", "archive_copies"}
    assert auditor.get("audit/events?kind=hand.acted").status_code == 200
    assert (found := verification(archived.house))["ok"], found["audit_findings"]


def test_another_text_in_the_archive_is_neither_given_nor_passed(archived: House) -> None:
    archived.put_away()
    archived.kit.sequence()
    # Who can write to the folders and to the database lets the row name the manifest that they have made.
    for copy in (0, 1):
        rewritten_alike(archived.place(1, copy))
    recorded = Folder(archived.place(1)).sha256
    with unguarded("audit_archive") as cursor:
        cursor.execute("UPDATE audit_archive SET sha256 = %s WHERE house_id = %s", [recorded, archived.house.id])
    refused = archived.kit.office(Role.AUDITOR).get("audit/events?kind=hand.acted&page_size=1000")
    assert (refused.status_code, refused.json()["code"]) == (503, "archive_unreadable")
    codes = {one.code for one in auditing.verify_house(archived.house).findings}
    assert {"columns_differ", "leaves_differ", "state_differs"} <= codes


def rewritten_alike(place: Path) -> None:
    """Other lines of an action, in blocks of the same number of events."""
    manifest = json.loads((place / archives.MANIFEST).read_text())
    lines = gzip.decompress((place / archives.EVENTS).read_bytes()).splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b'"kind":"hand.acted"' in line and b'"log"' not in line)
    lines[at] = lines[at].replace(b'"table_version":', b'"table_version":9')
    blocks = [gzip.compress(b"".join(lines[start : start + 256]), mtime=0) for start in range(0, len(lines), 256)]
    (place / archives.EVENTS).write_bytes(b"".join(blocks))
    manifest["blocks"] = [sum(map(len, blocks[:number])) for number in range(len(blocks))]
    manifest["files"][archives.EVENTS] = archiving._described(place / archives.EVENTS)
    (place / archives.MANIFEST).write_text(verifier.json_text(manifest) + "\n")


def test_nobody_alters_an_event_by_putting_it_away(archived: House) -> None:
    acted = Event.objects.filter(house=archived.house, doc__kind="hand.acted", leaf__leaf_index__lt=1 << 40)
    one = acted.exclude(doc__data__has_key="log").order_by("id")[0]
    for values in (
        "payload = '{}', archive = 1", "archive = 1", "payload = audit_excerpt(doc), archive = 2",
        "payload = audit_excerpt(doc)", "payload = audit_excerpt(doc), archive = 1", "seq = seq + 1",
    ):  # fmt: skip
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(using="owner"):
            sql.rows(f"UPDATE audit_event SET {values} WHERE id = %s RETURNING id", [one.id], "owner")
    archived.put_away()
    for values in ("payload = '{}', archive = NULL", "archive = NULL", 'payload = \'{"kind":"x"}\''):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(using="owner"):
            sql.rows(f"UPDATE audit_event SET {values} WHERE id = %s RETURNING id", [one.id], "owner")
    settled = Event.objects.filter(house=archived.house, doc__kind="hand.settled").order_by("id")[0]
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(using="owner"):
        change = "UPDATE audit_event SET payload = audit_excerpt(doc), archive = 1 WHERE id = %s RETURNING id"
        sql.rows(change, [settled.id], "owner")
    with pytest.raises(DatabaseError, match="does not change"), transaction.atomic(using="owner"):
        Archive.objects.using("owner").filter(house=archived.house).update(size=1)
    for statement in ("SELECT audit_put_away(%s, 1)", "SELECT audit_bring_back(%s, 1, '{}', '{}')"):
        with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
            sql.rows(statement, [archived.house.id])
    connections.close_all()


def test_an_excerpt_that_was_altered_is_found(archived: House) -> None:
    archived.put_away()
    archived.kit.sequence()
    away = Event.objects.filter(house=archived.house, archive=1).order_by("id")[0]
    with unguarded("audit_event") as cursor:
        cursor.execute("UPDATE audit_event SET payload = replace(payload, 'T30', 'T31') WHERE id = %s", [away.id])
    [found] = [one for one in auditing.verify_house(archived.house).findings if one.code == "columns_differ"]
    assert "the excerpt of another text" in found.problem


def test_a_folder_in_the_way_is_left_alone_and_what_a_broken_run_left_is_taken(house: House) -> None:
    house.day(DAYS[0])
    house.place(1, 1).mkdir(parents=True)
    with pytest.raises(CommandError):
        house.archive(until=DAYS[0])
    assert not Archive.objects.filter(house=house.house).exists() and house.place(1).exists()
    house.place(1, 1).rmdir()
    assert "archive 1" in house.archive(until=DAYS[0])
    assert sorted(path.name for path in house.place(1).parent.iterdir()) == ["0001"]
    assert house.judged(1).findings == []


def test_an_epoch_that_was_given_up_has_an_archive_of_its_own(house: House) -> None:
    house.day(DAYS[0])
    house.manager.ok("days", {"day": DAYS[1]})
    house.kit.sequence()
    with typed():
        call_command("open_epoch", house.house.code, reason="another key", healthy=True)
    house.kit.sequence()
    house.kit.close_day(house.manager, DAYS[1])
    house.kit.sequence()
    assert house.archive(until=DAYS[1]).count(" of epoch ") == 2
    one, two = Archive.objects.filter(house=house.house).order_by("number")
    assert (one.epoch, one.first, two.epoch, two.first) == (1, 0, 2, 0)
    assert house.judged(1, 2).findings == []
    assert house.put_away(1) > 0
    house.kit.sequence()
    assert (found := verification(house.house))["ok"], found["audit_findings"]


def test_putting_away_is_the_owners(archived: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("casino.verification.putting_away.ALIAS", "default")
    with pytest.raises(Forbidden) as refused:
        archived.put_away()
    assert refused.value.code == "owner_needed"


def test_auditors_read_which_archives_there_are_and_download_their_files(archived: House) -> None:
    auditor = archived.kit.office(Role.AUDITOR)
    [listed] = auditor.get("audit/archives").json()
    recorded = Archive.objects.get(house=archived.house)
    assert listed == {
        "number": 1, "epoch": 1, "first": 0, "size": recorded.size, "first_day": DAYS[0], "last_day": DAYS[1],
        "sha256": recorded.sha256, "is_put_away": False,
    }  # fmt: skip
    for name in archives.FILES:
        assert auditor.get(f"audit/archives/1/{name}").content == (archived.place(1) / name).read_bytes()
    assert auditor.get("audit/archives/2/manifest.json").status_code == 404
    assert auditor.get("audit/archives/1/other.json").status_code == 404
    shutil.rmtree(archived.place(1))
    assert auditor.get("audit/archives/1/manifest.json").status_code == 200
    shutil.rmtree(archived.place(1, 1))
    assert auditor.get("audit/archives/1/manifest.json").json()["code"] == "archive_unreadable"
    assert archived.kit.office(Role.FLOOR).get("audit/archives/1/manifest.json").status_code == 403

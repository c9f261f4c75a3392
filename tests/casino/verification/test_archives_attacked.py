"""Archives that somebody has altered, rows that name them falsely, and what goes wrong while they are made."""

import errno
import gzip
import itertools
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from casino.audit import archives, outside, verifier
from casino.audit.models import Archive, Event
from casino.audit.verifier.archives import Archive as Folder
from casino.audit.verifier.archives import verify_archives
from casino.core.errors import Conflict, ProofFailed
from casino.doctor import outside as doctor
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.verification import archiving, auditing
from casino.verification.putting_away import bring_back
from tests.bench.reports.generated import SHORT_HAND
from tests.casino.kit import ACTOR
from tests.casino.reports.test_catalogue import made
from tests.casino.superuser import unguarded
from tests.casino.verification.test_archives import (
    DAYS,
    REASON,
    House,
    archived,
    house,
    payloads,
    rewritten,
    rewritten_alike,
    with_manifest,
)

__all__ = ["archived", "house"]

#: Reports whose figures come from hands, or are compared with what events posted.
OF_HANDS = {
    "hand-history": {}, "player-statement": {"player": "T30-u1"}, "player-activity": {}, "carried-pots": {},
    "held-money": {}, "daily-revenue": {}, "duty-return": {}, "disputes": {}, "cage-summary": {},
}  # fmt: skip


def test_reports_say_the_same_of_hands_whose_events_were_put_away(house: House) -> None:
    house.day(DAYS[0])
    house.voided(DAYS[1])
    assert "archive 1" in house.archive(until=DAYS[1])
    house.kit.sequence()
    before = {report: made(house.kit, report, **filters)["sections"] for report, filters in OF_HANDS.items()}
    voided = [line for name, _, line in before["hand-history"][2]["rows"] if name.startswith("V1")]
    assert len(voided) > len(SHORT_HAND[0])
    assert house.put_away() > 0
    # Every equality of each holds, too.
    after = {report: made(house.kit, report, **filters)["sections"] for report, filters in OF_HANDS.items()}
    assert after == before


def test_an_event_that_reports_read_cannot_be_put_away_by_who_can_write_everything(archived: House) -> None:
    archived.put_away()
    archived.kit.sequence()
    for kind in ("hand.settled", "hand.acted"):
        one = Event.objects.filter(house=archived.house, doc__kind=kind, archive=None, leaf__leaf_index__lt=99)[0]
        with unguarded("audit_event") as cursor:
            change = "UPDATE audit_event SET payload = audit_excerpt(doc), archive = 1 WHERE id = %s"
            cursor.execute(change, [one.id])
        found = auditing.verify_house(archived.house).findings
        assert "excerpt of another text" in next(one for one in found if one.code == "columns_differ").problem, kind
        with unguarded("audit_event") as cursor:
            cursor.execute("UPDATE audit_event SET payload = %s, archive = NULL WHERE id = %s", [one.payload, one.id])


def test_where_one_copy_is_damaged_the_other_is_read(archived: House) -> None:
    before = payloads(archived)
    archived.put_away()
    archived.kit.sequence()
    events = archived.place(1) / archives.EVENTS
    text = events.read_bytes()
    auditor = archived.kit.office(Role.AUDITOR)
    whole = auditor.get("audit/events?kind=hand.acted&page_size=1000").json()["results"]
    archive = Archive.objects.get(house=archived.house)
    for damaged in (text[:-1], bytes(len(text)), text[: len(text) // 2] + bytes(len(text) - len(text) // 2)):
        events.write_bytes(damaged)
        assert auditor.get("audit/events?kind=hand.acted&page_size=1000").json()["results"] == whole
    events.write_bytes(text)
    rewritten_alike(archived.place(1))
    assert len(archives.copies(archive)) == 1
    events.unlink()
    os.mkfifo(events)
    assert auditor.get("audit/events?kind=hand.acted&page_size=1000").json()["results"] == whole
    (archived.place(1) / archives.MANIFEST).unlink()
    os.mkfifo(archived.place(1) / archives.MANIFEST)
    assert auditor.get(f"audit/archives/1/{archives.EVENTS}").content == text
    assert (found := verification(archived.house))["ok"], found["audit_findings"]
    assert bring_back(house=archived.house, number=1, actor=ACTOR, reason=REASON) > 0
    assert payloads(archived) == before


def test_rows_that_name_another_archive_are_refused_and_found(archived: House) -> None:
    archived.put_away()
    archived.kit.sequence()
    auditor = archived.kit.office(Role.AUDITOR)
    with unguarded("audit_archive") as cursor:
        # Its leaf lies behind the section then.
        cursor.execute("UPDATE audit_archive SET size = 2 WHERE house_id = %s", [archived.house.id])
    refused = auditor.get("audit/events?kind=hand.acted&page_size=1000")
    assert (refused.status_code, refused.json()["code"]) == (503, "archive_unreadable")
    with pytest.raises(verifier.Unusable):
        auditing.verify_house(archived.house)


def test_a_folder_that_is_not_mounted_gets_no_archive(archived: House) -> None:
    archived.kit.close_day(archived.manager, DAYS[2])
    archived.kit.sequence()
    away = archived.folders[1].with_name("mounted")
    archived.folders[1].rename(away)
    for make in (lambda: None, archived.folders[1].mkdir):
        make()
        with pytest.raises(CommandError):
            archived.archive(until=DAYS[2])
        assert not archived.place(2, 0).exists() and not archived.place(1, 1).exists()
        with pytest.raises(Conflict, match="1 folders"):
            archived.put_away()
    # A folder that is added later gets copies of the others' first.
    shutil.copytree(archived.place(1).parent, archived.place(1, 1).parent)
    assert "archive 2" in archived.archive(until=DAYS[2])
    assert archived.put_away() > 0


def test_one_folder_that_is_named_twice_has_one_copy(archived: House, settings: Any, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(archived.folders[0])
    settings.CASINO_ARCHIVE_DIRS = [archived.folders[0], tmp_path / "link"]
    with pytest.raises(Conflict, match="1 folders"):
        archived.put_away()
    assert "one_disk" in {one.code for one in doctor.archived(archived.house.code)}


def test_of_two_runs_at_once_one_makes_the_archive(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.day(DAYS[0])
    [section] = archiving.due(house.house, DAYS[0])
    proved, other = archiving._require_proved, []

    def meanwhile(*arguments: Any) -> None:
        proved(*arguments)
        if not other:
            other.append("begun")
            other.append(archiving.make(house.house, section, ACTOR))

    monkeypatch.setattr(archiving, "_require_proved", meanwhile)
    for _ in range(2):  # the second begins when the other has ended
        with pytest.raises(Conflict) as refused:
            archiving.make(house.house, section, ACTOR)
        assert refused.value.code == "no_change"
    assert Archive.objects.get(house=house.house) == other[1]
    assert sorted(path.name for path in house.place(1).parent.iterdir()) == ["0001"]
    assert house.judged(1).findings == []


def test_what_a_full_disk_or_a_kill_leaves_is_no_archive_and_stops_none(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.day(DAYS[0])
    save, saved = archiving._save, []

    def full(path: Path, portions: Any) -> None:
        saved.append(path)
        if len(saved) == 7:  # the last file of the second copy
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        save(path, portions)

    monkeypatch.setattr(archiving, "_save", full)
    with pytest.raises(CommandError):
        house.archive(until=DAYS[0])
    assert not Archive.objects.filter(house=house.house).exists()
    assert house.place(1).exists() and not any(house.place(1, 1).parent.iterdir())
    (house.place(1).with_name(f".0001.{os.getpid()}")).mkdir()
    assert "archive 1" in house.archive(until=DAYS[0])
    assert house.judged(1).findings == []


def _with_odd_values(house: House, place: Path) -> Iterator[None]:
    """A false archive after another: each member of the manifest, and of a line, has another type or size."""
    odd = [None, True, -1, 1 << 200, 10**4000, "", "x", "0" * 64, [], [None], [[]], {}, {"a": 1}, 1.5]
    files = {name: (place / name).read_bytes() for name in archives.FILES}
    manifest = json.loads(files[archives.MANIFEST])
    for name, value in itertools.product(manifest, odd):
        if manifest[name] == value:
            continue
        with_manifest(place, **{name: value})
        yield
        (place / archives.MANIFEST).write_bytes(files[archives.MANIFEST])
    for note in odd:
        with_manifest(place, notes=[note, manifest["notes"][1]], first=1, frontier=["0" * 64])
        yield
        (place / archives.MANIFEST).write_bytes(files[archives.MANIFEST])
    for name in (archives.EVENTS, archives.LEDGER):
        row = json.loads(gzip.decompress(files[name]).splitlines()[-1])
        for member, value in itertools.product(row, odd):
            if row[member] == value:
                continue
            line = verifier.json_text(row | {member: value}).encode() + b"\n"
            rewritten(place, name, lambda lines, line=line: [*lines[:-1], line])  # type: ignore[misc]
            yield
            (place / name).write_bytes(files[name])
        for line in (b"\n", b"[" * 100_000 + b"\n", b"\xff\n", b"{}\n" * 3, b"x" * 5_000_000 + b"\n"):
            rewritten(place, name, lambda lines, line=line: [*lines, line])  # type: ignore[misc]
            yield
            (place / name).write_bytes(files[name])
        (place / archives.MANIFEST).write_bytes(files[archives.MANIFEST])


def test_a_false_archive_is_found_or_cannot_be_used_and_nothing_breaks(archived: House) -> None:
    # It covers what no signature does, as the days.
    recorded = Archive.objects.get(house=archived.house).sha256
    outcomes: Counter[str] = Counter()
    for _ in _with_odd_values(archived, archived.place(1)):
        for keys in (archived.keys(), []):
            try:
                found = verify_archives([Folder(archived.place(1))], keys, hashes=[recorded]).found
            except verifier.Unusable:
                outcomes["unusable"] += 1
            else:
                outcomes["found"] += 1
                assert found
    assert outcomes["found"] > 20 and outcomes["unusable"] > 100


def test_a_bomb_fills_no_memory(archived: House) -> None:
    place = archived.place(1)
    bomb = gzip.compress(b"\n" * (1 << 28))
    (place / archives.EVENTS).write_bytes(bomb)
    manifest = json.loads((place / archives.MANIFEST).read_text())
    manifest["files"][archives.EVENTS] = archiving._described(place / archives.EVENTS)
    with_manifest(place, files=manifest["files"])
    began = time.process_time()
    with pytest.raises(verifier.Unusable, match="more events than"):
        archived.judged(1)
    assert time.process_time() - began < 10


def test_archives_of_two_epochs_leave_no_leaf_out(archived: House) -> None:
    """The second epoch's first archive is kept back, and the next one given behind the first epoch's."""
    place = archived.place(1, 1)
    shutil.copytree(archived.place(1), other := place.with_name("0002"))
    rewritten(other, archives.EVENTS, lambda lines: lines[1:])
    with_manifest(other, epoch=2, first=1, frontier=["0" * 64], notes=[Folder(place).manifest["notes"][1]] * 2)
    found = verify_archives([Folder(place), Folder(other)], archived.keys()).findings
    assert "archive_missing" in {one.code for one in found}
    found = verify_archives([Folder(other), Folder(place)], archived.keys()).findings
    assert "archive_missing" in {one.code for one in found}


def test_a_chain_has_no_gap_between_archives(archived: House) -> None:
    archived.kit.close_day(archived.manager, DAYS[2])
    archived.kit.sequence()
    archived.archive(until=DAYS[2])

    def later(lines: list[bytes]) -> list[bytes]:
        at = next(number for number, line in enumerate(lines) if json.loads(line)["chain"] == archived.house.chain)
        row = json.loads(lines[at])
        row["seq"] += 1
        return [*lines[:at], verifier.json_text(row).encode() + b"\n", *lines[at + 1 :]]

    rewritten(archived.place(2), archives.EVENTS, later)
    assert "event_missing" in {one.code for one in archived.judged(1, 2).findings}


def test_without_the_houses_key_outside_no_copy_is_proved(archived: House) -> None:
    assert archiving.proved(archived.house, archived.place(1)).findings == []
    [folder] = outside.folders()
    outside.key_file(folder, archived.house).unlink()
    with pytest.raises(ProofFailed, match="has the key of"):
        archiving.proved(archived.house, archived.place(1))

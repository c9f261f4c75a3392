"""Another key signs a log from one checkpoint on, and no event, key or checkpoint beside that is accepted."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction

from casino.audit import guard, outside, verifier
from casino.audit.events.log import KeyRotated
from casino.audit.models import Event, KeyRotation, Log, SignedCheckpoint
from casino.audit.notes import Checkpoint, Rotation
from casino.audit.rotation import rotate_key
from casino.audit.sequencing import Sequencer
from casino.audit.services import record
from casino.audit.signing import LocalSigningKey, Signer, origin
from casino.core import sql
from casino.core.errors import Conflict, Forbidden, KeyUnavailable, LogRefused
from casino.verification import auditing, exporting
from tests.casino.any_event import AnyEvent
from tests.casino.kit import ACTOR, Kit
from tests.casino.logs import chain_order, note, notes_outside
from tests.casino.signers import APPROVER, TWO, two_people, typed
from tests.proof.superuser import Backup, guards_off
from tests.proof.test_restores import opened

NEW, NEWER, FOREIGN = (Signer(LocalSigningKey(bytes([number]) * 32)) for number in (7, 8, 9))


@pytest.fixture
def old(kit: Kit) -> Signer:
    """The key of the run, under which the house's log has a checkpoint of some events."""
    two_people(kit)
    note(kit, "house", 3)
    kit.sequence()
    return Signer.from_settings()


def rotate(kit: Kit, old: Signer, new: Signer = NEW) -> KeyRotation:
    return rotate_key(house=kit.house, actor=TWO, approver=APPROVER, old=old, new=new, reason="a year is over")


def sequence(kit: Kit, signer: Signer, old: Signer | None = None) -> Checkpoint | None:
    return Sequencer(signer, old).publish(kit.house.id)


def signers(kit: Kit, *known: Signer) -> list[tuple[int, int]]:
    """By size which of these keys has signed each checkpoint."""
    found = []
    for row in SignedCheckpoint.objects.filter(house=kit.house).order_by("epoch", "size"):
        hashes = [name[1] for name in verifier.parse_note(row.note).signatures]
        found.append((row.size, [signer.key(kit.house).hash for signer in known].index(hashes[0])))
    return found


def export(kit: Kit, folder: Path, *held: Signer, notes: list[str] | None = None) -> verifier.Report:
    """An export verified as a program of others would."""
    if not folder.exists():
        exporting.export_house(kit.house, folder)
    keys = [verifier.parse_key(signer.key(kit.house).text) for signer in held]
    sources = [verifier.Notes("held", notes, held=True)] if notes else []
    return verifier.verify_export(folder, sources, keys)


def codes(report: verifier.Report) -> list[str]:
    return [finding.code for finding in report.findings]


def test_the_new_key_signs_from_the_next_checkpoint_on(kit: Kit, old: Signer, tmp_path: Path) -> None:
    before = notes_outside(kit)
    rotated = rotate(kit, old)
    event = Event.objects.get(id=rotated.event_id).doc
    assert (event["chain"], event["kind"], event["actor"]) == (f"log/{kit.house.code}", "log.key_rotated", "alma")
    note(kit, "house", 2)
    sequence(kit, NEW, old)
    note(kit, "house", 2)
    sequence(kit, NEW)
    assert [by for _, by in signers(kit, old, NEW)] == [0, 1, 1]
    chain_order(kit)
    [folder] = outside.folders()
    keys = outside.key_file(folder, kit.house).read_text().splitlines()
    assert keys == [old.key(kit.house).text, NEW.key(kit.house).text]
    assert Log.objects.get(house=kit.house).epoch == 1
    live = auditing.verify_house(kit.house)
    assert live.findings == []
    assert any("under " + NEW.key(kit.house).text in text for text in live.notices)
    # With either key held, or both, and checkpoints from before and after.
    for number, held in enumerate(([old], [NEW], [old, NEW], [])):
        assert codes(export(kit, tmp_path / "export", *held, notes=notes_outside(kit))) == [], number
    assert codes(export(kit, tmp_path / "export", old, notes=before)) == []
    assert codes(export(kit, tmp_path / "export", FOREIGN, notes=before))[:1] == ["key_differs"]


def test_a_rotation_that_is_not_in_the_log_yet_is_verified_too(kit: Kit, old: Signer, tmp_path: Path) -> None:
    rotate(kit, old)
    assert auditing.verify_house(kit.house).findings == []
    assert codes(export(kit, tmp_path / "export", old)) == []


def test_a_key_is_rotated_again_and_back(kit: Kit, old: Signer, tmp_path: Path) -> None:
    for before, after in ((old, NEW), (NEW, NEWER), (NEWER, old)):
        rotate(kit, before, after)
        sequence(kit, after)
        note(kit, "house", 1)
        sequence(kit, after)
    assert [by for _, by in signers(kit, old, NEW, NEWER)] == [0, 1, 1, 2, 2, 0, 0]
    assert auditing.verify_house(kit.house).findings == []
    assert codes(export(kit, tmp_path / "export", NEWER)) == []
    guard.forget()
    note(kit, "house", 1)


def test_a_running_sequencer_with_both_keys_changes_over_by_itself(kit: Kit, old: Signer) -> None:
    sequencer = Sequencer(NEW, old)
    note(kit, "house", 1)
    sequencer.publish(kit.house.id)
    rotate(kit, old)
    with pytest.raises(LogRefused, match="another key by now"):
        sequencer.publish(kit.house.id)
    sequencer.publish(kit.house.id)
    assert [by for _, by in signers(kit, old, NEW)] == [0, 0, 1]


def test_a_sequencer_with_the_old_key_alone_stops(kit: Kit, old: Signer) -> None:
    running = Sequencer(old)
    note(kit, "house", 1)
    running.publish(kit.house.id)
    rotate(kit, old)
    note(kit, "house", 1)
    for sequencer in (running, Sequencer(old), Sequencer(FOREIGN)):
        with pytest.raises(LogRefused, match="another key"):
            sequencer.publish(kit.house.id)
    assert [by for _, by in signers(kit, old, NEW)] == [0, 0]


@pytest.mark.parametrize(
    ("given", "code"), [((FOREIGN, NEW), "log_key_wrong"), ((NEW, None), "no_change"), ((None, None), "no_change")]
)
def test_only_the_key_of_the_log_is_rotated(
    kit: Kit, old: Signer, given: tuple[Signer | None, Signer | None], code: str
) -> None:
    with pytest.raises(Conflict) as refused:
        rotate(kit, given[0] or old, given[1] or old)
    assert refused.value.code == code
    assert not KeyRotation.objects.filter(house=kit.house).exists()


def test_a_log_without_a_checkpoint_has_no_key_to_rotate(kit: Kit) -> None:
    with pytest.raises(Conflict) as refused:
        rotate(kit, Signer.from_settings())
    assert refused.value.code == "log_not_begun"


def test_two_rotations_have_a_checkpoint_between_them(kit: Kit, old: Signer) -> None:
    rotate(kit, old)
    with pytest.raises(Conflict) as refused:
        rotate(kit, NEW, NEWER)
    assert refused.value.code == "log_rotation_pending"


def test_a_key_that_cannot_sign_rotates_nothing(kit: Kit, old: Signer) -> None:
    class Broken(LocalSigningKey):
        def sign(self, message: bytes) -> bytes:
            raise KeyUnavailable("the token is away")

    events = Event.objects.filter(house=kit.house).count()
    for pair in ((Signer(Broken(b"7" * 32)), None), (None, Signer(Broken(b"8" * 32)))):
        with pytest.raises((KeyUnavailable, Conflict)):
            rotate(kit, pair[0] or old, pair[1] or NEW)
    assert Event.objects.filter(house=kit.house).count() == events


def test_the_application_rotates_no_key(kit: Kit, old: Signer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("casino.audit.rotation.ALIAS", "default")
    with pytest.raises(Forbidden, match="DATABASE_OWNER_URL"):
        rotate(kit, old)


_ROTATE = "SELECT audit_rotate_key(%s, 1, %s, %s, 'other', %s, %s)"


def test_a_key_is_not_rotated_without_its_event(kit: Kit, old: Signer) -> None:
    """Not by the owner either: with an event of another transaction, of another kind, or of another key."""
    log, chain = Log.objects.get(house=kit.house), f"log/{kit.house.code}"
    for kind, new_key in (("log.key_rotated", "another"), ("log.epoch_opened", "other")):
        with pytest.raises(DatabaseError, match="with the event"), transaction.atomic(using="owner"):
            content = {"epoch": 1, "size": log.size, "new_key": new_key}
            event = AnyEvent(kind=kind, content=content)
            receipt = record(chain=chain, house=kit.house, actor=ACTOR, event=event, using="owner")
            sql.rows(_ROTATE, [kit.house.id, log.size, log.vkey, chain, receipt.seq], "owner")
    with pytest.raises(DatabaseError, match="with the event"), transaction.atomic(using="owner"):
        sql.rows(_ROTATE, [kit.house.id, log.size, log.vkey, f"house/{kit.house.code}", 1], "owner")


def test_a_rotation_that_a_restore_has_lost_is_behind_the_new_epoch(kit: Kit, old: Signer, tmp_path: Path) -> None:
    two_people(kit)
    sequence(kit, old)
    backup = Backup(kit)
    rotate(kit, old)
    note(kit, "house", 4)
    sequence(kit, NEW)
    backup.restore()
    guard.forget()
    opened(kit)
    sequence(kit, NEW)
    assert not KeyRotation.objects.filter(house=kit.house).exists()
    assert auditing.verify_house(kit.house).findings == []
    exporting.export_house(kit.house, tmp_path / "export")
    [folder] = outside.folders()
    held = verifier.read_notes(outside.notes_file(folder, kit.house), "outside", held=True)
    keys = verifier.parse_keys(outside.key_file(folder, kit.house).read_text())
    assert codes(verifier.verify_export(tmp_path / "export", [held], keys, [2])) == []


# --- What an attacker with the database and a key makes of it --------------------------------------------------------


@pytest.fixture
def rotated(kit: Kit, old: Signer, tmp_path: Path) -> Iterator[Signer]:
    """The old key of a log whose key was rotated; three checkpoints under the new one."""
    rotate(kit, old)
    for _ in range(3):
        note(kit, "house", 2)
        sequence(kit, NEW)
    yield old


def resigned(kit: Kit, by: Signer, number: int) -> str:
    """The checkpoint of this number, signed by another key instead, in the database and beside it."""
    row = SignedCheckpoint.objects.filter(house=kit.house).order_by("size")[number]
    seconds = verifier.parse_note(row.note).checkpoint.seconds
    text = by.note(kit.house, Checkpoint(origin(kit.house, 1), row.size, bytes(row.root), seconds))
    with guards_off() as cursor:
        cursor.execute("UPDATE audit_checkpoint SET note = %s WHERE id = %s", [text, row.id])
    return text


@pytest.mark.some_now(3)
@pytest.mark.parametrize(("by", "number"), [("old", 1), ("old", 3), ("new", 0)])
def test_a_checkpoint_under_the_other_key_is_found(
    kit: Kit, rotated: Signer, by: str, number: int, tmp_path: Path
) -> None:
    resigned(kit, rotated if by == "old" else NEW, number)
    for report in (auditing.verify_house(kit.house), export(kit, tmp_path / "export", rotated)):
        assert "note_under_another_key" in codes(report)


def test_a_held_checkpoint_that_the_old_key_signed_afterwards_is_found(
    kit: Kit, rotated: Signer, tmp_path: Path
) -> None:
    point = verifier.parse_note(notes_outside(kit)[-1]).checkpoint
    late = rotated.note(kit.house, Checkpoint(point.origin, point.size, point.root, point.seconds))
    for held in ([rotated], [NEW], [rotated, NEW]):
        assert codes(export(kit, tmp_path / "export", *held, notes=[late])) == ["note_under_another_key"]


def test_a_key_without_its_event_is_found(kit: Kit, old: Signer, tmp_path: Path) -> None:
    """The row alone, which the verification takes the key from."""
    event = Event.objects.filter(house=kit.house).first()
    assert event is not None
    size = Log.objects.get(house=kit.house).size
    with guards_off() as cursor:
        cursor.execute(
            "INSERT INTO audit_keyrotation (house_id, epoch, size, vkey, event_id) VALUES (%s, 1, %s, %s, %s)",
            [kit.house.id, size, FOREIGN.key(kit.house).text, event.id],
        )
    note(kit, "house", 1)
    sequence(kit, FOREIGN)
    for report in (auditing.verify_house(kit.house), export(kit, tmp_path / "export", old)):
        assert {"key_not_rotated", "state_extra"} <= set(codes(report))


@pytest.mark.some_now(7)
@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ("unsigned by the old key", "the old key has not signed it"),
        ("unsigned by the new key", "the new key has not signed it"),
        ("another root", "has the root that its keys have signed"),
        ("another epoch", "its keys have signed it for"),
        ("another size", "it says otherwise than the note in it"),
        ("no note", "it cannot be read"),
        ("replaces another key", "is not the one that it replaces"),
    ],
)
def test_a_rotation_that_is_not_right_is_found(kit: Kit, old: Signer, tmp_path: Path, case: str, problem: str) -> None:
    """The holder of the database and of one key records a rotation of its own making."""
    last = SignedCheckpoint.objects.get(house=kit.house)
    root, epoch = bytes(last.root), 1
    first, second, signs = old, NEW, [old, NEW]
    if case == "unsigned by the old key":
        signs[0] = FOREIGN
    elif case == "unsigned by the new key":
        signs[1] = FOREIGN
    elif case == "another root":
        root = bytes(32)
    elif case == "another epoch":
        epoch = 2
    elif case == "replaces another key":
        first = signs[0] = FOREIGN
    rotation = Rotation(origin(kit.house, epoch), last.size, root, first.key(kit.house), second.key(kit.house))
    signatures = [signer.sign(rotation.text.encode()) for signer in signs]
    text = "x" if case == "no note" else rotation.note(*signatures)
    size = last.size + 1 if case == "another size" else last.size
    event = KeyRotated(
        epoch=1, size=size, old_key=first.key(kit.house).text, new_key=second.key(kit.house).text, note=text,
        reason="theft", approver=APPROVER,
    )  # fmt: skip
    with transaction.atomic():
        receipt = record(chain=f"log/{kit.house.code}", house=kit.house, actor=TWO, event=event)
    row = Event.objects.get(house=kit.house, chain__name=receipt.chain, seq=receipt.seq)
    with guards_off() as cursor:
        cursor.execute(
            "INSERT INTO audit_keyrotation (house_id, epoch, size, vkey, event_id) VALUES (%s, 1, %s, %s, %s)",
            [kit.house.id, size, second.key(kit.house).text, row.id],
        )
    sequence(kit, NEW)
    for report in (auditing.verify_house(kit.house), export(kit, tmp_path / "export", old)):
        found = [finding for finding in report.findings if finding.code == "key_not_rotated"]
        assert any(problem in finding.problem for finding in found), report.findings


def test_a_rotation_that_comes_into_the_log_after_the_new_key_has_signed_is_found(
    kit: Kit, old: Signer, tmp_path: Path
) -> None:
    """A thief who gets the old key later cannot name a key for checkpoints that were made before."""
    rotated = rotate(kit, old)
    event = Event.objects.get(id=rotated.event_id)
    last = SignedCheckpoint.objects.get(house=kit.house)
    with guards_off() as cursor:  # the event is moved behind a checkpoint
        cursor.execute("DELETE FROM audit_keyrotation WHERE house_id = %s", [kit.house.id])
        cursor.execute("DELETE FROM audit_event WHERE id = %s", [event.id])
        cursor.execute("UPDATE audit_chainhead SET seq = 0, hash = repeat('0', 64) WHERE id = %s", [event.chain_id])
    note(kit, "house", 2)
    sequence(kit, old)
    data = event.doc["data"]
    with transaction.atomic():
        record(
            chain=f"log/{kit.house.code}", house=kit.house, actor=TWO,
            event=AnyEvent(kind="log.key_rotated", content=data, approver=APPROVER),
        )  # fmt: skip
    newest = Event.objects.filter(house=kit.house).latest("id")
    with guards_off() as cursor:
        cursor.execute(
            "INSERT INTO audit_keyrotation (house_id, epoch, size, vkey, event_id) VALUES (%s, 1, %s, %s, %s)",
            [kit.house.id, last.size, data["new_key"], newest.id],
        )
    resigned(kit, NEW, 1)
    sequence(kit, NEW)
    for report in (auditing.verify_house(kit.house), export(kit, tmp_path / "export", old)):
        assert any("not one of those that the first checkpoint" in one.problem for one in report.findings)


# --- The command -----------------------------------------------------------------------------------------------------


def test_the_command_rotates_and_may_run_again(kit: Kit, old: Signer, settings: Any, capsys: Any) -> None:
    with pytest.raises(CommandError, match="CASINO_LOG_KEY_OLD"):
        call_command("rotate_log_key", kit.house.code, reason="a year is over")
    settings.CASINO_LOG_KEY_OLD, settings.CASINO_LOG_KEY = settings.CASINO_LOG_KEY, f"hex:{'07' * 32}"
    with typed():
        call_command("rotate_log_key", kit.house.code, reason="a year is over")
    assert NEW.key(kit.house).text in capsys.readouterr().out
    rotated = Event.objects.get(id=KeyRotation.objects.get(house=kit.house).event_id).doc
    assert (rotated["actor"], rotated["role"], rotated["approver"]) == ("alma", "admin", "bea")
    with typed():
        call_command("rotate_log_key", kit.house.code, reason="a year is over")
    assert "already" in capsys.readouterr().out
    assert KeyRotation.objects.filter(house=kit.house).count() == 1
    settings.CASINO_LOG_KEY_OLD, settings.CASINO_LOG_KEY = settings.CASINO_LOG_KEY, f"hex:{'08' * 32}"
    with typed(), pytest.raises(CommandError, match=r"\[log_rotation_pending\]"):
        call_command("rotate_log_key", kit.house.code, reason="again")
    with pytest.raises(CommandError, match="There is no house"):
        call_command("rotate_log_key", "NOWHERE", reason="again")

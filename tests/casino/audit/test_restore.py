"""A database that was rolled back under its checkpoints writes nothing until two people open a new epoch."""

import io
import json
import math
import os
import subprocess
import sys
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections, transaction

from casino.audit import epochs, guard, outside
from casino.audit.models import Epoch, Event, Leaf, Log, SignedCheckpoint
from casino.audit.sequencing import Sequencer
from casino.audit.services import record
from casino.audit.signing import Signer
from casino.audit.verifier import parse_note, verify_note
from casino.core import sql
from casino.core.errors import LogRefused
from casino.houses.models import House
from casino.staff.models import Role, Staff, TerminalKind, TerminalToken
from casino.staff.services import hire
from tests.casino.any_event import USUAL, AnyEvent
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.logs import chain_order, note, notes_outside
from tests.proof.superuser import guards_off

PASSWORD = "correct horse battery"
#: What a backup brings back of a house's audit trail, and which of its rows are this house's.
TABLES = {
    "audit_event": "house_id = %(house)s",
    "audit_posting": "house_id = %(house)s",
    "audit_mark": "house_id = %(house)s",
    "audit_chainhead": "house_id = %(house)s",
    "audit_leaf": "house_id = %(house)s",
    "audit_tile": "house_id = %(house)s",
    "audit_checkpoint": "house_id = %(house)s",
    "audit_log": "house_id = %(house)s",
    "audit_epoch": "house_id = %(house)s",
    "audit_keyrotation": "house_id = %(house)s",
}


def backup(kit: Kit) -> dict[str, str]:
    """Every audit row of a house, a JSON array a table."""
    found = {}
    with connections["owner"].cursor() as cursor:
        for table, mine in TABLES.items():
            cursor.execute(
                f"SELECT coalesce(json_agg(row), '[]')::text FROM {table} row WHERE {mine}", {"house": kit.house.id}
            )
            found[table] = cursor.fetchone()[0]
    return found


def restore(kit: Kit, rows: dict[str, str], *, pooled: bool = False) -> None:
    """Put the rows of a backup in the place of today's; sessions are new afterwards, except behind a pooler."""
    with guards_off() as cursor:
        order = sorted(TABLES, key=lambda table: table in ("audit_event", "audit_chainhead"))
        order = [
            "audit_posting",
            *(t for t in order if t not in ("audit_posting", "audit_chainhead")),
            "audit_chainhead",
        ]
        for table in order:
            cursor.execute(f"DELETE FROM {table} WHERE {TABLES[table]}", {"house": kit.house.id})
        for table in reversed(order):
            cursor.execute(
                "SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute "
                "WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''",
                [table],
            )
            names = cursor.fetchone()[0]
            cursor.execute(
                f"INSERT INTO {table} ({names}) SELECT {names} FROM json_populate_recordset(NULL::{table}, %s::json)",
                [rows[table]],
            )
    if not pooled:
        connections.close_all()


def people(kit: Kit, *roles: Role) -> list[Staff]:
    """Staff with passwords, one for each role."""
    return [
        hire(
            house=kit.house,
            login=f"{role}{number}@{kit.house.code}",
            name="N",
            roles=[role],
            password=PASSWORD,
            actor=ACTOR,
        )
        for number, role in enumerate(roles)
    ]


def open_epoch(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, *logins: str, passwords: str = PASSWORD, healthy: bool = False
) -> str:
    """Run the command as two people at a keyboard would."""
    lines = "".join(f"{login}\n{passwords}\n" for login in logins)
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    out = io.StringIO()
    call_command("open_epoch", kit.house.code, "--reason", "the disk died", healthy=healthy, stdout=out)
    return out.getvalue()


@pytest.fixture
def restored(kit: Kit) -> tuple[Kit, Desk, list[Staff]]:
    """A house that was restored to before its last checkpoints, with events in the backup that were in no log yet."""
    kit.table()
    staff = people(kit, Role.AUDITOR, Role.ADMIN, Role.FLOOR, Role.AUDITOR)
    dealer = kit.dealer()
    kit.sequence()
    note(kit, "house", 3)
    rows = backup(kit)
    note(kit, "table/T1", 300)
    kit.sequence()
    note(kit, "house", 1)
    kit.sequence()
    restore(kit, rows)
    return kit, dealer, staff


@pytest.mark.usefixtures("all_running")
def test_a_restored_house_reads_but_does_not_write(
    restored: tuple[Kit, Desk, list[Staff]], caplog: pytest.LogCaptureFixture
) -> None:
    kit, dealer, _ = restored
    before = Event.objects.filter(chain__house=kit.house).count()
    for _ in range(2):
        answer = dealer.post("open")
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (503, "log_rolled_back"), answer.text
        outside_says = parse_note(notes_outside(kit)[-1]).checkpoint
        assert problem["outside"] == {"epoch": 1, "size": outside_says.size, "root": outside_says.root.hex()}
        assert problem["database"]["size"] < outside_says.size
        assert str(outside_says.size) in problem["detail"]
    assert dealer.refresh()["state"] == "closed"
    assert Event.objects.filter(chain__house=kit.house).count() == before
    ready = kit.http(None).get("/readyz")
    assert ready.status_code == 200 and ready.json()["status"] == "read_only"
    # Houses that other tests have left behind have no sequencer.
    assert set(ready.json()) - {"late_log_count", "silent_streams_count"} == {
        "status",
        "checks",
        "read_only_house_count",
    }
    assert ready.json()["read_only_house_count"] >= 1
    assert f"house {kit.house.code} is read-only (log_rolled_back): A checkpoint outside" in caplog.text
    assert kit.house.code not in ready.text, "anybody may ask"
    with pytest.raises(LogRefused, match="size"):
        Sequencer(Signer.from_settings()).publish(kit.house.id)
    going = Sequencer(Signer.from_settings())
    # What other tests have left behind would take seconds.
    going._due.update(dict.fromkeys((house for house in going.pending() if house != kit.house.id), math.inf))
    assert going.round() == 0
    assert Event.objects.filter(chain__house=kit.house, leaf=None).count() == 3, "the sequencer leaves it alone"


def test_a_restore_under_living_connections_is_noticed_within_half_a_minute(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pooler keeps the clients' connections when the server behind it is restored."""
    kit.sequence()
    now, examined = 1000.0, []
    examine = guard.examine

    def counted(house: House, using: str = DEFAULT_DB_ALIAS) -> None:
        if using == DEFAULT_DB_ALIAS:
            examined.append(now)
        examine(house, using)

    monkeypatch.setattr(guard, "monotonic", lambda: now)
    monkeypatch.setattr(guard, "examine", counted)
    guard.forget()
    rows = backup(kit)
    note(kit, "house", 3)
    now += 30
    note(kit, "house", 1)
    assert examined == [1000.0], "a good answer is kept for a while"
    now += 1
    note(kit, "house", 1)
    assert examined == [1000.0, 1031.0]
    kit.sequence()
    session = connection.connection
    restore(kit, rows, pooled=True)
    now += 31
    for _ in range(2):
        with pytest.raises(LogRefused) as refused:
            note(kit, "house", 1)
        assert refused.value.code == "log_rolled_back"
    assert connection.connection is session
    assert examined == [1000.0, 1031.0, 1062.0, 1062.0], "a refusal is never kept"


def test_two_people_open_a_new_epoch_and_the_house_goes_on(
    restored: tuple[Kit, Desk, list[Staff]], monkeypatch: pytest.MonkeyPatch
) -> None:
    kit, dealer, (auditor, admin, *_) = restored
    assert dealer.post("open").status_code == 503
    lost = parse_note(notes_outside(kit)[-1])
    had = SignedCheckpoint.objects.filter(house=kit.house).latest("size")
    waiting = Event.objects.filter(chain__house=kit.house, leaf=None).count()
    assert waiting == 3
    assert "Epoch 2" in open_epoch(kit, monkeypatch, auditor.login, admin.login)
    # Versions are given again: those who read the table before the restore must sign in and read it again.
    assert dealer.post("open").status_code == 401 and not TerminalToken.objects.filter(user__house=kit.house).exists()
    assert kit.dealer().ok("open")["audit"]["chain"] == "table/T1", "writes go on at once"

    checkpoint = kit.sequence()
    noted = 3  # of the new dealer: hired, terminal enrolled, signed in
    assert checkpoint.origin.endswith("/2") and checkpoint.size == 1 + waiting + noted + 1
    chain_order(kit)
    first = Leaf.objects.get(house=kit.house, epoch=2, leaf_index=0).event
    recorded = json.loads(first.payload)
    assert (recorded["chain"], recorded["kind"]) == (f"log/{kit.house.code}", "log.epoch_opened")
    assert (recorded["actor"], recorded["approver"]) == (auditor.login, admin.login)
    assert recorded["reason"] == "the disk died"
    assert recorded["data"] == {
        "epoch": 2,
        "note": notes_outside(kit)[-2],
        "old_epoch": 1,
        "old_size": lost.checkpoint.size,
        "old_root": lost.checkpoint.root.hex(),
        "restored_epoch": 1,
        "restored_size": had.size,
        "restored_root": bytes(had.root).hex(),
        "refused": "log_rolled_back",
    }
    guard.forget()
    guard.require(kit.house)
    assert notes_outside(kit)[-1] == SignedCheckpoint.objects.get(house=kit.house, epoch=2).note


def test_both_epochs_are_proven_over_http(
    restored: tuple[Kit, Desk, list[Staff]], monkeypatch: pytest.MonkeyPatch
) -> None:
    kit, _, (auditor, admin, *_) = restored
    open_epoch(kit, monkeypatch, auditor.login, admin.login)
    kit.sequence()
    desk = kit.office()
    newest = verify_note(desk.get("audit/checkpoint").text, desk.get("audit/key").text.strip())
    assert newest.origin.endswith("/2")
    assert parse_note(desk.get("audit/checkpoint?epoch=1").text).checkpoint.origin.endswith("/1")
    for chain, seq, epoch in ((f"house/{kit.house.code}", 1, 1), (f"log/{kit.house.code}", 1, 2)):
        proof = desk.http.get("/api/v1/audit/proofs/inclusion", params={"chain": chain, "seq": seq}).json()
        assert proof["epoch"] == epoch
    assert desk.get("audit/export").text.startswith('{"actor":"auditor0@')


@pytest.mark.parametrize(
    ("who", "password", "code"),
    [
        ((0, 0), PASSWORD, "four_eyes"),
        ((0, 2), PASSWORD, "forbidden"),
        ((1, 1), PASSWORD, "four_eyes"),
        ((0, 1), "wrong password", "sign_in_refused"),
    ],
    ids=["one person twice", "not the floor", "an administrator twice", "wrong passwords"],
)
def test_it_takes_two_of_the_right_people(
    restored: tuple[Kit, Desk, list[Staff]],
    monkeypatch: pytest.MonkeyPatch,
    who: tuple[int, int],
    password: str,
    code: str,
) -> None:
    kit, dealer, staff = restored
    with pytest.raises(CommandError, match=rf"\[{code}\]"):
        open_epoch(kit, monkeypatch, *(staff[number].login for number in who), passwords=password)
    assert not Epoch.objects.filter(house=kit.house).exists()
    assert dealer.post("open").status_code == 503


def test_the_giver_of_a_password_cannot_open_an_epoch_with_it(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    auditor, admin = people(kit, Role.AUDITOR, Role.ADMIN)
    Staff.objects.filter(login=auditor.login).update(password_givers=[admin.login])
    for _ in range(2):
        with pytest.raises(CommandError, match=r"may know both passwords.*\[four_eyes\]"):
            open_epoch(kit, monkeypatch, auditor.login, admin.login)
    assert not Epoch.objects.filter(house=kit.house).exists()
    payloads = Event.objects.filter(chain__house=kit.house).order_by("id").values_list("payload", flat=True)
    recorded = [event for event in map(json.loads, payloads) if event["kind"] == "attempt.refused"]
    assert [(event["actor"], event["data"]["operation"], event["data"]["code"]) for event in recorded] == [
        (auditor.login, "open_epoch", "four_eyes")
    ] * 2


def test_a_house_that_may_not_write_refuses_without_telling(
    restored: tuple[Kit, Desk, list[Staff]], monkeypatch: pytest.MonkeyPatch
) -> None:
    kit, _, (auditor, admin, *_) = restored
    Staff.objects.filter(login=auditor.login).update(password_givers=[admin.login])
    before = Event.objects.filter(chain__house=kit.house).count()
    with pytest.raises(CommandError, match=r"\[four_eyes\]"):
        open_epoch(kit, monkeypatch, auditor.login, admin.login)
    assert Event.objects.filter(chain__house=kit.house).count() == before


def test_a_lock_does_not_keep_two_people_from_opening_an_epoch(
    restored: tuple[Kit, Desk, list[Staff]], monkeypatch: pytest.MonkeyPatch
) -> None:
    kit, _, (auditor, admin, *_) = restored
    for _ in range(5):
        with pytest.raises(CommandError, match=r"\[sign_in_refused\]"):
            open_epoch(kit, monkeypatch, auditor.login, admin.login, passwords="wrong")
    with pytest.raises(CommandError, match=r"\[too_many_attempts\]"):
        open_epoch(kit, monkeypatch, auditor.login, admin.login)
    command = ["unlock_login", kit.house.code, auditor.login, "--reason", "mistyped"]
    before = Event.objects.filter(chain__house=kit.house).count()
    with pytest.raises(CommandError, match="log_rolled_back"):
        call_command(*command)
    err = io.StringIO()
    call_command(*command, "--unrecorded", stderr=err)
    assert "NOT RECORDED" in err.getvalue() and Event.objects.filter(chain__house=kit.house).count() == before
    assert "Epoch 2" in open_epoch(kit, monkeypatch, auditor.login, admin.login)


def test_restored_again_and_opened_again(
    restored: tuple[Kit, Desk, list[Staff]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Back behind the first new epoch: the third one's number is new, whatever the database has forgotten."""
    kit, _, (auditor, admin, _, other) = restored
    rows = backup(kit)
    open_epoch(kit, monkeypatch, auditor.login, admin.login)
    kit.sequence()
    restore(kit, rows)
    _, token = kit.hire(Role.DEALER, TerminalKind.TABLE, "T1", noted=False)
    answer = Desk(kit.http(token), "/api/v1/tables/T1").post("open", version=1)
    assert answer.json()["code"] == "log_rolled_back" and answer.json()["outside"]["epoch"] == 2
    assert "Epoch 3" in open_epoch(kit, monkeypatch, other.login, auditor.login)
    kit.dealer().ok("open")
    assert kit.sequence().origin.endswith("/3")
    chain_order(kit)
    assert list(Log.objects.filter(house=kit.house).order_by("epoch").values_list("epoch", flat=True)) == [1, 3]


def test_another_tree_of_the_same_size_is_no_continuation(kit: Kit) -> None:
    """The backup was written on in another way, up to the same size."""
    kit.sequence()
    rows = backup(kit)
    note(kit, "house", 2)
    kit.sequence()
    [folder] = outside.folders()
    file = outside.notes_file(folder, kit.house)
    held = file.read_bytes()
    restore(kit, rows)
    file.write_bytes(held.split(b"\n\n", 2)[0] + b"\n\n" + held.split(b"\n\n", 2)[1] + b"\n\n")
    note(kit, "table/T1", 2)
    kit.sequence()
    file.write_bytes(held)
    guard.forget()
    with pytest.raises(LogRefused, match="differs from the checkpoint"):
        note(kit, "house", 1)


def test_before_the_log_was_begun(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    auditor, admin = people(kit, Role.AUDITOR, Role.ADMIN)
    rows = backup(kit)
    kit.sequence()
    restore(kit, rows)
    with pytest.raises(LogRefused, match="epoch 0"):
        note(kit, "house", 1)
    open_epoch(kit, monkeypatch, auditor.login, admin.login)
    note(kit, "house", 1)
    assert kit.sequence().origin.endswith("/2")


# --- Files that are lost or damaged ----------------------------------------------------------------------------------


def test_a_lost_file_refuses_writes_until_an_epoch_is_opened(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    auditor, admin = people(kit, Role.AUDITOR, Role.ADMIN)
    kit.sequence()
    note(kit, "house", 1)
    kit.sequence()
    [folder] = outside.folders()
    file = outside.notes_file(folder, kit.house)
    held = file.read_bytes()
    for content in (None, b"", b"\n", held[:40]):
        file.unlink(missing_ok=True)
        if content is not None:
            file.write_bytes(content)
        guard.forget()
        with pytest.raises(LogRefused) as refused:
            note(kit, "house", 1)
        assert refused.value.code == "outside_checkpoint_missing"
    file.unlink()
    open_epoch(kit, monkeypatch, auditor.login, admin.login)
    note(kit, "house", 1)
    kit.sequence()
    assert len(notes_outside(kit)) == 3, "what the database has stands outside again"
    guard.forget()
    note(kit, "house", 1)


def test_a_file_that_says_what_nobody_signed_refuses_writes(kit: Kit) -> None:
    kit.sequence()
    [folder] = outside.folders()
    file = outside.notes_file(folder, kit.house)
    held = file.read_text()
    size = parse_note(notes_outside(kit)[-1]).checkpoint.size
    for content in (held.replace(f"\n{size}\n", f"\n{size - 1}\n"), "x" * 9000):
        file.write_text(content)
        guard.forget()
        with pytest.raises(LogRefused) as refused:
            note(kit, "house", 1)
        assert refused.value.code == "outside_checkpoint_unreadable"
    file.write_text(held)
    note(kit, "house", 1)
    outside.key_file(folder, kit.house).unlink()
    guard.forget()
    with pytest.raises(LogRefused) as refused:
        note(kit, "house", 1)
    assert refused.value.code == "outside_checkpoint_missing"


def test_a_new_signing_key_begins_with_an_epoch(kit: Kit, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    auditor, admin = people(kit, Role.AUDITOR, Role.ADMIN)
    kit.sequence()
    old = Log.objects.get(house=kit.house).vkey
    settings.CASINO_LOG_KEY = f"hex:{'07' * 32}"
    note(kit, "house", 1)
    with pytest.raises(LogRefused, match="another key"):
        kit.sequence()
    with pytest.raises(CommandError, match=r"--healthy.*\[log_healthy\]"):
        open_epoch(kit, monkeypatch, auditor.login, admin.login)
    assert not Epoch.objects.filter(house=kit.house).exists(), "nobody said that it shall be done all the same"
    with pytest.raises(CommandError, match=r"\[sign_in_refused\]"):
        open_epoch(kit, monkeypatch, auditor.login, admin.login, healthy=True, passwords="wrong")
    recorded = Event.objects.filter(chain__house=kit.house).latest("id").doc
    assert (recorded["kind"], recorded["request"]) == ("staff.sign_in_refused", "open_epoch")
    desk = kit.office()
    open_epoch(kit, monkeypatch, auditor.login, admin.login, healthy=True)
    assert desk.get("audit/checkpoint").status_code == 200, "nobody is signed out of a healthy house"
    assert "refused" not in Epoch.objects.get(house=kit.house).event.doc["data"]
    assert kit.sequence().origin.endswith("/2")
    new = Log.objects.get(house=kit.house, epoch=2).vkey
    [folder] = outside.folders()
    assert new != old and outside.key_file(folder, kit.house).read_text() == f"{old}\n{new}\n"
    guard.forget()
    note(kit, "house", 1)


_OPEN = "SELECT audit_open_epoch(%s, 2, 'o', %s, %s, %s, NULL, NULL, NULL)"


def test_an_epoch_cannot_be_opened_without_its_event(kit: Kit) -> None:
    """Not by the owner either: with an event of another transaction, of another kind, one that is not there."""
    kit.sequence()
    chain, size = f"house/{kit.house.code}", Log.objects.get(house=kit.house).size
    note(kit, "house", 1)
    seq = Event.objects.filter(chain__house=kit.house, chain__name=chain).latest("seq").seq
    for number in (seq, seq + 1, seq + 2):
        with pytest.raises(DatabaseError, match="begins with the event"), transaction.atomic(using="owner"):
            record(
                chain=chain,
                house=kit.house,
                actor=ACTOR,
                event=AnyEvent(kind="house.duty", content=USUAL["house.duty"]),
                using="owner",
            )
            sql.rows(_OPEN, [kit.house.id, size, chain, number], "owner")
    assert not Epoch.objects.filter(house=kit.house).exists()


def test_the_application_cannot_open_an_epoch(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even with the event that records it: an attacker in the application does not have two people."""
    kit.sequence()
    chain, size = f"log/{kit.house.code}", Log.objects.get(house=kit.house).size
    with pytest.raises(DatabaseError, match="permission denied") as refused, transaction.atomic():
        record(chain=chain, house=kit.house, actor=ACTOR, event=AnyEvent(kind="log.epoch_opened", content={}))
        sql.rows(_OPEN, [kit.house.id, size, chain, 1])
    assert refused.value.__cause__.sqlstate == "42501"  # type: ignore[union-attr]
    auditor, admin = people(kit, Role.AUDITOR, Role.ADMIN)
    monkeypatch.setattr(epochs, "ALIAS", "default")
    with pytest.raises(CommandError, match=r"DATABASE_OWNER_URL.*\[owner_needed\]"):
        open_epoch(kit, monkeypatch, auditor.login, admin.login, healthy=True)
    assert not Event.objects.filter(chain__house=kit.house, chain__name=chain).exists()
    monkeypatch.undo()
    open_epoch(kit, monkeypatch, auditor.login, admin.login, healthy=True)
    assert Epoch.objects.get(house=kit.house).event.doc["actor"] == auditor.login


def test_a_log_without_a_folder_outside_is_no_setting() -> None:
    script = "import casino.settings as s; print(len(s.CASINO_CHECKPOINT_DIRS))"
    answers = {}
    for given in (os.pathsep, "", f"a{os.pathsep}b"):
        environ = os.environ | {"CASINO_CHECKPOINT_DIR": given}
        answers[given] = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True)
    assert "CASINO_CHECKPOINT_DIR: names no folder" in answers[os.pathsep].stderr
    assert [answers[given].stdout.strip() for given in ("", f"a{os.pathsep}b")] == ["1", "2"]

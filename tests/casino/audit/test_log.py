"""The log of a house: what the sequencer makes of the chains, who may write it, what stands outside the database."""

import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from django.db import DatabaseError, connection, connections, transaction

from casino.api import health
from casino.audit import outside, selectors
from casino.audit.models import Event, Leaf, Log, SignedCheckpoint, Tile
from casino.audit.proofs import Hashes
from casino.audit.sequencing import Sequencer
from casino.audit.signing import LocalSigningKey, Signer
from casino.audit.verifier import leaf_hash, root_of, split_notes, verify_note
from casino.core.errors import LogDamaged, OutsideCheckpointMissing, OutsideCheckpointUnreadable
from casino.reports import tasks
from tests.casino.kit import Kit
from tests.casino.logs import chain_order, note, notes_outside


def test_every_event_is_a_leaf_in_the_order_of_its_chain(kit: Kit) -> None:
    checkpoint = kit.sequence()
    leaves = list(Leaf.objects.filter(house=kit.house).order_by("leaf_index").select_related("event"))
    assert [leaf.leaf_index for leaf in leaves] == list(range(checkpoint.size))
    assert len(leaves) == Event.objects.filter(chain__house=kit.house).count()
    assert [bytes(leaf.leaf_hash) for leaf in leaves] == [leaf_hash(leaf.event.payload.encode()) for leaf in leaves]
    assert checkpoint.root == root_of([bytes(leaf.leaf_hash) for leaf in leaves])
    chain_order(kit)


def test_checkpoints_are_signed_for_this_house_and_kept_outside(kit: Kit) -> None:
    first = kit.sequence()
    note(kit, "house", 3)
    second = kit.sequence()
    log = Log.objects.get(house=kit.house)
    assert (first.origin, second.size) == (f"cukassza/{kit.house.code}-{kit.house.id.hex[:8]}/1", first.size + 3)
    notes = list(SignedCheckpoint.objects.filter(house=kit.house).order_by("size").values_list("note", flat=True))
    assert [verify_note(text, log.vkey) for text in notes] == [first, second]
    for folder in outside.folders():
        assert split_notes(outside.notes_file(folder, kit.house).read_text()) == notes
        assert outside.key_file(folder, kit.house).read_text() == f"{log.vkey}\n"


def test_nothing_new_is_no_checkpoint(kit: Kit) -> None:
    size = kit.sequence().size
    sequencer = Sequencer(Signer.from_settings())
    assert sequencer.publish(kit.house.id) is None
    assert kit.house.id not in sequencer.pending()
    assert SignedCheckpoint.objects.filter(house=kit.house).count() == 1
    assert Log.objects.get(house=kit.house).size == size


def test_a_log_over_the_borders_of_tiles(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """In portions, by one sequencer and by another that takes the log up from its tiles."""
    monkeypatch.setattr("casino.audit.sequencing.MOST", 100)
    sequencer = Sequencer(Signer.from_settings())
    for events in (250, 300):
        note(kit, "house", events)
        note(kit, "table/T1", 40)
        while sequencer.publish(kit.house.id):
            pass
        sequencer = Sequencer(Signer.from_settings())
    leaves = [bytes(leaf) for leaf in Leaf.objects.filter(house=kit.house).order_by("leaf_index").values_list(
        "leaf_hash", flat=True)]  # fmt: skip
    hashes = Hashes(kit.house.id, 1)
    for size, root in SignedCheckpoint.objects.filter(house=kit.house).values_list("size", "root"):
        assert bytes(root) == root_of(leaves[:size]) == hashes.root(size)
    tiles = Tile.objects.filter(house=kit.house).order_by("tile_index")
    assert [(tile.level, bytes(tile.hash)) for tile in tiles] == [
        (1, root_of(leaves[start : start + 256])) for start in range(0, len(leaves) - 255, 256)
    ]
    assert len(leaves) > 600
    chain_order(kit)


# --- Concurrency -----------------------------------------------------------------------------------------------------


def test_an_older_transaction_that_writes_later_does_not_overtake(kit: Kit) -> None:
    """The transaction with the smaller id takes the chain's lock second, while a still older one stays open: following
    transaction ids would take event 2 of the chain before event 1."""
    kit.sequence()
    with _raw() as oldest, _raw() as early, _raw() as late:
        for held in (oldest, early):
            held.execute("SELECT pg_current_xact_id()")
        _append(late, kit, "first")
        late.commit()
        _append(early, kit, "second")
        early.commit()
        kit.sequence()
        assert _recorded(kit) == ["first", "second"]
        _append(oldest, kit, "third")
        size = kit.sequence().size
        assert _recorded(kit) == ["first", "second"], "what is not committed is not in the log"
        oldest.commit()
    assert kit.sequence().size == size + 1
    chain_order(kit)


def test_a_long_open_transaction_holds_no_other_chain_back(kit: Kit) -> None:
    size = kit.sequence().size
    with _raw() as slow:
        _append(slow, kit, "slow")
        note(kit, "table/T2", 5)
        assert kit.sequence().size == size + 5
        slow.rollback()
    assert kit.sequence().size == size + 5


def test_concurrent_writers_lose_nothing_and_keep_their_order(kit: Kit) -> None:
    """Six writers on four chains, a third of their transactions rolled back, while the log grows under them."""
    stop, written = threading.Event(), defaultdict[str, int](int)
    lock = threading.Lock()

    def write(writer: int) -> None:
        number = 0
        try:
            while not stop.is_set():
                number += 1
                chains = sorted({f"table/T{(writer + number) % 4}", f"table/T{writer * number % 4}"})
                try:
                    with transaction.atomic():
                        for chain in chains:
                            note(kit, chain, 1)
                        time.sleep(0.001 * (writer % 3))
                        if (writer + number) % 3 == 0:
                            raise InterruptedError
                except InterruptedError:
                    continue
                with lock:
                    for chain in chains:
                        written[chain] += 1
        finally:
            connections.close_all()

    before = kit.sequence().size
    with ThreadPoolExecutor(6) as pool:
        writers = [pool.submit(write, writer) for writer in range(6)]
        sequencer, rounds, deadline = Sequencer(Signer.from_settings()), 0, time.monotonic() + 3
        while time.monotonic() < deadline:
            rounds += sequencer.publish(kit.house.id) is not None
            time.sleep(0.005)
        stop.set()
        for writer in writers:
            writer.result()
    assert rounds > 20
    assert kit.sequence().size == before + sum(written.values())
    assert {chain: len(_recorded(kit, chain)) for chain in written} == written
    chain_order(kit)


def test_two_sequencers_at_once_change_nothing_twice(kit: Kit) -> None:
    """Without the lock that keeps a second one waiting: the one that is behind is refused, and goes on from there."""
    first, second = Sequencer(Signer.from_settings()), Sequencer(Signer.from_settings())
    first.publish(kit.house.id)
    note(kit, "house", 2)
    assert second.publish(kit.house.id)
    note(kit, "house", 2)
    with pytest.raises(LogDamaged, match="was expected"):
        first.publish(kit.house.id)
    assert first.publish(kit.house.id)

    def follow(sequencer: Sequencer) -> int:
        refused = 0
        try:
            for _ in range(40):
                try:
                    sequencer.publish(kit.house.id)
                except (LogDamaged, OutsideCheckpointUnreadable):
                    refused += 1
        finally:
            connections.close_all()
        return refused

    with ThreadPoolExecutor(3) as pool:
        both = [pool.submit(follow, sequencer) for sequencer in (first, second)]
        for _ in range(60):
            note(kit, "house", 1)
        for one in both:
            one.result()
    kit.sequence()
    chain_order(kit)


# --- Outside the database --------------------------------------------------------------------------------------------


def test_notes_that_a_file_lacks_are_appended(kit: Kit) -> None:
    kit.sequence()
    [folder] = outside.folders()
    file = outside.notes_file(folder, kit.house)
    before = file.read_bytes()
    for _ in range(3):
        note(kit, "house", 1)
        kit.sequence()
    whole = file.read_bytes()
    for kept in (len(before), len(before) + 1, len(before) + 100, len(whole) - 1):
        file.write_bytes(whole[:kept])
        Sequencer(Signer.from_settings()).publish(kit.house.id)
        assert file.read_bytes() == whole, "also the rest of a note that was cut"


def test_a_sequencer_that_slept_does_not_repeat_what_the_next_one_wrote(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped between its commit and the file for so long that its lock went to another."""
    kit.sequence()
    sleeper = Sequencer(Signer.from_settings())
    sleeper.publish(kit.house.id)
    note(kit, "house", 1)
    real = outside.append

    def slept(*args: object, **options: object) -> int:
        monkeypatch.setattr(outside, "append", real)
        note(kit, "house", 1)
        kit.sequence()
        return real(*args, **options)

    monkeypatch.setattr(outside, "append", slept)
    with pytest.raises(OutsideCheckpointUnreadable, match="Another process"):
        sleeper.publish(kit.house.id)
    note(kit, "house", 1)
    assert sleeper.publish(kit.house.id), "it takes the log up again"
    assert notes_outside(kit) == list(
        SignedCheckpoint.objects.filter(house=kit.house).order_by("size").values_list("note", flat=True)
    )


def test_several_folders(kit: Kit, tmp_path, settings) -> None:  # type: ignore[no-untyped-def]
    settings.CASINO_CHECKPOINT_DIRS = [tmp_path / "a", tmp_path / "b" / "c"]
    kit.sequence()
    note(kit, "house", 1)
    kit.sequence()
    texts = [outside.notes_file(folder, kit.house).read_text() for folder in settings.CASINO_CHECKPOINT_DIRS]
    assert texts[0] == texts[1] and len(split_notes(texts[0])) == 2
    settings.CASINO_CHECKPOINT_DIRS.append(tmp_path / "new")
    with pytest.raises(OutsideCheckpointMissing):
        Sequencer(Signer.from_settings()).publish(kit.house.id)


@pytest.mark.slow
def test_a_disk_that_is_full_stops_the_log_until_it_is_not(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is ahead by what could not be kept outside; nothing is lost and the file goes on where it ended."""
    kit.sequence()
    sequencer = Sequencer(Signer.from_settings())
    assert sequencer.publish(kit.house.id) is None
    note(kit, "house", 1)
    real = outside._append

    def half(path, data: bytes, length: int | None = None) -> None:  # type: ignore[no-untyped-def]
        real(path, data[:50], length)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outside, "_append", half)
    for _ in range(2):
        assert sequencer.round() == 0
        sequencer._due.clear()
    monkeypatch.undo()
    note(kit, "house", 1)
    sequencer.round()
    assert notes_outside(kit) == list(
        SignedCheckpoint.objects.filter(house=kit.house).order_by("size").values_list("note", flat=True)
    )


# --- Who may -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT audit_take_up_log(%(house)s, 1, 'mine', 'mine')",
        "SELECT audit_sequence(%(house)s, 1, 0, NULL, 'mine', 100)",
        "SELECT audit_publish(%(house)s, 1, 1, '', now(), '', '{}', '{}', '{}')",
        "SELECT audit_lock_log(%(house)s)",
        "SELECT audit_open_epoch(%(house)s, 2, 'o', 1, 'house/x', 1, NULL, NULL, NULL)",
        "INSERT INTO audit_leaf (event_id, house_id, epoch, leaf_index, leaf_hash) VALUES (0, %(house)s, 1, 0, '')",
        "INSERT INTO audit_checkpoint (house_id, epoch, size, root, at, note) VALUES (%(house)s, 1, 1, '', now(), '')",
        "UPDATE audit_log SET size = size + 1 WHERE house_id = %(house)s",
        "UPDATE audit_mark SET seq = seq + 1",
        "DELETE FROM audit_tile",
        "INSERT INTO audit_epoch (house_id, epoch, event_id) VALUES (%(house)s, 2, 0)",
    ],
)
def test_the_application_cannot_write_the_log(kit: Kit, statement: str) -> None:
    kit.sequence()
    with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, {"house": kit.house.id})


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT audit_append(%(house)s, 'house/x', 'k', 'a', 'r', 't', 'q', '{}', NULL, NULL, NULL)",
        "SELECT audit_open_epoch(%(house)s, 2, 'o', 1, 'house/x', 1, NULL, NULL, NULL)",
        "INSERT INTO audit_event (chain_id, seq, xid, payload, leaf_hash) VALUES (1, 1, 1, '{}', '')",
        "UPDATE audit_chainhead SET seq = 0",
        "INSERT INTO audit_leaf (event_id, house_id, epoch, leaf_index, leaf_hash) VALUES (0, %(house)s, 1, 0, '')",
        "SELECT * FROM staff_staff",
        "SELECT * FROM ledger_entry",
    ],
)
def test_the_sequencer_can_do_nothing_else(kit: Kit, statement: str) -> None:
    refused = pytest.raises(DatabaseError, match="permission denied")
    with refused, transaction.atomic(using="sequencer"), connections["sequencer"].cursor() as cursor:
        cursor.execute(statement, {"house": kit.house.id})


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_leaf SET leaf_index = leaf_index + 1 WHERE house_id = %(house)s",
        "DELETE FROM audit_leaf WHERE house_id = %(house)s",
        "UPDATE audit_checkpoint SET size = 1 WHERE house_id = %(house)s",
        "DELETE FROM audit_checkpoint WHERE house_id = %(house)s",
        "DELETE FROM audit_log WHERE house_id = %(house)s",
        "UPDATE audit_log SET size = size - 1 WHERE house_id = %(house)s",
        "UPDATE audit_log SET vkey = 'mine' WHERE house_id = %(house)s",
        "UPDATE audit_log SET origin = 'mine' WHERE house_id = %(house)s",
        "UPDATE audit_mark m SET seq = m.seq - 1 FROM audit_chainhead h "
        "WHERE chain_id = h.id AND h.house_id = %(house)s",
        "DELETE FROM audit_mark USING audit_chainhead h WHERE h.id = chain_id AND h.house_id = %(house)s",
        "TRUNCATE audit_leaf",
        "TRUNCATE audit_tile",
        "TRUNCATE audit_checkpoint",
        "TRUNCATE audit_epoch",
        "TRUNCATE audit_log",
        "TRUNCATE audit_mark",
    ],
)
def test_not_even_the_owner_changes_what_is_in_the_log(kit: Kit, statement: str) -> None:
    kit.sequence()
    refused = pytest.raises(DatabaseError, match=r"append-only|only grows")
    with refused, transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(statement, {"house": kit.house.id})


def test_another_key_does_not_go_on_with_a_log(kit: Kit) -> None:
    kit.sequence()
    note(kit, "house", 1)
    with pytest.raises(LogDamaged, match="another key"):
        Sequencer(Signer(LocalSigningKey(b"k" * 32))).publish(kit.house.id)
    kit.sequence()


def _raw() -> psycopg.Connection:
    """A connection of the application's role beside Django's."""
    return psycopg.connect(**{k: v for k, v in connection.get_connection_params().items() if k in (
        "host", "port", "user", "password", "dbname")})  # fmt: skip


def _append(raw: psycopg.Connection, kit: Kit, word: str) -> None:
    raw.execute(
        "SELECT audit_append(%s, 'table/T1', 'test.note', 'a', 'r', 't', 'q', %s, NULL, NULL, NULL)",
        [kit.house.id, f'{{"word":"{word}"}}'],
    )


def _recorded(kit: Kit, chain: str = "table/T1") -> list[str]:
    """What the events of a chain say, in the order of the log."""
    leaves = Leaf.objects.filter(house=kit.house, event__chain__name=chain).order_by("leaf_index")
    return [doc["data"].get("word", "") for doc in leaves.values_list("event__doc", flat=True)]


@pytest.mark.usefixtures("all_running")
def test_a_log_that_stands_still_is_named(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kit.table()
    assert kit.house.code not in selectors.behind(60.0)
    monkeypatch.setattr(health, "SIGNED_WITHIN", timedelta(0))
    late = kit.http(None).get("/readyz")
    said = late.json()
    assert late.status_code == 200 and "log" in said["checks"] and said["late_log_count"] >= 1
    assert said["status"] in ("degraded", "read_only") and kit.house.code not in late.text, "anybody may ask"
    assert f"house {kit.house.code}: its log is" in caplog.text
    monkeypatch.setattr(tasks, "LOG_BEHIND", 0.0)
    assert tasks.check_log() >= 1
    assert f"house {kit.house.code}: its oldest event without a checkpoint" in caplog.text
    kit.sequence()
    caplog.clear()
    assert kit.http(None).get("/readyz").json().get("late_log_count", 0) == said["late_log_count"] - 1
    assert f"house {kit.house.code}: its log is" not in caplog.text
    assert kit.house.code not in selectors.behind(0.0)

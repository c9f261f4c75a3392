"""The sequencer computes again what it signs: rows that were altered before their checkpoint are not signed, and the
house writes nothing until they are as they were."""

import json
from collections.abc import Callable

import pytest

from casino.audit import guard, signed_rows
from casino.audit.models import Event, Log, SignedCheckpoint
from casino.audit.sequencing import Sequencer
from casino.audit.signed_rows import RowsDiffer
from casino.audit.signing import Signer
from casino.core.errors import LogDamaged, LogRefused
from casino.verification import auditing
from tests.casino.kit import Kit
from tests.casino.logs import note
from tests.casino.superuser import unguarded

HASHED = "encode(sha256('\\x00'::bytea || convert_to(payload, 'UTF8')), 'hex')"


def events(kit: Kit) -> list[Event]:
    """The events of the house's own chain that are not in the log yet."""
    unsigned = Event.objects.filter(house=kit.house, leaf=None, chain__name=kit.house.chain)
    return list(unsigned.order_by("seq"))


def update(kit: Kit, event: Event, assignments: str) -> None:
    """Change one event as a superuser."""
    with unguarded("audit_event") as cursor:
        cursor.execute(
            f"UPDATE audit_event SET {assignments} WHERE house_id = %s AND id = %s", [kit.house.id, event.id]
        )


def payload(kit: Kit) -> None:
    """The text of an event, not its hash."""
    update(kit, events(kit)[1], "payload = replace(payload, '\"amount\":2', '\"amount\":7')")


def payload_and_hash(kit: Kit) -> None:
    """The text of an event and its hash, not the event after it."""
    event = events(kit)[1]
    update(kit, event, "payload = replace(payload, '\"amount\":2', '\"amount\":7')")
    update(kit, event, f"leaf_hash = {HASHED}")


def last_payload_and_hash(kit: Kit) -> None:
    """The same of the last event, which only the chain's head knows."""
    event = events(kit)[-1]
    update(kit, event, "payload = replace(payload, '\"amount\":4', '\"amount\":7')")
    update(kit, event, f"leaf_hash = {HASHED}")


def number(kit: Kit) -> None:
    """The number that a payload names, its hash and all that follow it."""
    event = events(kit)[-1]
    doc = json.loads(event.payload)
    update(kit, event, f"payload = replace(payload, '\"seq\":{doc['seq']}', '\"seq\":{doc['seq'] + 9}')")
    update(kit, event, f"leaf_hash = {HASHED}")
    event.refresh_from_db()
    with unguarded("audit_chainhead") as cursor:
        cursor.execute("UPDATE audit_chainhead SET hash = %s WHERE id = %s", [event.leaf_hash, event.chain_id])


def other_chain(kit: Kit) -> None:
    """The chain that a payload names, its hash and the head."""
    event = events(kit)[-1]
    update(kit, event, f'payload = replace(payload, \'"chain":"{kit.house.chain}"\', \'"chain":"table/T1"\')')
    update(kit, event, f"leaf_hash = {HASHED}")
    event.refresh_from_db()
    with unguarded("audit_chainhead") as cursor:
        cursor.execute("UPDATE audit_chainhead SET hash = %s WHERE id = %s", [event.leaf_hash, event.chain_id])


ALTERED = [
    (payload, "does not have the hash"),
    (payload_and_hash, "predecessor otherwise"),
    (last_payload_and_hash, "head of the chain"),
    (number, "number or predecessor"),
    (other_chain, "names house, chain"),
]


def sequencer(kit: Kit) -> Sequencer:
    """A sequencer that has taken the house's log up and signed it."""
    found = Sequencer(Signer.from_settings())
    while found.publish(kit.house.id) is not None:
        pass
    return found


@pytest.mark.some_now(3)
@pytest.mark.usefixtures("all_running")
@pytest.mark.parametrize(("alter", "refusal"), ALTERED, ids=[alter.__name__ for alter, _ in ALTERED])
def test_rows_that_were_altered_before_they_are_signed_are_refused(
    kit: Kit, alter: Callable[[Kit], None], refusal: str
) -> None:
    running = sequencer(kit)
    note(kit, "house", 4)
    heads = "SELECT id, hash FROM audit_chainhead WHERE house_id = %s"
    before = SignedCheckpoint.objects.filter(house=kit.house).count()
    as_written = {event.id: (event.payload, event.leaf_hash) for event in events(kit)}
    with unguarded("audit_chainhead") as cursor:
        cursor.execute(heads, [kit.house.id])
        hashes = cursor.fetchall()
    alter(kit)
    for _ in range(2):  # one round that knows the log, and one that takes it up
        with pytest.raises(RowsDiffer, match=refusal):
            running.publish(kit.house.id)
    assert SignedCheckpoint.objects.filter(house=kit.house).count() == before
    assert [event.id for event in events(kit)] == list(as_written), "no leaf was made"
    # The house is read-only, and says why; the sequencer goes on trying.
    guard.forget()
    with pytest.raises(LogDamaged, match="does not sign the log"):
        note(kit, "house", 1)
    assert kit.http(None).get("/readyz").json()["read_only_house_count"] >= 1
    for number_, (text, hashed) in as_written.items():
        with unguarded("audit_event") as cursor:
            cursor.execute("UPDATE audit_event SET payload = %s, leaf_hash = %s WHERE id = %s", [text, hashed, number_])
    with unguarded("audit_chainhead") as cursor:
        for head, hashed in hashes:
            cursor.execute("UPDATE audit_chainhead SET hash = %s WHERE id = %s", [hashed, head])
    checkpoint = running.publish(kit.house.id)
    assert checkpoint is not None and checkpoint.size == Log.objects.get(house=kit.house).size
    assert Log.objects.get(house=kit.house).refusal == ""
    guard.forget()
    note(kit, "house", 1)
    running.publish(kit.house.id)
    assert auditing.verify_house(kit.house).findings == []


def test_rows_altered_between_sequencing_and_signing_are_refused(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """What memory holds of the leaves is not signed: the rows are read again, at the last moment."""
    running = sequencer(kit)
    note(kit, "house", 4)
    require = signed_rows.require_rows

    def altered_meanwhile(*given: object) -> None:
        payload(kit)
        require(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(signed_rows, "require_rows", altered_meanwhile)
    with pytest.raises(RowsDiffer, match="does not have the hash"):
        running.publish(kit.house.id)


@pytest.mark.parametrize("size", [3, 300])
def test_stored_hashes_that_differ_from_what_was_signed_are_refused(kit: Kit, size: int) -> None:
    """The right edge: leaves where they are few, a tile where there is one."""
    note(kit, "house", size)
    running = sequencer(kit)
    note(kit, "house", 1)
    table, column = ("audit_leaf", "leaf_hash") if size < 256 else ("audit_tile", "hash")
    first = "leaf_index = 0" if size < 256 else "tile_index = 0 AND level = 1"
    change = f"UPDATE {table} SET {column} = %s WHERE house_id = %s AND {first} RETURNING {column}"
    with unguarded(table) as cursor:
        cursor.execute(f"SELECT {column} FROM {table} WHERE house_id = %s AND {first}", [kit.house.id])
        [(stored,)] = cursor.fetchall()
        cursor.execute(change, [b"\x07" * 32, kit.house.id])
    with pytest.raises(RowsDiffer, match="root that was signed"):
        running.publish(kit.house.id)
    with pytest.raises(LogRefused):
        running.publish(kit.house.id)  # taken up again
    with unguarded(table) as cursor:
        cursor.execute(change, [bytes(stored), kit.house.id])
    assert running.publish(kit.house.id) is not None


def test_a_second_sequencer_makes_no_house_read_only(kit: Kit) -> None:
    """It is refused for another reason: the log has moved on."""
    first, second = sequencer(kit), sequencer(kit)
    note(kit, "house", 1)
    first.publish(kit.house.id)
    note(kit, "house", 1)
    with pytest.raises(LogDamaged, match="was expected"):
        second.publish(kit.house.id)
    assert Log.objects.get(house=kit.house).refusal == ""

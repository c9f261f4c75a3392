"""Settling: once, only after a replay that agrees, and also when broker or worker fail."""

import threading

import pytest
from celery import Celery
from django.db import DatabaseError, close_old_connections, connections, transaction

from casino.audit.models import Event
from casino.bookkeeping import books
from casino.celery import app
from casino.core import outbox
from casino.core.errors import NotFound
from casino.hands import settlement
from casino.hands.models import Hand, HandLine, HandState
from casino.houses.models import OutboxMessage
from casino.reports.verifying import verification
from casino.tables.models import TableState
from ledger.models import Transaction
from tests.casino.kit import SAMPLE, Kit
from tests.casino.superuser import unguarded


def alter_as_superuser(sql: str, *params: object) -> None:
    """Change rows with every trigger switched off, as only a database superuser can."""
    with unguarded("hands_handline", "hands_hand") as cursor:
        cursor.execute(sql, params)


def dispute(kit: Kit, hand: Hand) -> None:
    """The worked hand's log is altered while the worker looks at it, and put right afterwards."""
    change = "UPDATE hands_handline SET text = %s WHERE hand_id = %s AND seq = 20"
    alter_as_superuser(change, "p4 rb 600", hand.id)
    assert kit.settle() == [HandState.DISPUTED]
    alter_as_superuser(change, SAMPLE[19], hand.id)


def settled_transactions(kit: Kit) -> int:
    """How many settlements the ledger holds for this house."""
    return Transaction.objects.filter(book=kit.house.id, kind="hand.settled").count()


def test_a_task_delivered_many_times_settles_once(kit: Kit) -> None:
    kit.worked_hand()
    message = OutboxMessage.objects.get(house=kit.house)
    assert [settlement.resolve(message.id) for _ in range(3)] == [HandState.SETTLED] * 3
    assert settled_transactions(kit) == 1


def test_workers_at_the_same_time_settle_once(kit: Kit) -> None:
    kit.worked_hand()
    message = OutboxMessage.objects.get(house=kit.house)
    states: list[str] = []
    start = threading.Barrier(6)

    def work() -> None:
        start.wait()
        states.append(settlement.resolve(message.id))
        connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert states == [HandState.SETTLED] * 6
    assert settled_transactions(kit) == 1


@pytest.mark.some_now(3)
@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("UPDATE hands_handline SET text = 'p4 sm Aa9aKhXl' WHERE hand_id = %s AND seq = 24", "replay refused"),
        ("UPDATE hands_handline SET text = 'p4 rb 600' WHERE hand_id = %s AND seq = 20", "replay refused"),
        ("DELETE FROM hands_handline WHERE hand_id = %s AND seq = 24", "the log ends before the hand does"),
        ("UPDATE hands_hand SET stacks = '[20000, 15000, 9000, 40000]' WHERE id = %s", "the digest"),
        ("""UPDATE hands_hand SET result = jsonb_set(result, '{tax}', '0') WHERE id = %s""", "tax is 165 by replay"),
    ],
    ids=["card", "amount", "deleted", "stack", "result"],
)
def test_a_replay_that_disagrees_pays_nothing_and_freezes_the_pot(kit: Kit, sql: str, reason: str) -> None:
    dealer = kit.worked_hand()
    hand = Hand.objects.get(house=kit.house)
    alter_as_superuser(sql, hand.id)
    assert kit.settle() == [HandState.DISPUTED]
    assert settled_transactions(kit) == 0
    assert kit.balance("2030/T1", "2070/T1", "4010/T1") == [0, 3_300, 0]
    event = Event.objects.filter(chain__house=kit.house).latest("id").doc
    assert event["kind"] == "hand.disputed"
    assert reason in event["reason"]
    assert dealer.refresh()["state"] == TableState.DISPUTED
    refused = dealer.post("hands", {"mode": "physical"})
    assert (refused.status_code, refused.json()["code"]) == (409, "table_disputed")
    assert not verification(kit.house)["ok"]


def test_a_hand_altered_after_its_settlement_is_found(kit: Kit) -> None:
    kit.worked_hand()
    kit.settle()
    assert verification(kit.house)["ok"]
    hand = Hand.objects.get(house=kit.house)
    alter_as_superuser("UPDATE hands_handline SET text = 'p1 rb 100' WHERE hand_id = %s AND seq = 9", hand.id)
    assert [finding["hand"] for finding in verification(kit.house)["hand_findings"]] == ["T1-000001"]


def test_a_broker_that_is_away_delays_the_settlement_only(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    # Celery prefers the environment to its configuration.
    monkeypatch.delenv("CELERY_BROKER_URL")
    away = Celery("away", broker="redis+socket:///nonexistent/valkey.sock", set_as_current=False)
    away.conf.broker_transport_options = app.conf.broker_transport_options
    monkeypatch.setattr(outbox, "app", away)
    dealer = kit.worked_hand()
    message = OutboxMessage.objects.get(house=kit.house)
    assert (message.sent_at, message.deliveries) == (None, 0)
    assert dealer.refresh()["state"] == TableState.SETTLING
    kit.settle()
    assert dealer.refresh()["state"] == TableState.OPEN


def test_the_sweeper_sends_stale_messages_again_until_they_are_done(kit: Kit, settings: object) -> None:
    settings.CASINO_OUTBOX_STALE_SECONDS = 0  # type: ignore[attr-defined]
    kit.worked_hand()
    message = OutboxMessage.objects.get(house=kit.house)
    assert (message.sent_at, message.deliveries) == (None, 0), "hints are not counted"
    assert outbox.sweep() >= 1
    message.refresh_from_db()
    assert message.deliveries == 1
    kit.settle()
    outbox.sweep()
    message.refresh_from_db()
    assert message.deliveries == 1


def test_a_failed_task_keeps_its_reason_and_stays_open(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    from casino.hands.tasks import resolve_hand

    kit.worked_hand()
    message = OutboxMessage.objects.get(house=kit.house)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("disk full")

    monkeypatch.setattr(books, "prepare", fail)
    with pytest.raises(RuntimeError):
        resolve_hand(str(kit.house.id), message.id)
    message.refresh_from_db()
    assert (message.done_at, message.last_error) == (None, "RuntimeError: disk full")
    monkeypatch.undo()
    assert resolve_hand(str(kit.house.id), message.id) == HandState.SETTLED


def test_the_log_is_append_only_for_the_application_and_for_the_owner(kit: Kit) -> None:
    kit.worked_hand()
    hand = Hand.objects.get(house=kit.house)
    statements = (
        f"UPDATE hands_handline SET text = 'p1 f' WHERE hand_id = {hand.id}",
        f"DELETE FROM hands_handline WHERE hand_id = {hand.id}",
        "TRUNCATE hands_handline",
        f"INSERT INTO hands_handline (house_id, hand_id, seq, text) VALUES ('{kit.house.id}', {hand.id}, 25, 'p1 f')",
        f"UPDATE hands_hand SET stacks = '[1]' WHERE id = {hand.id}",
        f"UPDATE hands_hand SET digest = repeat('0', 64) WHERE id = {hand.id}",
        f"DELETE FROM hands_hand WHERE id = {hand.id}",
    )
    for alias in ("default", "owner"):
        for statement in statements:
            with (
                pytest.raises(
                    Exception, match=r"permission denied|append-only|do not change|does not change|deleted|not being"
                ),
                transaction.atomic(using=alias),
                connections[alias].cursor() as cursor,
            ):
                cursor.execute(statement)
    assert HandLine.objects.filter(hand=hand).count() == len(SAMPLE)
    close_old_connections()


#: What becomes of a hand; everything else of its row is what it was dealt with.
BECOMES = {
    "state", "digest", "result", "handle", "cards_roots", "ended_at", "disputed_at", "disputed_by", "disputed_from",
    "disputes_withdrawn", "resumed_at", "settled_at", "ruling", "settlement",
}  # fmt: skip
#: Another value of each type of column.
ANOTHER = {
    "uuid": "gen_random_uuid()", "bigint": "{0} + 1", "integer": "{0} + 1", "varchar": "{0} || 'x'",
    "jsonb": "'[1]'", "bytea": r"'\x01'", "timestamp with time zone": "{0} - interval '1 hour'",
}  # fmt: skip


def test_what_a_hand_was_dealt_with_never_changes(kit: Kit) -> None:
    kit.table()
    kit.seated().ok("hands", {"mode": "physical", "button": 4})
    fields = {one.column: one for one in Hand._meta.concrete_fields}
    for column in sorted(fields.keys() - BECOMES - {"id"}):
        field = fields[column]
        kind = (field.rel_db_type if field.is_relation else field.db_type)(connections["owner"])
        another = ANOTHER[str(kind).partition("(")[0]].format(column)
        with (
            pytest.raises(DatabaseError, match="do not change"),
            transaction.atomic(using="owner"),
            connections["owner"].cursor() as cursor,
        ):
            cursor.execute(f"UPDATE hands_hand SET {column} = {another} WHERE house_id = '{kit.house.id}'")


def test_a_hint_names_its_house_and_its_message(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []
    monkeypatch.setattr(outbox.app, "send_task", lambda task, args, **_: sent.append((task, args)))
    kit.worked_hand()
    message = OutboxMessage.objects.get(house=kit.house)
    assert outbox.HINTS.drain(60)
    assert sent == [("hands.resolve_hand", [str(kit.house.id), message.id])]


def test_a_hint_of_another_house_is_refused_and_touches_nothing(kit: Kit) -> None:
    from casino.hands.tasks import resolve_hand

    kit.worked_hand()
    other = Kit.found()
    message = OutboxMessage.objects.get(house=kit.house)
    before = OutboxMessage.objects.filter(id=message.id).values().get()
    for house, number in ((other.house, message.id), (kit.house, 2**62)):
        with pytest.raises(outbox.StrayHint):
            resolve_hand(str(house.id), number)
    other.close()
    assert OutboxMessage.objects.filter(id=message.id).values().get() == before
    assert Hand.objects.get(house=kit.house).state == HandState.ENDED
    assert not Event.objects.filter(chain__house=kit.house, doc__kind="hand.settlement_failed").exists()


@pytest.mark.parametrize("whose", ["another house", "nobody"])
def test_a_message_that_names_no_hand_of_its_house_settles_nothing_and_keeps_the_reason(kit: Kit, whose: str) -> None:
    from casino.hands.tasks import resolve_hand

    kit.worked_hand()
    other, hand = Kit.found(), Hand.objects.get(house=kit.house)
    subject = hand.id if whose == "another house" else 2**62
    message = OutboxMessage.objects.create(house=other.house, task="hands.resolve_hand", subject=str(subject))
    with pytest.raises(NotFound):
        resolve_hand(str(other.house.id), message.id)
    message.refresh_from_db()
    assert (message.last_error.partition(":")[0], message.done_at) == ("NotFound", None)
    hand.refresh_from_db()
    assert hand.state == HandState.ENDED
    OutboxMessage.objects.filter(id=message.id).update(done_at=message.created_at)
    other.close()

"""The chains: written with the change or not at all, by one function only, and every edit is found."""

import hashlib
import json
from dataclasses import replace

import pytest
from django.db import DatabaseError, connection, connections, transaction

from casino.audit.models import ChainHead, Event
from casino.audit.services import Actor, record
from casino.core import canonical
from casino.verification.auditing import verify_house
from tests.casino.any_event import USUAL, AnyEvent
from tests.casino.kit import ACTOR, Kit


def recorded(**data: object) -> AnyEvent:
    """Some event of a table, with these members changed."""
    return AnyEvent(kind="table.tray_stocked", content=USUAL["table.tray_stocked"] | data)


def chain(kit: Kit, events: int) -> ChainHead:
    """A chain of so many events."""
    for number in range(events):
        with transaction.atomic():
            record(chain="table/test", house=kit.house, actor=ACTOR, event=recorded(amount=number))
    return ChainHead.objects.get(house=kit.house, name="table/test")


def as_superuser(*statements: str) -> None:
    """Change events with every trigger switched off, as only a database superuser can."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE audit_event DISABLE TRIGGER USER")
        for statement in statements:
            cursor.execute(statement)
        for name in ("no_change", "no_truncate"):
            cursor.execute(f"ALTER TABLE audit_event ENABLE ALWAYS TRIGGER audit_event_{name}")


def test_an_event_is_canonical_linked_and_hashed_as_an_rfc_6962_leaf(kit: Kit) -> None:
    head = chain(kit, 2)
    first, second = Event.objects.filter(chain=head).order_by("seq")
    for event in (first, second):
        assert canonical.dumps(json.loads(event.payload)) == event.payload
        assert hashlib.sha256(b"\0" + event.payload.encode()).hexdigest() == event.leaf_hash
    assert json.loads(second.payload)["prev"] == first.leaf_hash
    assert json.loads(first.payload)["prev"] == "0" * 64
    assert (head.seq, head.hash) == (2, second.leaf_hash)


@pytest.mark.parametrize("text", ['Ödön "quoted" \\ back\tslash\x01\x7f', "\u2028 ☃ 🂡", "", "</script>"])
def test_any_text_stays_canonical(kit: Kit, text: str) -> None:
    actor = Actor(staff=text, role=text, terminal=text, request=text)
    with transaction.atomic():
        record(chain="table/text", house=kit.house, actor=actor, event=recorded(player=text, list=[1, None, True]))
    # Its actor is nobody of the house, no tray has a list; nothing is wrong with the text.
    unknown = {"actor_unknown", "wrong_data"} | ({"terminal_unknown"} if text else set())
    assert {one.code for one in verify_house(kit.house).findings} == unknown


@pytest.mark.parametrize("data", [{"x": 1.5}, {"ő": 1}, {1: 1}, {"x": {2, 3}}, {"x": b"raw"}])
def test_data_that_has_no_canonical_text_is_refused(kit: Kit, data: dict) -> None:
    with pytest.raises(TypeError), transaction.atomic():
        record(
            chain="table/test", house=kit.house, actor=ACTOR, event=AnyEvent(kind="table.tray_stocked", content=data)
        )


@pytest.mark.some_now(3)
@pytest.mark.parametrize(
    ("statement", "seq", "problem"),
    [
        ("UPDATE audit_event SET payload = replace(payload, '\"amount\":3', '\"amount\":4') WHERE {at} AND seq = 4", 4,
         "its column is"),
        ("DELETE FROM audit_event WHERE {at} AND seq = 3", 3, "the event is missing, 4 follows"),
        ("DELETE FROM audit_event WHERE {at} AND seq > 4", 5, "the chain's head names event 6"),
        ("UPDATE audit_event SET seq = 7 - seq WHERE {at} AND seq IN (3, 4)", 3, "its column is"),
        ("UPDATE audit_event SET payload = replace(payload, '{{', '{{ '), leaf_hash = "
         "encode(sha256('\\x00'::bytea || convert_to(replace(payload, '{{', '{{ '), 'UTF8')), 'hex') "
         "WHERE {at} AND seq = 2", 2, "not the canonical one"),
        ("UPDATE audit_chainhead SET hash = repeat('a', 64) WHERE id = {head}", 6, "another hash"),
    ],
    ids=["edited", "deleted", "truncated", "swapped", "reformatted", "head"],
)  # fmt: skip
def test_every_edit_is_found_at_its_place(kit: Kit, statement: str, seq: int, problem: str) -> None:
    head = chain(kit, 6)
    if "seq = 7 - seq" in statement:
        as_superuser("ALTER TABLE audit_event DROP CONSTRAINT audit_event_seq")
    as_superuser(statement.format(at=f"chain_id = {head.id}", head=head.id))
    if "seq = 7 - seq" in statement:
        as_superuser("ALTER TABLE audit_event ADD CONSTRAINT audit_event_seq UNIQUE (house_id, chain_id, seq)")
    first = verify_house(kit.house).findings[0]
    assert (first.place, problem in first.problem) == (f"table/test#{seq}", True), first


@pytest.mark.some_now(2)
@pytest.mark.parametrize("alias", ["default", "owner"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_event SET payload = '{}' WHERE chain_id = %s",
        "DELETE FROM audit_event WHERE chain_id = %s",
        "TRUNCATE audit_event -- %s",
    ],
)
def test_nobody_changes_events(kit: Kit, alias: str, statement: str) -> None:
    head = chain(kit, 2)
    refused = pytest.raises(DatabaseError, match=r"permission denied|append-only")
    with refused, transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        cursor.execute(statement, [head.id])
    assert (Event.objects.filter(chain=head).count(), verify_house(kit.house).findings) == (2, [])


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO audit_event (chain_id, seq, xid, payload, leaf_hash) VALUES (%s, 3, 0, '{}', '')",
        "UPDATE audit_chainhead SET seq = 9 WHERE id = %s",
        "ALTER TABLE audit_event DISABLE TRIGGER USER -- %s",
        "DROP FUNCTION houses_refuse_change() CASCADE -- %s",
    ],
)
def test_the_application_has_no_way_around_the_function(kit: Kit, statement: str) -> None:
    head = chain(kit, 2)
    refused = pytest.raises(DatabaseError, match=r"permission denied|must be owner")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, [head.id])


_APPEND = "SELECT audit_append(%s, 'house/x', 'house.duty', 'a', 'r', 't', 'q', %s, NULL, NULL, %s)"


@pytest.mark.parametrize(
    ("data", "postings"),
    [
        ('{},"seq":9,"x":{}', None),
        ("[]", None),
        ("null", None),
        (None, None),
        ("{}", '[],"seq":9,"x":[]'),
        ("{}", "{}"),
        ("{}", '[{"tx":1}],"prev":"0"'),
        ("{}", '[{"legs":[]}]'),
        ("{}", '[{"tx":"one"}]'),
    ],
)
def test_fragments_cannot_smuggle_members_into_the_payload(kit: Kit, data: str | None, postings: str | None) -> None:
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_APPEND, [kit.house.id, data, postings])
    assert not ChainHead.objects.filter(house=kit.house, name="house/x").exists()


def test_an_event_has_the_members_it_needs_and_no_others(kit: Kit) -> None:
    always = ["actor", "at", "chain", "data", "house", "kind", "prev", "request", "role", "seq", "terminal", "v"]
    words = {"reason": 'she said "no"', "approver": "anna@house"}
    for given in ({}, {"reason": words["reason"]}, {"approver": words["approver"]}, words):
        with transaction.atomic():
            record(chain="table/m", house=kit.house, actor=ACTOR, event=replace(recorded(), **given))
        payload = Event.objects.filter(chain__house=kit.house).latest("id").payload
        assert list(json.loads(payload)) == sorted([*always, *given])
        assert {name: json.loads(payload)[name] for name in given} == given
        assert canonical.dumps(json.loads(payload)) == payload


def test_an_event_outside_a_transaction_is_a_mistake(kit: Kit) -> None:
    with pytest.raises(RuntimeError, match="transaction"):
        record(chain="table/test", house=kit.house, actor=ACTOR, event=recorded())


def test_a_refused_request_leaves_one_event_that_says_so(kit: Kit) -> None:
    kit.table()
    dealer = kit.dealer()
    before = set(Event.objects.filter(chain__house=kit.house).values_list("id", flat=True))
    assert dealer.post("close").status_code == 409
    [event] = Event.objects.filter(chain__house=kit.house).exclude(id__in=before)
    assert (event.doc["kind"], "postings" in event.doc) == ("attempt.refused", False)
    assert verify_house(kit.house).findings == []

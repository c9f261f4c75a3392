"""Every kind of event: declared, registered, recorded by a service; a busy evening records everything exactly once."""

import ast
import hashlib
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import httpx
import pytest
from django.db import DatabaseError, connections, transaction
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import casino
from casino.audit import reference_page as page
from casino.audit import verifier
from casino.audit.events import EVENTS, AuditEvent, UnknownEvent
from casino.audit.events.custody import TransferEvent
from casino.audit.events.declared import Mark
from casino.audit.events.hands import HandSettled
from casino.audit.events.registry import BESIDE_DATA, VERSIONS, event
from casino.audit.events.tables import SatDown, TimeToActChanged
from casino.audit.models import Event, Posting
from casino.audit.services import Actor, record
from casino.audit.verifier import kinds
from casino.bookkeeping.postings import posting
from casino.core import canonical
from casino.core.errors import ProofFailed
from casino.core.work import Work
from casino.verification.snapshot_reader import moment
from ledger.exports import utc
from ledger.models import Entry, Transaction
from ledger.posting import CREDIT, AccountSpec, Leg, ensure_accounts, post
from tests.casino.any_event import AnyEvent
from tests.casino.busy import AFTERWARDS, STEPS
from tests.casino.kit import ACTOR, Kit, claim, record_work
from tests.casino.superuser import unguarded

ROOT = Path(casino.__file__).parent
#: An answer without a body, and a read.
WITHOUT_RECEIPT = {
    "staff.signed_out", "staff.reauthenticated", "data.read", "report.made", "report.failed", "sealed.entry",
    "sealed.entry of a case", "player.data_copied", "report.schedule_fired", "report.delivered",
    "report.delivery_failed", "report.schedule_stopped", "player.reality_check_due",
}  # fmt: skip

#: What PostgreSQL's text can hold, and the keys of canonical JSON.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
ASCII = st.text(st.characters(max_codepoint=127, exclude_characters="\0"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ASCII, inner, max_size=4),
    max_leaves=12,
)
DATA = st.dictionaries(ASCII, VALUES, max_size=4)


# --- The registry ---------------------------------------------------------------------------------------------------


def test_every_kind_is_described_and_typed() -> None:
    for name, kind in EVENTS.items():
        assert "__doc__" in vars(kind) and not str(kind.__doc__).startswith(f"{kind.__name__}("), name
        assert [field.name for field in kind.FIELDS if not field.meaning] == [], name
        assert {field.json_type for field in kind.FIELDS if field.name in BESIDE_DATA} <= {"string"}, name
        assert (kind.KIND, bool(kind.CHAINS)) == (name, True)


def test_the_verifier_knows_every_kind_and_no_other() -> None:
    assert frozenset(EVENTS) == verifier.KINDS


def _shape(hint: Any) -> str:
    """A declared type as the verifier writes it."""
    plain, notes = (hint.__origin__, hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())
    if notes:
        return _shape(plain) + ("|null" if Mark.NULL in notes and NoneType not in get_args(plain) else "")
    origin, inner = get_origin(plain), get_args(plain)
    if origin in (Union, UnionType):
        return "|".join(sorted({_shape(part) for part in inner if part is not NoneType}))
    if origin is Sequence:
        return f"[{_shape(inner[0])}]"
    if origin is Mapping:
        return f"{{{_shape(inner[1])}}}"
    return {Any: "any", int: "integer", str: "string", bool: "boolean"}[plain]


def _members(kind: type[AuditEvent]) -> dict[str, str]:
    """The members of an event's data, those that may be missing with `?`, and their types."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        field.name + "?" * field.optional: _shape(hints[field.name]) + "|null" * (Mark.NULL in field.marks)
        for field in kind.FIELDS
        if field.name not in BESIDE_DATA
    }


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_the_verifier_knows_the_chains_and_data_of_every_kind(name: str) -> None:
    chains, _, members = kinds._DECLARED[name].partition(":")
    assert sorted(chains.split()) == sorted(EVENTS[name].CHAINS)
    known = dict(member.split() for member in members.split(";") if member.strip())
    assert known == {name: shape.replace("|null|null", "|null") for name, shape in _members(EVENTS[name]).items()}


@pytest.mark.parametrize(
    ("kind", "chain", "changed", "found"),
    [
        ("drawer.opened", "drawer/C1", {}, []),
        ("drawer.opened", "table/T1", {}, ["kind_in_wrong_chain"]),
        ("drawer.opened", "drawer/C1", {"float_cash": True}, ["wrong_data"]),
        ("drawer.opened", "drawer/C1", {"float_cash": "1"}, ["wrong_data"]),
        ("drawer.opened", "drawer/C1", {"float_cash": None}, ["wrong_data"]),
        ("drawer.opened", "drawer/C1", {"float_pieces": {"100": 1.0}}, ["wrong_data"]),
        ("drawer.opened", "drawer/C1", {"float_pieces": [100]}, ["wrong_data"]),
        ("drawer.opened", "drawer/C1", {"more": 1, "float_chips": ...}, ["wrong_data", "wrong_data"]),
        ("hand.settled", "table/T1", {}, []),
        ("hand.settled", "table/T1", {"settlement": None}, []),
        ("hand.settled", "table/T1", {"settlement": ...}, ["wrong_data"]),
        ("hand.settled", "table/T1", {"settlement": False}, ["wrong_data"]),
        ("deal.abandoned", "table/T1", {}, []),
        ("deal.abandoned", "table/T1", {"unrevealed": [1, 2]}, []),
        ("deal.abandoned", "table/T1", {"unrevealed": [1, "2"]}, ["wrong_data"]),
    ],
)
def test_the_verifier_finds_data_that_no_event_of_the_kind_has(
    kind: str, chain: str, changed: dict[str, Any], found: list[str]
) -> None:
    right: dict[str, dict[str, Any]] = {
        "drawer.opened": {
            "drawer_version": 1,
            "shift": 1,
            "handover": 1,
            "float_cash": 5,
            "float_chips": 100,
            "float_pieces": {"100": 1},
        },
        "hand.settled": {"hand": "T1-000001", "result": {}, "digest": "00", "settlement": 7, "table_version": 3},
        "deal.abandoned": {"commitment": "00", "hand": "T1-000001", "table_version": 3},
    }
    data = {name: value for name, value in (right[kind] | changed).items() if value is not ...}
    assert [code for code, _ in kinds.what_is_wrong(kind, chain, data)] == found


def test_every_kind_is_recorded_by_a_service() -> None:
    outside = (
        ast.parse(path.read_text())
        for path in ROOT.rglob("*.py")
        if "migrations" not in path.parts and path.parent.name != "events"
    )
    imported = {
        (str(node.module), alias.name)
        for tree in outside
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert [name for name, kind in EVENTS.items() if (kind.__module__, kind.__name__) not in imported] == []


def _below(kind: type[AuditEvent]) -> list[type[AuditEvent]]:
    return [kind, *(found for below in kind.__subclasses__() for found in _below(below))]


def test_every_event_of_the_house_is_declared_in_the_package_of_events() -> None:
    of_the_house = {kind for kind in _below(AuditEvent) if kind.__module__.startswith("casino.")}
    registered = set(EVENTS.values())
    assert {kind.__module__.rpartition(".")[0] for kind in of_the_house} == {"casino.audit.events"}
    assert all(kind in registered or kind.__subclasses__() for kind in of_the_house)


def test_a_kind_is_registered_once() -> None:
    with pytest.raises(UnknownEvent, match="twice"):
        event("hand.dealt", chain="table")(AnyEvent)


class _Money(AuditEvent):
    amount: float


class _Found(AuditEvent):
    found: Mapping[str, Sequence[set[str]]]


@pytest.mark.parametrize("declaration", [_Money, _Found])
def test_a_field_without_a_type_of_json_is_refused(declaration: type[AuditEvent]) -> None:
    with pytest.raises(TypeError, match="is no type of JSON"):
        event("test.refused", chain="table")(declaration)
    assert "test.refused" not in EVENTS


@pytest.mark.parametrize(
    ("kind", "chain"), [("hand.dealed", "table/T1"), ("hand.dealt", "house/H1"), ("hand.dealt", "T1")]
)
def test_what_is_not_registered_for_a_chain_is_not_written(kit: Kit, kind: str, chain: str) -> None:
    with pytest.raises(UnknownEvent), transaction.atomic():
        record(chain=chain, house=kit.house, actor=ACTOR, event=AnyEvent(kind=kind, content={}))


@pytest.mark.parametrize(
    "row",
    [
        "| `seat` | integer | number of the seat at the table, from 1 |",
        "| `settlement` | integer or null | id of the ledger transaction, null if nothing moved |",
        "| `sent_by` |",
        "| `parameters` | array of arrays of strings, optional |",
        "| `card_verbs` | object of arrays of strings, optional |",
        "| `approver` | string, optional | login of the supervisor, who accepted a variance between sent and counted |",
    ],
)
def test_the_page_has_a_row_for_a_field(row: str) -> None:
    assert (row in page.render()) == (row != "| `sent_by` |")


# --- The classes ----------------------------------------------------------------------------------------------------


def _values(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a declared type."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _values(inner[0])
    if origin in (Union, UnionType):
        return st.one_of(*map(_values, inner))
    if origin is Sequence:
        return st.lists(_values(inner[0]), max_size=3)
    if origin is Mapping:
        return st.dictionaries(ASCII, _values(inner[1]), max_size=3)
    return {int: st.integers(), str: TEXT, bool: st.booleans(), NoneType: st.none(), Any: VALUES}[hint]


def _sample(hint: Any) -> Any:
    """One value of a declared type; of an optional one not None."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Annotated, Union, UnionType):
        return _sample(inner[0])
    if origin is Sequence:
        return [_sample(inner[0])]
    if origin is Mapping:
        return {"x": _sample(inner[1])}
    return {int: 1, str: "x", bool: True, Any: [None]}[hint]


def _hints(kind: type[AuditEvent]) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in fields(kind)}


def _read(payload: Mapping[str, Any]) -> AuditEvent:
    """The event of a payload."""
    beside = {name: payload[name] for name in BESIDE_DATA if name in payload}
    return EVENTS[payload["kind"]](**payload["data"], **beside)


@pytest.mark.some_now(3)
@pytest.mark.parametrize("name", EVENTS)
@given(data=st.data())
@hypothesis_settings(max_examples=10, deadline=None)
def test_what_is_made_of_its_declared_types_is_canonical_and_read_back(name: str, data: st.DataObject) -> None:
    kind = EVENTS[name]
    strategies = {field: _values(hint) for field, hint in _hints(kind).items()}
    strategies |= {field: TEXT.filter(bool) for field in strategies if field in BESIDE_DATA}
    made = kind(**data.draw(st.fixed_dictionaries(strategies)))
    payload = json.loads(canonical.dumps({"kind": name, "data": made.data, **made.beside_data}))
    assert _read(payload) == made
    assert payload["data"].keys() | made.beside_data.keys() <= _hints(kind).keys()


#: A value that is not of the type, by the words for the type.
WRONG = {"integer": True, "string": 1, "boolean": 0, "object": [], "object of": {"x": 1.5}, "array of": "text"}


@pytest.mark.parametrize("name", EVENTS)
def test_a_value_of_another_type_is_refused(name: str) -> None:
    kind = EVENTS[name]
    right = {field: _sample(hint) for field, hint in _hints(kind).items()}
    assert kind(**right).data.keys() | set(BESIDE_DATA) >= right.keys()
    for field in kind.FIELDS:
        if field.json_type == "JSON":
            continue
        words = field.json_type.removesuffix(" or null")
        wrong = next(WRONG[start] for start in sorted(WRONG, reverse=True) if words.startswith(start))
        with pytest.raises(TypeError, match=rf"^{name}: {field.name} is "):
            kind(**right | {field.name: wrong})
    with pytest.raises(TypeError, match="unexpected keyword"):
        kind(**right, another=1)


def test_an_event_is_frozen_and_its_fields_have_names() -> None:
    made = SatDown(seat=1, player="anna", amount=500)
    with pytest.raises(FrozenInstanceError):
        made.amount = 600  # type: ignore[misc]
    with pytest.raises(TypeError, match="positional"):
        SatDown(1, "anna", 500)  # type: ignore[misc]
    assert made.data == {"seat": 1, "player": "anna", "amount": 500}
    assert made.at_table_version(7).data == made.data | {"table_version": 7}


def test_none_is_left_out_except_where_null_says_something() -> None:
    unpaid = HandSettled(hand="T1-000001", result={}, digest="", settlement=None, table_version=1)
    assert unpaid.data == {"hand": "T1-000001", "result": {}, "digest": "", "settlement": None, "table_version": 1}
    assert TimeToActChanged(before=None, after=0, reason="").data == {"after": 0}
    assert TimeToActChanged(before=None, after=0, reason="").beside_data == {}
    assert TimeToActChanged(reason="slow").beside_data == {"reason": "slow"}


# --- A busy evening -------------------------------------------------------------------------------------------------


def payloads(kit: Kit) -> list[dict[str, Any]]:
    """The house's events in the order in which they were written."""
    found = Event.objects.filter(chain__house=kit.house).order_by("id").values_list("payload", flat=True)
    return [json.loads(payload) for payload in found]


@pytest.mark.slow
def test_every_answer_names_the_place_of_its_event(everything_done: tuple[Kit, dict[str, httpx.Response]]) -> None:
    for name, answer in everything_done[1].items():
        if name not in WITHOUT_RECEIPT:
            assert answer.json().get("audit", {}).keys() == {"chain", "seq", "hash"}, name


@pytest.mark.slow
def test_everything_that_is_done_is_noted(evening: Kit) -> None:
    noted = payloads(evening)
    steps = {name.partition(" ")[0] for name in [*STEPS, *AFTERWARDS]}
    assert steps <= {each["kind"] for each in noted} <= set(EVENTS)
    for each in noted:
        event = _read(each)
        assert (event.data, event.beside_data) == (
            each["data"],
            {name: each[name] for name in BESIDE_DATA if name in each},
        )
        later = {field.name for field in event.FIELDS if Mark.LATER in field.marks}
        assert later <= each["data"].keys(), each
        if isinstance(event, TransferEvent):
            assert [name for name in VERSIONS if name in each["data"]] == [f"{each['chain'].partition('/')[0]}_version"]
        members = {"actor", "at", "chain", "data", "house", "kind", "prev", "request", "role", "seq", "terminal", "v"}
        assert members <= set(each) <= members | {"approver", "postings", "reason"}
        assert each["v"] == 2 and each["house"] == str(evening.house.id)
    # Whatever changes something by the word of a person says why, and who stood by.
    reasons = {each["kind"] for each in noted if "reason" in each}
    assert {"hand.voided", "house.duty", "fill.cancelled", "staff.roles_changed", "fill.received"} <= reasons
    approved = {each["kind"]: each["approver"] for each in noted if "approver" in each}
    assert set(approved) >= {"fill.received", "credit.received", "house.duty", "limits.changed"}
    assert all(
        login.startswith(("floor", "manager", "auditor", "cage_supervisor", "compliance"))
        for login in approved.values()
    )


@pytest.mark.slow
def test_every_ledger_transaction_is_noted_by_exactly_one_event(evening: Kit) -> None:
    noted: dict[int, dict[str, Any]] = {}
    for each in payloads(evening):
        for noted_posting in each.get("postings", []):
            assert noted.setdefault(noted_posting["tx"], noted_posting) is noted_posting
    transactions = Transaction.objects.filter(book=evening.house.id)
    assert set(noted) == set(transactions.values_list("id", flat=True))
    for row in transactions:
        posting = noted[row.id]
        happened_at = None if row.occurred_at is None else utc(row.occurred_at)
        about = [row.idempotency_key, row.kind, row.metadata, happened_at, utc(row.posted_at)]
        assert posting.pop("about") == canonical.sha256(about)
        if row.reverses_id is not None:
            assert posting == {"tx": row.id, "reverses": row.reverses_id}
            continue
        entries = Entry.objects.filter(transaction=row)
        legs = [list(leg) for leg in entries.values_list("account__code", "account__commodity", "amount")]
        assert sorted(posting["legs"]) == sorted(legs)
    assert Posting.objects.filter(event__chain__house=evening.house).count() == len(noted)


# --- Postings and events --------------------------------------------------------------------------------------------


def capital(work: Work, key: str) -> None:
    """Post something past the services, at once."""
    work.post_now(key=key, kind="test", postings=[posting("capital_paid_in", {}, cash=1)], metadata={})


LEGS = [("1010", "HUF", 1), ("3010", "HUF", -1)]


def posted(kit: Kit) -> int:
    """Ledger transactions of the house."""
    return Transaction.objects.filter(book=kit.house.id).count()


def recorded(kit: Kit, work: Work) -> dict[str, Any]:
    """Record some event; returns its payload."""
    record_work(work)
    return payloads(kit)[-1]


@pytest.fixture
def work(kit: Kit) -> Work:
    """A unit of work of the house."""
    return Work(kit.house, ACTOR)


def test_postings_without_an_event_do_not_commit(kit: Kit, work: Work) -> None:
    before = posted(kit)
    with pytest.raises(DatabaseError, match="no audit event records"), transaction.atomic():
        capital(work, "unrecorded")
    assert posted(kit) == before


def test_an_event_of_no_work_records_no_posting(kit: Kit, work: Work) -> None:
    before, events_before = posted(kit), len(payloads(kit))
    with pytest.raises(DatabaseError, match="no audit event records"), transaction.atomic():
        capital(work, "unrecorded")
        record(chain=kit.house.chain, house=kit.house, actor=ACTOR, event=AnyEvent(kind="house.duty", content={}))
    assert (posted(kit), len(payloads(kit))) == (before, events_before)


def test_an_event_before_the_posting_does_not_record_it(kit: Kit, work: Work) -> None:
    before, events_before = posted(kit), len(payloads(kit))
    with pytest.raises(DatabaseError, match="no audit event records"), transaction.atomic():
        recorded(kit, work)
        capital(work, "late")
    assert (posted(kit), len(payloads(kit))) == (before, events_before)


def test_an_event_records_what_was_posted_since_the_one_before(kit: Kit, work: Work) -> None:
    with transaction.atomic():
        capital(work, "a")
        capital(work, "b")
        first = recorded(kit, work)
        capital(work, "c")
        second = recorded(kit, work)
        third = recorded(kit, work)
    keys = dict(Transaction.objects.filter(book=kit.house.id).values_list("idempotency_key", "id"))
    assert [each["tx"] for each in first["postings"]] == [keys["a"], keys["b"]]
    assert [each["tx"] for each in second["postings"]] == [keys["c"]]
    assert second["postings"][0]["legs"] == [["1010", "HUF", 1], ["3010", "HUF", -1]]
    assert "postings" not in third


def test_postings_and_mirrors_are_recorded_in_the_order_in_which_they_were_made(kit: Kit, work: Work) -> None:
    """What waits is posted before something is reversed, and what is posted last goes with the event."""
    cash = [posting("capital_paid_in", {}, cash=1)]
    with transaction.atomic():
        for key in ("a", "b"):
            work.post(key=key, kind="test", postings=cash, metadata={})
        mirrors = work.reverse_all(keys=["a", "b"], metadata={})
        work.post(key="c", kind="test", postings=cash, metadata={})
        event = recorded(kit, work)
    keys = dict(Transaction.objects.filter(book=kit.house.id).values_list("idempotency_key", "id"))
    assert list(mirrors) == ["b", "a"]
    assert mirrors == {"b": keys["b:void"], "a": keys["a:void"]}
    assert [each["tx"] for each in event["postings"]] == [keys[key] for key in ("a", "b", "b:void", "a:void", "c")]
    assert [each.get("reverses") for each in event["postings"]] == [None, None, keys["b"], keys["a"], None]


def test_what_a_savepoint_takes_back_has_a_work_of_its_own(kit: Kit, work: Work) -> None:
    with transaction.atomic():
        capital(work, "kept")
        with pytest.raises(RuntimeError), transaction.atomic():
            capital(Work(kit.house, ACTOR), "taken back")
            raise RuntimeError
        postings = recorded(kit, work)["postings"]
    kept = Transaction.objects.get(book=kit.house.id, idempotency_key="kept")
    assert [each["tx"] for each in postings] == [kept.id]


def test_a_work_cannot_record_what_a_savepoint_has_taken_back(kit: Kit, work: Work) -> None:
    before, events_before = posted(kit), len(payloads(kit))
    with pytest.raises(ProofFailed) as refused, transaction.atomic():
        with pytest.raises(RuntimeError), transaction.atomic():
            capital(work, "taken back")
            raise RuntimeError
        recorded(kit, work)
    assert refused.value.code == "posting_not_ours"
    assert (posted(kit), len(payloads(kit))) == (before, events_before)


def test_an_event_that_a_savepoint_takes_back_has_recorded_nothing(kit: Kit, work: Work) -> None:
    with pytest.raises(DatabaseError, match="no audit event records"), transaction.atomic():
        capital(work, "unrecorded")
        with pytest.raises(RuntimeError), transaction.atomic():
            recorded(kit, work)
            raise RuntimeError


def test_a_rolled_back_transaction_leaves_nothing_to_record(kit: Kit, work: Work) -> None:
    with pytest.raises(RuntimeError), transaction.atomic():
        capital(work, "forgotten")
        raise RuntimeError
    with transaction.atomic():
        assert "postings" not in recorded(kit, Work(kit.house, ACTOR))


def test_a_replayed_posting_is_not_recorded_again(kit: Kit) -> None:
    for _ in range(2):
        with transaction.atomic():
            work = Work(kit.house, ACTOR)
            capital(work, "once")
            event = recorded(kit, work)
    assert "postings" not in event


def test_a_ledger_transaction_cannot_be_recorded_twice(kit: Kit, work: Work) -> None:
    with pytest.raises(DatabaseError, match="audit_posting"), transaction.atomic():
        capital(work, "once")
        claim(work, recorded(kit, work)["postings"][0]["tx"], LEGS)
        recorded(kit, work)


def _earlier(kit: Kit) -> int:
    """What another transaction of this house has posted and recorded."""
    return Posting.objects.filter(event__chain__house=kit.house).values_list("transaction_id", flat=True)[0]


def _from_before(kit: Kit) -> int:
    """What was posted before events recorded postings."""
    with unguarded("ledger_transaction") as cursor:
        cursor.execute(
            "INSERT INTO ledger_transaction (book, idempotency_key, kind, posted_at, metadata) "
            "VALUES (%s, 'old', 'test', now(), '{}') RETURNING id",
            [kit.house.id],
        )
        return int(cursor.fetchone()[0])


def _to_come(_kit: Kit) -> int:
    """An id that nobody has been given yet."""
    return Transaction.objects.latest("id").id + 1_000_000


def _of_no_house(_kit: Kit) -> int:
    """What this transaction has posted to a book that is no house's."""
    book = uuid.uuid4()
    ids = list(ensure_accounts(book, [AccountSpec(c, c, "X", CREDIT, None) for c in "ab"]).values())
    return post(book, "k", "test", [Leg(ids[0], 1), Leg(ids[1], -1)], {}).transaction_id


@pytest.mark.parametrize("other", [_earlier, _from_before, _to_come, _of_no_house])
def test_an_event_records_no_posting_of_another_time_or_book(kit: Kit, work: Work, other: Callable[[Kit], int]) -> None:
    before = posted(kit), len(payloads(kit))
    with pytest.raises(ProofFailed) as refused, transaction.atomic():
        id_ = other(kit)
        capital(work, "mine")
        claim(work, id_, LEGS)
        recorded(kit, work)
    assert (refused.value.code, refused.value.extra["postings"][1]) == ("posting_not_ours", id_)
    assert (posted(kit), len(payloads(kit))) == (before[0] + (other is _from_before), before[1])


def test_an_event_records_no_posting_of_another_house(kit: Kit, work: Work) -> None:
    """Not even of the same transaction: each house's chain records its own."""
    other = Kit.found()
    with pytest.raises(ProofFailed, match="in its own house"), transaction.atomic():
        theirs = Work(other.house, ACTOR)
        paid_in = [posting("capital_paid_in", {}, cash=1)]
        claim(work, theirs.post_now(key="theirs", kind="test", postings=paid_in, metadata={}), LEGS)
        recorded(kit, work)


def test_what_a_savepoint_has_posted_is_ours(kit: Kit, work: Work) -> None:
    with transaction.atomic():
        with transaction.atomic():
            capital(work, "inside")
        capital(work, "outside")
        assert len(recorded(kit, work)["postings"]) == 2


# --- Texts that PostgreSQL and Python both make ----------------------------------------------------------------------


@given(texts=st.lists(TEXT, min_size=4, max_size=4), second=st.none() | TEXT.filter(bool), data=DATA)
@hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_payload_that_postgresql_writes_is_the_canonical_text(
    kit: Kit, texts: list[str], second: str | None, data: dict[str, Any]
) -> None:
    """Whatever stands in it: `audit_append` quotes texts and orders keys as `casino.core.canonical` does."""
    staff, role, terminal, request = texts
    actor = Actor(staff=staff, role=role, terminal=terminal, request=request)
    with transaction.atomic():
        work = Work(kit.house, actor)
        work.post(key=str(uuid.uuid4()), kind="test", postings=[posting("capital_paid_in", {}, cash=1)], metadata={})
        event = AnyEvent(kind="house.duty", content=data, reason=second, approver=second)
        receipt = work.record(chain=kit.house.chain, event=event)
    chain = Event.objects.filter(chain__house=kit.house, chain__name=receipt.chain)
    stored, before = chain.get(seq=receipt.seq), chain.get(seq=receipt.seq - 1)
    made = {
        "actor": staff, "at": stored.doc["at"], "chain": receipt.chain, "data": data, "house": str(kit.house.id),
        "kind": "house.duty", "postings": stored.doc["postings"], "prev": before.leaf_hash, "request": request,
        "role": role, "seq": receipt.seq, "terminal": terminal, "v": 2,
    }  # fmt: skip
    made |= {} if second is None else {"approver": second, "reason": second}
    assert stored.payload == canonical.dumps(made)
    assert utc(datetime.fromisoformat(made["at"])) == made["at"]
    assert receipt.hash == hashlib.sha256(b"\0" + stored.payload.encode()).hexdigest()


MOMENTS = st.none() | st.datetimes(datetime(1000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - without one, as Hypothesis wants


@given(many=st.lists(st.tuples(TEXT, TEXT, DATA, MOMENTS), min_size=10, max_size=10))
@hypothesis_settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_events_tell_about_postings_is_what_the_ledger_gives_back(
    kit: Kit, many: list[tuple[str, str, dict[str, Any], datetime | None]]
) -> None:
    """`about` is hashed of Python's values when it is posted, and of PostgreSQL's text when it is verified."""
    with transaction.atomic():
        work = Work(kit.house, ACTOR)
        for key, kind, metadata, occurred in many:
            work.post(
                key=f"{uuid.uuid4()}{key}", kind=f"test{kind}", metadata=metadata, occurred_at=occurred,
                postings=[posting("capital_paid_in", {}, cash=1)],
            )  # fmt: skip
        noted = {posting["tx"]: posting["about"] for posting in recorded(kit, work)["postings"]}
    with moment(kit.house) as there:
        lines = [line for lines in there.transactions() for line in lines]
    rows = {row["id"]: row["about"] for row in map(json.loads, lines)}
    assert {id_: verifier.about_of(rows[id_]) for id_ in noted} == noted
    read = {row["id"]: row["about"] for row in verifier.transactions_of([lines])}
    assert {id_: read[id_] for id_ in noted} == noted


@pytest.mark.parametrize("alias", ["default", "owner"])
def test_nobody_deletes_the_record_of_a_posting(kit: Kit, alias: str) -> None:
    noted = Posting.objects.filter(event__chain__house=kit.house).values_list("transaction_id", flat=True)[0]
    refused = pytest.raises(DatabaseError, match=r"permission denied|append-only")
    with refused, transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        cursor.execute("DELETE FROM audit_posting WHERE transaction_id = %s", [noted])


def test_books_that_are_no_houses_are_left_alone(kit: Kit) -> None:
    book = uuid.uuid4()
    with transaction.atomic():
        ids = list(ensure_accounts(book, [AccountSpec(c, c, "X", CREDIT, None) for c in "ab"]).values())
        post(book, "k", "test", [Leg(ids[0], 1), Leg(ids[1], -1)], {})
    assert Transaction.objects.filter(book=book).count() == 1

"""The lines of transactions that PostgreSQL writes are the ones that Python writes of the same values."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connections
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casino.audit import verifier
from casino.audit.verifier import canonical, ledger
from casino.verification import auditing
from casino.verification.snapshot_reader import moment
from tests.casino.kit import Kit
from tests.proof.superuser import evening, guards_off

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)
PLAIN = st.one_of(TEXT, st.integers(-(2**60), 2**60), st.booleans(), st.none(), st.sampled_from([1.5, -0.25]))
NESTED = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2))
#: Flat, as the house writes nearly all, and nested. The ledger's constraints let in nothing but objects.
METADATA = st.one_of(st.dictionaries(TEXT, PLAIN, max_size=4), st.dictionaries(TEXT, NESTED, max_size=3))
#: The ledger refuses an empty kind.
KIND = TEXT.filter(bool)

OCCURRED = st.none() | st.integers(0, 2**52).map(lambda us: datetime.fromtimestamp(us / 1_000_000, UTC))


def expected(book: Any) -> list[bytes]:
    """The lines, written by Python."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT t.id, idempotency_key, kind, metadata::text, occurred_at, posted_at, reverses_id, array_agg("
            "ARRAY[account_id, version, amount, balance_after] ORDER BY account_id, version) FROM ledger_transaction t "
            "JOIN ledger_entry e ON e.transaction_id = t.id WHERE book = %s GROUP BY t.id ORDER BY t.id",
            [book],
        )
        rows = cursor.fetchall()
    lines = []
    for number, key, kind, metadata, occurred, posted, reverses, legs in rows:
        about = [key, kind, json.loads(metadata), utc(occurred), utc(posted)]
        lines.append(verifier.json_text({"about": about, "id": number, "legs": legs, "reverses": reverses}).encode())
    return lines


def utc(at: datetime | None) -> str | None:
    """A moment as events record it."""
    return None if at is None else at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def check(kit: Kit, data: st.DataObject) -> None:
    """Every transaction with a key, a kind, metadata and a moment of any kind."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT id FROM ledger_transaction WHERE book = %s", [kit.house.id])
        numbers = [number for (number,) in cursor.fetchall()]
    changes = [
        (f"{number}{data.draw(TEXT)}", data.draw(KIND), json.dumps(data.draw(METADATA)), data.draw(OCCURRED), number)
        for number in numbers
    ]
    with guards_off() as cursor:
        cursor.executemany(
            "UPDATE ledger_transaction SET idempotency_key = %s, kind = %s, metadata = %s, occurred_at = %s "
            "WHERE id = %s",
            changes,
        )
    wanted = expected(kit.house.id)
    with moment(kit.house) as there:
        assert [line for lines in there.transactions() for line in lines] == wanted
    abouts = [verifier.about_of(json.loads(line)["about"]) for line in wanted]
    assert [row["about"] for row in verifier.transactions_of([wanted])] == abouts


def test_postgresql_writes_the_lines_that_python_writes(kit: Kit) -> None:
    evening(kit)
    check(kit)
    assert {finding.code for finding in auditing.verify_house(kit.house).findings} == {"transaction_differs"}


#: Transactions of one, two and five legs, with metadata and without.
_LINES = [
    b'{"about":["k","kind",{"a":1,"b":"x"},null,"t"],"id":7,"legs":[[1,2,-3,0],[4,5,3,6]],"reverses":null}',
    b'{"about":["k","kind",{},"o","t"],"id":7,"legs":[[1,2,-3,0]],"reverses":null}',
    b'{"about":["k","kind",{},null,"t"],"id":7,"legs":[[1,2,-3,0],[4,5,3,6],[7,1,1,-1],[8,9,-1,0]],"reverses":null}',
]


@pytest.mark.parametrize("line", _LINES, ids=["two legs", "one leg", "four legs"])
def test_a_line_that_is_taken_apart_is_read_as_json_says(line: bytes) -> None:
    """Each byte in turn left out, twice, or another one: the same row, or refused by both."""
    assert read(line) == whole(line) is not None
    others = [line[:at] + put + line[at + 1 :] for at in range(len(line)) for put in (b"", line[at : at + 1] * 2)]
    others += [line[:at] + bytes([put]) + line[at + 1 :] for at in range(len(line)) for put in b'0-1.,[]{}" t\n']
    assert [other for other in others if read(other) != whole(other)] == []


def read(line: bytes) -> Any:
    """A transaction as verification reads it, None where it is refused."""
    try:
        return list(verifier.transactions_of([[line]]))
    except verifier.Unusable:
        return None


def whole(line: bytes) -> Any:
    """A transaction as a reader of JSON sees it, None where it is refused."""
    try:
        return [ledger._transaction(line)]
    except verifier.Unusable:
        return None


def test_what_is_equal_need_not_have_the_same_text() -> None:
    row = {"log": ["p1 k"], "stacks": [1, 0], "options": {"cuhhol": True}}
    assert canonical.has_same_text(row, json.loads(json.dumps(row)))
    for other in (row | {"stacks": [True, 0]}, row | {"stacks": [1, False]}, row | {"options": {"cuhhol": 1}}):
        assert row == other
        assert not canonical.has_same_text(row, other)

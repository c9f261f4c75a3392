"""Refused attempts and sensitive reads: one event each, in the right chain, without what must not be kept; and where
the event cannot be written, nothing is answered."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from casino.api.http import operations
from casino.audit.models import Event
from casino.reports import selectors as reports
from casino.staff.models import Role, TerminalToken
from casino.verification import auditing
from tests.casino.api.test_permissions import DAY, address, routes
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since

#: What everybody on the floor polls or sees anyway. Writing it down twice, here and at the view, is the point.
NOT_SENSITIVE = {
    "house", "session", "house/identity", "house/readiness", "house/status", "rota", "games", "games/<path:game>",
    "tables", "tables/<slug:table>", "tables/<slug:table>/hand", "tables/<slug:table>/hand/legal-actions",
    "tables/<slug:table>/chips", "tables/<slug:table>/fill-proposal/<slug:drawer>", "templates", "templates/proposals",
    "transfers", "drawers", "drawers/<slug:drawer>", "hands", "days", "dealers",
    "dealer-turns", "table-terms", "waiting-list", "waiting-list/display", "chip-sets", "passkeys",
    "tables/<slug:table>/deal", "approvals", "approvals/<int:approval>", "limits",
    "hands/<slug:hand>/openings", "hands/<slug:hand>/rulings", "seat/deal", "seat/hand", "seat/hands",
    "seat/hands/<slug:hand>/replay", "seat/proofs/inclusion", "seat/table", "seat/rules", "house/rules",
    "house/rules/<int:rules>", "duty/rates", "reality-checks/due",
    "euro-rates", "receipts/<slug:hash>", "rehearsals", "rehearsals/<int:rehearsal>", "reports",
    "seat/prints/<int:printout>/file",
    "audit/archives", "audit/checkpoint", "audit/key", "audit/proofs/inclusion", "audit/proofs/consistency",
    "tables/<slug:table>/stream", "tables/<slug:table>/changes",
    "drawers/<slug:drawer>/stream", "drawers/<slug:drawer>/changes", "stream", "changes", "sessions",
    "audit/log/<int:epoch>/checkpoint", "audit/log/<int:epoch>/tile/<slug:level>/<path:tile>", "webhooks",
}  # fmt: skip
#: What an auditor does not read.
FOR_COMPLIANCE = {
    "exclusions", "interactions", "player-limits", "players/<slug:player>/admission", "players/<slug:player>/limits",
    "players/<slug:player>/sums", "reality-checks", "unknown-persons", "unknown-persons/<int:unknown_person>",
    "transaction-log", "filings", "players/<slug:player>/personal-data", "players/<slug:player>/personal-data/file",
}  # fmt: skip
READS = sorted(route for method, route in routes() if method == "GET" and route not in ("schema", "docs"))
#: What an auditor does not find: its reads are events of the sealed register (`tests/casino/evidence/test_sealed.py`).
_HIDDEN = {route for route in READS if route.startswith("sealed")}


@contextmanager
def no_events() -> Iterator[None]:
    """Nobody may append to the audit trail, as if its function were gone."""
    role = f'"{settings.CASINO_APP_ROLE}"'
    named = _owner("SELECT oid::regprocedure::text FROM pg_proc WHERE proname = 'audit_append'")
    _owner(*(f"REVOKE EXECUTE ON FUNCTION {name} FROM {role}" for (name,) in named))
    try:
        yield
    finally:
        _owner(*(f"GRANT EXECUTE ON FUNCTION {name} TO {role}" for (name,) in named))


def _owner(*statements: str) -> list[tuple[Any, ...]]:
    """Run statements as the owner, on a connection that no request has closed; the rows of the last one."""
    with connections["owner"].cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def one(last: int, kind: str = "attempt.refused") -> dict[str, Any]:
    """The one event of this kind since `last`."""
    (event,) = recorded_since(last, kind)
    return event


@pytest.fixture
def table(kit: Kit) -> Desk:
    """The dealer's console of an open table T1 with two players."""
    kit.table("T1")
    return kit.seated("T1", stacks=(5_000, 5_000))


# --- Refusals --------------------------------------------------------------------------------------------------------


def test_a_refusal_records_who_asked_for_what_where_and_what_was_expected(kit: Kit, table: Desk) -> None:
    last = last_event()
    body = {"seat": 3, "player": "T1-u1", "amount": 1}
    content = json.dumps(body).encode()
    answer = table.post("seats", content=content, version=1, headers={"X-Request-Id": "wrong-version"})
    assert_problem(answer, 412, "version_conflict")
    event = one(last)
    assert (event["chain"], event["role"], event["request"]) == ("table/T1", "dealer", "wrong-version")
    assert event["actor"].startswith("dealer") and event["terminal"].startswith("table-")
    assert event["data"] == {
        "operation": "sitDown", "method": "POST", "path": "/api/v1/tables/T1/seats", "code": "version_conflict",
        "status": 412, "expected": table.version, "asked": hashlib.sha256(content).hexdigest(),
        "body": '{"amount":1,"player":"T1-u1","seat":3}',
    }  # fmt: skip


@pytest.mark.parametrize(
    ("who", "path", "status", "chain"),
    [
        ("dealer", "/api/v1/tables/T2/open", 403, "table/T2"),
        ("dealer", "/api/v1/tables/X9/open", 404, "house/{house}"),
        ("dealer", "/api/v1/drawers/C1/open", 403, "drawer/C1"),
        ("cashier", "/api/v1/drawers/C1/cash-outs", 400, "drawer/C1"),
        ("cashier", "/api/v1/drawers/nowhere/cash-outs", 400, "house/{house}"),
        ("cashier", "/api/v1/duty", 403, "house/{house}"),
    ],
)
def test_a_refusal_stands_in_the_chain_of_the_place_named(
    kit: Kit, table: Desk, who: str, path: str, status: int, chain: str
) -> None:
    kit.table("T2")
    other = Kit.found()
    other.table("X9")
    desk = table if who == "dealer" else kit.cashier()
    last = last_event()
    assert desk.post(path, {}).status_code == status
    event = one(last)
    assert (event["chain"], event["house"]) == (chain.format(house=kit.house.code), str(kit.house.id))
    other.close()


def test_the_same_request_again_is_no_attempt_but_its_key_for_another_one_is(kit: Kit, table: Desk) -> None:
    table.ok("seats/1/leave", key="once")
    last = last_event()
    again = table.post("seats/1/leave", key="once")
    assert again.headers["Idempotency-Replayed"] == "true"
    assert recorded_since(last) == []
    assert table.post("seats/2/leave", key="once").status_code == 422
    assert one(last)["data"]["code"] == "idempotency_key_reused"


def test_cards_that_are_face_down_are_not_recorded(kit: Kit, table: Desk) -> None:
    table.ok("hands", {"mode": "physical"})
    table.act("p1 po 100")
    last = last_event()
    line = {"actor": "d", "verb": "dh", "target": "p2", "cards": "KlAa"}
    assert table.post("hand/actions", {"actions": [line]}).status_code == 422
    data = one(last)["data"]
    assert json.loads(data["body"]) == {"actions": [line | {"cards": "?"}]}
    # Its hash could be found by trying all cards.
    assert "asked" not in data
    # Attempts between the lines of a hand are no lines of it.
    kit.sequence()
    assert not auditing.verify_house(kit.house, [], []).found


@pytest.mark.parametrize("content", [b'[{"card":"Aa"}]', b'{"entries":[{"card":"Aa"}', b'"Aa"'])
def test_a_body_that_is_no_object_leaves_no_hash(kit: Kit, table: Desk, content: bytes) -> None:
    last = last_event()
    assert table.post("hand/cards", content=content, version=1).status_code == 400
    assert not {"asked", "body"} & one(last)["data"].keys(), "it could be found by trying all cards"


def test_names_and_unknown_fields_are_not_recorded(kit: Kit, table: Desk) -> None:
    last = last_event()
    name = "Kovács Jánosné"
    assert table.post("seats", {"seat": 3, "player": name, "amount": 1}).status_code == 404
    assert table.post("seats", {"seat": 3, "player": "T1-u1", "amount": 1, name: name}).status_code == 400
    assert kit.cashier().post("/api/v1/players/register", {"player": name}).status_code == 400
    first, second, third = recorded_since(last, "attempt.refused")
    assert json.loads(first["data"]["body"])["player"] == "?"
    assert set(json.loads(second["data"]["body"])) == {"seat", "player", "amount"}
    assert not {"body", "asked"} & third["data"].keys()
    payloads = Event.objects.filter(chain__house=kit.house).values_list("payload", flat=True)
    assert not [payload for payload in payloads if "Kov" in payload]


def test_names_in_a_query_are_not_recorded(kit: Kit, table: Desk) -> None:
    office, last = kit.office(), last_event()
    assert office.http.get("/api/v1/players", params={"name": "Kovács János", "page_size": "5"}).status_code == 400
    (read,) = recorded_since(last, "data.read")
    assert read["data"]["parameters"] == [["name", "?"], ["page_size", "5"]]
    assert one(last)["data"]["path"] == "/api/v1/players?name=?&page_size=5"


def test_a_read_refused_for_its_role_is_recorded_and_a_poll_that_finds_nothing_is_not(kit: Kit, table: Desk) -> None:
    last = last_event()
    assert table.get("hand").json()["code"] == "no_hand"
    assert recorded_since(last) == []
    assert table.get("/api/v1/ledger/accounts").status_code == 403
    event = one(last)
    assert (event["role"], event["data"]["operation"], event["data"]["method"]) == ("", "listAccounts", "GET")
    assert event["data"]["expected"] == ["auditor", "manager"]
    assert not {"asked", "body"} & event["data"].keys()


def test_a_method_that_does_not_exist_is_recorded_without_an_operation(kit: Kit, table: Desk) -> None:
    last = last_event()
    assert table.http.delete("/api/v1/tables/T1").status_code == 405
    data = one(last)["data"]
    assert "operation" not in data
    assert (data["method"], data["code"]) == ("DELETE", "method_not_allowed")


def test_whose_token_has_ended_is_still_known(kit: Kit, table: Desk) -> None:
    token = TerminalToken.objects.get(terminal__house=kit.house, terminal__kind="table")
    token.terminal.revoked_at = token.created
    token.terminal.save()
    last = last_event()
    assert table.post("close").status_code == 401
    event = one(last)
    assert (event["actor"], event["terminal"], event["chain"]) == (token.user.login, token.terminal.code, "table/T1")
    table.http.headers["Authorization"] = "Bearer " + "0" * 64
    last = last_event()
    assert table.post("close").status_code == 401
    assert recorded_since(last) == []


def test_what_breaks_on_our_side_is_recorded_too(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(house: object, **options: object) -> None:
        raise ZeroDivisionError("a secret of the server")

    office = kit.office()
    monkeypatch.setattr(reports, "house_report", broken)
    last = last_event()
    assert_problem(office.get("reports/house"), 500, "server_error")
    event = one(last, "attempt.failed")
    assert event["data"] == {
        "operation": "readHouseReport", "method": "GET", "path": "/api/v1/reports/house", "error": "ZeroDivisionError",
    }  # fmt: skip


@hypothesis_settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.one_of(
        st.binary(max_size=60),
        st.recursive(
            st.none() | st.integers() | st.text(max_size=8) | st.booleans(),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["seat", "player", "amount", "x\0", "é"]), inner, max_size=4)
            ),
            max_leaves=8,
        ).map(lambda value: json.dumps(value).encode()),
    ),
    query=st.text(st.characters(codec="utf-8"), max_size=10),
)
def test_whatever_is_sent_is_refused_and_recorded(kit: Kit, body: bytes, query: str) -> None:
    desk = _dealers.get(kit.house.code) or _dealers.setdefault(kit.house.code, _closed_table(kit))
    last = last_event()
    answer = desk.http.post(
        "/api/v1/tables/T1/seats", params={"q": query}, content=body, headers={"Content-Type": "application/json"}
    )
    assert 400 <= answer.status_code < 500, answer.text
    assert one(last)["data"]["code"] == answer.json()["code"]


_dealers: dict[str, Desk] = {}


def _closed_table(kit: Kit) -> Desk:
    kit.table("T1")
    return kit.dealer("T1")


# --- Sensitive reads -------------------------------------------------------------------------------------------------


def test_every_read_says_whether_it_is_sensitive() -> None:
    found = {route: getattr(view, "sensitive", None) for (method, route), view in routes().items() if method == "GET"}
    assert {route for route in READS if found[route] is None} == set()
    assert {route for route in READS if not found[route]} == NOT_SENSITIVE
    # A view that says nothing gets no default from its bases.
    assert not hasattr(operations.Reading, "sensitive")


def test_a_sensitive_read_is_recorded_before_it_is_answered(kit: Kit) -> None:
    kit.table("T1")
    kit.seated("T1", stacks=(5_000, 5_000)).ok("hands", {"mode": "physical"})
    kit.office(Role.FLOOR).ok("days", {"day": DAY})
    kit.sequence()
    auditor, compliance = kit.office(Role.AUDITOR), kit.office(Role.COMPLIANCE)
    for route in sorted(set(READS) - _HIDDEN):
        persons = route.endswith("/person") or route in FOR_COMPLIANCE
        _assert_recorded(kit, compliance if persons else auditor, route, "compliance" if persons else "auditor")


def _assert_recorded(kit: Kit, office: Desk, route: str, role: str) -> None:
    last = last_event()
    answer = office.http.get(address(route, kit), headers={"X-Request-Id": "looking"})
    events = recorded_since(last, "data.read")
    if route in NOT_SENSITIVE:
        assert events == []
        return
    (event,) = events
    assert (event["chain"], event["role"], event["request"]) == (f"house/{kit.house.code}", role, "looking")
    assert event["data"]["subject"] == address(route, kit)
    with no_events():
        unrecorded = office.http.get(address(route, kit))
    assert_problem(unrecorded, 500, "server_error")
    assert answer.status_code in (200, 404, 409), answer.text


def test_the_head_of_an_answer_is_a_read_too(kit: Kit) -> None:
    office, last = kit.office(), last_event()
    assert office.http.head("/api/v1/players?page_size=5").status_code == 200
    assert one(last, "data.read")["data"] == {
        "operation": "listPlayers", "subject": "/api/v1/players", "parameters": [["page_size", "5"]],
    }  # fmt: skip


def test_a_refusal_that_cannot_be_recorded_is_an_error_of_the_server(kit: Kit, table: Desk) -> None:
    with no_events():
        assert_problem(table.post("seats", {"seat": 99}), 500, "server_error")
        # What is everybody's can still be read.
        assert table.get().status_code == 200
    assert_problem(table.post("seats", {"seat": 99}), 400, "invalid_request")

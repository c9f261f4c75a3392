"""Bad input, through HTTP: a typed refusal as a problem document, and a database in which not one row has changed."""

import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from django.core.exceptions import ValidationError
from django.db import connections
from django.test import Client
from pytest_django.plugin import DjangoDbBlocker
from rest_framework.exceptions import ValidationError as ValidationFailed

from casino.api.http.operations import Reason
from casino.core.errors import HouseError
from casino.hands.terms import set_up_table
from casino.staff.models import Staff
from casino.tables.models import CarryoverOnClose
from casino.tables.services import Terms
from engine.errors import EngineError
from tests.casino.kit import ACTOR, FAERBELN, FERBLI, Kit
from tests.casino.scene import (
    SHOWN,
    Case,
    Scene,
    assert_problem,
    assert_recorded,
    build,
    cases,
    fingerprint,
    last_event,
    refused,
    send,
)
from tests.words import as_action

# --- One house with a desk in every state that a case needs ----------------------------------------------------------


@pytest.fixture(scope="module")
def standing(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Scene]:
    """The module's scene. One will do for all cases, since each proves that it has changed nothing."""
    with django_db_blocker.unblock():
        kit, other = Kit.found(), Kit.found()
        scene = build(kit, other)
        connections.close_all()
    yield scene
    kit.close()
    other.close()


@pytest.fixture
def scene(standing: Scene, live_db: None) -> Scene:
    """The scene, with database access for this test."""
    return standing


# --- What every case proves ------------------------------------------------------------------------------------------


def acts(id: str, desk: str, code: str, *lines: str, status: int = 422) -> Case:
    """Lines of a hand that the engine refuses."""
    return Case(id, desk, "hand/actions", status, code, {"actions": [as_action(line) for line in lines]})


def test_the_fingerprint_sees_one_changed_row(scene: Scene) -> None:
    before = fingerprint()
    assert {"ledger_entry", "hands_handline", "staff_answeredrequest"} <= before.keys()
    Staff.objects.filter(login=f"good@{scene.kit.house.code}").update(name="changed")
    after = fingerprint()
    assert {name for name in before if before[name] != after[name]} == {"staff_staff"}


# --- At the hand: what the engine refuses ----------------------------------------------------------------------------


@cases(
    acts("another-seats-turn", "play", "not_your_turn", "p2 f"),
    acts("the-dealers-turn-has-passed", "play", "not_your_turn", "d dh p1 KhOh"),
    acts("a-seat-acts-while-cards-fall", "deal", "not_your_turn", "p2 cc 100"),
    acts("a-seat-that-has-folded", "play", "not_your_turn", "p3 rb 100"),
    acts("a-seat-that-is-not-dealt-in", "play", "not_your_turn", "p9 f"),
    acts("verb-of-another-round", "play", "verb_not_legal", "p1 st"),
    acts("nothing-to-call", "play", "verb_not_legal", "p1 cc 100"),
    acts("amount-below-the-range", "play", "amount_out_of_range", "p1 rb 50"),
    acts("amount-zero", "play", "amount_out_of_range", "p1 rb 0"),
    acts("amount-above-the-range", "play", "amount_out_of_range", "p1 rb 300"),
    acts("amount-beyond-every-stack", "play", "amount_out_of_range", "p1 rb 1000000000000000"),
    acts("amount-off-the-step", "play", "amount_out_of_range", "p1 rb 150"),
    acts("card-dealt-already", "deal", "card_already_dealt", "d dh p3 Kl9b"),
    acts("card-twice-in-one-packet", "deal", "card_already_dealt", "d dh p3 9b9b"),
    acts("card-of-another-pack", "deal", "card_not_in_pack", "d dh p3 2a9b"),
    acts("too-many-cards", "deal", "wrong_count", "d dh p3 XlOb9b"),
    acts("too-few-cards", "deal", "wrong_count", "d dh p3 Xl"),
    acts("cards-for-another-seat", "deal", "wrong_target", "d dh p4 XlOb"),
    acts("cards-for-no-seat", "deal", "wrong_target", "d dh p9 XlOb"),
    acts("the-first-line-is-good-the-second-not", "play", "not_your_turn", "p1 rb 200", "p3 cc 200"),
    acts("a-packet-repeats-a-card-of-the-same-request", "deal", "card_already_dealt", "d dh p3 XlOb", "d dh p4 XlAa"),
    acts("unknown-cards-at-the-showdown", "show", "card_unknown", "p1 sm ????????"),
    acts("one-unknown-card-at-the-showdown", "show", "card_unknown", "p1 sm AaKaOa??"),
    acts("too-few-cards-at-the-showdown", "show", "wrong_count", "p1 sm AaKaOa"),
    acts("the-same-card-shown-twice", "show", "card_already_dealt", "p1 sm AaKaOaUa", "p2 sm AaKlOlXa"),
    acts("showing-out-of-turn", "show", "not_your_turn", "p2 sm AlKlOlXa"),
    acts("a-line-after-the-end", "show", "hand_is_over", *SHOWN, "p1 k"),
    Case("a-target-that-the-verb-does-not-take", "play", "hand/actions", 400, "invalid_request",
         {"actions": [{"actor": "p1", "verb": "k", "target": "p2"}]}),
    Case("cards-that-the-verb-does-not-take", "play", "hand/actions", 400, "invalid_request",
         {"actions": [{"actor": "p1", "verb": "k", "cards": "Kl"}]}),
    Case("an-amount-missing", "play", "hand/actions", 400, "invalid_request",
         {"actions": [{"actor": "p1", "verb": "rb"}]}),
    Case("a-seat-deals", "deal", "hand/actions", 422, "malformed_action",
         {"actions": [{"actor": "p3", "verb": "dh", "target": "p3", "cards": "XlOb"}]}),
    Case("the-dealer-bets", "play", "hand/actions", 422, "malformed_action",
         {"actions": [{"actor": "d", "verb": "rb", "amount": 100}]}),
)  # fmt: skip
def test_a_line_that_the_engine_refuses(scene: Scene, case: Case) -> None:
    assert {"expected", "errors"} & refused(scene, case).keys()


def test_an_amount_out_of_range_is_recorded_the_range(scene: Scene) -> None:
    problem = refused(scene, acts("", "play", "amount_out_of_range", "p1 rb 300"))
    assert {name: problem["expected"][name] for name in ("min", "max", "step")} == {"min": 100, "max": 200, "step": 100}


# --- Preconditions and keys ------------------------------------------------------------------------------------------

BET = {"actions": [as_action("p1 rb 100")]}


def headed(id: str, status: int, code: str, **headers: str | bytes | None) -> Case:
    """A good bet under bad headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Case(id, "play", "hand/actions", status, code, BET, headers=named)


@cases(
    headed("if-match-missing", 428, "precondition_required", If_Match=None),
    headed("if-match-stale", 412, "version_conflict", If_Match='"1"'),
    headed("if-match-of-the-future", 412, "version_conflict", If_Match='"999999"'),
    headed("if-match-weak", 400, "invalid_request", If_Match='W/"1"'),
    headed("if-match-any", 400, "invalid_request", If_Match="*"),
    headed("if-match-any-quoted", 400, "invalid_request", If_Match='"*"'),
    headed("if-match-unquoted", 400, "invalid_request", If_Match="12"),
    headed("if-match-half-quoted", 400, "invalid_request", If_Match='"12'),
    headed("if-match-two", 400, "invalid_request", If_Match='"12", "13"'),
    headed("if-match-empty", 400, "invalid_request", If_Match=""),
    headed("if-match-zero", 400, "invalid_request", If_Match='"0"'),
    headed("if-match-leading-zero", 400, "invalid_request", If_Match='"012"'),
    headed("if-match-negative", 400, "invalid_request", If_Match='"-1"'),
    headed("if-match-text", 400, "invalid_request", If_Match='"latest"'),
    headed("if-match-beyond-64-bits", 400, "invalid_request", If_Match='"' + "9" * 30 + '"'),
    headed("key-missing", 428, "precondition_required", Idempotency_Key=None),
    headed("key-empty", 400, "invalid_request", Idempotency_Key=""),
    headed("key-too-long", 400, "invalid_request", Idempotency_Key="k" * 129),
    headed("key-with-a-blank", 400, "invalid_request", Idempotency_Key="a b"),
    headed("key-used-with-another-body", 422, "idempotency_key_reused", Idempotency_Key="used"),
    Case("key-used-on-another-path", "play", "open", 422, "idempotency_key_reused",
         headers={"Idempotency-Key": "used"}),
    Case("if-match-missing-at-the-cage", "cage", "buy-ins", 428, "precondition_required",
         {"player": "rich", "amount": 100}, headers={"If-Match": None}),
    Case("if-match-stale-at-the-cage", "cage", "buy-ins", 412, "version_conflict",
         {"player": "rich", "amount": 100}, headers={"If-Match": '"1"'}),
    Case("key-missing-where-nothing-has-a-version", "cage", "/api/v1/players/register", 428, "precondition_required",
         {"player": "new"}, headers={"Idempotency-Key": None}),
)  # fmt: skip
def test_preconditions_and_keys(scene: Scene, case: Case) -> None:
    problem = refused(scene, case)
    if case.code == "version_conflict":
        assert problem["current_version"] == scene.desks[case.desk].version


@pytest.mark.parametrize(
    ("name", "value"),
    [("Idempotency-Key", "kulcs-\xe9"), ("Idempotency-Key", "k\x7f"), ("If-Match", '"\xb2"'), ("If-Match", '"1\xa0"')],
)
def test_headers_that_are_not_ascii(scene: Scene, name: str, value: str) -> None:
    # Django's own client, because httpx's WSGI transport passes on ASCII only; servers pass on Latin-1 (PEP 3333).
    desk = scene.desks["play"]
    headers = {"Idempotency-Key": "a-key", "If-Match": f'"{desk.version}"', name: value}
    headers["Authorization"] = desk.http.headers["Authorization"]
    before = fingerprint()
    answer = Client(raise_request_exception=False).post(
        f"{desk.path}/hand/actions", json.dumps(BET), content_type="application/json", headers=headers
    )
    found = httpx.Response(answer.status_code, headers=dict(answer.items()), content=answer.content)
    assert assert_problem(found, 400, "invalid_request")["header"] == name
    assert fingerprint() == before


# --- Who and where ---------------------------------------------------------------------------------------------------


@cases(
    Case("another-tables-console", "play", "/api/v1/tables/T5/seats", 403, "wrong_terminal",
         {"seat": 3, "player": "rich", "amount": 1_000}),
    Case("another-tables-hand", "open", "/api/v1/tables/T1/hand/actions", 403, "wrong_terminal", BET),
    Case("another-drawers-terminal", "closed cage", "/api/v1/drawers/C1/buy-ins", 403, "wrong_terminal",
         {"player": "rich", "amount": 100}),
    Case("the-cage-at-a-table", "cage", "/api/v1/tables/T1/hand/actions", 403, "forbidden", BET),
    Case("a-console-at-the-cage", "play", "/api/v1/drawers/C1/buy-ins", 403, "forbidden",
         {"player": "rich", "amount": 100}),
    Case("a-console-registers-a-player", "play", "/api/v1/players/register", 403, "forbidden", {"player": "new"}),
    Case("the-office-at-a-table", "office", "/api/v1/tables/T5/close", 403, "forbidden"),
    Case("another-houses-table", "play", "/api/v1/tables/X1/hand/actions", 404, "not_found", BET),
    Case("another-houses-table-read", "play", "/api/v1/tables/X1", 404, "not_found", method="GET"),
    Case("another-houses-hand-in-play", "play", "/api/v1/tables/X1/hand", 404, "not_found", method="GET"),
    Case("another-houses-record", "office", "/api/v1/hands/X1-000001", 404, "not_found", method="GET"),
    Case("another-houses-drawer", "cage", "/api/v1/drawers/X2/buy-ins", 404, "not_found",
         {"player": "rich", "amount": 100}),
    Case("another-houses-drawer-read", "cage", "/api/v1/drawers/X2", 404, "not_found", method="GET"),
    Case("another-houses-player", "open", "seats", 404, "not_found", {"seat": 3, "player": "X1-u1", "amount": 1_000}),
    Case("from-another-house", "other house", "/api/v1/tables/T1/hand/actions", 404, "not_found", BET),
    Case("no-such-table", "play", "/api/v1/tables/T99/open", 404, "not_found"),
    Case("no-such-drawer", "cage", "/api/v1/drawers/C99/open", 404, "not_found", {"cash": 0, "pieces": {}}),
    Case("no-such-record", "office", "/api/v1/hands/T1-999999", 404, "not_found", method="GET"),
)  # fmt: skip
def test_another_place_or_house(scene: Scene, case: Case) -> None:
    refused(scene, case)


@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize(
    "who",
    [
        "no token", "unknown token", "token with a changed end", "beginning of a token", "no credentials",
        "two tokens", "another scheme", "expired token", "revoked terminal", "inactive person",
    ],
)  # fmt: skip
def test_no_access(scene: Scene, who: str, method: str) -> None:
    path = "hand/actions" if method == "POST" else "hand"
    before, last = fingerprint(), last_event()
    answer = send(scene, Case("", who, path, 401, "", BET, method=method))
    assert_problem(answer, 401, "not_authenticated")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert fingerprint() == before
    # A token that was once good has a person and a terminal; any other belongs to no house.
    assert_recorded(last, answer, recorded=who in ("expired token", "revoked terminal", "inactive person"))


def test_the_good_token_among_them_is_good(scene: Scene) -> None:
    assert send(scene, Case("", "good token", "hand", 200, "", method="GET")).status_code == 200


# --- Bodies that are not what they should be -------------------------------------------------------------------------


def sits(id: str, content: bytes, *, code: str = "malformed_json", names: str | None = None) -> Case:
    """A body for sitting down at a seat that is free, by a player who could."""
    return Case(id, "open", "seats", 400, code, content=content, names=names)


def amounts(id: str, value: str, *, code: str = "invalid_request") -> Case:
    """The same with this text as the amount."""
    body = f'{{"seat": 3, "player": "rich", "amount": {value}}}'.encode()
    return sits(id, body, code=code, names="amount" if code == "invalid_request" else None)


@cases(
    sits("cut-off", b'{"seat": 3, "player": "rich", "amount": 1000'),
    sits("not-json", b"seat=3&player=rich&amount=1000"),
    sits("two-documents", b'{"seat": 3, "player": "rich", "amount": 1000}{}'),
    sits("single-quotes", b"{'seat': 3, 'player': 'rich', 'amount': 1000}"),
    sits("comment", b'{"seat": 3, "player": "rich", "amount": 1000} // please'),
    sits("latin-1", '{"seat": 3, "player": "józsef", "amount": 1000}'.encode("latin-1")),
    sits("utf-16", '{"seat": 3, "player": "rich", "amount": 1000}'.encode("utf-16")),
    sits("byte-order-mark", b'\xef\xbb\xbf{"seat": 3, "player": "rich", "amount": 1000}'),
    sits("key-twice", b'{"seat": 3, "player": "rich", "amount": 1000, "amount": 2000}'),
    sits("key-twice-the-same", b'{"seat": 3, "player": "rich", "amount": 1000, "amount": 1000}'),
    sits("lone-surrogate-as-text", b'{"seat": 3, "player": "\\ud800", "amount": 1000}'),
    sits("lone-surrogate-as-key", b'{"seat": 3, "player": "rich", "amount": 1000, "\\udfff": 1}'),
    sits("deep-lists", b'{"seat": 3, "player": "rich", "amount": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"),
    sits("deep-objects", b'{"a": ' * 8_000 + b"1" + b"}" * 8_000),
    amounts("float", "1000.0", code="malformed_json"),
    amounts("exponent", "1e3", code="malformed_json"),
    amounts("not-a-number", "NaN", code="malformed_json"),
    amounts("infinity", "Infinity", code="malformed_json"),
    amounts("minus-infinity", "-Infinity", code="malformed_json"),
    amounts("leading-zero", "01000", code="malformed_json"),
    amounts("hexadecimal", "0x3e8", code="malformed_json"),
    amounts("five-thousand-digits", "1" * 5_000, code="malformed_json"),
    amounts("numeric-text", '"1000"'),
    amounts("true", "true"),
    amounts("null", "null"),
    amounts("list", "[1000]"),
    amounts("object", '{"minor": 1000}'),
    amounts("negative", "-1000"),
    amounts("above-10-to-15", "1000000000000001"),
    amounts("10-to-30", "1" + "0" * 30),
    sits("top-level-list", b'[{"seat": 3, "player": "rich", "amount": 1000}]', code="invalid_request"),
    sits("top-level-null", b"null", code="invalid_request"),
    sits("top-level-text", b'"rich"', code="invalid_request"),
    sits("top-level-number", b"1000", code="invalid_request"),
    sits("top-level-false", b"false", code="invalid_request"),
    sits("no-body", b"", code="invalid_request", names="seat"),
    sits("empty-object", b"{}", code="invalid_request", names="amount"),
    sits("unknown-field", b'{"seat": 3, "player": "rich", "amount": 1000, "bonus": 1}', code="invalid_request",
         names="bonus"),
    sits("unknown-field-not-ascii", '{"seat": 3, "player": "rich", "amount": 1000, "összeg": 1}'.encode(),
         code="invalid_request", names="összeg"),
    sits("field-in-other-letters", b'{"Seat": 3, "player": "rich", "amount": 1000}', code="invalid_request",
         names="Seat"),
    sits("seat-true", b'{"seat": true, "player": "rich", "amount": 1000}', code="invalid_request", names="seat"),
    sits("seat-0", b'{"seat": 0, "player": "rich", "amount": 1000}', code="invalid_request", names="seat"),
    sits("seat-100", b'{"seat": 100, "player": "rich", "amount": 1000}', code="invalid_request", names="seat"),
    sits("seat-negative", b'{"seat": -1, "player": "rich", "amount": 1000}', code="invalid_request", names="seat"),
    sits("player-a-number", b'{"seat": 3, "player": 7, "amount": 1000}', code="invalid_request", names="player"),
    sits("player-empty", b'{"seat": 3, "player": "", "amount": 1000}', code="invalid_request", names="player"),
    sits("player-too-long", b'{"seat": 3, "player": "' + b"r" * 33 + b'", "amount": 1000}', code="invalid_request",
         names="player"),
    sits("player-with-nul", b'{"seat": 3, "player": "rich\\u0000", "amount": 1000}', code="invalid_request",
         names="player"),
)  # fmt: skip
def test_a_body_that_cannot_be_read(scene: Scene, case: Case) -> None:
    refused(scene, case)


def plays(id: str, **changed: Any) -> Case:
    """One good action with something changed."""
    body = {"actions": [{"actor": "p1", "verb": "rb", "amount": 100} | changed]}
    return Case(id, "play", "hand/actions", 400, "invalid_request", body, names="actions")


@cases(
    plays("unknown-field-in-an-action", note="x"),
    plays("amount-true", amount=True),
    plays("amount-numeric-text", amount="100"),
    plays("amount-null", amount=None),
    plays("amount-negative", amount=-100),
    plays("amount-above-10-to-15", amount=10**15 + 1),
    plays("amount-10-to-30", amount=10**30),
    plays("actor-a-number", actor=1),
    plays("actor-0", actor="p0"),
    plays("actor-10", actor="p10"),
    plays("actor-with-a-line-end", actor="p1\n"),
    plays("actor-with-a-blank", actor=" p1"),
    plays("actor-a-list", actor=["p1"]),
    plays("verb-unknown", verb="allin"),
    plays("verb-in-capitals", verb="RB"),
    plays("verb-a-list", verb=["rb"]),
    plays("verb-null", verb=None),
    plays("verb-with-a-line-of-its-own", verb="f\np2 f"),
    plays("a-count-where-an-amount-belongs", count=10),
    plays("target-the-dealer", target="d"),
    plays("cards-not-in-pairs", cards="Klx"),
    plays("cards-with-a-blank", cards="Kl Xb"),
    plays("cards-eleven", cards="Kl" * 11),
    Case("a-count-instead-of-an-amount", "play", "hand/actions", 400, "invalid_request",
         {"actions": [{"actor": "p1", "verb": "rb", "count": 10}]}, names="actions"),
    Case("an-amount-instead-of-a-count", "play", "hand/actions", 400, "invalid_request",
         {"actions": [{"actor": "p1", "verb": "lk", "amount": 2}]}, names="actions"),
    Case("no-actions", "play", "hand/actions", 400, "invalid_request", {"actions": []}, names="actions"),
    Case("actions-null", "play", "hand/actions", 400, "invalid_request", {"actions": None}, names="actions"),
    Case("actions-an-object", "play", "hand/actions", 400, "invalid_request", {"actions": BET["actions"][0]},
         names="actions"),
    Case("actions-lists", "play", "hand/actions", 400, "invalid_request", {"actions": [[]]}, names="actions"),
    Case("actions-text", "play", "hand/actions", 400, "invalid_request", {"actions": ["p1 rb 100"]}, names="actions"),
    Case("twenty-one-actions", "play", "hand/actions", 400, "invalid_request", {"actions": BET["actions"] * 21},
         names="actions"),
    Case("unknown-field-beside-actions", "play", "hand/actions", 400, "invalid_request", BET | {"force": True},
         names="force"),
    Case("a-body-where-none-is-taken", "closed", "open", 400, "invalid_request", {"state": "open"}, names="state"),
    Case("a-list-where-none-is-taken", "closed", "open", 400, "invalid_request", content=b"[]"),
    Case("null-where-none-is-taken", "closed", "open", 400, "invalid_request", content=b"null"),
    Case("mode-unknown", "open", "hands", 400, "invalid_request", {"mode": "magic"}, names="mode"),
    Case("mode-missing", "open", "hands", 400, "invalid_request", {}, names="mode"),
    Case("mode-a-list", "open", "hands", 400, "invalid_request", {"mode": ["physical"]}, names="mode"),
    Case("dealer-seat-null", "open", "hands", 400, "invalid_request", {"mode": "physical", "button": None},
         names="button"),
    Case("sitting-out-text", "open", "hands", 400, "invalid_request", {"mode": "physical", "sitting_out": "1"},
         names="sitting_out"),
    Case("sitting-out-true", "open", "hands", 400, "invalid_request", {"mode": "physical", "sitting_out": [True]},
         names="sitting_out"),
    Case("float-in-an-action", "play", "hand/actions", 400, "malformed_json",
         content=b'{"actions": [{"actor": "p1", "verb": "rb", "amount": 100.0}]}'),
    Case("key-twice-in-an-action", "play", "hand/actions", 400, "malformed_json",
         content=b'{"actions": [{"actor": "p1", "verb": "rb", "amount": 100, "amount": 200}]}'),
    Case("lone-surrogate-as-verb", "play", "hand/actions", 400, "malformed_json",
         content=b'{"actions": [{"actor": "p1", "verb": "\\uD800"}]}'),
)  # fmt: skip
def test_a_nested_body_that_does_not_fit(scene: Scene, case: Case) -> None:
    refused(scene, case)


@pytest.mark.parametrize("name", ["ötszáz", "\uff15\uff10\uff10", "", "5 00", "-5", "5.0"])
def test_a_denomination_is_a_whole_number_in_ascii(scene: Scene, name: str) -> None:
    body = {"cash": 0, "pieces": {name: 1}}
    problem = refused(scene, Case("", "closed cage", "open", 400, "invalid_request", body))
    assert [unquote(error["pointer"]) for error in problem["errors"]] == [f"#/pieces/{name}"]


@pytest.mark.parametrize("reason", ["   ", "\t\n\t", " a b ", "ab", ""])
def test_a_reason_is_not_blank(reason: str) -> None:
    with pytest.raises(ValidationFailed):
        Reason().run_validation(reason)
    assert Reason().run_validation(" cut the pack twice ") == " cut the pack twice "


def test_a_refusal_names_the_card_exception_that_it_has_stored(kit: Kit) -> None:
    kit.table()
    desk = kit.seated(stacks=(5_000, 5_000))
    desk.ok("hands", {"mode": "physical"})
    desk.act("p1 po 100", "d dh p1 KlOl")
    answer = desk.post("hand/actions", {"actions": [as_action("d dh p2 KlXb")]})
    assert answer.json()["code"] == "card_already_dealt" and "exception" not in answer.json()["expected"]
    [listed] = desk.get("/api/v1/exceptions/cards").json()["results"]
    assert (listed["exception"], listed["kind"], listed["found"]) == (answer.json()["exception"], "duplicate", None)


def test_no_depth_of_nesting_is_an_error_of_the_server(scene: Scene) -> None:
    # Just below the interpreter's limit a value can be parsed, but what walks it afterwards runs out of stack.
    for depth in (2, 16, 17, 100, *range(900, 960), 1_000):
        content = b'{"mode": ' + b"[" * depth + b"]" * depth + b"}"
        answer = send(scene, Case("", "open", "hands", 400, "", content=content))
        code = "invalid_request" if depth < 16 else "malformed_json"
        assert_problem(answer, 400, code)


@cases(
    Case("form", "open", "seats", 415, "unsupported_media_type", content=b"seat=3&player=rich&amount=1000",
         headers={"Content-Type": "application/x-www-form-urlencoded"}),
    Case("multipart", "open", "seats", 415, "unsupported_media_type", content=b"--x--",
         headers={"Content-Type": "multipart/form-data; boundary=x"}),
    Case("text", "open", "seats", 415, "unsupported_media_type", {"seat": 3, "player": "rich", "amount": 1_000},
         headers={"Content-Type": "text/plain"}),
    Case("no-content-type", "open", "seats", 415, "unsupported_media_type",
         {"seat": 3, "player": "rich", "amount": 1_000}, headers={"Content-Type": None}),
    Case("html-wanted", "open", "seats", 406, "not_acceptable", {"seat": 3, "player": "rich", "amount": 1_000},
         headers={"Accept": "text/html"}),
    Case("a-megabyte", "open", "seats", 413, "body_too_large",
         content=b'{"seat": 3, "player": "rich", "amount": 1000' + b" " * 1_000_000 + b"}"),
    Case("reading-a-write", "closed", "open", 405, "method_not_allowed", method="GET"),
    Case("putting", "closed", "", 405, "method_not_allowed", method="PUT"),
    Case("patching", "closed", "", 405, "method_not_allowed", method="PATCH"),
    Case("deleting", "closed", "", 405, "method_not_allowed", method="DELETE"),
    Case("writing-a-read", "closed", "", 405, "method_not_allowed"),
    Case("deleting-a-seat", "open", "seats/1/leave", 405, "method_not_allowed", method="DELETE"),
    Case("unknown-path", "open", "/api/v1/nothing", 404, "not_found", method="GET", recorded=False),
    Case("unknown-path-written", "open", "/api/v1/nothing", 404, "not_found", recorded=False),
    Case("outside-the-api", "open", "/admin", 404, "not_found", method="GET", recorded=False),
    Case("slash-at-the-end", "open", "/api/v1/tables/T5/", 404, "not_found", method="GET", recorded=False),
    Case("slash-at-the-end-written", "closed", "/api/v1/tables/T6/open/", 404, "not_found", recorded=False),
    Case("quotes-in-the-path", "open", "/api/v1/tables/T5'%20OR%20'1'='1/open", 404, "not_found", recorded=False),
    Case("markup-in-the-path", "open", "/api/v1/tables/%3Cscript%3E", 404, "not_found", method="GET", recorded=False),
    Case("nul-in-the-path", "open", "/api/v1/tables/T5%00", 404, "not_found", method="GET", recorded=False),
    Case("nul-in-a-login", "office", "/api/v1/staff/a%00b/roles", 404, "not_found", recorded=False),
    Case("nul-in-a-parameter", "office", "/api/v1/audit/events?chain=%00", 400, "invalid_parameter", method="GET"),
    Case("nul-in-a-receipt", "office", "/api/v1/audit/proofs/inclusion?chain=a%00&seq=1", 400, "invalid_parameter",
         method="GET"),
    Case("up-and-away", "open", "/api/v1/tables/..%2f..%2fsettings", 404, "not_found", method="GET", recorded=False),
    Case("seat-number-beyond-64-bits", "open", f"seats/{10**30}/leave", 404, "not_found"),
    Case("seat-number-of-five-thousand-digits", "open", f"seats/{'1' * 5_000}/leave", 404, "not_found", recorded=False),
    Case("seat-number-negative", "open", "seats/-1/leave", 404, "not_found", recorded=False),
    Case("cursor-garbage", "office", "/api/v1/hands?cursor=garbage", 404, "not_found", method="GET"),
    # Positions of a cursor are ids here: p=abc, p=%00, and more digits than any integer has.
    Case("cursor-of-another-kind", "office", "/api/v1/hands?cursor=cD1hYmM%3D", 404, "not_found", method="GET"),
    Case("cursor-with-nul", "office", "/api/v1/audit/events?cursor=cD0lMDA%3D", 404, "not_found", method="GET"),
    Case("cursor-of-five-thousand-digits", "office",
         f"/api/v1/hands?cursor={b64encode(b'p=' + b'1' * 5_000).decode()}", 404, "not_found", method="GET"),
)  # fmt: skip
def test_wrong_type_method_or_address(scene: Scene, case: Case) -> None:
    refused(scene, case)


# --- States that do not allow it, and what cannot be -----------------------------------------------------------------


def table(id: str, desk: str, path: str, status: int, code: str, **body: Any) -> Case:
    """A write at a table, well formed."""
    return Case(id, desk, path, status, code, body)


@cases(
    table("deal-while-a-hand-is-played", "play", "hands", 409, "table_playing", mode="physical"),
    table("deal-while-a-hand-settles", "settling", "hands", 409, "table_settling", mode="physical"),
    table("deal-at-a-closed-table", "closed", "hands", 409, "table_closed", mode="physical"),
    table("deal-to-nobody", "empty", "hands", 409, "too_few_players", mode="physical"),
    table("deal-to-nobody-but-who-sits-out", "open", "hands", 409, "too_few_players", mode="physical",
          sitting_out=[1, 2]),
    table("deal-to-a-dealer-who-sits-out", "open", "hands", 422, "no_such_seat", mode="physical", button=1,
          sitting_out=[1]),
    table("deal-with-an-empty-seat-as-dealer", "open", "hands", 422, "no_such_seat", mode="physical", button=3),
    table("deal-with-an-empty-seat-sitting-out", "open", "hands", 422, "no_such_seat", mode="physical",
          sitting_out=[4]),
    table("deal-to-a-stack-below-the-vizi", "short", "hands", 422, "stack_too_short", mode="physical"),
    table("prepare-a-deal-to-a-short-stack", "short", "deal", 422, "stack_too_short"),
    table("deal-electronically-what-is-not-prepared", "open", "hands", 409, "no_deal_prepared", mode="electronic"),
    table("deal-electronically-to-a-button", "open", "hands", 400, "invalid_request", mode="electronic", button=1),
    acts("act-at-an-open-table", "open", "no_hand", "p1 po 100", status=409),
    acts("act-at-a-closed-table", "closed", "no_hand", "p1 po 100", status=409),
    acts("act-while-the-hand-settles", "settling", "no_hand", "p1 k", status=409),
    Case("read-a-hand-that-is-not", "open", "hand", 409, "no_hand", method="GET", recorded=False),
    Case("read-actions-of-a-hand-that-is-not", "open", "hand/legal-actions", 409, "no_hand", method="GET",
    recorded=False), table("open-an-open-table", "open", "open", 409, "table_open"),
    table("open-a-playing-table", "play", "open", 409, "table_playing"),
    table("close-a-closed-table", "closed", "close", 409, "table_closed"),
    table("close-during-a-hand", "play", "close", 409, "table_playing"),
    table("close-while-a-hand-settles", "settling", "close", 409, "table_settling"),
    table("sit-at-a-closed-table", "closed", "seats", 409, "table_closed", seat=1, player="rich", amount=1_000),
    table("sit-on-a-taken-seat", "open", "seats", 409, "seat_taken", seat=1, player="rich", amount=1_000),
    table("sit-twice", "open", "seats", 409, "already_seated", seat=3, player="T5-u1", amount=1_000),
    table("sit-on-a-seat-that-the-table-has-not", "open", "seats", 422, "no_such_seat", seat=5, player="rich",
          amount=1_000),
    table("sit-on-seat-99", "open", "seats", 422, "no_such_seat", seat=99, player="rich", amount=1_000),
    table("sit-with-a-stack-of-nothing", "open", "seats", 422, "stack_out_of_range", seat=3, player="rich", amount=0),
    table("sit-with-too-few-chips", "open", "seats", 422, "stack_out_of_range", seat=3, player="rich", amount=99),
    table("sit-with-too-many-chips", "open", "seats", 422, "stack_out_of_range", seat=3, player="rich",
          amount=1_000_001),
    table("sit-with-10-to-15", "open", "seats", 422, "stack_out_of_range", seat=3, player="rich", amount=10**15),
    table("sit-with-more-than-there-is", "open", "seats", 409, "insufficient_funds", seat=3, player="rich",
          amount=50_001),
    table("sit-with-nothing", "open", "seats", 409, "insufficient_funds", seat=3, player="poor", amount=100),
    table("sit-on-a-taken-seat-while-a-hand-settles", "settling", "seats", 409, "seat_taken", seat=3, player="poor",
          amount=100),
    table("sit-an-unknown-player", "open", "seats", 404, "not_found", seat=3, player="nobody", amount=1_000),
    table("sit-a-piece-of-sql", "open", "seats", 404, "not_found", seat=3, player="'; DROP TABLE staff_staff; --",
          amount=1_000),
    table("sit-a-piece-of-markup", "open", "seats", 404, "not_found", seat=3, player="<script>alert(1)</script>",
          amount=1_000),
    table("sit-a-name-that-differs-in-a-blank", "open", "seats", 404, "not_found", seat=3, player=" rich",
          amount=1_000),
    table("leave-during-a-hand", "play", "seats/1/leave", 409, "table_playing"),
    table("leave-while-a-hand-settles", "settling", "seats/1/leave", 409, "table_settling"),
    table("leave-an-empty-seat", "open", "seats/3/leave", 404, "not_found"),
    table("leave-seat-0", "open", "seats/0/leave", 404, "not_found"),
    table("leave-a-closed-table", "closed", "seats/1/leave", 409, "table_closed"),
    table("add-chips-during-a-hand", "play", "seats/1/chips", 409, "table_playing", amount=100),
    table("add-chips-while-a-hand-settles", "settling", "seats/1/chips", 409, "table_settling", amount=100),
    table("add-chips-to-an-empty-seat", "open", "seats/3/chips", 404, "not_found", amount=100),
    table("add-more-chips-than-the-limit", "open", "seats/1/chips", 422, "stack_out_of_range", amount=999_000),
    table("add-more-chips-than-there-are", "open", "seats/1/chips", 409, "insufficient_funds", amount=5_000),
)  # fmt: skip
def test_a_table_that_does_not_allow_it(scene: Scene, case: Case) -> None:
    refused(scene, case)


def test_one_player_is_too_few_for_a_hand(scene: Scene) -> None:
    problem = refused(scene, table("", "lone", "hands", 409, "too_few_players", mode="physical"))
    assert problem["min"] == 2


def test_a_dealer_is_named_once_in_a_session(kit: Kit) -> None:
    kit.table(seats=2)
    dealer = kit.seated(stacks=(5_000, 5_000))
    dealer.ok("hands", {"mode": "physical", "button": 2})
    dealer.act("p1 po 100", "d dh p1 ????", "d dh p2 ????", "p2 f")
    kit.settle()
    dealer.refresh()
    case = table("", "dealer", "hands", 409, "button_already_known", mode="physical", button=1)
    assert refused(Scene(kit, {"dealer": dealer}), case)["button"] == 1


@cases(
    table("buy-in-at-a-closed-drawer", "closed cage", "buy-ins", 409, "drawer_closed", player="rich", amount=100),
    table("cash-out-at-a-closed-drawer", "closed cage", "cash-outs", 409, "drawer_closed", player="rich", amount=100),
    table("close-a-closed-drawer", "closed cage", "close", 409, "drawer_closed"),
    table("close-an-open-drawer", "cage", "close", 409, "drawer_open"),
    table("count-a-closed-drawer", "closed cage", "count", 409, "drawer_closed", cash=0, pieces={}, foreign=0),
    table("open-an-open-drawer", "cage", "open", 409, "drawer_open", cash=0, pieces={}),
    table("open-without-a-float", "closed cage", "open", 409, "no_float", cash=0, pieces={}),
    table("take-a-handover-that-there-is-not", "cage", "handovers/9/take", 404, "not_found", cash=0, pieces={}),
    table("withdraw-a-float-that-was-taken", "cage", "handovers/1/withdraw", 409, "handover_taken", reason="too late"),
    table("float-of-a-cashier", "closed cage", "handovers", 403, "forbidden", kind="float", cash=1,
          pieces={}),
    table("replenish-a-closed-drawer", "vault", "handovers", 409, "drawer_closed", kind="replenishment", cash=1,
          pieces={}),
    table("recount-a-closed-drawer", "vault", "recount", 409, "drawer_closed", cash=0, pieces={}, foreign=0),
    table("sign-off-a-closed-drawer", "vault", "sign-off", 409, "drawer_closed", reason="nothing there"),
    table("x-reading-of-a-closed-drawer", "vault", "x-readings", 409, "drawer_closed"),
    table("more-cash-than-the-vault-has", "vault", "handovers", 409, "insufficient_funds", kind="float", cash=10**12,
          pieces={}),
    table("more-chips-than-the-vault-has", "vault", "handovers", 409, "insufficient_funds", kind="float", cash=0,
          pieces={"100000": 10**6}),
    table("float-of-10-to-15", "vault", "handovers", 409, "insufficient_funds", kind="float", cash=10**15,
          pieces={"1": 10**12}),
    table("float-negative", "vault", "handovers", 400, "invalid_request", kind="float", cash=-1, pieces={}),
    table("float-above-10-to-15", "vault", "handovers", 400, "invalid_request", kind="float", cash=10**15 + 1,
          pieces={}),
    table("float-by-worth", "vault", "handovers", 400, "invalid_request", kind="float", cash=1, chips=1),
    table("gift", "vault", "handovers", 400, "invalid_request", kind="gift", cash=1, pieces={}),
    table("count-negative", "cage", "count", 400, "invalid_request", cash=-1, pieces={}, foreign=0),
    table("count-missing", "cage", "count", 400, "invalid_request", cash=1, foreign=0),
    table("count-by-worth", "cage", "count", 400, "invalid_request", cash=1, chips=1, foreign=0),
    table("buy-in-of-more-than-the-drawer-has", "bare cage", "buy-ins", 409, "drawer_short", player="poor",
          amount=100),
    table("buy-in-of-nothing", "cage", "buy-ins", 400, "invalid_request", player="rich", amount=0),
    table("buy-in-negative", "cage", "buy-ins", 400, "invalid_request", player="rich", amount=-100),
    table("buy-in-for-an-unknown-player", "cage", "buy-ins", 404, "not_found", player="nobody", amount=100),
    table("cash-out-of-more-than-there-is", "cage", "cash-outs", 409, "insufficient_funds", player="rich",
          amount=50_001),
    table("cash-out-without-chips", "cage", "cash-outs", 409, "insufficient_funds", player="poor", amount=1),
    table("cash-out-of-more-than-the-drawer-has", "bare cage", "cash-outs", 409, "drawer_short", player="rich",
          amount=100),
    table("cash-out-of-chips-on-the-table", "cage", "cash-outs", 409, "insufficient_funds", player="T5-u1",
          amount=1),
    table("cash-out-negative", "cage", "cash-outs", 400, "invalid_request", player="rich", amount=-1),
    table("register-twice", "cage", "/api/v1/players/register", 409, "player_exists", player="rich"),
    *(
        table(f"register-{id}", "cage", "/api/v1/players/register", 400, "invalid_request", player=ref)
        for id, ref in {
            "not-ascii": "jános", "other-digits": "u\u0661", "slash": "u/1", "dot": "u.1", "blank": "u 1",
            "blank-at-the-end": "u1 ", "line-end": "u1\n", "empty": "", "only-blanks": "   ", "33-letters": "u" * 33,
            "number": 7, "null": None, "list": ["u1"], "sql": "u1'; --", "markup": "<b>u1</b>",
        }.items()
    ),
)  # fmt: skip
def test_a_cage_that_does_not_allow_it(scene: Scene, case: Case) -> None:
    problem = refused(scene, case)
    if case.code == "insufficient_funds":
        # What the vault holds is not said to those who count it.
        vault = problem["account"] in ("1010", "9110")
        assert vault == ("available" not in problem) and (vault or problem["required"] > problem["available"])


def without(name: str) -> dict[str, Any]:
    """The usual options of a Färbeln table but this one."""
    return {key: value for key, value in FAERBELN.items() if key != name}


# --- Setting up a table: no HTTP operation yet, the same promise ------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"options": FERBLI | {"jackpot": 1}}, "unknown_option"),
        ({"options": {"table_max": 100_000}}, "option_missing"),
        ({"options": {"vizi": 100}}, "option_missing"),
        ({"options": {"vizi": 100, "table_max": 100_000, "tax_bps": 500}}, "option_missing"),
        ({"options": {"vizi": 100, "table_max": 100_000}}, "option_missing"),
        ({"options": FERBLI | {"combined_rounds": True}}, "unsupported_variant"),
        ({"options": FERBLI | {"blind_announce": "explicit"}}, "unsupported_variant"),
        ({"options": FERBLI | {"limit": "fourfold"}}, "option_out_of_range"),
        ({"options": FERBLI | {"wild": ["Kc"]}}, "option_out_of_range"),
        ({"options": FERBLI | {"wild": "jokers"}}, "option_out_of_range"),
        ({"options": FERBLI | {"majzli_max": 150}}, "option_out_of_range"),
        ({"options": FERBLI | {"majzli_max": 500}}, "min_stack_too_small"),
        ({"options": FERBLI | {"min_active": 5}}, "option_out_of_range"),
        ({"game": "faerbeln", "options": without("round2_unit")}, "option_missing"),
        ({"game": "faerbeln", "options": without("tax_cap")}, "option_missing"),
        ({"game": "faerbeln", "options": without("tax_bps")}, "option_missing"),
        ({"game": "faerbeln", "options": FAERBELN}, "min_stack_too_small"),
        ({"options": FERBLI | {"vizi": "100"}}, "option_out_of_range"),
        ({"options": FERBLI | {"vizi": True}}, "option_out_of_range"),
        ({"options": FERBLI | {"vizi": 0}}, "option_out_of_range"),
        ({"options": FERBLI | {"tax_bps": 10_001}}, "option_out_of_range"),
        ({"options": FERBLI | {"table_max": 99}}, "option_out_of_range"),
        ({"options": FERBLI | {"table_max": None}}, "option_out_of_range"),
        ({"game": "poker"}, "unknown_game"),
        ({"seats": 9}, "seats_out_of_range"),
        ({"seats": 1}, "seats_out_of_range"),
        ({"code": "T/1"}, None),
        ({"code": ""}, None),
        ({"code": "T1"}, "table_exists"),
        ({"min_stack": 0}, "min_stack_too_small"),
        ({"min_stack": 2_000, "max_stack": 1_000}, None),
        ({"carryover_on_close": "burn"}, None),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, dict) else str(value),
)
def test_a_table_that_cannot_be_set_up(scene: Scene, changed: dict[str, Any], code: str | None) -> None:
    wanted: dict[str, Any] = {
        "game": "ferbli", "options": FERBLI, "seats": 4, "min_stack": 100, "max_stack": 1_000,
        "carryover_on_close": CarryoverOnClose.SPLIT,
    } | changed  # fmt: skip
    place = wanted.pop("code", "T50")
    before = fingerprint()
    with pytest.raises((EngineError, HouseError, ValidationError)) as caught:
        set_up_table(house=scene.kit.house, code=place, terms=Terms(**wanted), actor=ACTOR)
    assert fingerprint() == before
    if code is None:
        assert isinstance(caught.value, ValidationError)
    else:
        assert caught.value.code == code


# --- The same requests without the flaw are taken --------------------------------------------------------------------


def test_what_the_cases_are_made_of_is_good(kit: Kit, live_db: None) -> None:
    other = Kit.found()
    scene = build(kit, other)
    good = (
        Case("", "play", "hand/actions", 200, "", BET),
        Case("", "deal", "hand/actions", 200, "", {"actions": [as_action("d dh p3 XlOb")]}),
        Case("", "show", "hand/actions", 200, "", {"actions": [as_action(line) for line in SHOWN]}),
        Case("", "open", "seats", 201, "", {"seat": 3, "player": "rich", "amount": 1_000}),
        Case("", "closed", "open", 200, "", content=b""),
        Case("", "cage", "buy-ins", 201, "", {"player": "rich", "amount": 100}),
        Case("", "vault", "handovers", 201, "", {"kind": "float", "cash": 100, "pieces": {"100": 1}}),
        Case("", "cage", "/api/v1/players/register", 201, "", {"player": "new"}, headers={"If-Match": None}),
        Case("", "short", "seats/2/leave", 200, ""),
    )
    for case in good:
        answer = send(scene, case)
        assert answer.status_code == case.status, (case, answer.text)
    other.close()

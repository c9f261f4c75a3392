"""Who may do what: every operation of the urlconf against every role. A route without an entry here fails."""

from collections.abc import Iterator

import pytest
from django.db import connections
from pytest_django.plugin import DjangoDbBlocker
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.test import APIRequestFactory, force_authenticate

from casino.api.http.operations import ReadOperation, WriteOperation, signed_in
from casino.api.http.permissions import DenyAll, HasRole
from casino.api.seat import HasSeat, holder_of
from casino.audit.models import SignedCheckpoint
from casino.bookkeeping import chart
from casino.staff.models import Role, Staff, TerminalKind, TerminalToken
from casino.staff.services import enrol_terminal
from casino.urls import v1
from tests.casino.kit import ACTOR, Desk, Kit

EVERYBODY = frozenset(Role)
TABLES = frozenset({Role.DEALER, Role.FLOOR})
CAGE = frozenset({Role.CASHIER})
#: Who counts out what leaves the vault, and signs what cashiers count.
SUPERVISION = frozenset({Role.CAGE_SUPERVISOR, Role.MANAGER})
IN_CHARGE = frozenset({Role.FLOOR, Role.ADMIN})
ADMIN = frozenset({Role.ADMIN})
OVERSIGHT = frozenset({Role.AUDITOR, Role.ADMIN})
#: Who may see the drawers, and not what is in them.
DRAWERS = CAGE | SUPERVISION | OVERSIGHT | {Role.FLOOR}

#: Routes that take anybody, signed in or not.
OPEN = {("GET", "schema"), ("GET", "docs"), ("POST", "sign-in"), ("GET", "receipts/<slug:hash>")}
#: Routes of players' own devices: the key of a seat, and no member of staff.
SEAT = {
    ("GET", "seat/deal"), ("POST", "seat/commitment"), ("POST", "seat/seed"), ("GET", "seat/hand"),
    ("GET", "seat/proofs/inclusion"),
}  # fmt: skip
#: Who may do what at all other routes. Writing it down twice, here and at the view, is the point.
MATRIX = {
    ("POST", "sign-out"): EVERYBODY,
    ("GET", "house"): EVERYBODY,
    ("GET", "games"): EVERYBODY,
    ("GET", "games/<path:game>"): EVERYBODY,
    ("GET", "tables"): EVERYBODY,
    ("GET", "tables/<slug:table>"): EVERYBODY,
    ("POST", "tables/<slug:table>/open"): TABLES,
    ("POST", "tables/<slug:table>/close"): TABLES,
    ("POST", "tables/<slug:table>/seats"): TABLES,
    ("POST", "tables/<slug:table>/seats/<int:seat>/chips"): TABLES,
    ("POST", "tables/<slug:table>/seats/<int:seat>/leave"): TABLES,
    ("POST", "tables/<slug:table>/seats/<int:seat>/key"): TABLES,
    ("POST", "tables/<slug:table>/seats/<int:seat>/key/revoke"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/client-seeds"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/time-to-act"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/hand/beside"): TABLES,
    ("POST", "tables/<slug:table>/seat-fee"): frozenset({Role.FLOOR}),
    ("GET", "tables/<slug:table>/deal"): EVERYBODY,
    ("POST", "tables/<slug:table>/deal"): TABLES,
    ("POST", "tables/<slug:table>/deal/seeds"): TABLES,
    ("POST", "tables/<slug:table>/deal/close"): TABLES,
    ("POST", "tables/<slug:table>/deal/abandon"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/hands"): TABLES,
    ("GET", "tables/<slug:table>/hand"): EVERYBODY,
    ("GET", "tables/<slug:table>/hand/legal-actions"): EVERYBODY,
    ("POST", "tables/<slug:table>/hand/void"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/hand/ruling"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/hand/actions"): TABLES,
    ("POST", "tables/<slug:table>/hand/cards"): TABLES,
    ("POST", "tables/<slug:table>/hand/corrections"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/deck-check"): TABLES,
    ("POST", "tables/<slug:table>/exceptions/<int:exception>/clear"): frozenset({Role.FLOOR}),
    ("GET", "exceptions/cards"): OVERSIGHT | {Role.FLOOR, Role.DEALER},
    ("GET", "players"): EVERYBODY,
    ("POST", "players/register"): CAGE,
    ("GET", "players/<slug:player>/person"): CAGE | OVERSIGHT,
    ("POST", "players/<slug:player>/person"): CAGE,
    ("GET", "drawers"): DRAWERS,
    ("GET", "shifts"): DRAWERS,
    ("GET", "drawers/<slug:drawer>"): DRAWERS,
    ("POST", "drawers/<slug:drawer>/open"): CAGE,
    ("POST", "drawers/<slug:drawer>/buy-ins"): CAGE,
    ("POST", "drawers/<slug:drawer>/cash-outs"): CAGE,
    ("GET", "handovers"): SUPERVISION | OVERSIGHT,
    ("POST", "drawers/<slug:drawer>/handovers"): CAGE | SUPERVISION,
    ("POST", "drawers/<slug:drawer>/handovers/<int:handover>/sign"): frozenset({Role.MANAGER}),
    ("POST", "drawers/<slug:drawer>/handovers/<int:handover>/take"): CAGE | SUPERVISION,
    ("POST", "drawers/<slug:drawer>/handovers/<int:handover>/withdraw"): CAGE | SUPERVISION,
    ("POST", "drawers/<slug:drawer>/count"): CAGE,
    ("POST", "drawers/<slug:drawer>/recount"): frozenset({Role.CAGE_SUPERVISOR}),
    ("POST", "drawers/<slug:drawer>/close"): CAGE | SUPERVISION,
    ("POST", "drawers/<slug:drawer>/sign-off"): SUPERVISION,
    ("POST", "drawers/<slug:drawer>/x-readings"): SUPERVISION | {Role.AUDITOR},
    ("GET", "drawers/<slug:drawer>/shifts/<int:shift>/z"): CAGE | SUPERVISION | OVERSIGHT,
    ("POST", "tables/<slug:table>/transfers"): TABLES,
    ("POST", "tables/<slug:table>/transfers/<int:transfer>/send"): TABLES,
    ("POST", "tables/<slug:table>/transfers/<int:transfer>/receive"): TABLES,
    ("POST", "tables/<slug:table>/transfers/<int:transfer>/accept-with-variance"): frozenset({Role.FLOOR}),
    ("POST", "tables/<slug:table>/transfers/<int:transfer>/cancel"): TABLES,
    ("POST", "drawers/<slug:drawer>/transfers"): CAGE,
    ("POST", "drawers/<slug:drawer>/transfers/<int:transfer>/send"): CAGE,
    ("POST", "drawers/<slug:drawer>/transfers/<int:transfer>/receive"): CAGE,
    ("POST", "drawers/<slug:drawer>/transfers/<int:transfer>/accept-with-variance"): frozenset({Role.FLOOR}),
    ("POST", "drawers/<slug:drawer>/transfers/<int:transfer>/cancel"): CAGE,
    ("GET", "transfers"): EVERYBODY,
    ("GET", "tables/<slug:table>/chips"): EVERYBODY,
    ("POST", "drawers/<slug:drawer>/soft-counts"): CAGE,
    ("POST", "drawers/<slug:drawer>/soft-counts/<int:count>/confirm"): frozenset({Role.FLOOR}),
    ("POST", "drawers/<slug:drawer>/soft-counts/<int:count>/void"): CAGE | {Role.FLOOR},
    ("GET", "soft-counts"): CAGE | OVERSIGHT | {Role.FLOOR},
    ("POST", "tables/<slug:table>/buy-ins"): TABLES,
    ("POST", "tables/<slug:table>/exchanges"): TABLES,
    ("POST", "tables/<slug:table>/tips"): TABLES,
    ("POST", "drawers/<slug:drawer>/exchanges"): CAGE,
    ("POST", "drawers/<slug:drawer>/foreign-chips"): CAGE,
    ("POST", "drawers/<slug:drawer>/tronc-payouts"): CAGE,
    ("POST", "drawers/<slug:drawer>/corrections"): frozenset({Role.CAGE_SUPERVISOR}),
    ("POST", "drawers/<slug:drawer>/bearer-buy-ins"): CAGE,
    ("POST", "drawers/<slug:drawer>/bearer-cash-outs"): CAGE,
    ("POST", "players/<slug:player>/attributions"): frozenset({Role.COMPLIANCE}),
    ("POST", "players/<slug:player>/unattributions"): frozenset({Role.COMPLIANCE}),
    ("POST", "duty"): ADMIN,
    ("POST", "password"): EVERYBODY,
    ("GET", "staff"): OVERSIGHT,
    ("GET", "staff/on-duty"): OVERSIGHT | {Role.FLOOR},
    ("POST", "staff"): ADMIN,
    ("POST", "staff/<login:login>/roles"): ADMIN,
    ("POST", "staff/<login:login>/deactivate"): ADMIN,
    ("POST", "staff/<login:login>/activate"): ADMIN,
    ("POST", "staff/<login:login>/password"): ADMIN,
    ("POST", "staff/<login:login>/unlock"): ADMIN,
    ("GET", "terminals"): OVERSIGHT,
    ("POST", "terminals"): ADMIN,
    ("POST", "terminals/<slug:terminal>/revoke"): ADMIN,
    ("GET", "days"): OVERSIGHT | {Role.FLOOR},
    ("POST", "days"): IN_CHARGE,
    ("GET", "days/<slug:day>"): OVERSIGHT | {Role.FLOOR},
    ("POST", "days/<slug:day>/close"): IN_CHARGE,
    ("GET", "hands"): EVERYBODY,
    ("GET", "hands/<slug:hand>"): OVERSIGHT | {Role.FLOOR},
    ("GET", "hands/<slug:hand>/openings"): EVERYBODY,
    ("GET", "deals/<slug:hand>"): OVERSIGHT,
    ("GET", "audit/events"): OVERSIGHT,
    ("GET", "audit/checkpoint"): EVERYBODY,
    ("GET", "audit/checkpoints"): OVERSIGHT,
    ("GET", "audit/key"): EVERYBODY,
    ("GET", "audit/proofs/inclusion"): EVERYBODY,
    ("GET", "audit/proofs/consistency"): EVERYBODY,
    ("GET", "audit/export"): OVERSIGHT,
    ("GET", "audit/log/<int:epoch>/checkpoint"): OVERSIGHT,
    ("GET", "audit/log/<int:epoch>/tile/<slug:level>/<path:tile>"): OVERSIGHT,
    ("GET", "ledger/accounts"): OVERSIGHT,
    ("GET", "ledger/accounts/<int:account>/balance"): OVERSIGHT,
    ("GET", "ledger/accounts/<int:account>/statement"): OVERSIGHT,
    ("GET", "ledger/export/<slug:layout>"): OVERSIGHT,
    ("GET", "reports/house"): OVERSIGHT | {Role.FLOOR},
    ("GET", "reports/players"): OVERSIGHT | {Role.FLOOR},
    ("GET", "reports/hands"): OVERSIGHT | {Role.FLOOR},
    ("GET", "reports/verification"): OVERSIGHT,
    ("GET", "reports/deals"): OVERSIGHT | {Role.FLOOR},
}
#: Answers to allowed reads that are not 200: the house's only hand is being played with a pack of cards.
READS = {
    "hands/<slug:hand>": 409, "hands/<slug:hand>/openings": 409, "tables/<slug:table>/deal": 409,
    "deals/<slug:hand>": 404, "drawers/<slug:drawer>/shifts/<int:shift>/z": 409,
}  # fmt: skip
GUARDED = sorted(MATRIX)
IDS = [f"{method} {route}" for method, route in GUARDED]


def routes() -> dict[tuple[str, str], type]:
    """Every operation of /api/v1/ as (method, route), with its view."""
    found = {}
    for pattern in v1:
        view = pattern.callback.view_class
        for method in ("get", "post", "put", "patch", "delete"):
            if hasattr(view, method):
                found[method.upper(), str(pattern.pattern)] = view
    return found


DAY = "2020-02-29"
#: Who T1-u1 is.
PERSON = {"person": {"name": "Anna Kiss", "born": "1980-02-29", "document": "123456AB"}, "reason": "first_record"}


def address(route: str, house: Kit) -> str:
    """The route filled in with things that the test's house has."""
    first = SignedCheckpoint.objects.filter(house=house.house)[0]
    known = {
        "<slug:table>": "T1",
        "<path:game>": "ferbli/1",
        "<int:seat>": "1",
        "<int:epoch>": "1",
        "<slug:level>": "0",
        "<path:tile>": "000.p/1",
        "<slug:drawer>": "C1",
        "<slug:hand>": "T1-000001",
        "<int:transfer>": "1",
        "<int:count>": "1",
        "<int:exception>": "1",
        "<int:handover>": "1",
        "<int:shift>": "1",
        "<slug:day>": DAY,
        "<slug:layout>": "csv",
        "<slug:player>": "T1-u1",
        "proofs/inclusion": f"proofs/inclusion?chain=house/{house.house.code}&seq=1",
        "proofs/consistency": f"proofs/consistency?from_size={first.size}",
        "<login:login>": f"dealer1@{house.house.code}",
        "<slug:terminal>": "table-1",
        "<int:account>": str(chart.ids(house.house, {("1010", "HUF")})["1010", "HUF"]),
    }
    for name, value in known.items():
        route = route.replace(name, value)
    return f"/api/v1/{route}"


@pytest.fixture(scope="module")
def standing(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[tuple[Kit, dict[Role, Desk]]]:
    """A house with a hand in play, and one person of each role, all at office terminals."""
    with django_db_blocker.unblock():
        kit = Kit.found()
        kit.table("T1")
        kit.seated("T1").ok("hands", {"mode": "physical"})
        kit.office(Role.FLOOR).ok("days", {"day": DAY})
        kit.cashier().ok("/api/v1/players/T1-u1/person", PERSON, version=1)
        kit.sequence()
        desks = {role: kit.office(role) for role in Role}
        connections.close_all()
    yield kit, desks
    kit.close()


@pytest.fixture
def house(standing: tuple[Kit, dict[Role, Desk]], live_db: None) -> Kit:
    """The module's house, with database access for this test."""
    return standing[0]


@pytest.fixture
def desks(standing: tuple[Kit, dict[Role, Desk]], live_db: None) -> dict[Role, Desk]:
    """Office desks by role."""
    return standing[1]


def test_every_operation_of_the_urlconf_stands_in_the_matrix() -> None:
    assert routes().keys() == MATRIX.keys() | OPEN | SEAT


def test_every_view_says_whom_it_takes() -> None:
    for (method, route), view in routes().items():
        expected = [AllowAny] if (method, route) in OPEN else [HasSeat] if (method, route) in SEAT else [HasRole]
        # The schema's views get theirs from the urlconf, all others say it themselves.
        pattern = next(pattern for pattern in v1 if str(pattern.pattern) == route)
        stated = pattern.callback.initkwargs.get("permission_classes", view.permission_classes)
        assert list(stated) == expected, route
        if (method, route) in MATRIX:
            readers = getattr(view, "readers", None) if method == "GET" else None
            assert frozenset(view.roles if readers is None else readers) == MATRIX[method, route], route


@pytest.mark.parametrize("operation", GUARDED, ids=IDS)
def test_each_role_is_let_in_or_kept_out(house: Kit, desks: dict[Role, Desk], operation: tuple[str, str]) -> None:
    method, route = operation
    for role, desk in desks.items():
        # Writes come without Idempotency-Key: who is let in gets as far as being recorded so, and changes nothing.
        http = house.office(role).http if route == "sign-out" else desk.http
        answer = http.request(method, address(route, house))
        if role in MATRIX[operation]:
            reads = {READS.get(route, 200)}
            expected = reads if method == "GET" else {204} if route == "sign-out" else {400, 428}
            assert answer.status_code in expected, (role, answer.text)
        else:
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), (role, answer.text)
            assert set(answer.json()["allowed_roles"]) == MATRIX[operation]


@pytest.mark.parametrize("operation", GUARDED, ids=IDS)
def test_nobody_is_let_in_without_a_token(house: Kit, operation: tuple[str, str]) -> None:
    http = house.http(None)
    method, route = operation
    answer = http.request(method, address(route, house))
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    # Nor does any other method record anything before the token has been seen.
    for other in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
        assert http.request(other, address(route, house)).status_code == 401, other


def test_schema_docs_and_signing_in_need_no_token(house: Kit) -> None:
    http = house.http(None)
    assert http.get("/api/v1/schema").status_code == 200
    assert http.get("/api/v1/docs").status_code == 200
    assert http.post("/api/v1/sign-in", json={}).status_code == 400


def test_a_token_that_is_not_good_does_not_lock_the_open_doors(house: Kit) -> None:
    http = house.http("0" * 64)
    assert http.get("/api/v1/schema").status_code == 200
    assert http.post("/api/v1/sign-in", json={}).status_code == 400


def test_the_default_takes_nobody() -> None:
    assert [DenyAll] == api_settings.DEFAULT_PERMISSION_CLASSES
    assert DenyAll().has_permission(None, None) is False  # type: ignore[arg-type]


@pytest.mark.parametrize("base", [ReadOperation, WriteOperation])
def test_a_view_without_roles_takes_nobody(house: Kit, base: type) -> None:
    def get(self: object, request: object) -> None:
        raise AssertionError("nobody gets here")

    forgetful = type("Forgetful", (base,), {"get": get})
    staff = Staff.objects.create(
        house=house.house, login=f"all-{base.__name__}@{house.house.code}", name="All", roles=list(Role)
    )
    request = APIRequestFactory().get("/")
    force_authenticate(request, user=staff)
    answer = forgetful.as_view()(request)
    assert (answer.status_code, answer.data["code"], answer.data["allowed_roles"]) == (403, "forbidden", [])


def test_roles_of_one_person_add_up_and_the_trail_names_the_one_that_was_used(kit: Kit) -> None:
    kit.table("T1")
    staff = Staff.objects.create(
        house=kit.house, login=f"both@{kit.house.code}", name="Both", roles=[Role.AUDITOR, Role.FLOOR]
    )
    terminal, _ = enrol_terminal(house=kit.house, code="both", kind=TerminalKind.TABLE, location="T1", actor=ACTOR)
    token = str(TerminalToken.objects.create(staff, terminal=terminal, house=kit.house)[1])
    desk = Desk(kit.http(token), "/api/v1/tables/T1")
    desk.refresh()
    opened = desk.ok("open")
    assert desk.get("/api/v1/reports/house").status_code == 200
    assert desk.post("/api/v1/players/register", {"player": "x"}).status_code == 403
    events = kit.office().get("/api/v1/audit/events?page_size=1000").json()["results"]
    mine = next(event["payload"] for event in events if event["hash"] == opened["audit"]["hash"])
    assert f'"role":"{Role.FLOOR}"' in mine
    assert f'"actor":"{staff.login}"' in mine


def test_an_answer_for_somebody_who_signed_in_is_given_to_nobody_else() -> None:
    """A view that forgets its permission fails; it does not answer for nobody."""
    request = Request(APIRequestFactory().get("/api/v1/anything"))
    with pytest.raises(AssertionError, match="signed in"):
        signed_in(request)
    with pytest.raises(AssertionError, match="key of a seat"):
        holder_of(request)

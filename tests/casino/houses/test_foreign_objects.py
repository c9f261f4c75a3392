"""Every role asks every operation for objects of another house: nothing is there, nothing changes, one event says so.

One house plays an evening on which every operation succeeds (`examples.py`); just before a request that names objects,
it is tried with each of them replaced by one that only another house has. Then people of a second house, where nothing
is called as in the first, send the same requests from terminals that stand where those of the first house stood.
Operations, parameters and members are those of the schema: what these tests do not know fails.
"""

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from django.db import connections
from django.urls import resolve
from pytest_django import DjangoDbBlocker

from casino.api.http import contract
from casino.cage.founding import create_drawer, open_vault
from casino.chips.services import introduce
from casino.hands.models import CardException, ExceptionKind
from casino.staff.models import Role, RotaEntry, Staff, TerminalKind
from casino.staff.services import enrol_terminal
from casino.tables.models import Table
from casino.transfers.models import Serial
from tests.casino.api.test_permissions import HIDDEN, MATRIX, routes
from tests.casino.contract import operation_of
from tests.casino.described import operations, schema
from tests.casino.devices import device
from tests.casino.examples import Recording, play
from tests.casino.kit import ACTOR, CHIPS, PIECES, Kit
from tests.casino.scene import assert_recorded, fingerprint, last_event
from tests.casino.transfers.test_transfers import Ends

#: Parameters of addresses that name an object of a house, and those that every house has: seats by their number,
#: games, layouts, and the parts of its own log.
NAMES_AN_OBJECT = {
    "account", "announcement", "approval", "archive", "bag", "box", "chip_set", "complaint", "count", "credit", "day",
    "drawer", "entry", "exception", "exclusion", "fill", "found", "hand", "handover", "legal_hold", "line", "login",
    "minor", "move", "name", "passkey", "payout", "player", "printout", "rehearsal", "run", "sealed", "shift", "table",
    "terminal", "ticket", "unknown_person", "vault_count", "webhook",
}  # fmt: skip
OF_EVERY_HOUSE = {"epoch", "game", "layout", "level", "report", "rules", "schedule", "seat", "tile"}
#: How many boxes, fills, credits, movements of chips and counts of trays the other house has had, entries of its rota,
#: and card exceptions of its table: a number that no house of a test reaches by itself.
FAR = 900
FAR_OF = ("box", "fill", "credit", "move", "count")
_FAR_SERIES = ("box", "fill", "credit", "chip_move", "tray")
_FAR_COUNT = {"purpose": "check", "pieces": {"5": 1}}
_FAR_MOVE = {"kind": "set_aside", "paper": "far away", "pieces": {"5": 1}}
#: A day that only the other house has.
OTHER_DAY = "2020-02-27"
#: Operations at a table that people in the office carry out.
IN_THE_OFFICE = {"changeTerms", "setFloatTemplate", "setTrayTemplate", "stockTray", "retireTable", "retireDrawer"}


def at_an_address(route: str) -> set[str]:
    """Names of the parameters of a route."""
    return set(re.findall(r"<\w+:(\w+)>", route))


def address_of(route: str, named: Mapping[str, Any]) -> str:
    """The address of a route with these parameters."""
    return "/api/v1/" + re.sub(r"<\w+:(\w+)>", lambda one: str(named[one[1]]), route)


#: Method and route of every operation for signed-in staff.
ROUTES = {
    view.operations[method.lower()].id: (method, route)  # type: ignore[attr-defined]
    for (method, route), view in routes().items()
    if (method, route) in MATRIX
}
#: Operations whose address names an object.
FOREIGN = sorted(name for name, (_, route) in ROUTES.items() if at_an_address(route) & NAMES_AN_OBJECT)


def test_every_parameter_of_an_address_is_known() -> None:
    found = set().union(*(at_an_address(route) for _, route in routes()))
    assert found - {"hash"} == NAMES_AN_OBJECT | OF_EVERY_HOUSE
    assert {route for _, route in routes() if "hash" in at_an_address(route)} == {"receipts/<slug:hash>"}


def headers_of(request: httpx.Request) -> dict[str, str]:
    """What a request said beside who asks, under a new key."""
    kept = {name: request.headers[name] for name in ("Content-Type", "If-Match") if name in request.headers}
    return kept | ({"Idempotency-Key": str(uuid.uuid4())} if request.method == "POST" else {})


def stands(name: str, named: Mapping[str, Any]) -> tuple[TerminalKind, str]:
    """Where people stand who carry out an operation."""
    if name not in IN_THE_OFFICE and "table" in named:
        return TerminalKind.TABLE, named["table"]
    if name not in IN_THE_OFFICE and "drawer" in named:
        return TerminalKind.CAGE, named["drawer"]
    return TerminalKind.OFFICE, ""


def unchanged(before: dict[str, str]) -> bool:
    """Whether the database is as it was."""
    return fingerprint() == before


@pytest.fixture(scope="module")
def others(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Kit]:
    """A house where everything is called otherwise than on the evening."""
    with django_db_blocker.unblock():
        kit = Kit.found(bare=True)
        introduce(house=kit.house, code="OWN", denominations=dict.fromkeys(PIECES, ""), actor=ACTOR)
        open_vault(house=kit.house, capital=CHIPS, chips=PIECES, actor=ACTOR)
        create_drawer(house=kit.house, code="OWN-C", actor=ACTOR)
        kit.table("OWN")
        kit.players("own-1")
        kit.sequence()
        connections.close_all()
    yield kit
    kit.close()


@pytest.fixture
def strangers(others: Kit, live_db: None) -> Kit:
    """The same, with database access for this test."""
    return others


@pytest.mark.slow
def test_no_role_reaches_an_object_of_another_house(evening_of_others: "Probing", strangers: Kit) -> None:
    desks: dict[Any, httpx.Client] = {}
    for name in FOREIGN:
        request = evening_of_others.sent[name]
        where = stands(name, resolve(request.url.path).kwargs)
        for role in Role:
            if (role, where) not in desks:
                desks[role, where] = strangers.http(strangers.token(role, *where))
        before = fingerprint()
        for role in Role:
            last = last_event()
            answer = desks[role, where].request(
                request.method, request.url, content=request.content, headers=headers_of(request)
            )
            let_in = role in MATRIX[ROUTES[name]] or ROUTES[name][1] in HIDDEN
            expected = (404, "not_found") if let_in else (403, "forbidden")
            assert (answer.status_code, answer.json()["code"]) == expected, (name, role, answer.text)
            assert_recorded(last, answer)
        assert unchanged(before), name


# --- Objects of another house beside one's own -----------------------------------------------------------------------


#: Members of bodies that name an object, and of what kind it is.
MEMBERS = {
    "carrier": "login", "chain": "chain", "chip_set": "chip_set", "drawer": "drawer", "finder": "login",
    "for_day": "for_day", "from_drawer": "drawer",
    "hand": "hand", "location": "table", "login": "login", "observer": "login", "place": "drawer", "player": "player",
    "points": "login", "relieves": "login", "table": "table", "terminal": "terminal", "to_drawer": "drawer",
}  # fmt: skip
#: Numbers that count from 1 in each house, drawer, table or hand: another house has the same ones.
NUMBERED = {
    "announcement", "buy_ins", "case", "entry", "index", "line", "minors", "pool", "repeats", "seat", "seq",
    "sitting_out", "ticket", "to_seat", "unknown_person",
}  # fmt: skip
#: Members that name what does not exist before: another house may call its own so; and control points.
NEW = {
    ("createDrawer", "drawer"), ("createTable", "table"), ("enrolTerminal", "terminal"), ("hireStaff", "login"),
    ("introduceChipSet", "chip_set"), ("linkPlayer", "player"), ("registerPlayer", "player"),
    ("changeLimits", "points"),
}  # fmt: skip
#: Members that name nothing: amounts, words, cards, seats by their letters in a hand, texts, people's data.
VALUES = {
    "above", "account", "action", "actions", "actor", "address", "admission_required", "adr", "after", "age_band",
    "alarm_days", "allowed", "amount", "announce", "approval_minutes_at_drawers", "approval_minutes_at_tables",
    "approval_minutes_in_office", "area", "asked_by", "attestation", "authenticator_data", "awards", "bag",
    "bag_bank_days", "bands", "base", "beneficiary", "bid", "birth_name", "birth_place", "bonus", "bonus_approved_from",
    "born", "borne", "box_change_count_required", "brought", "button", "by", "by_template", "cadence", "call",
    "capacity", "capital", "card", "cards", "carryover_on_close", "cash", "cause", "ceiling", "chains", "claimed",
    "client_data", "client_seeds", "closer_required", "code", "collected", "commitment", "complaint_answer_days",
    "consent", "contract", "corrects", "count", "credential", "currency", "currency_exponent", "day", "day_cut_off",
    "decimal", "decision", "deductions", "denominations", "deposit", "description", "destination", "destinations",
    "device", "difference_accepted", "difference_alarm_from", "difference_by_manager_above", "differences_of_one_sign",
    "digest", "direction", "dispute_minutes", "document", "drawer_close_minutes", "due_on", "ends_at", "entries",
    "evidence", "exchange_by_manager_from", "exchange_by_supervisor_from", "fee_refunded", "figure", "filed_day",
    "filed_id", "filed_on", "filters", "first_day", "float_by_manager_above", "float_most", "for_month", "foreign",
    "form", "formats", "found_where", "game", "given", "group_by", "hands", "held", "identity_from",
    "idle_minutes_at_drawers", "idle_minutes_at_tables", "idle_minutes_in_office", "in_person", "interaction", "issuer",
    "kept", "kind", "language", "languages", "last_day", "least", "legal_name", "legal_profile", "licence_number",
    "limit", "linked_days", "linked_hours", "linked_long_days", "log_floor", "loser", "made_good", "max_stack", "means",
    "millionths", "min_stack", "minutes", "mode", "most", "mothers_name", "name", "nationality", "new",
    "no_buy_in_above", "nonce", "note", "number", "old", "opener_required_above", "options", "outcome", "paid", "paper",
    "passkey", "password", "payee", "per", "person", "pieces", "pin", "pin_tries", "places", "purpose", "rate",
    "rate_source", "reality_check_hours", "reason", "received_at", "redeem_until", "reference", "refund",
    "remittance_days",
    "retain_answers_days", "retain_books_days", "retain_laundering_days", "retain_operations_days",
    "retain_transient_days", "return_number", "reverse_pair_least", "reverse_pair_percent", "right", "role", "roles",
    "scope", "seal", "seat_count", "seat_fee", "second_factor_required", "seconds", "seed", "separator", "session",
    "set_aside_days", "sha256", "signature", "skim_above", "small_house", "span", "stakes", "starts_at", "statement",
    "step", "suit", "target", "targets", "tax", "tax_code", "tax_id", "tax_refunded", "terminal_key", "text", "texts",
    "then", "time_of_day", "time_to_act", "time_zone", "trade", "transfer_approved_from", "transfer_exception_minutes",
    "transfer_late_minutes", "tray", "tray_difference_alarm_from", "tray_difference_reported_from",
    "uncounted_box_days", "uncounted_vault_days", "until", "user_handle", "valid_from", "verb", "video",
    "void_by_manager_above", "wanted", "way", "what", "winner", "withdrawn", "word",
}  # fmt: skip
#: Names in bodies that are refused with a code of their own.
OTHERWISE = {
    ("acceptCreditWithVariance", "carrier"): (422, "unknown_carrier"),
    ("acceptFillWithVariance", "carrier"): (422, "unknown_carrier"),
    ("receiveCredit", "carrier"): (422, "unknown_carrier"),
    ("receiveFill", "carrier"): (422, "unknown_carrier"),
    ("shareTronc", "points"): (422, "unknown_login"),
    ("noteChipMove", "chip_set"): (422, "unknown_chip_set"),
    ("noteChipMove", "observer"): (422, "unknown_observer"),
    ("decideCount", "observer"): (422, "unknown_observer"),
    ("confirmBonus", "hand"): (409, "bonus_differs"),
    ("ruleOnHand", "hand"): (409, "other_hand"),
    ("disputeHand", "hand"): (409, "other_hand"),
    ("withdrawDispute", "hand"): (409, "other_hand"),
    ("takeOverTable", "relieves"): (409, "dealer_differs"),
    ("printDocument", "player"): (422, "player_of_hand"),
}
#: Members that no request of the evening has: the person who carries the chips is named by who counts them there, and
#: players sit down with chips from the cage. They are tried by themselves
#: (`test_what_the_evening_does_not_name_is_not_reached_either`), and refused so.
NOT_TRIED = {
    ("buyInAtTable", "player"): (404, "not_found"),
    ("sendRequestedFill", "carrier"): (422, "unknown_carrier"),
    ("sendRequestedCredit", "carrier"): (422, "unknown_carrier"),
    ("sendFill", "carrier"): (422, "unknown_carrier"),
    ("sendCredit", "carrier"): (422, "unknown_carrier"),
}


def members() -> set[str]:
    """Names of all members of all bodies, whatever they stand in."""
    parts = schema()["components"]["schemas"]

    def within(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            if "$ref" in node:
                yield from within(parts[node["$ref"].rpartition("/")[2]])
            yield from node.get("properties", {})
            for inner in node.values():
                yield from within(inner)
        elif isinstance(node, list):
            for inner in node:
                yield from within(inner)

    bodies = (one["requestBody"]["content"]["application/json"]["schema"]
              for one in operations().values() if "requestBody" in one)  # fmt: skip
    return {name for body in bodies for name in within(body)}


def members_of(operation: str) -> set[str]:
    """Members of an operation's body that name objects which there must be, in the house."""
    body = operations()[operation].get("requestBody")
    if body is None:
        return set()
    name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    inside = schema()["components"]["schemas"][name]["properties"].keys() & MEMBERS.keys()
    return {one for one in inside if (operation, one) not in NEW}


def test_every_member_of_a_body_is_known() -> None:
    assert members() == MEMBERS.keys() | NUMBERED | VALUES
    assert not MEMBERS.keys() & VALUES


@dataclass
class Probing(Recording):
    """A house in which each request is first tried with one object of another house, until it has succeeded; the first
    request of every operation that has is kept."""

    #: An object of another house by its kind.
    foreign: dict[str, Any] = field(default_factory=dict)
    sent: dict[str, httpx.Request] = field(default_factory=dict)
    tried: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def http(self, token: str | None) -> httpx.Client:
        """A client whose requests are tried before they are sent."""
        client, prober = Kit.http(self, token), Kit.http(self, None)
        client.event_hooks["request"].append(lambda request: self.probe(prober, request))
        client.event_hooks["response"].append(self.record)
        return client

    def record(self, answer: httpx.Response) -> None:
        """An operation that has succeeded need not be tried any more."""
        operation = operation_of(answer.request.method, answer.request.url.path)
        if operation is not None and answer.is_success:
            self.sent.setdefault(operation.id, answer.request)

    def probe(self, prober: httpx.Client, request: httpx.Request) -> None:
        """Send variants of a request under keys of their own; note what is not refused as it should be."""
        operation = operation_of(request.method, request.url.path)
        if operation is None or operation.id not in ROUTES:
            return
        for name, path, content in self._variants(operation.id, request):
            if (operation.id, name) in self.tried and operation.id in self.sent:
                continue
            before, last = fingerprint(), last_event()
            headers = headers_of(request) | {"Authorization": request.headers["Authorization"]}
            answer = prober.request(request.method, path, content=content, headers=headers)
            code = "" if answer.is_success else answer.json()["code"]
            self.tried[operation.id, name] = (answer.status_code, code)
            try:
                assert self.tried[operation.id, name] == OTHERWISE.get((operation.id, name), (404, "not_found"))
                assert unchanged(before)
                assert_recorded(last, answer)
            except AssertionError as error:
                self.wrong.append(f"{operation.id} {name}: {answer.text} {error}")

    def _variants(self, operation: str, request: httpx.Request) -> Iterator[tuple[str, str, bytes]]:
        """What is replaced, and address and body of the request with it."""
        named, (_, route) = resolve(request.url.path).kwargs, ROUTES[operation]
        for name in named.keys() & self.foreign.keys():
            yield name, address_of(route, named | {name: self.foreign[name]}), request.content
        if request.method == "POST":
            body = json.loads(request.content or b"{}")
            for name in sorted(members_of(operation)):
                if not body.get(name):
                    continue
                value = self.foreign[MEMBERS[name]]
                other = body | {name: {value: 3} if name == "points" else value}
                yield name, request.url.path, json.dumps(other).encode()


def foreign_to(other: Kit) -> dict[str, Any]:
    """Objects of another house: numbers and codes that no house of a test has."""
    other.table("X1")
    dealer, cashier = other.seated("X1"), other.cashier()
    Serial.objects.bulk_create(Serial(house=other.house, series=series, last=FAR) for series in _FAR_SERIES)
    far = [
        dealer.ok("boxes", {"kind": "drop", "number": "far"})["last_event"]["box"]["box"],
        dealer.ok("fills", {"drawer": "C1", "amount": 500})["last_event"]["transfer"]["serial"],
        cashier.ok("credits", {"table": "X1", "amount": 500})["last_event"]["transfer"]["serial"],
        other.office(Role.CAGE_SUPERVISOR).ok("chip-moves", _FAR_MOVE)["move"]["move"],
        dealer.ok("tray-counts", _FAR_COUNT)["last_event"]["tray_count"]["tray_count"],
    ]
    assert far == [FAR + 1] * len(FAR_OF)
    dealer.ok("hands", {"mode": "physical"})
    terminal, _ = enrol_terminal(house=other.house, code="x-1", kind=TerminalKind.OFFICE, location="", actor=ACTOR)
    other.office(Role.MANAGER).ok("days", {"day": OTHER_DAY})
    staff = Staff.objects.filter(house=other.house).latest("id")
    RotaEntry.objects.create(
        house=other.house, number=FAR, staff=staff, kind=TerminalKind.OFFICE, role=Role.MANAGER, entered_by=staff,
        starts_at=datetime(2020, 2, 27, tzinfo=UTC), ends_at=datetime(2020, 2, 28, tzinfo=UTC),
    )  # fmt: skip
    CardException.objects.create(
        house=other.house, table=Table.objects.get(house=other.house), number=FAR, kind=ExceptionKind.DECK, found={}
    )
    return {
        "table": "X1", "hand": "X1-000001", "player": "X1-u1", "login": staff.login, "terminal": terminal.code,
        "drawer": "OWN-C", "chip_set": "OWN", "for_day": OTHER_DAY, "account": "2010/X1-u1", "entry": FAR,
        "exception": FAR, "chain": "drawer/OWN-C",
    } | dict(zip(FAR_OF, far, strict=True))  # fmt: skip


@pytest.fixture(scope="module")
def evening_of_others(others: Kit, django_db_blocker: DjangoDbBlocker) -> Iterator[Probing]:
    """A house that has done everything, whose requests were tried with what is foreign to it."""
    with django_db_blocker.unblock():
        other, kit = Kit.found(), Probing.found(bare=True)
        assert isinstance(kit, Probing)
        kit.foreign = foreign_to(other)
        play(kit)
        connections.close_all()
    assert kit.sent.keys() == contract.OPERATIONS.keys()
    yield kit
    kit.close()
    other.close()


@pytest.mark.slow
def test_no_object_of_another_house_stands_in_for_ones_own(evening_of_others: Probing) -> None:
    kit = evening_of_others
    assert kit.wrong == []
    assert OTHERWISE.keys() <= kit.tried.keys()
    to_try = {
        (operation, name)
        for operation, (_, route) in ROUTES.items()
        for name in (at_an_address(route) & kit.foreign.keys()) | members_of(operation)
    }
    assert to_try - kit.tried.keys() == NOT_TRIED.keys()


def test_what_the_evening_does_not_name_is_not_reached_either(kit: Kit, strangers: Kit) -> None:
    ends = Ends(kit)
    ends.dealer.ok("open")
    carried, few = {"carrier": strangers.runner()}, {"pieces": {"5": 4}}
    asked = ends.cashier.ok("credits", {"table": "T1"} | few)["last_event"]["transfer"]["serial"]
    fill = ends.dealer.ok("fills", {"drawer": "C1"} | few)["last_event"]["transfer"]["serial"]
    ends.cashier.refresh()
    ends.dealer.refresh()
    tried = (
        ("buyInAtTable", ends.dealer, "buy-ins", {"seat": 1, "amount": 500, "player": "own-1"}),
        ("sendRequestedFill", ends.cashier, f"fills/{fill}/send", carried),
        ("sendRequestedCredit", ends.dealer, f"credits/{asked}/send", carried),
        ("sendFill", ends.cashier, "fills", {"table": "T1"} | few | carried),
        ("sendCredit", ends.dealer, "credits", {"drawer": "C1"} | few | carried),
    )
    assert {name for name, *_ in tried} == {name for name, _ in NOT_TRIED}
    for name, desk, path, body in tried:
        before, last = fingerprint(), last_event()
        answer = desk.post(path, body)
        [expected] = (refusal for (operation, _), refusal in NOT_TRIED.items() if operation == name)
        assert (answer.status_code, answer.json()["code"]) == expected, (name, answer.text)
        assert unchanged(before)
        assert_recorded(last, answer)


def test_a_device_reaches_no_deal_and_no_chain_of_another_house(kit: Kit) -> None:
    other = Kit.found()
    kit.table()
    other.table("X1")
    desk, theirs = kit.seated(), other.seated("X1")
    own = device(kit, desk, 1)
    desk.ok("deal")
    theirs.ok("deal")
    foreign = theirs.get("deal").json()["hand"]
    other.sequence()
    for answered, status, code in (
        (lambda: own.commit(foreign, "queen-of-acorns"), 409, "no_deal_prepared"),
        (lambda: own.reveal(foreign, "queen-of-acorns"), 409, "no_deal_prepared"),
        (lambda: own.get(f"proofs/inclusion?chain={other.house.chain}&seq=1"), 403, "forbidden"),
    ):
        before, last = fingerprint(), last_event()
        answer = answered()
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        assert unchanged(before)
        assert_recorded(last, answer)
    other.close()

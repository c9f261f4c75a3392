"""One house with a desk in every state that a refusal needs, and how a refusal is recorded: nothing may have
changed."""

import json
import re
import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any
from urllib.parse import unquote

import httpx
import psycopg
import pytest
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from casino.audit.models import Event
from casino.cage.founding import create_drawer
from casino.staff.models import Role, Staff, Terminal, TerminalKind, TerminalToken
from tests.casino.kit import ACTOR, SAMPLE, Desk, Kit
from tests.words import as_action

#: Up to the first seat's choice in the second round: check, bet, or charge.
BETTING = SAMPLE[:8]


#: Two of four seats have their first cards.
DEALING = SAMPLE[:3]


#: Two seats with cards that nobody but their holders knows, up to the showdown.
SHOWDOWN = (
    "p1 po 100", "d dh p1 ????", "d dh p2 ????", "p2 cc 100", "p1 k", "d dh p1 ????", "d dh p2 ????",
    "p1 lk 2", "p1 rb 100", "p2 lk 2", "p2 cc 100", "p2 st",
)  # fmt: skip


SHOWN = ("p1 sm AaKaOaUa", "p2 sm AlKlOlXa")


@dataclass
class Scene:
    """Desks by name; nothing that a case asks of them may change anything."""

    kit: Kit
    desks: dict[str, Desk]


def build(kit: Kit, other: Kit) -> Scene:
    """Every desk of the cases. `other` is another house, which must not be reachable from the first."""
    desks = {"play": _playing(kit, "T1", BETTING), "deal": _playing(kit, "T2", DEALING)}
    desks["show"] = _playing(kit, "T3", SHOWDOWN, stacks=(5_000, 5_000))
    kit.table("T7", vizi=1_000)
    short = desks["short"] = kit.seated("T7", stacks=(5_000, 1_500))
    short.ok("hands", {"mode": "physical", "button": 2})
    short.act("p1 po 1000", "d dh p1 ????", "d dh p2 ????", "p2 f")
    kit.settle()
    short.refresh()
    desks["settling"] = _playing(kit, "T4", SAMPLE)
    kit.table("T5")
    desks["open"] = kit.seated("T5", stacks=(5_000, 5_000))
    kit.table("T6")
    desks["closed"] = kit.dealer("T6")
    kit.table("T8")
    desks["lone"] = kit.seated("T8", stacks=(5_000,))
    kit.table("T9")
    desks["empty"] = kit.dealer("T9")
    desks["empty"].ok("open")
    kit.players("rich", chips=50_000)
    kit.players("poor")
    create_drawer(house=kit.house, code="C2", actor=ACTOR)
    create_drawer(house=kit.house, code="C3", actor=ACTOR)
    desks |= {"cage": kit.cashier("C1"), "closed cage": kit.cashier("C2"), "bare cage": kit.cashier("C3")}
    kit.open_drawer(desks["bare cage"], cash=0, chips=0)
    desks["vault"] = kit.supervisor("C2")
    desks["office"] = kit.office()
    other.table("X1")
    desks["other house"] = other.seated("X1", stacks=(5_000, 5_000))
    desks["other house"].ok("hands", {"mode": "physical"})
    create_drawer(house=other.house, code="X2", actor=ACTOR)
    return Scene(kit, desks | _without_access(kit))


def _playing(kit: Kit, code: str, lines: tuple[str, ...], **seated: Any) -> Desk:
    """A table with a hand after these lines; the first one was written under the key `used`."""
    kit.table(code)
    desk = kit.seated(code, **seated)
    desk.ok("hands", {"mode": "physical"})
    desk.ok("hand/actions", {"actions": [as_action(lines[0])]}, key="used")
    for line in lines[1:]:
        desk.act(line)
    return desk


def _without_access(kit: Kit) -> dict[str, Desk]:
    """Consoles at the playing table T1 whose Authorization is not, or no longer, good."""
    past = timezone.now() - timedelta(seconds=1)

    def desk(authorization: str | None) -> Desk:
        client = kit.http(None)
        if authorization is not None:
            client.headers["Authorization"] = authorization
        return Desk(client, "/api/v1/tables/T1")

    def token_of(name: str) -> str:
        staff = Staff.objects.create(
            house=kit.house, login=f"{name}@{kit.house.code}", name=name, roles=[Role.DEALER],
            is_active=name != "inactive",
        )  # fmt: skip
        terminal = Terminal.objects.create(
            house=kit.house, code=name, kind=TerminalKind.TABLE, location="T1", key_digest="0" * 64,
            revoked_at=past if name == "revoked" else None,
        )  # fmt: skip
        life = timedelta(seconds=-1) if name == "expired" else timedelta(hours=1)
        return str(TerminalToken.objects.create(staff, expiry=life, terminal=terminal, house=kit.house)[1])

    good = token_of("good")
    return {
        "no token": desk(None),
        "unknown token": desk("Bearer " + "0" * 64),
        "token with a changed end": desk(f"Bearer {good[:-1]}{'0' if good[-1] != '0' else '1'}"),
        "beginning of a token": desk(f"Bearer {good[:20]}"),
        "no credentials": desk("Bearer"),
        "two tokens": desk(f"Bearer {good} {good}"),
        "another scheme": desk(f"Token {good}"),
        "expired token": desk(f"Bearer {token_of('expired')}"),
        "revoked terminal": desk(f"Bearer {token_of('revoked')}"),
        "inactive person": desk(f"Bearer {token_of('inactive')}"),
        "good token": desk(f"Bearer {good}"),
    }


_TABLES = """
SELECT table_name FROM information_schema.tables
WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
  AND table_name <> 'django_migrations' AND table_name NOT LIKE 'axes\\_%' AND table_name NOT LIKE 'audit\\_%'
  AND table_name <> 'hands_cardexception' -- what a refusal of cards leaves on purpose
ORDER BY table_name
"""

#: The transaction of a row's version as a number, and not as text: PostgreSQL has no arithmetic with transactions but
#: their ages, of which the differences stay.
_TRANSACTION = "(age('3'::xid) - age(kept.xmin))::bigint"
_WRITTEN = f"concat(count(*), ' rows ', sum(hashint8extended({_TRANSACTION} << 32 # hashtid(kept.ctid)::bigint, 0)))"
_USED = {
    "staff_terminaltoken": (
        "concat(count(*), ' rows ', sum(hashtextextended((to_jsonb(kept) - 'last_seen_at')::text, 0)))"
    ),
    # A challenge that nobody has answered changes nothing.
    "staff_passkeychallenge": "count(*) FILTER (WHERE false)::text",
}


def fingerprint() -> dict[str, str]:
    """For every table of the database, which versions of its rows there are; read as the owner, who sees everything.

    Whatever is written makes another version, even where it writes what was there: where it lies and which transaction
    wrote it record it apart, and need not be made text and hashed like whole rows. The audit trail is left out: what is
    refused stands there, see `recorded_since`. Tokens note once a minute that they were used, refused or not: of them
    everything else counts.
    """
    watching = _watching()
    if not watching.is_usable():
        watching.close()
    watching.ensure_connection()
    # Past Django's cursor, so that both stay prepared: to plan them takes longer than to run them.
    with psycopg.Cursor(watching.connection) as cursor:
        names = [name for (name,) in cursor.execute(_TABLES, prepare=True).fetchall()]
        each = (f"SELECT '{name}', {_USED.get(name, _WRITTEN)} FROM \"{name}\" kept" for name in names)
        return dict(cursor.execute(" UNION ALL ".join(each), prepare=True).fetchall())


@cache
def _watching() -> BaseDatabaseWrapper:
    """A connection of the owner that goes on from one fingerprint to the next, where the application's own ends with
    each request: a new one first has to learn every table."""
    return connections["owner"].copy()


@dataclass(frozen=True)
class Case:
    """One request that is refused. `headers` replace the usual ones; None leaves one out."""

    id: str
    desk: str
    path: str
    status: int
    code: str
    body: Any = field(default_factory=dict)
    content: bytes | None = None
    headers: dict[str, str | bytes | None] = field(default_factory=dict)
    method: str = "POST"
    #: The field of the input that the answer must name.
    names: str | None = None
    #: Whether an event records it: not where no view has the address, nor where a read finds nothing yet.
    recorded: bool = True


def send(scene: Scene, case: Case) -> httpx.Response:
    """Send a case's request, right in everything but what the case says."""
    desk = scene.desks[case.desk]
    usual: dict[str, str | bytes | None] = {
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
        "If-Match": f'"{desk.version}"',
    }
    headers = {name: value for name, value in (usual | case.headers).items() if value is not None}
    content = case.content if case.content is not None else json.dumps(case.body).encode()
    if case.method == "GET":
        content = b""
    url = case.path if case.path.startswith("/") else f"{desk.path}/{case.path}".rstrip("/")
    return desk.http.request(case.method, url, content=content, headers=headers)  # type: ignore[arg-type]


def assert_problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The answer is a problem document (RFC 9457) of this status and code; returns it."""
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json"), answer.text
    problem: dict[str, Any] = answer.json()
    assert (problem["status"], problem["code"]) == (status, code), problem
    assert problem["type"] == f"urn:cukassza:problem:{code}"
    assert problem["title"] and isinstance(problem["title"], str)
    assert problem["detail"] and isinstance(problem["detail"], str)
    assert answer.headers["X-Request-Id"]
    return problem


#: What stands in the trail beside a refusal: that data were read, and exceptions of cards.
BESIDES = ("data.read", "cards.exception")


def last_event() -> int:
    """Where the audit trail of the whole database ends."""
    return Event.objects.order_by("-id").values_list("id", flat=True).first() or 0


def recorded_since(last: int, *kinds: str) -> list[dict[str, Any]]:
    """Payloads of the events of these kinds after `last_event`; where none is named, of all but sensitive reads and the
    exceptions that refusals of cards leave."""
    payloads = Event.objects.filter(id__gt=last).order_by("id").values_list("payload", flat=True)
    events: list[dict[str, Any]] = [json.loads(payload) for payload in payloads]
    return [event for event in events if (event["kind"] in kinds if kinds else event["kind"] not in BESIDES)]


def refused(scene: Scene, case: Case) -> dict[str, Any]:
    """Send a case: a problem document, the database is as it was, and one event records the refusal."""
    before, last = fingerprint(), last_event()
    answer = send(scene, case)
    problem = assert_problem(answer, case.status, case.code)
    if case.names is not None:
        assert case.names in {unquote(error["pointer"].split("/")[1]) for error in problem["errors"]}, problem
    assert fingerprint() == before
    assert_recorded(last, answer, recorded=case.recorded)
    return problem


def assert_recorded(last: int, answer: httpx.Response, *, recorded: bool = True) -> None:
    """Exactly one event since `last` records this refusal, or none at all does."""
    found = [(event["kind"], event["data"]["status"], event["data"]["code"], event["request"])
             for event in recorded_since(last)]  # fmt: skip
    refusal = ("attempt.refused", answer.status_code, answer.json()["code"], answer.headers["X-Request-Id"])
    assert found == ([refusal] if recorded else [])


def cases(*found: Case) -> pytest.MarkDecorator:
    """Parametrise by case; ids are unique so that a failure names one."""
    assert len({case.id for case in found}) == len(found)
    return pytest.mark.parametrize("case", found, ids=[case.id for case in found])


def figures_of(data: bytes | str) -> set[str]:
    """The whole numbers of an answer or a file, without those in its points in time and hashes: any digits may be in
    these."""
    text = data.decode() if isinstance(data, bytes) else data
    return set(re.findall(r"\d+", re.sub(r"[0-9-]{10}T[0-9:.]+Z|[0-9a-f]{32,}", "", text)))

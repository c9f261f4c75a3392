"""Audit events of refused requests and of sensitive reads.

A refused request becomes the event `attempt.refused` if its sender is known: by a token or a seat's key, valid or
expired, also where the operation takes the other of the two. The event belongs to the chain of the table or drawer that
the address names, otherwise to the house's chain. It is written after the rollback, in a separate transaction. If it
cannot be written, that failure is the answer. A request from an unknown sender belongs to no house and is only logged
by the server.

A sensitive read becomes the event `data.read` before any data are sent. If the event cannot be written, no data are
sent.
"""

import hashlib
import json
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, ParseError
from rest_framework.request import Request

from casino.api.http import contract
from casino.api.http.parsers import MAX_BODY, strict_json
from casino.audit.events import AuditEvent
from casino.audit.events.reads import AttemptFailed, AttemptRefused, DataRead
from casino.audit.services import Actor, record
from casino.cage.models import Drawer
from casino.core import canonical, locks, log_lines
from casino.houses.models import House
from casino.players.models import is_reference
from casino.tables.models import Table

log = logging.getLogger(__name__)

#: The most characters that an event records of a body or an address, and of one parameter.
MAX_TEXT = 1000
MAX_PARAMETER = 200
#: Members of a problem that say what was expected; the first one present is recorded.
EXPECTED = ("expected", "allowed_roles", "roles", "current_version")
#: Refusals that protect a player, whose reference they record: the player is registered.
SAFEGUARDS = frozenset(("player_excluded", "not_admitted", "player_limit_reached", "player_is_minor"))
#: Replaces what is not recorded.
HIDDEN = "?"
#: Query parameters that are recorded: codes, numbers, times, cursors. Names of people have blanks or accents.
_PLAIN = re.compile(rf"[A-Za-z0-9_./:@+=-]{{0,{MAX_PARAMETER}}}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedBy:
    """The sender that an authentication class has recognised, whether or not it accepted the request; `chain` if the
    sender always has the same one."""

    house: House
    actor: Actor
    chain: str | None = None


def recognised(request: Request, *, house: House, login: str, role: str, terminal: str, chain: str = "") -> None:
    """Remember the sender. Every authentication class calls this as soon as it knows the sender, also if it then
    refuses.

    `role` is recorded unless a permission names another one; `terminal` is the device's code.
    """
    actor = Actor(staff=login, role=role, terminal=terminal, request=_plain_request(request).request_id)
    _plain_request(request).asked_by = AskedBy(house=house, actor=actor, chain=chain or None)
    log_lines.note(house=house.code)


def not_recognised(request: Request) -> None:
    """Remember that the sender is unknown: the refusal by an authentication class is not recorded."""
    _plain_request(request).asked_by = None


def record_refused(request: Request, view: Any, problem: Mapping[str, Any]) -> None:
    """Record a refusal, unless the sender is unknown, there was only nothing to read yet, or a console that was left
    alone polls. Raises what `record` raises."""
    if asked_by(request) is None or _nothing_yet(request, view, problem["status"]) or _asleep(request, view, problem):
        return
    expected = next((problem[name] for name in EXPECTED if name in problem), None)
    _record(
        request,
        view,
        AttemptRefused(
            operation=operation_id(view, request),
            method=_text(str(request.method), MAX_PARAMETER),
            path=_address(request),
            code=problem["code"],
            status=problem["status"],
            expected=None if expected is None else _jsonable(_without(expected, _hidden(view))),
            player=problem.get("player") if problem["code"] in SAFEGUARDS else None,
            **_asked(request, view),
        ),
    )


def record_failed(request: Request, view: Any, error: Exception) -> None:
    """Record that a request failed on the server's side. If the event cannot be written, that is logged: the caller
    still raises the original error."""
    if asked_by(request) is None:
        return
    try:
        _record(
            request,
            view,
            AttemptFailed(
                operation=operation_id(view, request),
                method=_text(str(request.method), MAX_PARAMETER),
                path=_address(request),
                error=type(error).__name__,
            ),
        )
    except Exception:
        log.exception("an attempt that failed could not be recorded")


def record_read(request: Request, view: Any) -> None:
    """Record a sensitive read before it is answered. Raises what `record` raises."""
    by = asked_by(request)
    if by is None:
        raise AssertionError("a sensitive read without a known sender")
    _write(
        replace(by, actor=replace(by.actor, role=_role(request, by))),
        by.house.chain,
        DataRead(
            operation=operation_id(view, request),
            subject=_text(request.path, MAX_TEXT),
            parameters=[list(pair) for pair in _parameters(request)] or None,
        ),
    )


def asked_by(request: Request) -> AskedBy | None:
    """The sender, None if no sender was recognised."""
    if not hasattr(_plain_request(request), "asked_by"):
        # Some refusals come before authentication, for example that of an unknown media type.
        with suppress(NotAuthenticated, AuthenticationFailed):
            request.user  # noqa: B018 - reading it authenticates
    return getattr(_plain_request(request), "asked_by", None)


def operation_id(view: Any, request: Request) -> str | None:
    """The operation's id in the API's schema, None for a method that the view does not have."""
    found = contract.operation_of(view, request)
    return found.id if found is not None else None


def _nothing_yet(request: Request, view: Any, status: int) -> bool:
    """Whether a read that may be polled found nothing: no hand is being played (409), or there is nothing (404) at an
    address without parameters."""
    names_nothing = not getattr(view, "kwargs", {}) and not request.query_params
    polled = not _writes(request) and not getattr(view, "sensitive", False)
    return polled and (status == 409 or (status == 404 and names_nothing))


def _asleep(request: Request, view: Any, problem: Mapping[str, Any]) -> bool:
    """Whether a console that was left alone polls what is not sensitive."""
    polls = not _writes(request) and not getattr(view, "sensitive", False)
    return polls and problem["code"] == "reauthentication_required"


def _record(request: Request, view: Any, event: AuditEvent) -> None:
    by = asked_by(request)
    if by is not None:
        by = replace(by, actor=replace(by.actor, role=_role(request, by)))
        _write(by, by.chain or _chain(by.house, getattr(view, "kwargs", {})), event)


def _write(by: AskedBy, chain: str, event: AuditEvent) -> None:
    locks.in_transaction(lambda: record(chain=chain, house=by.house, actor=by.actor, event=event))


def _chain(house: House, path: Mapping[str, Any]) -> str:
    """The chain of the table or drawer that an address names; the house's chain if it names none, or an unknown one."""
    for model, name in ((Table, "table"), (Drawer, "drawer")):
        if name in path:
            found = model.objects.filter(house=house, code=path[name]).first()
            if found is not None:
                return str(found.chain)
    return house.chain


def _address(request: Request) -> str:
    """Path and query of a request, as far as they are recorded."""
    query = "&".join(f"{name}={value}" for name, value in _parameters(request))
    return _text(f"{request.path}?{query}" if query else request.path, MAX_TEXT)


def _parameters(request: Request) -> list[tuple[str, str]]:
    """The query's parameters by name. What does not look like a code, number or time is hidden: it may be a name."""
    asked = sorted(_plain_request(request).GET.items())
    return [(_plain(name), _plain(value)) for name, value in asked]


def _plain(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else HIDDEN


def _asked(request: Request, view: Any) -> dict[str, str]:
    """The hash of a write's body, and the part of it that may be recorded. Both are left out for a body with passwords
    or personal data, and for one that is not a JSON object, where it is unknown what to hide. The hash is left out if
    anything is hidden: bodies are short enough to be guessed from it."""
    if not _writes(request) or getattr(view, "redact_body", False):
        return {}
    plain = _plain_request(request)
    raw: bytes = plain.body_read if hasattr(plain, "body_read") else plain.read(MAX_BODY + 1)
    if not raw or len(raw) > MAX_BODY:
        return {}
    try:
        body = strict_json(raw)
    except ParseError:
        body = None
    if not isinstance(body, dict):
        return {}
    fields = view.input().fields if hasattr(view, "input") else {}
    known = {name: value for name, value in body.items() if name in fields}
    shown = _without(known, _hidden(view))
    text = canonical.dumps(_jsonable(shown))
    hashed = {"asked": hashlib.sha256(raw).hexdigest()} if shown == body else {}
    return {"body": _text(text, MAX_TEXT)} | hashed


def _without(value: Any, hidden: frozenset[str]) -> Any:
    """The same JSON without the values of the hidden names, and without any `player` that is not a reference: it may be
    a name."""
    if isinstance(value, dict):
        return {
            name: HIDDEN if _hides(name, inner, hidden) else _without(inner, hidden) for name, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_without(inner, hidden) for inner in value]
    return value


def _hides(name: str, value: Any, hidden: frozenset[str]) -> bool:
    return name in hidden or (name == "player" and not (isinstance(value, str) and is_reference(value)))


def _hidden(view: Any) -> frozenset[str]:
    found: frozenset[str] = getattr(view, "redact_fields", frozenset())
    return found


def _jsonable(value: Any) -> Any:
    """The same as canonical JSON takes it: plain text, ASCII keys, no floats."""
    plain = json.loads(json.dumps(value, default=str), parse_float=str, parse_constant=str)

    def clean(node: Any) -> Any:
        if isinstance(node, dict):
            return {ascii(name)[1:-1]: clean(inner) for name, inner in node.items()}
        if isinstance(node, list):
            return [clean(inner) for inner in node]
        return _text(node, MAX_TEXT) if isinstance(node, str) else node

    return clean(plain)


def _text(text: str, limit: int) -> str:
    """Text that PostgreSQL and UTF-8 can hold: no NUL, no lone surrogates, at most `limit` characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")[:limit]


def _role(request: Request, by: AskedBy) -> str:
    return str(getattr(request, "acting_role", by.actor.role))


def _writes(request: Request) -> bool:
    return request.method not in ("GET", "HEAD", "OPTIONS")


def _plain_request(request: Any) -> Any:
    """Django's request inside DRF's: it keeps attributes that handlers and parsers set."""
    return getattr(request, "_request", request)

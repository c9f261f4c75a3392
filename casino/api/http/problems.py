"""The one handler that turns typed errors into problem documents (RFC 9457). An unknown error remains an error of the
server and is logged with its trace."""

import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import DatabaseError, InterfaceError
from django.http import Http404, JsonResponse
from rest_framework import exceptions as drf
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.settings import api_settings as drf_settings
from rest_framework.views import set_rollback

from casino.api.http import attempts
from casino.api.http.parsers import BodyTooLarge
from casino.bookkeeping.accounts import COUNTED_BLIND
from casino.bookkeeping.chart import CHART
from casino.core import lost, measured, patience
from casino.core.error_codes import ERROR_CODES
from casino.core.errors import HouseError
from casino.houses.models import House
from casino.live.errors import StreamsFull
from casino.staff.models import Role
from engine.errors import EngineError
from ledger.errors import InsufficientFunds, LedgerError

log = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
#: Who may know what the vault and drawers hold.
_SEES_BOOKS = (Role.AUDITOR, Role.MANAGER)

#: DRF's own refusals by class; the first that matches counts.
_DRF: tuple[tuple[type[drf.APIException], str], ...] = (
    (BodyTooLarge, "body_too_large"),
    (drf.ParseError, "malformed_json"),
    (drf.ValidationError, "invalid_request"),
    (drf.NotAuthenticated, "not_authenticated"),
    (drf.AuthenticationFailed, "not_authenticated"),
    (drf.PermissionDenied, "forbidden"),
    (drf.NotFound, "not_found"),
    (drf.MethodNotAllowed, "method_not_allowed"),
    (drf.NotAcceptable, "not_acceptable"),
    (drf.UnsupportedMediaType, "unsupported_media_type"),
    (drf.Throttled, "too_many_requests"),
)
TITLES = {
    400: "The request cannot be read",
    401: "Sign in first",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    408: "The request took too long",
    409: "The state does not allow this",
    410: "No longer available",
    412: "The version is stale",
    413: "The body is too large",
    415: "Only application/json is taken",
    422: "The request cannot be carried out",
    428: "A precondition is missing",
    429: "Too many attempts",
    500: "The server failed",
    503: "Not ready",
}


def document(status: int, code: str, detail: str, **extra: Any) -> dict[str, Any]:
    """The members of one problem document; `code` is stable, `extra` says what was expected."""
    return {
        "type": f"urn:cukassza:problem:{code}",
        "title": TITLES.get(status, "Refused"),
        "status": status,
        "code": code,
        "detail": detail,
        **extra,
    }


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. Returns None for an unknown error, which becomes a logged 500.

    A refusal is first recorded in the audit trail. If it cannot be recorded, that failure is the answer.
    """
    request = context.get("request")
    error = _typed(error, request)
    by = attempts.asked_by(request) if request is not None and isinstance(error, InsufficientFunds) else None
    found = describe(error, by.house if by is not None else None, getattr(request, "acting_role", None))
    set_rollback()
    if found is None:
        if request is not None:
            _count(request, context.get("view"), "server_error")
            attempts.record_failed(request, context.get("view"), error)
        return None
    if request is not None:
        if (unrecorded := _unrecorded(request, context.get("view"), error, found)) is not None:
            error = unrecorded
            found = document(unrecorded.status, unrecorded.code, unrecorded.detail, **unrecorded.extra)
        found["instance"] = f"urn:uuid:{getattr(request, 'request_id', '')}"
        _count(request, context.get("view"), found["code"])
        # A problem is JSON, also if the view would have answered with YAML or a page.
        request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
    if found["status"] >= 500:
        log.error("%s: %s", found["code"], found["detail"], exc_info=error)
    response = Response(found, status=found["status"], content_type=CONTENT_TYPE)
    if "retry_after" in found:
        response["Retry-After"] = str(found["retry_after"])
    if isinstance(error, drf.APIException):
        if header := getattr(error, "auth_header", None):
            response["WWW-Authenticate"] = header
        if wait := getattr(error, "wait", None):
            response["Retry-After"] = str(int(wait))
    return response


def _count(request: Any, view: Any, code: str) -> None:
    measured.refused(attempts.operation_id(view, request) or "none", code)


def _typed(error: Exception, request: Any) -> Exception:
    """The refusal that an error of the database comes to where it is away or has no room left, or a lock was not free
    in time; else the error itself."""
    if lost.cannot_serve(error):
        error = lost.refusal()
    if patience.is_busy(error):
        return patience.Busy()
    if isinstance(error, lost.OutcomeUnknown) and request is not None and request.method in ("GET", "HEAD"):
        return lost.DatabaseUnavailable()  # it is the event of a read that may or may not be written
    return error


def _unrecorded(request: Any, view: Any, error: Exception, found: dict[str, Any]) -> HouseError | None:
    """Record a refusal in the audit trail, if there is a database to record it in; why it was not recorded. One that
    has waited in vain is not recorded: it would wait again, perhaps for the same chain."""
    if isinstance(error, (lost.ConnectionLost, patience.Busy, StreamsFull)):
        return None
    try:
        attempts.record_refused(request, view, found)
    except (HouseError, DatabaseError, InterfaceError) as failure:
        refused = _typed(failure, request)
        if not isinstance(refused, HouseError):
            raise
        return refused
    return None


def describe(error: Exception, house: House | None = None, role: str | None = None) -> dict[str, Any] | None:
    """The problem document of a typed error, None for any other error. `house` gives the currency of amounts, `role`
    says who reads it: what vault and drawers hold is named to those alone who may read the books."""
    match error:
        case HouseError():
            return document(error.status, error.code, error.detail, **error.extra)
        case EngineError():
            expected = dict(error.expected)
            kept = {"exception": expected.pop("exception")} if "exception" in expected else {}
            return document(ERROR_CODES[error.code].status, error.code, error.message, expected=expected, **kept)
        case InsufficientFunds():
            return _too_little(error, house, role)
        case LedgerError():
            return document(ERROR_CODES[error.code].status, error.code, error.message, params=error.params)
        case Http404():
            return document(404, "not_found", "There is nothing at this address.")
        case DjangoValidationError():
            errors = [{"pointer": "#", "detail": message} for message in error.messages]
            return document(400, "invalid_request", "The request does not fit.", errors=errors)
        case drf.ValidationError():
            return document(400, "invalid_request", "The request does not fit.", errors=list(_pointed(error.detail)))
        case drf.APIException():
            code = next((code for kind, code in _DRF if isinstance(error, kind)), "refused")
            return document(error.status_code, code, str(error.detail))
    return None


def _pointed(detail: Any, pointer: str = "#") -> Iterator[dict[str, str]]:
    """What is wrong with each field, with its JSON Pointer (RFC 6901 as the fragment of a URI)."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            here = name == drf_settings.NON_FIELD_ERRORS_KEY
            yield from _pointed(inner, pointer if here else f"{pointer}/{_escaped(str(name))}")
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            # A list holds what is wrong with one field, or an entry for each item of a list in the body.
            yield from _pointed(inner, f"{pointer}/{index}" if isinstance(inner, (dict, list)) else pointer)
    else:
        yield {"pointer": pointer, "detail": str(detail)}


def _escaped(name: str) -> str:
    return quote(name.replace("~", "~0").replace("/", "~1"), safe="~")


def _too_little(error: InsufficientFunds, house: House | None, role: str | None) -> dict[str, Any]:
    """The account by its code and its name in the chart of accounts, the amount available and the amount required:
    money, or pieces of a denomination (`HUF.MAIN.500`). No figures of what is counted blind to those who may have to
    count it."""
    account = str(error.params["account_code"])
    number, _, place = account.partition("/")
    name = f"{CHART[number].name}{f' ({place})' if place else ''}"
    if number in COUNTED_BLIND and role not in _SEES_BOOKS:
        return document(ERROR_CODES[error.code].status, error.code, f"{name}: not enough of it.", account=account)
    is_chip = "." in str(error.params["commodity"])
    words = house.money if house is not None and not is_chip else (lambda number: f"{number} pieces")
    available, required = error.params["balance"] - error.params.get("held", 0), error.params["needed"]
    return document(
        ERROR_CODES[error.code].status,
        error.code,
        f"{name}: {words(available)} available, {words(required)} required.",
        account=account,
        available=available,
        required=required,
    )


def bad_request(_request: Any, exception: Any = None) -> JsonResponse:
    """Django's 400 page, for requests refused before any view, for example because of a foreign Host header."""
    return JsonResponse(
        document(400, "invalid_request", "The request was refused before anything read it."),
        status=400,
        content_type=CONTENT_TYPE,
    )


def not_found(_request: Any, exception: Any = None) -> JsonResponse:
    """Django's 404 page, for addresses without a view; Django passes `exception` by its name."""
    return JsonResponse(
        document(404, "not_found", "There is nothing at this address."), status=404, content_type=CONTENT_TYPE
    )


def server_error(_request: Any) -> JsonResponse:
    """Django's 500 page. The detail is only in the server's log. The page does not say whether a write was carried out:
    if the connection is lost during the commit, that is unknown."""
    return JsonResponse(
        document(
            500,
            "server_error",
            "The request failed on the server. It is unknown whether it was carried out. Send a write again "
            "unchanged, under the same Idempotency-Key: it is carried out only once.",
        ),
        status=500,
        content_type=CONTENT_TYPE,
    )

"""What all operations share: strict input, the acting person, preconditions, answers with ETag."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from django.conf import settings
from django.core.exceptions import ValidationError as DjangoValidationError
from django.core.validators import RegexValidator
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import salted_hmac
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.fields import SkipField, empty, get_error_detail
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from casino.api.http import attempts, authentication, contract
from casino.api.http.permissions import HasRole
from casino.chips.models import SET_CODE_PATTERN
from casino.core import canonical
from casino.core.commands import Answer, Asked, Command, RequestContext, Unproved
from casino.core.errors import BadRequest, PreconditionRequired
from casino.core.lost import OutcomeUnknown
from casino.staff import rights
from casino.staff.models import Role, Staff, TerminalToken

_ETAG = re.compile(r'"([1-9][0-9]{0,17})"\Z')
_DENOMINATION = re.compile(r"[0-9]{1,16}", re.ASCII)
_SET_CODE = re.compile(SET_CODE_PATTERN, re.ASCII)
_NUMBER = re.compile(r"[1-9][0-9]{0,8}\Z", re.ASCII)
_KEY = re.compile(r"[\x21-\x7e]{1,128}\Z")

V = TypeVar("V", bound=type[APIView])

#: Everybody who is signed in.
READERS = tuple(Role)
AT_TABLES = (Role.DEALER, Role.FLOOR)
AT_THE_CAGE = (Role.CASHIER, Role.CAGE_SUPERVISOR)
#: Who counts out what leaves the vault, and signs what cashiers count.
CAGE_SUPERVISION = (Role.CAGE_SUPERVISOR, Role.MANAGER)
#: Who sees the play, and the chips that lie open: not the count team, which counts without knowing what to expect, and
#: not the administrator, who has no part in money.
SEES_PLAY = (*AT_TABLES, *AT_THE_CAGE, Role.SURVEILLANCE, Role.MANAGER, Role.AUDITOR)
#: Who reads the books and what was verified of them.
SEES_BOOKS = (Role.AUDITOR, Role.MANAGER)
#: Who reads people, devices, and the log's hashes.
OVERSIGHT = (Role.AUDITOR, Role.ADMIN)


class StrictInteger(serializers.IntegerField):
    """An integer as JSON has it: no text, no booleans."""

    def to_internal_value(self, data: Any) -> int:
        """The integer. Raises ValidationError."""
        if type(data) is not int:
            self.fail("invalid")
        return int(super().to_internal_value(data))


class StrictBoolean(serializers.BooleanField):
    """true or false as JSON has them: no text, no numbers."""

    def to_internal_value(self, data: Any) -> bool:
        """The boolean. Raises ValidationError."""
        if type(data) is not bool:
            self.fail("invalid", input=data)
        return data


class StrictChoice(serializers.ChoiceField):
    """One of the listed words; a refusal lists them."""

    def to_internal_value(self, data: Any) -> Any:
        """The choice. Raises ValidationError."""
        if type(data) is not str or data not in self.choices:
            raise serializers.ValidationError(f"This must be one of {', '.join(self.choices)}.", code="invalid_choice")
        return super().to_internal_value(data)


class Amount(StrictInteger):
    """Money in minor units of the house's currency, more than zero."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"min_value": 1, "max_value": 10**15, **kwargs})


class Pieces(serializers.DictField):
    """Chips by denomination: `{"500": 3, "100": 2}` is three chips of 500 minor units and two of 100."""

    def __init__(self, **kwargs: Any) -> None:
        child = StrictInteger(min_value=0, max_value=10**12)
        super().__init__(**{"child": child, "required": False, **kwargs})

    def to_internal_value(self, data: Any) -> dict[str, int]:
        """Pieces by denomination. Raises ValidationError, also for a name that is no whole number."""
        wrong = [name for name in data if not _DENOMINATION.fullmatch(name)] if isinstance(data, dict) else []
        if wrong:
            raise serializers.ValidationError({name: ["A denomination is a whole number."] for name in wrong})
        found: dict[str, int] = super().to_internal_value(data)
        return found


class PiecesOfSets(serializers.DictField):
    """Chips of several sets: `{"MAIN": {"500": 3}}` is three chips of 500 minor units of the set MAIN."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"child": Pieces(), "required": False, **kwargs})

    def to_internal_value(self, data: Any) -> dict[str, dict[str, int]]:
        """Pieces by set and denomination. Raises ValidationError, also for a name that no chip set can have."""
        wrong = [name for name in data if not _SET_CODE.match(name)] if isinstance(data, dict) else []
        if wrong:
            raise serializers.ValidationError({name: ["This is no code of a chip set."] for name in wrong})
        found: dict[str, dict[str, int]] = super().to_internal_value(data)
        return found


class StrictText(serializers.CharField):
    """Text as JSON has it: no numbers turned into text, nothing trimmed."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"trim_whitespace": False, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        """The text. Raises ValidationError."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


@extend_schema_field(OpenApiTypes.DATETIME)
class StrictMoment(StrictText):
    """An ISO 8601 time with its time zone."""

    def to_internal_value(self, data: Any) -> Any:
        """The moment, in UTC. Raises ValidationError."""
        text = super().to_internal_value(data)
        try:
            found = datetime.fromisoformat(text)
            if found.tzinfo is not None:
                return found.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        raise serializers.ValidationError("This is a moment with its time zone, such as 2026-11-21T20:00:00Z.")


class StrictPattern(StrictText):
    """Text that matches a pattern; a pattern with `^` and `\\Z` must match the whole text."""

    def __init__(self, pattern: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.validators.append(RegexValidator(pattern, f"This is not of the form {pattern}"))


class Reason(StrictPattern):
    """The reason for an act, for the audit trail: 3 to 200 characters, at least three of them not blank."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(r"\S\s*\S\s*\S", **{"min_length": 3, "max_length": 200, **kwargs})


class _Taken(NamedTuple):
    """A field of an input, whether nothing comes of it where it is missing, and what else validates it."""

    field: serializers.Field[Any, Any, Any, Any]
    optional: bool
    validate: Callable[[Any], Any] | None

    @classmethod
    def of(cls, made: serializers.Serializer[Any], field: serializers.Field[Any, Any, Any, Any]) -> "_Taken":
        """A field of this serializer."""
        optional = not field.required and field.default is empty
        return cls(field, optional, getattr(made, f"validate_{field.field_name}", None))


class StrictInput(serializers.Serializer[Any]):
    """Input that refuses what it does not know."""

    def to_internal_value(self, data: Any) -> Any:
        """Validated input. Raises ValidationError naming every unknown field."""
        if not isinstance(data, dict):
            return super().to_internal_value(data)
        unknown = sorted(data.keys() - self.fields.keys())
        if unknown:
            raise serializers.ValidationError({name: ["Unknown field."] for name in unknown})
        return self._validated(data)

    @cached_property
    def _taken(self) -> list[_Taken]:
        return [_Taken.of(self, field) for field in self._writable_fields]

    def _validated(self, data: dict[str, Any]) -> dict[str, Any]:
        """As Django REST framework validates fields, without asking those that may be missing, and are."""
        found: dict[str, Any] = {}
        wrong: dict[str, Any] = {}
        for field, optional, validate in self._taken:
            name = cast("str", field.field_name)
            if optional and name not in data:
                continue
            try:
                value = field.run_validation(data.get(name, empty))
                if validate is not None:
                    value = validate(value)
            except serializers.ValidationError as error:
                wrong[name] = error.detail
            except DjangoValidationError as error:
                wrong[name] = get_error_detail(error)
            except SkipField:
                pass
            else:
                self.set_value(found, field.source_attrs, value)
        if wrong:
            raise serializers.ValidationError(wrong)
        return found


class Nothing(StrictInput):
    """An empty body or `{}`."""


class ReasonInput(StrictInput):
    """Why; the audit trail keeps it."""

    reason = Reason()


def signed_in(request: Request) -> tuple[Staff, TerminalToken]:
    """The signed-in person and the token. Raises AssertionError if there are none: the view is not behind HasRole."""
    person, token = request.user, request.auth
    if not isinstance(person, Staff) or not isinstance(token, TerminalToken):
        raise AssertionError(f"{request.path} is answered only for staff who are signed in")
    return person, token


def context_of(request: Request) -> RequestContext:
    """The signed-in person with terminal and role; only behind HasRole."""
    person, token = signed_in(request)
    return RequestContext(
        house=person.house,
        staff=person,
        role=request.acting_role,  # type: ignore[attr-defined]
        terminal=token.terminal,
        request_id=request.request_id,  # type: ignore[attr-defined]
        sign_in=authentication.sign_in(request),
    )


class Reading(APIView):
    """A view that can be read. A sensitive read is recorded in the audit trail before any data are sent; every view
    declares whether it is `sensitive`."""

    sensitive: ClassVar[bool]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check permissions, then record a sensitive read."""
        super().initial(request, *args, **kwargs)
        if request.method in ("GET", "HEAD") and self.sensitive:
            self.note_read(request)

    def note_read(self, request: Request) -> None:
        """Record a sensitive read."""
        attempts.record_read(request, self)


class ReadOperation(Reading):
    """A read by signed-in staff of the given roles."""

    permission_classes = [HasRole]
    roles: ClassVar[tuple[Role, ...]] = ()


@cache
def _reader(kind: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """The serializer of a kind, made once and used for every request. Making one, with all its fields, costs more than
    the rest of an action; it keeps nothing of a request."""
    return kind()


class WriteOperation(APIView):
    """A write: strict input, Idempotency-Key, If-Match (unless `versioned` is false), one command, one answer."""

    permission_classes = [HasRole]
    roles: ClassVar[tuple[Role, ...]] = ()
    input: ClassVar[type[serializers.Serializer[Any]]] = Nothing
    #: Whether the request must name the version that it was decided on.
    versioned: ClassVar[bool] = True
    #: Whether the body holds personal data or a password. Nothing of it is kept: neither in a refusal's event, nor as a
    #: plain hash from which it could be guessed.
    redact_body: ClassVar[bool] = False
    #: Names of input values that a refusal's event does not record.
    redact_fields: ClassVar[frozenset[str]] = frozenset()
    #: Whether a control point of the house may hold it back until a second person has approved it: then the request is
    #: kept in full, and may name an approval.
    approvable: ClassVar[bool] = False
    #: Whether a sign-in that the process remembers is taken: for writes that are one statement, which proves it.
    takes_remembered: ClassVar[bool] = False

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Serve one request, and take apart what holds itself by then: it goes with the request, not with a collection
        of garbage."""
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        self.request.parser_context.clear()
        return response

    def handle_exception(self, exc: Exception) -> Response:
        """Answer a refusal, to a sender whose token has been read; that the outcome is unknown is answered as it is."""
        if not isinstance(exc, OutcomeUnknown):
            try:
                self._prove()
            except Exception as refused:
                exc = refused
        return super().handle_exception(exc)

    def _prove(self) -> None:
        """Read the token if it was only remembered, and check again what depends on it. Raises what refuses."""
        if authentication.prove(self.request):
            self.check_permissions(self.request)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Call the service; subclasses say how."""
        raise AssertionError(f"{type(self).__name__} does not say what it performs")

    def post(self, request: Request, **path: Any) -> HttpResponse:
        """Carry out the operation."""
        data = _reader(self.input).run_validation(request.data)
        body = request.data or {}
        first, *others = self._request_hashes({"method": "POST", "path": request.path, "body": body})
        command = Command(
            context=context_of(request),
            key=idempotency_key(request),
            request_hash=first,
            other_hashes=tuple(others),
            expected_version=if_match(request) if self.versioned else None,
            asked=self._asked(request, body) if self.approvable else None,
            approval=approval_number(request) if self.approvable else None,
        )
        try:
            answer = self.perform(command, data, **path)
        except Unproved:
            self._prove()
            answer = self.perform(replace(command, context=context_of(request), again=True), data, **path)
        headers = {"ETag": f'"{answer.version}"'}
        if answer.replayed:
            headers["Idempotency-Replayed"] = "true"
        return HttpResponse(answer.content, "application/json", answer.status, headers=headers)

    def _asked(self, request: Request, body: Any) -> Asked:
        """The request in full. Raises AssertionError for an operation of which nothing may be kept."""
        operation = contract.operation_of(self, request)
        if operation is None or self.redact_body or self.redact_fields:
            raise AssertionError(f"nothing of a request to {request.path} may be kept")
        return Asked(operation=operation.id, path=request.path, body=body)

    def _request_hashes(self, asked: dict[str, Any]) -> list[str]:
        """The hash that shows whether a repeated Idempotency-Key comes with the same request, and others that it may
        have been stored as. With `redact_body` or `redact_fields` it is keyed with Django's secret key, so that
        passwords, names or face-down cards cannot be guessed from the database; the others are under keys that the
        secret key is rotated from, or to."""
        if not (self.redact_body or self.redact_fields):
            return [canonical.sha256(asked)]
        text = canonical.dumps(asked)
        keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
        return [salted_hmac("casino.api.request", text, secret=key, algorithm="sha256").hexdigest() for key in keys]


def known_parameters(request: Request, *names: str) -> dict[str, str]:
    """The query's parameters. Raises BadRequest for one that is not among `names`, or that contains NUL."""
    asked = {name: str(value) for name, value in request.query_params.items()}
    unknown = sorted(asked.keys() - set(names))
    if unknown:
        takes = f"takes {', '.join(names)}" if names else "takes no parameters"
        raise BadRequest(f"This {takes}.", code="invalid_parameter", parameters=unknown)
    unreadable = sorted(name for name, value in asked.items() if "\0" in value)
    if unreadable:
        raise BadRequest("A parameter holds no NUL character.", code="invalid_parameter", parameters=unreadable)
    return asked


def whole_number(asked: dict[str, str], name: str, *, least: int, most: int) -> int | None:
    """A parameter that is a whole number, None if it is absent. Raises BadRequest."""
    value = asked.get(name)
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,18}", value, re.ASCII) or not least <= int(value) <= most:
        raise BadRequest(f"{name} is {least} to {most}.", code="invalid_parameter", parameters=[name])
    return int(value)


def moment(asked: dict[str, str], name: str) -> datetime | None:
    """A parameter that is an ISO 8601 time with its time zone, None if it is absent. Raises BadRequest."""
    value = asked.get(name)
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value)
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise BadRequest(
        f"{name} is a moment with its time zone, such as 2026-11-21T20:00:00Z.",
        code="invalid_parameter",
        parameters=[name],
    )


def idempotency_key(request: Request) -> str:
    """The Idempotency-Key header. Raises PreconditionRequired or BadRequest."""
    key: str | None = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if key is None:
        raise PreconditionRequired("A write needs an Idempotency-Key header.", header="Idempotency-Key")
    if not _KEY.match(key):
        raise BadRequest("Idempotency-Key is 1 to 128 visible ASCII characters.", header="Idempotency-Key")
    return key


def approval_number(request: Request) -> int | None:
    """The Approval header: number of the approval that the request uses. Raises BadRequest."""
    value = request.META.get("HTTP_APPROVAL")
    if value is None:
        return None
    if not _NUMBER.match(value):
        raise BadRequest("Approval is the number of an approval.", header="Approval")
    return int(value)


def if_match(request: Request) -> int:
    """The version named by If-Match. Raises PreconditionRequired or BadRequest."""
    value = request.META.get("HTTP_IF_MATCH")
    if value is None:
        raise PreconditionRequired("A write needs If-Match with the version it was decided on.", header="If-Match")
    match = _ETAG.match(value)
    if match is None:
        raise BadRequest('If-Match is one strong ETag, a version in quotes such as "17".', header="If-Match")
    return int(match.group(1))


def documented(
    operation: str, *, summary: str, tag: str, answers: Any = None, status: int = 200, method: str | None = None,
    refuses: Iterable[str] = (), parameters: Iterable[OpenApiParameter] = (), etag: bool = False,
) -> Callable[[V], V]:  # fmt: skip
    """Describe a view's `method` (by default POST, or GET if the view has no POST) and enter it in the contract.

    `answers` is the serializer of a success (a list uses that of its rows), or a mapping of media types if the answer
    is not JSON. `refuses` names the error codes that the operation has in addition to those of its kind. `etag` marks a
    read whose answer carries a version. The description is the view's docstring. Raises KeyError for a code that is not
    registered.
    """

    def describe(view: V) -> V:
        verb = method or ("post" if hasattr(view, "post") else "get")
        lists = verb == "get" and hasattr(view, "list_parameters")
        writes = issubclass(view, WriteOperation) and verb == "post"
        query = [*parameters, *(view.list_parameters() if lists else ())]  # type: ignore[attr-defined]
        always = _codes_of_kind(view, verb, bool(query))
        own = frozenset(refuses) - always
        names = [one.name for one in query if one.location == OpenApiParameter.QUERY]
        headers = ("ETag", "Idempotency-Replayed") if writes else ("ETag",) if etag else ()
        codes = contract.by_status(always | own)
        entry = contract.Operation(operation, summary, tag, status, codes, headers, tuple(names), own)
        contract.enter(view, verb, entry)
        readers = getattr(view, "readers", None) if verb == "get" else None
        rights.declare(operation, getattr(view, "roles", ()) if readers is None else readers)
        schema = extend_schema(
            operation_id=operation,
            summary=summary,
            tags=[tag],
            request=getattr(view, "input", None) if verb == "post" else None,
            parameters=[*query, *_preconditions(view, verb)],
            responses=answers if isinstance(answers, dict) else {status: _answer(view, verb, answers)},
            auth=None if view.authentication_classes else [],
        )
        # A decorated copy of the method, so that each view has its own description.
        inherited = getattr(view, verb)

        def own_method(self: Any, request: Request, *args: Any, **path: Any) -> HttpResponseBase:
            response: HttpResponseBase = inherited(self, request, *args, **path)
            return response

        setattr(view, verb, schema(own_method))
        return view

    return describe


def _answer(view: type[APIView], verb: str, answers: Any) -> Any:
    """The serializer of a success; by default, a list uses that of its rows."""
    rows: Any = getattr(view, "serializer_class", None)
    return rows(many=True) if answers is None and verb == "get" and rows is not None else answers


def _codes_of_kind(view: type[APIView], verb: str, query: bool) -> frozenset[str]:
    """The error codes that every operation of this kind has."""
    found = set(contract.ANYBODY)
    if any(isinstance(one, type) and issubclass(one, HasRole) for one in view.permission_classes):
        found |= set(contract.STAFF)
        if getattr(view, "takes_given_passwords", False):
            found -= contract.LATER
        if getattr(view, "takes_unattended", False):
            found -= {"reauthentication_required"}
        if getattr(view, "sets_second_factor", False):
            found -= {"second_factor_required"}
    if verb == "post" and hasattr(view, "input"):
        found |= set(contract.BODY)
    if query or (verb == "get" and issubclass(view, Reading)):
        found.add("invalid_parameter")
    if hasattr(view, "list_parameters") and verb == "get":
        found |= set(contract.LIST)
    if issubclass(view, WriteOperation) and verb == "post":
        found |= {*contract.WRITE, *(["version_conflict"] if view.versioned else [])}
        found |= {*(contract.APPROVAL if view.approvable else ())}
    return frozenset(found)


def _preconditions(view: type[APIView], verb: str) -> list[OpenApiParameter]:
    """The headers that a write needs."""
    if not issubclass(view, WriteOperation) or verb != "post":
        return []
    key = OpenApiParameter(
        "Idempotency-Key", {"type": "string", "pattern": "^[\\x21-\\x7e]{1,128}$"}, OpenApiParameter.HEADER,
        required=True,
    )  # fmt: skip
    version = OpenApiParameter(
        "If-Match", {"type": "string", "pattern": '^"[1-9][0-9]{0,17}"$'}, OpenApiParameter.HEADER, required=True
    )
    approval = OpenApiParameter(
        "Approval", {"type": "string", "pattern": "^[1-9][0-9]{0,8}$"}, OpenApiParameter.HEADER
    )  # fmt: skip
    return [key, *([version] if view.versioned else []), *([approval] if view.approvable else [])]

"""Extensions of drf-spectacular's schema: the two ways to sign in, and the contract of every operation."""

from collections.abc import Iterator, Mapping
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from casino.api.http import contract, examples, vocabulary
from casino.api.http.problems import CONTENT_TYPE, document
from casino.core.error_codes import ERROR_CODES
from casino.core.error_members import MEMBERS

Schema = dict[str, Any]

_METHODS = ("get", "post")
#: Codes that come with the kind of an operation.
_COMMON = frozenset({*contract.ANYBODY, *contract.STAFF, *contract.BODY, *contract.WRITE, *contract.LIST})
#: Response headers: JSON schema, and when they are sent.
_HEADERS: Mapping[str, tuple[Schema, str]] = {
    "X-Request-Id": ({"type": "string"}, "The request's id: the caller's if it is usable, otherwise a new one."),
    "ETag": ({"type": "string"}, 'The version of what was read or written, in quotes: `"17"`. If-Match takes it.'),
    "Idempotency-Replayed": (
        {"type": "string", "enum": ["true"]},
        "Sent if the same request was answered before: nothing was changed this time.",
    ),
    "WWW-Authenticate": ({"type": "string"}, "The scheme to sign in with."),
    "Retry-After": ({"type": "integer"}, "Seconds to wait."),
}
#: Example values of problem members by their JSON type.
_SAMPLES: Mapping[str, Any] = {"string": "T1-000007", "integer": 7, "boolean": True, "array": [], "object": {}}


class TerminalTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A bearer token from POST /api/v1/sign-in."""

    target_class = "casino.api.http.authentication.TerminalTokenAuthentication"
    name = "terminalToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """HTTP bearer."""
        return {"type": "http", "scheme": "bearer"}


class SeatKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A key from POST /api/v1/tables/{table}/seats/{seat}/key."""

    target_class = "casino.api.seat.SeatKeyAuthentication"
    name = "seatKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """The Authorization header with the scheme `Seat`."""
        return {"type": "apiKey", "in": "header", "name": "Authorization", "description": "Seat KEY"}


def complete(result: Schema, generator: Any, request: Any, public: bool) -> Schema:
    """Postprocessing hook: add problems and headers to every operation, and the vocabulary's meaning to every
    parameter and property that has no description."""
    schemas: Schema = result["components"]["schemas"]
    for described in _operations(result):
        operation = contract.OPERATIONS.get(described["operationId"])
        if operation is not None:
            _complete_operation(described, operation, schemas)
            examples.add_to(described, operation.status)
        for parameter in described.get("parameters", ()):
            if "description" not in parameter:
                parameter["description"] = vocabulary.parameter(parameter["name"])
    for schema in schemas.values():
        _describe_properties(schema)
    result["components"]["schemas"] = dict(sorted(schemas.items()))
    result["components"]["headers"] = {
        name: {"schema": schema, "description": meaning} for name, (schema, meaning) in _HEADERS.items()
    }
    return result


def _operations(result: Schema) -> Iterator[Schema]:
    for methods in result["paths"].values():
        for method in _METHODS:
            if method in methods:
                yield methods[method]


def _complete_operation(described: Schema, operation: contract.Operation, schemas: Schema) -> None:
    responses = described["responses"]
    for name in operation.headers:
        _add_header(responses[str(operation.status)], name)
    for status, codes in operation.codes.items():
        name, problem = _component(operation, status, codes), problem_schema(status, codes)
        if schemas.setdefault(name, problem) != problem:
            # Other codes that come with a kind of operation have the shared name.
            name = _own_component(operation, status)
            schemas[name] = problem
        responses[str(status)] = {
            "description": "; ".join(f"`{code}`" for code in codes),
            "content": {CONTENT_TYPE: {"schema": {"$ref": f"#/components/schemas/{name}"}}},
        }
    for status, response in responses.items():
        response["description"] = response.get("description") or "Done."
        _add_header(response, "X-Request-Id")
        for header in {"401": ["WWW-Authenticate"], "429": ["Retry-After"]}.get(status, ()):
            _add_header(response, header)


def _add_header(response: Schema, name: str) -> None:
    response.setdefault("headers", {})[name] = {"$ref": f"#/components/headers/{name}"}


def _component(operation: contract.Operation, status: int, codes: tuple[str, ...]) -> str:
    """The name of the problem schema for these codes: one per operation, or a shared one if they come with its kind."""
    if set(codes) >= {one.code for one in ERROR_CODES.values() if one.status == status}:
        return f"Problem{status}"
    if _COMMON.issuperset(codes):
        if len(codes) > 3:
            return f"Problem{status}"
        return "Or".join(code.title().replace("_", "") for code in codes) + "Problem"
    return _own_component(operation, status)


def _own_component(operation: contract.Operation, status: int) -> str:
    return f"{operation.id[0].upper()}{operation.id[1:]}Problem{status}"


def problem_schema(status: int, codes: tuple[str, ...]) -> Schema:
    """The schema of a problem document of this status with one of these codes, with an example."""
    members = dict.fromkeys(name for code in codes for name in ERROR_CODES[code].members)
    properties: Schema = {
        "type": {"type": "string", "format": "uri", "description": "A URN that ends with the code."},
        "title": {"type": "string", "description": "What the status means, in short."},
        "status": {"type": "integer", "enum": [status], "description": "The HTTP status."},
        "code": {"type": "string", "enum": list(codes), "description": _meanings(codes)},
        "detail": {"type": "string", "description": "What was expected, for a person."},
        "instance": {"type": "string", "format": "uri", "description": "A URN of the request's id."},
    }
    if "invalid_request" in codes:
        properties["errors"] = FIELD_ERRORS
    properties |= {name: _member(name) for name in members}
    first = next((code for code in codes if code not in _COMMON), codes[0])
    return {
        "type": "object",
        "description": "Problem document (RFC 9457).",
        "required": ["type", "title", "status", "code", "detail"],
        "properties": properties,
        "example": _example(status, first),
    }


#: What is wrong with the fields of a body (RFC 9457, section 3.1.3).
FIELD_ERRORS: Schema = {
    "type": "array",
    "description": "What is wrong with each field of the body.",
    "items": {
        "type": "object",
        "required": ["pointer", "detail"],
        "properties": {
            "pointer": {"type": "string", "description": "JSON Pointer of the field: `#/actions/0/amount`."},
            "detail": {"type": "string", "description": "What was expected of it."},
        },
    },
}


def _meanings(codes: tuple[str, ...]) -> str:
    return "\n".join(f"* `{code}`: {ERROR_CODES[code].meaning}" for code in codes)


def _member(name: str) -> Schema:
    schema, meaning = MEMBERS[name]
    return {**schema, "description": meaning[0].upper() + meaning[1:] + "."}


def _example(status: int, code: str) -> Schema:
    entry = ERROR_CODES[code]
    extra = {name: _sample(MEMBERS[name][0]) for name in entry.members}
    errors = (
        {"errors": [{"pointer": "#/seat", "detail": "This field is required."}]} if code == "invalid_request" else {}
    )
    return document(status, code, entry.meaning, **errors, **extra)


def _sample(schema: Mapping[str, Any]) -> Any:
    """A value of this shape, with the members of an object that are required."""
    if schema.get("format") == "date-time":
        return "2026-11-21T20:00:00Z"
    if "required" in schema:
        return {name: _sample(schema["properties"][name]) for name in schema["required"]}
    return _SAMPLES[schema.get("type") or schema["oneOf"][0]["type"]]


def _describe_properties(schema: Any) -> None:
    """Give every property without a description the meaning of its name in the vocabulary."""
    if isinstance(schema, list):
        for item in schema:
            _describe_properties(item)
    if not isinstance(schema, dict):
        return
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for name, one in properties.items():
            meaning = vocabulary.FIELDS.get(name)
            if meaning is None or "description" in one:
                continue
            if "$ref" in one:
                properties[name] = {"allOf": [{"$ref": one["$ref"]}], "description": meaning}
            else:
                one["description"] = meaning
    for key, value in schema.items():
        if key not in ("example", "enum", "default"):
            _describe_properties(value)

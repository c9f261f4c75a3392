"""`operations.md`: every operation of the API by desk, from the OpenAPI schema and the views it describes."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from casino.reference.markdown import generated, table
from casino.staff.models import Role

HEAD = """
Paths are below `/api/v1`. Every desk of the house has a section. `GET /api/v1/schema` is the complete OpenAPI document
with bodies, answers and examples, X
"""
#: Who may use an operation whose view names no roles, by how it identifies the caller.
OTHER_CALLERS = {"seatKey": "the key of a seat", None: "everybody"}
#: A status with more codes than this is listed without them.
MOST_CODES = 12
Json = Mapping[str, Any]


def render() -> str:
    """The page."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema: Json = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    endpoints: Any = generator.endpoints  # (path, its pattern, method, view), more than the stubs know
    views = {(path, method.lower()): callback.cls for path, _, method, callback in endpoints}
    desks: dict[str, list[str]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            desk = operation["tags"][0]
            desks.setdefault(desk, []).append(_operation(path, method, operation, views[path, method], schema))
    return "\n".join([f"# Operations of the API\n\n{generated('the OpenAPI schema')}{HEAD}", *_sections(desks)])


def _sections(desks: Mapping[str, list[str]]) -> Iterable[str]:
    for desk in sorted(desks):
        yield f"## {desk[0].upper()}{desk[1:]}\n"
        yield from desks[desk]


def _operation(path: str, method: str, operation: Json, view: type, schema: Json) -> str:
    lines = [
        f"### {operation['summary']}\n",
        f"`{method.upper()} {path.removeprefix('/api/v1')}`, for {_callers(view, method, operation)}"
        f" (`{operation['operationId']}`).\n",
    ]
    if description := operation.get("description", "").strip():
        lines.append(f"{description}\n")
    if parameters := [one for one in operation.get("parameters", ()) if one["in"] in ("query", "header")]:
        lines.append(table(("parameter", "in", "required", "meaning"), map(_parameter, parameters)))
    if body := _body(operation, schema):
        lines.append(table(("field of the body", "type", "required", "meaning"), body))
    lines.append(f"Refused with {_refusals(operation)}.\n")
    return "\n".join(lines)


def _callers(view: Any, method: str, operation: Json) -> str:
    """The roles that the view takes, or how it knows its callers otherwise."""
    roles = getattr(view, "readers", None) if method == "get" else None
    if roles := roles or getattr(view, "roles", ()):
        return "all roles" if set(roles) == set(Role) else ", ".join(str(Role(role).value) for role in roles)
    schemes = [name for one in operation.get("security", ()) for name in one]
    return OTHER_CALLERS[schemes[0] if schemes else None]


def _parameter(one: Json) -> tuple[str, str, str, str]:
    required = "yes" if one.get("required") else "no"
    return f"`{one['name']}`", one["in"], required, one.get("description", "")


def _body(operation: Json, schema: Json) -> list[tuple[str, str, str, str]]:
    content = operation.get("requestBody", {}).get("content", {})
    body = _resolved(next(iter(content.values()))["schema"], schema) if content else {}
    required = body.get("required", ())
    return [
        (f"`{name}`", _type(one, schema), "yes" if name in required else "no", one.get("description", ""))
        for name, one in body.get("properties", {}).items()
    ]


def _resolved(part: Json, schema: Json) -> Json:
    """The part itself, or what its reference names."""
    if "$ref" not in part:
        return part
    found: Json = schema["components"]["schemas"][part["$ref"].rpartition("/")[2]]
    return found


def _type(part: Json, schema: Json) -> str:
    """The type in words: `integer`, `list of string`, one of some values."""
    if wrapped := part.get("allOf") or part.get("oneOf"):
        return " or ".join(dict.fromkeys(_type(one, schema) for one in wrapped))
    found = _resolved(part, schema)
    if "enum" in found:
        return ", ".join(f"`{value}`" for value in found["enum"])
    if found.get("type") == "array":
        return f"list of {_type(found['items'], schema)}"
    kind = found.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _refusals(operation: Json) -> str:
    """Statuses with the codes that their descriptions name; only the status where nearly any code may come."""
    refused = {status: answer["description"] for status, answer in operation["responses"].items() if status >= "400"}
    found = (f"{status} {_codes(text)}".rstrip() for status, text in sorted(refused.items()))
    return "; ".join(found) or "no additional status"


def _codes(description: str) -> str:
    codes = re.findall(r"`\w+`", description)
    return ", ".join(codes) if len(codes) <= MOST_CODES else ""

"""What the tests' HTTP client checks of every answer: the operation has such a status, and such a code for it, whose
members have the shapes that the table of codes gives them.

It reads the same registry as the schema (`casino/api/http/contract.py`), which contract tests compare with the schema.
"""

from functools import cache
from typing import Any

import httpx
import jsonschema
from django.urls import Resolver404, resolve

from casino.api.http import contract
from casino.core.error_codes import ERROR_CODES
from casino.core.error_members import MEMBERS

#: Statuses of refusals before any operation: who asks is not known, or there is no such address or method.
BEFORE = frozenset({401, 403, 404, 405})
#: Addresses that describe the operations and are none.
DESCRIPTION = frozenset({"/api/v1/schema", "/api/v1/docs"})


def assert_promised(answer: httpx.Response) -> None:
    """An answer of the API is one that its operation's description has."""
    request = answer.request
    path = request.url.path
    if not path.startswith("/api/v1/") or path in DESCRIPTION or request.method == "OPTIONS":
        return
    operation = operation_of(request.method, path)
    if operation is None:
        assert answer.status_code in BEFORE, (request.method, path, answer.status_code)
        return
    if answer.status_code == operation.status:
        return
    answer.read()
    assert answer.status_code in operation.codes, (operation.id, answer.status_code, answer.text)
    problem = answer.json()
    code = problem["code"]
    assert code in operation.codes[answer.status_code], f"{operation.id} does not state {answer.status_code} {code}"
    for name in problem.keys() & set(ERROR_CODES[code].members):
        found = [(error.json_path, error.message) for error in _member(name).iter_errors(problem[name])]
        assert not found, (operation.id, code, name, found)


@cache
def _member(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(as_json_schema(MEMBERS[name][0]))


def operation_of(method: str, path: str) -> contract.Operation | None:
    """The operation at an address, None where there is no such address or not with this method."""
    return _operations(path).get("get" if method == "HEAD" else method.lower())


@cache
def _operations(path: str) -> dict[str, contract.Operation]:
    try:
        view = resolve(path).func
    except Resolver404:
        return {}
    found: dict[str, contract.Operation] = getattr(getattr(view, "view_class", None), "operations", {})
    return found


def as_json_schema(node: Any) -> Any:
    """OpenAPI 3.0's schemas as JSON Schema: `nullable` is the type null, and an object that names its properties and
    does not mention others has no others."""
    if isinstance(node, list):
        return [as_json_schema(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {name: as_json_schema(item) for name, item in node.items()}
    if out.get("type") == "object" and "properties" in out:
        out.setdefault("additionalProperties", False)
    if out.pop("nullable", False) is True:
        return {"anyOf": [out, {"type": "null"}]}
    return out

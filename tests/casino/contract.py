"""What the tests' HTTP client checks of every answer: the operation has such a status, and such a code for it.

It reads the same registry as the schema (`casino/api/http/contract.py`), which contract tests compare with the schema.
"""

from functools import cache

import httpx
from django.urls import Resolver404, resolve

from casino.api.http import contract

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
    code = answer.json()["code"]
    assert code in operation.codes[answer.status_code], f"{operation.id} does not state {answer.status_code} {code}"


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

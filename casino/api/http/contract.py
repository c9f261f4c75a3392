"""What each operation promises: its answers' status and headers, and the codes that it may refuse with.

`documented` (`operations.py`) enters every operation here; the schema (`schema.py`) and the tests' HTTP client read it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rest_framework.request import Request

from casino.core import error_codes

#: Refusals of every operation: the answer's media type, the audit log that cannot be trusted, errors of the server.
ANYBODY = (
    "not_acceptable", "log_rolled_back", "log_damaged", "outside_checkpoint_missing", "outside_checkpoint_unreadable",
    "server_error", "proof_failed", "posting_not_ours",
)  # fmt: skip
#: Refusals of every operation for signed-in staff.
STAFF = ("not_authenticated", "forbidden", "password_change_required")
#: Refusals of every operation that takes a body.
BODY = ("malformed_json", "invalid_request", "body_too_large", "unsupported_media_type")
#: Refusals of every write under an Idempotency-Key.
WRITE = ("wrong_terminal", "not_found", "precondition_required", "idempotency_key_reused", "book_busy")
#: Refusals of every list.
LIST = ("invalid_parameter", "not_found")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: `status` of its success, `headers` of that answer, `query` parameters, the `codes` by status."""

    id: str
    status: int
    codes: Mapping[int, tuple[str, ...]]
    headers: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    #: Codes that come from what the operation does, not from its kind.
    own: frozenset[str] = field(default=frozenset())


#: Every operation by its id.
OPERATIONS: dict[str, Operation] = {}


def by_status(codes: Iterable[str]) -> dict[int, tuple[str, ...]]:
    """The codes by their status, in the order of the registry. Raises KeyError for one that is not registered."""
    found: dict[int, tuple[str, ...]] = {}
    for one in sorted(error_codes.of(tuple(codes)), key=lambda one: one.status):
        found[one.status] = (*found.get(one.status, ()), one.code)
    return found


def enter(view: type, method: str, operation: Operation) -> None:
    """Register the operation that a method of a view carries out. Raises ValueError for an id that is used."""
    if operation.id in OPERATIONS:
        raise ValueError(f"two operations are called {operation.id}")
    OPERATIONS[operation.id] = operation
    view.operations = {**vars(view).get("operations", {}), method: operation}  # type: ignore[attr-defined]


def operation_of(view: Any, request: Request) -> Operation | None:
    """The operation that a request asks a view for, None for a method that it does not have."""
    method = "get" if request.method == "HEAD" else str(request.method).lower()
    found: Operation | None = getattr(view, "operations", {}).get(method)
    return found

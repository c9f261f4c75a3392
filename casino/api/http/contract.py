"""The contract of each operation: status and headers of its answers, and the codes of its refusals.

`documented` (`operations.py`) enters every operation here; the schema (`schema.py`) and the tests' HTTP client read it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request

from casino.core import error_codes

#: Refusals of every operation: media type of the answer, an audit log that cannot be trusted, errors of the server.
ANYBODY = (
    "not_acceptable", "log_rolled_back", "log_damaged", "outside_checkpoint_missing", "outside_checkpoint_unreadable",
    "server_error", "proof_failed", "posting_not_ours", "database_unavailable", "outcome_unknown", "busy",
    "key_unavailable", "seal_key_wrong",
)  # fmt: skip
#: Refusals of every operation for signed-in staff.
STAFF = (
    "not_authenticated", "forbidden", "password_change_required", "roles_exclude_each_other", "second_factor_required",
    "reauthentication_required",
)  # fmt: skip
#: Those of them that do not refuse what a person must be able to do first: choose a password, sign out.
LATER = frozenset({"password_change_required", "roles_exclude_each_other", "second_factor_required"})
#: Refusals of every operation that takes a body.
BODY = ("malformed_json", "invalid_request", "body_too_large", "unsupported_media_type")
#: Refusals of every write under an Idempotency-Key.
WRITE = ("wrong_terminal", "not_found", "precondition_required", "idempotency_key_reused")
#: Refusals of a write that a control point of the house may hold back.
APPROVAL = (
    "approval_required", "approval_differs", "approval_requested", "approval_refused", "approval_used",
    "approval_expired", "approval_withdrawn",
)  # fmt: skip
#: Refusals of what lets a player play, and of what sells a player chips.
PLAYS = ("player_excluded", "not_admitted")
BUYS = (*PLAYS, "player_limit_reached")
#: Refusals of every list.
LIST = ("invalid_parameter", "not_found")
#: Refusals of every write that posts money of the house's books.
POSTS = ("insufficient_funds", "period_not_open", "account_off", "account_closed", "amount_out_of_range")
#: Refusals of operations in which the house works out the chips of an amount.
CHANGE = ("no_chip_set", "no_exact_change", "amount_not_payable", "chips_not_in_circulation")
#: Refusals of chips that the request names.
PIECES = ("unknown_denomination", "pieces_not_a_count", "chips_do_not_add_up")
#: Refusals of a table that is not open, or at which a hand is being played.
NOT_OPEN = ("table_closed", "table_playing", "table_settling", "table_disputed", "table_retired")
#: Refusals of cards, by the rules engine or before it.
CARDS = (
    "card_not_in_pack", "card_already_dealt", "card_not_from_deck", "deck_missing", "card_unknown", "card_mismatch",
    "card_entered_twice", "cards_differ", "deck_incomplete",
)  # fmt: skip
#: Refusals of actions by the rules engine.
ACTIONS = (
    "malformed_action", "hand_is_over", "not_your_turn", "verb_not_legal", "amount_out_of_range", "wrong_target",
    "wrong_count", "option_out_of_range",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: what it does in a few words, under which heading; `status` of its success, `headers` of that
    answer, `query` parameters, the `codes` by status."""

    id: str
    summary: str
    tag: str
    status: int
    codes: Mapping[int, tuple[str, ...]]
    headers: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    #: Codes that come from what the operation does, not from its kind.
    own: frozenset[str] = field(default=frozenset())


#: Every operation by its id.
OPERATIONS: dict[str, Operation] = {}


def by_status(codes: Iterable[str]) -> dict[int, tuple[str, ...]]:
    """The codes by their status, in the order of the registry. Raises KeyError for an unregistered code."""
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


def operation_of(view: Any, request: Request | HttpRequest) -> Operation | None:
    """The operation of a view that a request calls, None for a method that the view does not have."""
    method = "get" if request.method == "HEAD" else str(request.method).lower()
    found: Operation | None = getattr(view, "operations", {}).get(method)
    return found

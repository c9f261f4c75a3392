"""Reading approvals, and a house's control points."""

from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from casino.approvals.models import Approval, ApprovalKind, ApprovalState
from casino.core import moments, sql
from casino.houses import control_points
from casino.houses.models import House, Limits
from casino.staff.models import Role, Staff

#: Who sees every approval; others see what they asked for, and what they may decide.
OVERSEERS = frozenset((Role.AUDITOR, Role.MANAGER))


#: Whom and what an approval names.
NAMED = ("requested_by", "decided_by", "terminal", "decided_terminal")


def seen_by(staff: Staff) -> "QuerySet[Approval]":
    """The approvals of the house that concern a person."""
    rows = Approval.objects.filter(house_id=staff.house_id)
    found = rows.select_related(*NAMED).prefetch_related("assents__given_by", "assents__terminal")
    if OVERSEERS & set(staff.roles):
        return found
    return found.filter(Q(requested_by=staff) | Q(roles__overlap=list(staff.roles)))


def describe(found: Approval, now: datetime | None = None) -> dict[str, Any]:
    """An approval with the whole request that it is for."""
    state = found.state_at(now or timezone.now())
    return {
        "approval": found.number,
        "kind": found.kind,
        "state": str(state),
        "operation": found.operation,
        "path": found.path,
        "body": found.body,
        "request_hash": found.request_hash,
        "amount": found.amount,
        "replay": _replay(found),
        "roles": list(found.roles),
        "every_role": found.every_role,
        "assents": [
            {
                "role": one.role,
                "given_by": one.given_by.login,
                "given_at": moments.utc(one.given_at),
                "terminal": one.terminal.code,
            }
            for one in found.given()
        ],
        "waits_for": found.waits_for() if state == ApprovalState.REQUESTED else [],
        "requested_by": found.requested_by.login,
        "requested_at": moments.utc(found.requested_at),
        "terminal": found.terminal.code,
        "expires_at": moments.utc(found.expires_at),
        "decided_by": found.decided_by.login if found.decided_by else None,
        "decided_at": moments.utc_or_none(found.decided_at),
        "decided_terminal": found.decided_terminal.code if found.decided_terminal else None,
        "reason": found.reason,
        "ended_at": moments.utc_or_none(found.ended_at),
    }


def _replay(found: Approval) -> str | None:
    """Where the hand is read that a void is asked for, below the API's root; None for all else."""
    if found.kind != ApprovalKind.VOID:
        return None
    return found.path.removeprefix("/api/v1/").removesuffix("/void")


def limits(house: House) -> dict[str, Any]:
    """The control points in force, those to come, and those that were set before, the newest first."""
    rows = list(Limits.objects.filter(house=house).order_by("-valid_from", "-number"))
    now = sql.database_time()
    came = [row for row in rows if row.valid_from <= now]
    current = came[0] if came else None
    return {
        "in_force": _limits(current) if current else {**_UNSET, "points": control_points.defaults(house)},
        "to_come": [_limits(row) for row in reversed(rows) if row.valid_from > now],
        "history": [_limits(row) for row in came[1:]],
    }


_UNSET = {"number": 0, "valid_from": None, "set_by": "", "set_at": None, "approval": None}


def _limits(row: Limits) -> dict[str, Any]:
    return {
        "number": row.number,
        "valid_from": moments.utc(row.valid_from),
        "points": row.points,
        "set_by": row.set_by,
        "set_at": moments.utc(row.set_at),
        "approval": row.approval,
    }

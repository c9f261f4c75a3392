"""Approvals, and the control points that ask for them. That an approval was used is recorded by the event of what it
was used for, which names its number and who approved."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from casino.audit.events.fields import JsonObject, Reason
from casino.audit.events.registry import ApprovedEvent, AuditEvent, event
from casino.audit.events.staff import ShownPasskey

Number = Annotated[int, "number of the approval in its house, from 1 without gaps"]
WithCode = Annotated[bool | None, "true where the actor gave a code or showed a passkey with the decision"]


@event("approval.requested", chain="house")
class ApprovalRequested(AuditEvent):
    """A request was above a control point; it waits for a second person."""

    approval: Number
    kind: Annotated[str, "kind of the approval"]
    operation: Annotated[str, "operation of the API"]
    path: Annotated[str, "address of the request"]
    body: Annotated[JsonObject, "body of the request"]
    request_hash: Annotated[str, "SHA-256 of method, address and body, hexadecimal"]
    amount: Annotated[int | None, "what the control point looked at, minor units; absent where it looks at none"] = None
    roles: Annotated[Sequence[str], "roles of which a person must have one to decide"]
    every_role: Annotated[
        bool | None, "true where a person of each of these roles must approve; absent where one is enough"
    ] = None
    expires: Annotated[str, "until when it can be decided and used, ISO 8601, UTC"]


@event("approval.approved", chain="house")
class ApprovalApproved(AuditEvent):
    """The actor approved a request of another person. Where a person of every role must, this is what one of them has
    approved; the last one's has no `waits_for`."""

    approval: Number
    second_factor: WithCode = None
    passkey_sha256: ShownPasskey = None
    waits_for: Annotated[Sequence[str] | None, "roles of which a person must still approve; absent where none"] = None


@event("approval.refused", chain="house")
class ApprovalRefused(AuditEvent):
    """The actor refused a request of another person."""

    approval: Number
    second_factor: WithCode = None
    passkey_sha256: ShownPasskey = None
    reason: Reason


@event("approval.withdrawn", chain="house")
class ApprovalWithdrawn(AuditEvent):
    """The person who had asked no longer wants it."""

    approval: Number


@event("approval.expired", chain="house")
class ApprovalExpired(AuditEvent):
    """The time of an approval ran out, and nobody had used it."""

    approval: Number


@event("limits.changed", chain="house")
class LimitsChanged(ApprovedEvent):
    """Control points of the house were set from a moment on; those of before are kept."""

    number: Annotated[int, "number of these control points in their house, from 1"]
    valid_from: Annotated[str, "from when on they are in force, ISO 8601, UTC"]
    points: Annotated[Mapping[str, int], "every control point by its name, minor units"]
    reason: Reason

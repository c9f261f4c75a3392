"""Sensitive reads, and requests that were refused or failed."""

from collections.abc import Sequence
from typing import Annotated, Any

from casino.audit.events.registry import AuditEvent, event

ANY_CHAIN = ("house", "table", "drawer")

Operation = Annotated[
    str | None, "operation id of the API, or name of the management command; absent for a method it lacks"
]
Method = Annotated[str, "HTTP method, or `manage.py` of a management command"]
Path = Annotated[str, "address with its query, hidden values as `?`; for a management command, what it should change"]


@event("data.read", chain="house")
class DataRead(AuditEvent):
    """A person has read sensitive data. This is recorded before any data are sent: if the read was then refused, there
    is also an `attempt.refused` with the same request id."""

    operation: Operation = None
    subject: Annotated[str, "path of the address; of a management command the house's code"]
    parameters: Annotated[
        Sequence[Sequence[str]] | None, "name and value of each parameter of the query or argument of the command"
    ] = None


@event("attempt.refused", chain=ANY_CHAIN)
class AttemptRefused(AuditEvent):
    """A request of a known person or device was refused and changed nothing; or a management command was refused
    although the signer's password was right."""

    operation: Operation = None
    method: Method
    path: Path
    code: Annotated[str, "code of the problem"]
    status: Annotated[int, "HTTP status"]
    expected: Annotated[Any, "what was expected, as in the problem document"] = None
    asked: Annotated[
        str | None,
        "SHA-256 of the body of a write, hexadecimal; absent where part of the body is hidden or it is no JSON object",
    ] = None
    body: Annotated[
        str | None,
        "known fields of the body of a write, as JSON text, with cards and names hidden as `?`; absent of a body with "
        "personal data or a password",
    ] = None
    player: Annotated[
        str | None, "reference of the player who is excluded, not admitted, or at a limit; absent otherwise"
    ] = None


@event("attempt.failed", chain=ANY_CHAIN)
class AttemptFailed(AuditEvent):
    """A request of a known person or device failed on the server and changed nothing. The server's log has the trace
    under the same request id."""

    operation: Operation = None
    method: Method
    path: Path
    error: Annotated[str, "class of the error"]

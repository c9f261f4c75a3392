"""Sensitive reads, and requests that were refused or failed."""

from collections.abc import Sequence
from typing import Annotated, Any

from casino.audit.events.registry import AuditEvent, event

ANY_CHAIN = ("house", "table", "drawer")

Operation = Annotated[
    str | None, "operation id of the API, or name of the management command; absent for a method it lacks"
]
Method = Annotated[str, "HTTP method, or `manage.py` of a management command"]
Path = Annotated[str, "address with its query, hidden values as `?`; of a management command what it was to change"]


@event("data.read", chain="house")
class DataRead(AuditEvent):
    """Somebody asked for data that not everybody may see. Recorded before anything is given: if the read was refused
    after all, an `attempt.refused` under the same request id says so."""

    operation: Operation = None
    subject: Annotated[str, "path of the address; of a management command the house's code"]
    parameters: Annotated[
        Sequence[Sequence[str]] | None, "name and value of each parameter of the query or argument of the command"
    ] = None


@event("attempt.refused", chain=ANY_CHAIN)
class AttemptRefused(AuditEvent):
    """A request of somebody the house knows was refused, and changed nothing; or a management command whose signer gave
    the right password."""

    operation: Operation = None
    method: Method
    path: Path
    code: Annotated[str, "code of the problem"]
    status: Annotated[int, "HTTP status"]
    expected: Annotated[Any, "what was expected instead, as the problem says it"] = None
    asked: Annotated[
        str | None,
        "SHA-256 of the body of a write, hexadecimal; absent where part of the body is hidden or it is no JSON object",
    ] = None
    body: Annotated[
        str | None,
        "known fields of the body of a write, as JSON text, with cards and names hidden as `?`; absent of a body with "
        "personal data or a password",
    ] = None


@event("attempt.failed", chain=ANY_CHAIN)
class AttemptFailed(AuditEvent):
    """A request of somebody the house knows failed on the server's side, and changed nothing. The server's log has the
    trace under the same request id."""

    operation: Operation = None
    method: Method
    path: Path
    error: Annotated[str, "class of the error"]

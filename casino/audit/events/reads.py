"""What was read that is not everybody's, and what was asked for and refused."""

from typing import Any

from casino.audit.events.registry import Told, event, told

ANY_CHAIN = ("house", "table", "drawer")


@event("data.read", chain="house")
def data_read(*, operation: str | None, subject: str, parameters: list[list[str]] | None) -> Told:
    """Somebody asked for data that not everybody may see: the API's operation, the address, the query's parameters as
    pairs. Written before anything is given; whether it was found, a refusal under the same request id would tell. Of a
    management command: its name, the house's code, and its arguments."""
    return told(operation=operation, subject=subject, parameters=parameters)


@event("attempt.refused", chain=ANY_CHAIN)
def refused(
    *, operation: str | None, method: str, path: str, code: str, status: int, expected: Any = None,
    asked: str | None = None, body: str | None = None,
) -> Told:  # fmt: skip
    """A request of somebody known was refused, and changed nothing: the problem's code and HTTP status, what was
    expected instead, of a write the SHA-256 of its body and its known fields. Neither of a body with personal data or
    a password; where cards or a name are hidden (`?`), and of what is no JSON object, no hash. Of a management command
    that somebody signed with his password: the method `manage.py`, the command, and as path what it was to change."""
    return told(
        operation=operation,
        method=method,
        path=path,
        code=code,
        status=status,
        expected=expected,
        asked=asked,
        body=body,
    )


@event("attempt.failed", chain=ANY_CHAIN)
def failed(*, operation: str | None, method: str, path: str, error: str) -> Told:
    """A request of somebody known broke on our side, and changed nothing: the kind of error; its trace is in the
    server's log under the same request id."""
    return told(operation=operation, method=method, path=path, error=error)

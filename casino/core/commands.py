"""How every write runs: one transaction, one idempotency key, one answer.

`run` opens the transaction, takes the idempotency key (first in the lock order), carries out the operation and stores
its answer under the key. The same request again gets the stored answer and changes nothing; the same key with another
request is refused. A refused operation rolls back whole, its key included, so it may be tried again.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from casino.audit.services import Actor
from casino.core import locks, sql
from casino.core.errors import IdempotencyKeyReused, VersionConflict, WrongTerminal
from casino.houses.models import House
from casino.staff.models import AnsweredRequest, Role, Staff, Terminal, TerminalKind

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """Who does it, in which role, from which terminal, under which request id."""

    house: House
    staff: Staff
    role: Role
    terminal: Terminal
    request_id: str

    @property
    def actor(self) -> Actor:
        """The same, as the audit trail names it."""
        return Actor(staff=self.staff.login, role=self.role, terminal=self.terminal.code, request=self.request_id)

    def at_the_office(self) -> House:
        """The house, of whoever is at an office terminal. Raises WrongTerminal."""
        if self.terminal.kind != TerminalKind.OFFICE:
            raise WrongTerminal(f"Terminal {self.terminal.code} does not stand in the office.")
        return self.house


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One write as asked for: the acting person, the Idempotency-Key with the request's hash, the If-Match version."""

    context: RequestContext
    key: str
    request_hash: str
    expected_version: int | None

    def ledger_key(self, part: str = "") -> str:
        """The ledger's key for a posting of this command, as unique as the command; `part` tells several apart.

        What the caller chose stands last, so that no choice of his can make it another posting's key.
        """
        return f"command:{part}:{self.context.terminal.id}:{self.key}"

    def require_version(self, current: int) -> None:
        """Refuse with VersionConflict when the caller has seen another version than `current`."""
        if self.expected_version is not None and self.expected_version != current:
            raise VersionConflict(
                f"If-Match names version {self.expected_version}, the current version is {current}. Read it again.",
                current_version=current,
            )


@dataclass(frozen=True, slots=True)
class Answer:
    """What a write answers: an HTTP status, a JSON body, the new version of what was written.

    `once` is added to the body of the first answer and kept nowhere: a key that is shown once. The same request again
    is answered without it.
    """

    body: dict[str, Any]
    version: int
    status: int = 200
    replayed: bool = False
    once: dict[str, Any] = field(default_factory=dict, repr=False)


def run(command: Command, operation: Callable[[], Answer]) -> Answer:
    """Carry out a write once under its Idempotency-Key.

    Raises IdempotencyKeyReused when the key was used for another request, and whatever `operation` refuses with.
    """

    def attempt() -> Answer:
        row = _take_key(command)
        if row.status is not None:
            stored = json.loads(row.answer)
            return Answer(stored["body"], stored["version"], row.status, replayed=True)
        answer = operation()
        stored = json.dumps({"body": answer.body, "version": answer.version})
        sql.change(_STORE_ANSWER, [stored, answer.status, row.id])
        return answer

    return locks.in_transaction(attempt)


_STORE_ANSWER = "UPDATE staff_answeredrequest SET answer = %s, status = %s WHERE id = %s"
_INSERT_KEY = """
INSERT INTO staff_answeredrequest (terminal_id, key, request_hash) VALUES (%s, %s, %s)
ON CONFLICT (terminal_id, key) DO NOTHING RETURNING id
"""


def _take_key(command: Command) -> AnsweredRequest:
    """Insert the key, or find the answer given under it; a request still running under it is waited for.

    The waiting is PostgreSQL's: an INSERT that meets another transaction's uncommitted row of the same key blocks.
    """
    terminal = command.context.terminal
    for (inserted,) in sql.rows(_INSERT_KEY, [terminal.id, command.key, command.request_hash]):
        return AnsweredRequest(id=inserted, terminal=terminal, key=command.key, request_hash=command.request_hash)
    row = locks.lock(AnsweredRequest, locks.Rank.KEY, terminal=terminal, key=command.key)
    if row.request_hash != command.request_hash:
        raise IdempotencyKeyReused(
            "This Idempotency-Key was used for another request; a new request needs a new key.", key=command.key
        )
    return row

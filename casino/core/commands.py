"""What is asked and what is answered: a write as it was requested, and its answer, stored once under its key.

Who locks the subject of a write looks for a stored answer in the same round trip: `locked`, `stored_under`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from casino.approvals import gate
from casino.audit.services import Actor
from casino.core import locks, sql
from casino.core.errors import IdempotencyKeyReused, NotFound, VersionConflict, WrongTerminal
from casino.houses.models import House
from casino.staff.models import Role, Staff, Terminal, TerminalKind

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class SignIn:
    """A sign-in that this process remembers: the token's digest, and the state of the rows that it was read from.

    A write in one statement proves it there. Nothing else may be done or answered before the token is read again.
    """

    digest: str
    rows: str


class Unproved(Exception):
    """A write under a remembered sign-in needs more than one statement: nothing was written, and the token must be read
    before it is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """Who asks, in which role, from which terminal, under which request id; `sign_in` where the token was not read for
    this request."""

    house: House
    staff: Staff
    role: Role
    terminal: Terminal
    request_id: str
    sign_in: SignIn | None = None

    @property
    def actor(self) -> Actor:
        """The same, as the audit trail names it."""
        return Actor(staff=self.staff.login, role=self.role, terminal=self.terminal.code, request=self.request_id)

    def at_the_office(self) -> House:
        """The house, for a request from an office terminal. Raises WrongTerminal."""
        if self.terminal.kind != TerminalKind.OFFICE:
            raise WrongTerminal(f"Terminal {self.terminal.code} is not in the office.")
        return self.house


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as its sender wrote it: operation of the API, address, body."""

    operation: str
    path: str
    body: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One write as requested: its context, the Idempotency-Key with the request's hash, the If-Match version."""

    context: RequestContext
    key: str
    request_hash: str
    expected_version: int | None
    #: Decided once by what this process remembers, in vain: now the subject's lock comes first.
    again: bool = False
    #: The request in full; None where it holds what nobody else may read, or was not sent over HTTP.
    asked: Asked | None = None
    #: Number of the approval that the request names.
    approval: int | None = None
    #: The request's hash under keys that count too while the secret key is rotated.
    other_hashes: tuple[str, ...] = ()

    def for_approval(self) -> gate.Request:
        """The request as an approval keeps it. Raises AssertionError where it is not kept."""
        if self.asked is None:
            raise AssertionError("a write that may need an approval keeps its request in full")
        context = self.context
        return gate.Request(
            house=context.house, staff=context.staff, terminal=context.terminal, actor=context.actor,
            operation=self.asked.operation, path=self.asked.path, body=self.asked.body,
            request_hash=self.request_hash, approval=self.approval,
        )  # fmt: skip

    def ledger_key(self, part: str = "") -> str:
        """The ledger's key for a posting of this command, as unique as the command; `part` distinguishes several.

        The caller's part comes last, so that it can never make the key of another posting.
        """
        return f"command:{part}:{self.context.terminal.code}:{self.key}"

    def answer_key(self) -> list[Any]:
        """House, terminal and key: what its answer is stored under."""
        return [self.context.house.id, self.context.terminal.id, self.key]

    def require_version(self, current: int) -> None:
        """Refuse with VersionConflict when the caller has seen another version than `current`."""
        if self.expected_version is not None and self.expected_version != current:
            raise VersionConflict(
                f"If-Match names version {self.expected_version}, the current version is {current}. Read it again.",
                current_version=current,
            )


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a write: an HTTP status, a JSON object as text, the new version of the subject.

    `once` is added to the first answer and stored nowhere: a key that is shown once. A repeated request is answered
    without it.
    """

    text: str
    version: int
    status: int = 200
    replayed: bool = False
    once: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object, without `once`."""
        found: dict[str, Any] = json.loads(self.text)
        return found

    @property
    def content(self) -> str:
        """The JSON text to be sent, `once` included."""
        return f"{self.text[:-1]},{text_of(self.once)[1:]}" if self.once else self.text


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer as it was stored under a key, with the hash of its request."""

    request_hash: str
    status: int
    version: int
    answer: str

    def replayed_for(self, command: Command) -> Answer:
        """The same answer again. Raises IdempotencyKeyReused for another request."""
        if self.request_hash not in (command.request_hash, *command.other_hashes):
            raise IdempotencyKeyReused(
                "This Idempotency-Key was used for another request; a new request needs a new key.", key=command.key
            )
        return Answer(self.answer, self.version, self.status, replayed=True)


class AnsweredBefore(Exception):
    """The request was answered before: raised by `Subject.open`, and answered by `write` with what is stored."""

    def __init__(self, stored: Stored) -> None:
        super().__init__()
        self.stored = stored


_STORED = """
SELECT request_hash, status, version, answer FROM staff_answeredrequest
WHERE house_id = %s::uuid AND terminal_id = %s::bigint AND key = %s::text
"""


def require_unanswered(
    command: Command, *before: sql.Statement, beside: Sequence[sql.Statement | QuerySet[Any, Any]] = ()
) -> list[list[Any]]:
    """End a write that was made before under the same key; called when its subject is locked, so that the same request
    at the same time has either committed or not begun. `before` is run first, in the same round trip: what locks; then
    `beside`. Returns what each of those has found."""
    stored, *found = sql.together(*before, stored_under(command), *beside)[len(before) :]
    require_none_stored(stored)
    return found


def stored_under(command: Command) -> sql.Statement:
    """What looks for an answer under the command's key, for who sends it after a lock of its own; `require_none_stored`
    takes what it has found."""
    return sql.Bound(_STORED, command.answer_key())


def stored_for(command: Command) -> Stored:
    """The answer that is stored under the command's key, where one is known to be."""
    [row] = sql.rows(_STORED, command.answer_key())
    return Stored(*row)


def locked(
    command: Command, model: type[M], rank: locks.Rank, *beside: sql.Statement | QuerySet[Any, Any], **lookup: Any
) -> tuple[M, list[list[Any]]]:
    """Lock the row that a write is about, end a write that was made before, and run `beside`, all in one round trip;
    returns the row and what each of `beside` has found. Raises NotFound, and as `locks.lock`."""
    row, (stored, *others) = locks.lock_beside(model, rank, stored_under(command), *beside, **lookup)
    require_none_stored(stored)
    return row, others


def locked_two(
    command: Command, model: type[M], rank: locks.Rank, *beside: sql.Statement | QuerySet[Any, Any],
    code: tuple[str, str],
) -> tuple[tuple[M, M], list[list[Any]]]:  # fmt: skip
    """Lock two rows of the house, by their codes, as :func:`locked` does one; returns them in this order, and what each
    of `beside` has found. Raises NotFound."""
    reads = stored_under(command), *beside
    rows, (stored, *others) = locks.lock_all(model, rank, *reads, house=command.context.house, codes=code)
    require_none_stored(stored)
    found = {getattr(row, "code"): row for row in rows}  # noqa: B009 - a model of any kind
    for one in code:
        if one not in found:
            raise NotFound(f"This house has no {model._meta.verbose_name} {one}.")
    return (found[code[0]], found[code[1]]), others


def require_none_stored(stored: list[tuple[Any, ...]]) -> None:
    """End a write that was made before, by what `stored_under` has found."""
    for row in stored:
        raise AnsweredBefore(Stored(*row))


_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


def text_of(body: Mapping[str, Any]) -> str:
    """A JSON object as answers have it."""
    return _ENCODER.encode(body)

"""The one way to write.

A write names its subject (a table, a drawer, a person ...), its change and its event; `write` does the rest in one
transaction: the subject is locked in the one order and read fresh, terminal and version are checked, the change decides
and posts, and then one statement writes all that is left to write: postings, audit event, outbox, and the answer under
its Idempotency-Key. The same request again gets the stored answer and changes nothing; the same key with another
request is refused. A refused write rolls back whole and leaves no trace under its key, so it may be tried again.

What a transaction has posted is carried in its :class:`Work`, which is passed along. A change that a control point of
the house holds back says so with :meth:`Work.require_approval`: it goes through with an approval, once.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, partial
from typing import Any, Protocol, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, DatabaseError, IntegrityError, InterfaceError, connection, transaction
from django.db.models import Model, QuerySet

from casino.approvals import gate
from casino.audit.events import AuditEvent
from casino.audit.events.registry import ApprovedEvent
from casino.audit.services import NOT_OURS, Actor, Receipt, not_ours, require_recordable
from casino.bookkeeping import books, chart
from casino.bookkeeping.postings import Posting
from casino.core import canonical, locks, lost, outbox, patience, sql, tracing
from casino.core.errors import Conflict, IdempotencyKeyReused, NotFound, ProofFailed, VersionConflict, WrongTerminal
from casino.houses import stages
from casino.houses.models import House, OutboxMessage
from casino.staff.models import Role, Staff, Terminal, TerminalKind

T = TypeVar("T")
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
        return f"{self.text[:-1]},{_text(self.once)[1:]}" if self.once else self.text


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


@dataclass(frozen=True, slots=True)
class Unmoved:
    """What lets a write be one statement: a row of SQL that locks the subject of the house `patient.value` and returns
    that, or refuses with MOVED where the subject is no longer at the version that was known, or the request was
    answered before."""

    statement: str
    parameters: Sequence[Any]

    def signed_in(self, sign_in: SignIn) -> "Unmoved":
        """The same, and then proves a sign-in or refuses with SIGNED_OUT."""
        statement = f"staff_still_signed_in({self.statement}, %s::text, %s::text)"
        return Unmoved(statement, [*self.parameters, sign_in.digest, sign_in.rows])


#: SQLSTATE of a function that `Unmoved` names.
MOVED = "KZ905"
#: SQLSTATE of `staff_still_signed_in`.
SIGNED_OUT = "KZ906"


class _Answered(Exception):
    """The request was answered before."""

    def __init__(self, stored: Stored) -> None:
        super().__init__()
        self.stored = stored


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a change: the event that records it, and the members of the answer besides its subject. `after`
    runs when the transaction has committed."""

    event: AuditEvent
    body: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    #: The version of what was written, where the subject itself has none.
    version: int = 1
    once: dict[str, Any] = field(default_factory=dict)
    after: Callable[[], None] | None = None


class Subject(Protocol[T]):
    """What a write changes."""

    def open(self, command: Command) -> T:
        """Lock it and read it fresh, after `require_unanswered`; check terminal and version. Raises what refuses."""

    def chain(self, found: T) -> str:
        """The audit chain of its events."""

    def advance(self, found: T, work: "Work", outcome: Outcome) -> tuple[int, AuditEvent]:
        """Write its next version; returns that, and the outcome's event with it."""

    def answer(self, found: T, outcome: Outcome) -> Mapping[str, Any]:
        """The answer's body, without its receipt."""


class Remembered(Subject[T], Protocol[T]):
    """A subject of which this process may know everything that a write needs, by its version."""

    def remembered(self, command: Command) -> tuple[T, Unmoved] | None:
        """The subject at the version that the command names, and how the database is asked whether it still is; None
        where this process does not know it."""


class Known(Protocol):
    """What a transaction reads once of a house, and keeps: its stage, its control points, its chip set in use."""

    def reading(self, house: House) -> sql.Statement | QuerySet[Any, Any]:
        """What reads it."""

    def read(self, house: House, found: list[Any]) -> None:
        """Keep what that has found."""


@dataclass(frozen=True, slots=True)
class OfHouse:
    """The house as the subject of writes to things without a version: persons, days, staff, duty, new places. `lock`
    keeps others from the same kind of write; `office`: only from an office terminal; `place`: the audit chain of the
    event, where it is not the house's own; `knowing`: what is read with the lock, and kept."""

    lock: Callable[[UUID], None] | None = None
    office: bool = False
    place: str = ""
    knowing: tuple[Known, ...] = ()

    def open(self, command: Command) -> House:
        """Lock what the write needs. Raises WrongTerminal."""
        house = command.context.at_the_office() if self.office else command.context.house
        with locks.gathered() as locking:
            if self.lock is not None:
                self.lock(house.id)
        knowing = self.knowing
        if self.lock in (locks.lock_places, locks.lock_days):
            # The stage may be read with the locks that its change waits for.
            knowing = (stages, *knowing)
        found = require_unanswered(command, *locking, beside=[known.reading(house) for known in knowing])
        for known, rows in zip(knowing, found, strict=True):
            known.read(house, rows)
        return house

    def chain(self, house: House) -> str:
        """The place's, or the house's own."""
        return self.place or house.chain

    def advance(self, house: House, work: "Work", outcome: Outcome) -> tuple[int, AuditEvent]:
        """The outcome's version."""
        return outcome.version, outcome.event

    def answer(self, house: House, outcome: Outcome) -> Mapping[str, Any]:
        """The members that the change has returned."""
        return outcome.body


@dataclass(slots=True)
class Work:
    """The unit of work of one database transaction: what it has posted, and what is still to be written.

    Postings are handed to the ledger together with the event (one round trip), or earlier where their effect is wanted
    (:meth:`flush`). Statements given to :meth:`also` are sent with the event too. Nothing that it has posted may be
    taken back by a savepoint: PostgreSQL refuses an event that records what is not there, and the commit of a posting
    that no event records.
    """

    house: House
    actor: Actor
    using: str = DEFAULT_DB_ALIAS
    #: What is being written; None in a transaction that no request has asked for.
    command: Command | None = None
    _approved: tuple[int, str, list[str]] | None = None
    _posted: list[books.Recorded] = field(default_factory=list)
    _waiting: books.Prepared | None = None
    _also: list[tuple[str, Sequence[Any]]] = field(default_factory=list)
    _proved: dict[int, int] = field(default_factory=dict)
    _messages: list[tuple[str, str]] = field(default_factory=list)
    #: Updates and new rows that go with the next posting or read of this work, or with the event.
    _soon: list[sql.Statement] = field(default_factory=list)
    #: Balances right after the newest posting that was made at once, of the accounts that it moved, by id.
    _left: Mapping[int, int] = field(default_factory=dict)
    #: Ids of what was posted at once, by key.
    _ids: dict[str, int] = field(default_factory=dict)

    def post(
        self, *, key: str, kind: str, postings: Sequence[Posting], metadata: Mapping[str, Any],
        occurred_at: datetime | None = None,
    ) -> None:  # fmt: skip
        """Post one ledger transaction of everything that happened together, with the next event or before a second one.

        `key` is unique in the house: the same key and content again posts nothing.
        """
        if self._waiting is not None:
            self.flush()
        self._waiting = books.prepare(
            self.house, key=key, kind=kind, postings=postings, metadata=metadata, occurred_at=occurred_at
        )

    def also(self, statement: str, parameters: Sequence[Any]) -> None:
        """Send this INSERT or UPDATE with the event. It must not depend on the others' effects, nor return rows; every
        parameter needs a cast (`%s::text`)."""
        self._also.append((statement, parameters))

    def prove(self, balances: Mapping[int, int]) -> None:
        """Let the ledger's accounts, by id, hold exactly these balances after everything is posted, or fail."""
        self._proved |= balances

    def require_approval(self, need: gate.Need) -> None:
        """Go on only with an approval for this, which is used up with this write. Raises what ends the write otherwise:
        it is stored as a new approval, and refused with Conflict approval_required."""
        if self.command is None or self._approved is not None:
            raise AssertionError("an approval belongs to one request, and is asked for once")
        try:
            used = gate.use(self.command.for_approval(), need)
        except (gate.ApprovalNeeded, Conflict):
            # The same request at the same time may have used it, and has its answer then.
            require_unanswered(self.command)
            raise
        if used.decided_by is None:
            raise AssertionError(f"{used} was used and nobody has decided it")
        others = [one.given_by.login for one in used.given() if one.given_by_id != used.decided_by_id]
        self._approved = (used.number, used.decided_by.login, others)

    @property
    def approver(self) -> str:
        """Login of the last person who has approved this, for an event before that of the outcome. Raises
        AssertionError where no approval was used."""
        if self._approved is None:
            raise AssertionError("nobody has approved this")
        return self._approved[1]

    def approved(self, outcome: Outcome) -> Outcome:
        """The outcome with the approval that was used in its event, if there was one."""
        if self._approved is None:
            return outcome
        if not isinstance(outcome.event, ApprovedEvent):
            raise AssertionError(f"{outcome.event.KIND} does not say who approved it")
        return replace(outcome, event=outcome.event.approved(*self._approved))

    def enqueue(self, *, task: str, subject: str) -> None:
        """Write an outbox message with the event, and hint to the broker after the commit."""
        self._messages.append((task, subject))

    def record(
        self, *, chain: str, event: AuditEvent, answer: "_AnswerRow | None" = None, unmoved: Unmoved | None = None
    ) -> Receipt:
        """Append the event, which records every posting of this work, and write whatever is still to be written. With
        `unmoved` this is the whole transaction; with an `answer` it is the last of it, and commits.

        Raises what :func:`casino.audit.services.record` raises, the ledger's typed errors, and ProofFailed.
        """
        if self._soon and unmoved is not None:
            raise sql.NotSilentError  # what is remembered of a subject allows one statement alone
        last = answer is not None and unmoved is None and sql.may_commit(self.using)
        if self._soon and not last:
            self.flush()
        require_recordable(chain, self.house, event, self.using, alone=unmoved is not None)
        statement, parameters = self._statement(chain, event, answer, unmoved)
        [(seq, leaf_hash, messages)] = self._run(statement, parameters, last=last)
        for (task, subject), id_ in zip(self._messages, messages or (), strict=True):
            message = OutboxMessage(id=id_, house=self.house, task=task, subject=subject)
            transaction.on_commit(partial(outbox.HINTS.leave, message))
        self._posted, self._waiting, self._also, self._proved, self._messages = [], None, [], {}, []
        return Receipt(chain, seq, leaf_hash)

    def _statement(
        self, chain: str, event: AuditEvent, answer: "_AnswerRow | None", unmoved: Unmoved | None
    ) -> tuple[str, list[Any]]:
        before = [statement for statement, _ in self._also]
        parameters: list[Any] = [value for _, values in self._also for value in values]
        actor, waiting, beside = self.actor, self._waiting, event.beside_data
        parameters += [self.house.id, patience.lock_timeout(), *(unmoved.parameters if unmoved else ())]
        parameters += [
            chain, event.KIND, actor.staff, actor.role, actor.terminal, actor.request,
            canonical.dumps(event.data), beside.get("approver"), beside.get("reason"),
            canonical.dumps(self._posted)[1:-1] if self._posted else None,
        ]  # fmt: skip
        parameters += waiting.parameters() if waiting else [None] * books.Prepared.WIDTH
        proved = self._proved
        parameters += [sql.numbers(proved), sql.numbers(proved.values())] if proved else [None, None]
        parameters += [list(part) for part in zip(*self._messages, strict=True)] if self._messages else [None, None]
        parameters += answer.parameters() if answer else [None] * _AnswerRow.WIDTH
        return _with(tuple(before), unmoved.statement if unmoved else _OWN_HOUSE), parameters

    def _run(self, statement: str, parameters: list[Any], *, last: bool) -> list[tuple[Any, ...]]:
        try:
            if not last:
                return sql.bound(statement, parameters, self.using)
            locks.committing()
            soon, self._soon = self._soon, []
            found = sql.last(*soon, sql.Bound(statement, parameters), using=self.using)
            lost.commits()
            return found
        except DatabaseError as error:
            state = getattr(error.__cause__, "sqlstate", None)
            diagnosis = getattr(error.__cause__, "diag", None)
            if state == _NOT_PROVED:
                raise ProofFailed(
                    f"The ledger's balances differ from the hand's: {diagnosis.message_detail if diagnosis else ''}. "
                    "Nothing was written.",
                ) from error
            if "function ledger_" in (getattr(diagnosis, "context", None) or ""):
                with books.translated(self.using):
                    raise
            if state == NOT_OURS:
                raise not_ours(self._posted) from error
            raise

    @property
    def has_waiting(self) -> bool:
        """Whether something is to be posted or updated with the event."""
        return self._waiting is not None or bool(self._soon)

    def soon(self, rows: QuerySet[Any, Any] | sql.Bound, **values: Any) -> None:
        """Update these rows, or send this statement, in the same round trip as the next :meth:`flush`, or as the event.
        Nothing else may read or update the rows before."""
        self._soon.append(rows if isinstance(rows, sql.Bound) else sql.updating(rows, **values))

    def insert(self, row: Model) -> None:
        """Insert this row as :meth:`soon` updates others; its id is not known afterwards."""
        self._soon.append(sql.inserting(row, self.using))

    def flush(self, *reads: sql.Statement | QuerySet[Any, Any]) -> list[list[Any]]:
        """Post what waits for the event now, so that the next read sees it; `reads` are run after it in the same round
        trip, and what each has found is returned. Raises the ledger's typed errors."""
        waiting, soon, self._waiting, self._soon = self._waiting, self._soon, None, []
        if waiting is None:
            with books.translated(self.using):
                return sql.together(*soon, *reads)[len(soon) :]
        made, found = books.post_prepared(self.house, waiting, *soon, *reads)
        self._note(waiting.key, made)
        return found[len(soon) :]

    def left(self, code: str) -> int:
        """The balance of a money account of the house in minor units, on its normal side, after what waits for the
        event, which is posted now; read from the ledger only where the newest posting has not moved it. Raises the
        ledger's typed errors."""
        self.flush()
        [account] = chart.ids(self.house, {(code, self.house.currency)}).values()
        return self._left[account] if account in self._left else chart.balances(self.house, [code])[code]

    def balances(self, codes: Iterable[str]) -> dict[str, int]:
        """Balances of the house's money accounts by code after what waits for the event, which is posted now. Raises
        the ledger's typed errors."""
        return chart.balances(self.house, codes, lambda read: self.flush(read)[0])

    def post_now(self, *, key: str, kind: str, postings: Sequence[Posting], metadata: Mapping[str, Any]) -> int:
        """As :meth:`post`, at once; returns the id of the ledger transaction. Raises the ledger's typed errors."""
        self.post(key=key, kind=kind, postings=postings, metadata=metadata)
        self.flush()
        return self.posted(key)

    def posted(self, key: str) -> int:
        """The id of the ledger transaction that this work has posted at once under a key."""
        return self._ids[key]

    def _note(self, key: str, made: books.Made) -> int:
        self._left, self._ids[key] = made.left, made.transaction_id
        return self._noted(made.transaction_id, made.recorded)

    def hold(
        self, *, key: str, kind: str, postings: Sequence[Posting], metadata: Mapping[str, Any], seconds: int
    ) -> datetime:
        """Set aside at once, for so many seconds, what these postings would take: others cannot. Returns until when.
        The event must say so. Raises the ledger's typed errors."""
        self.flush()
        return books.hold(
            self.house,
            books.prepare(self.house, key=key, kind=kind, postings=postings, metadata=metadata),
            seconds=seconds,
        )

    def void_hold(self, key: str) -> str:
        """Let go at once of what was set aside under this key; returns "voided", or "expired" where it had run out."""
        return books.void_hold(self.house, key)

    def reverse_all(self, *, keys: Iterable[str], metadata: Mapping[str, Any]) -> dict[str, int]:
        """Reverse at once what these keys posted, the newest first so that no account is overdrawn.

        Returns the mirrors' ids by the key they undo. Raises the ledger's typed errors.
        """
        self.flush()
        return self._reverse(books.posted_under(self.house, keys), metadata)

    def reverse(self, *, posted: Mapping[str, int], metadata: Mapping[str, Any]) -> dict[str, int]:
        """Reverse at once these ledger transactions, whose ids stand by their keys with the oldest first, as
        :meth:`reverse_all`."""
        self.flush()
        return self._reverse(posted, metadata)

    def _reverse(self, posted: Mapping[str, int], metadata: Mapping[str, Any]) -> dict[str, int]:
        self._left = {}
        newest_first = reversed(list(posted.items()))
        return {key: self._noted(*books.reverse(self.house, key, id_, metadata)) for key, id_ in newest_first}

    def _noted(self, id_: int, posted: books.Recorded | None) -> int:
        """Have the next event record a ledger transaction, unless an earlier event does."""
        if posted is not None:
            self._posted.append(posted)
        return id_


@dataclass(frozen=True, slots=True)
class _AnswerRow:
    """An answer to be stored; the receipt is added to its text by the database."""

    command: Command
    status: int
    version: int
    text: str

    WIDTH = 6

    def parameters(self) -> list[Any]:
        """In the order of `core_record`."""
        command = self.command
        return [command.context.terminal.id, command.key, command.request_hash, self.status, self.version, self.text]


#: SQLSTATE of `core_record`.
_NOT_PROVED = "KZ904"
_RECORD = (
    "SELECT seq, leaf_hash, messages FROM {patient}, LATERAL {house} AS subject (house),"
    " LATERAL core_record(subject.house,"
    " %s::text, %s::text, %s::text, %s::text, %s::text,"
    " %s::text, %s::text, %s::text, %s::text, %s::text,"
    " %s::text, %s::text, %s::text, %s::timestamptz, %s::text, %s::bigint[], %s::bigint[],"
    " %s::bigint[], %s::bigint[], %s::text[], %s::text[],"
    " %s::bigint, %s::text, %s::text, %s::smallint, %s::bigint, %s::text)"
)


_OWN_HOUSE = "(SELECT patient.value)"


@cache
def _with(before: tuple[str, ...], house: str) -> str:
    """`core_record` with other writes in the same statement: one round trip, one plan. It is called when the row that
    names the house has been found."""
    record = _RECORD.replace("{patient}", patience.PATIENT.format(type="uuid")).replace("{house}", house)
    parts = ", ".join(f"also{number} AS ({statement})" for number, statement in enumerate(before))
    return f"WITH {parts} {record}" if parts else record


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
        raise _Answered(Stored(*row))


def answered(request_hash: str, status: int, version: int, answer: str) -> Exception:
    """What `Subject.open` raises where it has found the stored answer by itself."""
    return _Answered(Stored(request_hash, status, version, answer))


def write(command: Command, subject: Subject[T] | Remembered[T], change: Callable[[T, Work], Outcome]) -> Answer:
    """Carry out a write once under its Idempotency-Key.

    `change` decides over what it is given and may be called twice. Raises IdempotencyKeyReused when the key was used
    for another request, Busy for a lock that was not free in time, and what subject and change refuse with; Conflict
    approval_required where a control point holds it back; Unproved where a remembered sign-in has to be read again
    first.
    """

    def attempt() -> Answer:
        return _changed(command, subject, change, subject.open(command))

    with patience.of_terminal(command.context.terminal.id), patience.typed():
        if not command.again and (remembered := getattr(subject, "remembered", None)) is not None:
            with tracing.part("write in one statement") as part:
                answer = _in_one_statement(command, subject, change, remembered)
                part.note(done=answer is not None)
            if answer is not None:
                return answer
        if command.context.sign_in is not None:
            raise Unproved
        try:
            return _once(command, attempt)
        except gate.ApprovalNeeded as held:
            # Nothing of it is written; what is stored now is that it waits for a second person.
            raise gate.ask(command.for_approval(), held.need) from None


def _changed(
    command: Command, subject: Subject[T], change: Callable[[T, Work], Outcome], found: T,
    unmoved: Unmoved | None = None, decided: Callable[[], None] = lambda: None,
) -> Answer:  # fmt: skip
    """Let the change decide, and write everything; `decided` is called between the two."""
    work = Work(command.context.house, command.context.actor, command=command)
    outcome = work.approved(change(found, work))
    version, event = subject.advance(found, work, outcome)
    chain = subject.chain(found)
    text = _text(subject.answer(found, outcome))
    decided()
    row = _AnswerRow(command, outcome.status, version, text)
    receipt = work.record(chain=chain, event=event, answer=row, unmoved=unmoved)
    if outcome.after is not None:
        transaction.on_commit(outcome.after)
    return Answer(_with_receipt(text, receipt), version, outcome.status, once=outcome.once)


def _in_one_statement(
    command: Command, subject: Subject[T], change: Callable[[T, Work], Outcome],
    remembered: Callable[[Command], tuple[T, Unmoved] | None],
) -> Answer | None:  # fmt: skip
    """Decide by what this process remembers of the subject, then lock it, see that it is still at that version, and
    write: one statement, which is its own transaction. None where that is not possible, because nothing is remembered,
    the subject has moved on, or the change needs the database or refuses: then what is read under the lock decides.
    """
    if connection.in_atomic_block:
        return None
    with sql.Silence() as silence:
        try:
            if (known := remembered(command)) is None:
                return None
            found, unmoved = known
            if (sign_in := command.context.sign_in) is not None:
                unmoved = unmoved.signed_in(sign_in)
            answer = _changed(command, subject, change, found, unmoved, silence.end)
            lost.commits()
            return answer
        except sql.NotSilentError:
            pass
        except (DatabaseError, InterfaceError) as error:
            if silence.may_have_sent and lost.is_lost(error):
                raise lost.OutcomeUnknown from error
            state = getattr(error.__cause__, "sqlstate", None)
            if not (state in (MOVED, SIGNED_OUT) or state in locks.RETRYABLE or _is_answered(error)):
                raise
        except Exception:
            if silence.ended:
                raise
        # Nothing has been written. The change is called again under the lock, and decides or refuses.
        return None


_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


def _text(body: Mapping[str, Any]) -> str:
    """A JSON object as answers have it."""
    return _ENCODER.encode(body)


def _with_receipt(text: str, receipt: Receipt) -> str:
    """An answer's text with its receipt as the last member, exactly as `core_record` stores it."""
    return f'{text[:-1]},"audit":{_text(receipt.as_json())}}}'


def _once(command: Command, attempt: Callable[[], Answer]) -> Answer:
    """Run an attempt in a transaction; where the same key was answered before, or meanwhile, return that answer."""
    try:
        return locks.in_transaction(attempt)
    except _Answered as found:
        return found.stored.replayed_for(command)
    except IntegrityError as error:
        if not _is_answered(error):
            raise
        # The same key, at the same time, at another subject: that one came first, and its answer is there now.
        [row] = sql.rows(_STORED, command.answer_key())
        return Stored(*row).replayed_for(command)


def _is_answered(error: Exception) -> bool:
    """Whether a statement failed because the same key has been answered meanwhile."""
    return getattr(getattr(error.__cause__, "diag", None), "constraint_name", None) == "answered_request_key"
